"""Windows by a clock or a calendar whose answers are given at once, and revised.

A batch takes three steps, for the bins of keys that it touches (see `given_answers`):

1. Its events are put among what windows hold: cells that they are combined into, or events (see
   `window_contents`).
2. Every window that holds something changed is answered anew.

           held      . . . . x . . .          x is new, or has changed
           windows  [. . .]
                      [. . x .]              these are answered
                        [. x . .]
                          [x . . .]

3. The answers get a number: 0 for the first of a window and key, then 1, 2 and so on. Where the
   frontier has passed a window's end, its last answer is marked final; if nothing has changed, it
   is given again for that. Then the window is forgotten.

So the work of a batch depends on its events and on the windows that they change. It does not depend
on how late events are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from windrow.engine.answer_tables import answered_table
from windrow.engine.order_column import times_to_arrow
from windrow.engine.sorting import arrange
from windrow.planning.delivery import FINAL, REVISION
from windrow.planning.slide_plan import SlidePlan
from windrow.planning.stream_plan import GroupPlan
from windrow.slicing import Slices
from windrow.slicing.calendar_slices import CalendarSlices
from windrow.stream.group import FURTHEST, Array
from windrow.stream.header import GroupState
from windrow.stream.row_layout import empty
from windrow.stream.state import CELLS_SCHEMA, GIVEN_SCHEMA, NONE, ShardBlocks
from windrow.stream.updates.given_answers import GivenAnswers, OpenBins
from windrow.stream.updates.updates_query import RevisingGroup
from windrow.stream.updates.window_contents import WindowContents
from windrow.windows.schedules import Schedule

#: columns of given answers: the window's name in its schedule, and which answer it is
_WINDOW, _REVISION = "window", "revision"
#: the number of an answer before it is given
_NEW = -1


class Revised(NamedTuple):
    """The answers of a part: those to give, and those of windows that are open."""

    given: pa.RecordBatch
    final: Array
    open: pa.RecordBatch


class RevisedWindows(RevisingGroup):
    """One window of `slide`, with slices of its own."""

    def __init__(
        self,
        number: int,
        name: str,
        plan: SlidePlan,
        contents: WindowContents,
        slices: Slices | CalendarSlices,
        window: Schedule,
    ) -> None:
        self.number, self.names, self.slices = number, [name], slices
        self._plan, self._window, self._contents = plan, window, contents
        keys = [contents.schema.field(each) for each in contents.keys]
        answers = [(f"answer_{place}", each.type) for place, each in enumerate(plan.features)]
        numbers = [(_WINDOW, pa.int64()), (_REVISION, pa.int64())]
        self._given = pa.schema([*keys, *numbers, *answers])
        self.layouts: Mapping[int, pa.Schema] = {
            CELLS_SCHEMA: contents.schema,
            GIVEN_SCHEMA: self._given,
        }
        self.kept = contents.kept

    def describe(self) -> GroupPlan:
        """What open windows hold, and given answers."""
        what = self._contents.what
        return GroupPlan(
            self.names,
            way=f"updates: {what} of open windows, and their answers",
            why=f"emit= says 'updates', and {self._contents.why}",
            reads=f"the header, and {self._contents.short} and answers of the bins whose keys have "
            "new events or windows that become final",
            writes=f"the header, and {self._contents.short} and answers of these bins",
            final="at once, and again with every batch whose events change it; for the last time "
            "when the watermark, less allowed_lateness, has reached the end of the window",
        )

    def holds(self, times: Array) -> Array | None:
        """Which events do not lie in a gap between windows."""
        holds = self._window.holds(times)
        return None if holds.all() else holds

    def due(self, state: GroupState, blocks: ShardBlocks, oldest: int | None) -> Iterator[int]:
        """When the first open windows are final."""
        for each in self._stored(blocks).bins:
            if each.entries:
                yield each.due

    def revise(
        self,
        state: GroupState,
        blocks: ShardBlocks,
        events: pa.RecordBatch,
        frontier: int,
        silent: bool = False,
    ) -> list[pa.Table]:
        """Answer what events change, and what is final by now."""
        stored = self._stored(blocks)
        tables = []
        for part in stored.parts(self._contents.of_events(events), frontier):
            held, changed = self._contents.merged(part.cells, part.new)
            answers = self._changed(held, changed, state.frontier)
            revised = self._numbered(part, answers, frontier, silent)
            stored.keep(part, self._left(held, frontier), revised.open, self._ends(revised.open))
            if revised.given.num_rows:
                tables.append(self._table(revised))
        stored.bins.close()
        state.frontier = frontier
        return tables

    def _stored(self, blocks: ShardBlocks) -> GivenAnswers:
        schema, keys = self._contents.schema, self._contents.keys
        return GivenAnswers(blocks, self.number, schema, self._given, keys)

    def _left(self, held: pa.RecordBatch, frontier: int) -> pa.RecordBatch:
        """What an open window may hold."""
        if frontier == NONE or not held.num_rows:
            return held
        begin = self._window.begin(self._window.first_open(frontier))
        return held.filter(pa.array(self._contents.times(held) >= begin))

    # Answers -------------------------------------------------------------------------------------

    def _changed(self, held: pa.RecordBatch, changed: Array, before: int) -> pa.RecordBatch:
        """The answers of the windows that hold something changed, without their numbers."""
        if not changed.any():
            return empty(self._given)
        arranged = self._contents.arranged(held)
        times, changed = arranged.times, changed[arranged.places]
        low = self._window.first_of(int(times[changed].min()))
        low = low if before == NONE else max(low, self._window.first_open(before))
        windows, firsts, stops = self._window.held(arranged.starts, times, low, FURTHEST)
        changed_before = np.append(0, np.cumsum(changed))
        holds = changed_before[stops] > changed_before[firsts]
        windows, firsts, stops = windows[holds], firsts[holds], stops[holds]
        result, heads = arranged.answers(firsts, stops), pa.array(arranged.places[firsts])
        return pa.RecordBatch.from_arrays(
            [
                *(held[name].take(heads) for name in self._contents.keys),
                pa.array(windows, pa.int64()),
                pa.array(np.full(len(windows), _NEW), pa.int64()),
                *(result(place) for place in range(len(self._plan.features))),
            ],
            schema=self._given,
        )

    def _numbered(
        self, part: OpenBins, answers: pa.RecordBatch, frontier: int, silent: bool
    ) -> Revised:
        """The answers of windows with their numbers: those to give, and those that stay open."""
        known = part.given.num_rows
        every = pa.concat_batches([part.given, answers])
        keys = [every[name] for name in self._contents.keys]
        permutation, starts = arrange(keys, [every[_WINDOW]], every.num_rows)
        places = np.arange(every.num_rows) if permutation is None else permutation
        windows = every[_WINDOW].to_numpy()[places]
        begins = np.ones(len(windows), np.bool_)
        begins[1:] = windows[1:] != windows[:-1]
        begins[starts[:-1]] = True
        oldest = np.flatnonzero(begins)
        newest = np.append(oldest[1:], len(windows)) - 1
        # Of a window there is the given answer, the new one, or first the one and then the other.
        is_new = places[newest] >= known
        final = self._ends_of(windows[newest]) <= frontier
        given = is_new | final
        revisions = every[_REVISION].to_numpy()[places[oldest]] + (given & (not silent))
        rows = every.take(pa.array(places[newest]))
        rows = rows.set_column(
            rows.schema.get_field_index(_REVISION), _REVISION, pa.array(revisions, pa.int64())
        )
        return Revised(rows.filter(pa.array(given)), final[given], rows.filter(pa.array(~final)))

    def _ends(self, answers: pa.RecordBatch) -> Array:
        return self._ends_of(answers[_WINDOW].to_numpy())

    def _ends_of(self, windows: Array) -> Array:
        """When windows end, in ticks."""
        return self._window.bounds(windows)[1]

    def _table(self, revised: Revised) -> pa.Table:
        """The answers to give, as users get them."""
        rows, plan = revised.given, self._plan
        bounds = self._window.bounds(rows[_WINDOW].to_numpy())
        begins, ends = (times_to_arrow(each, plan.order_type) for each in bounds)
        keys = {name: rows[kept] for name, kept in zip(plan.key, self._contents.keys, strict=True)}
        table = answered_table(
            plan, self.names[0], keys, (begins, ends), lambda place: rows[f"answer_{place}"]
        )
        table = table.append_column(REVISION, rows[_REVISION])
        return table.append_column(FINAL, pa.array(revised.final))
