"""`slide` from totals: answers over all events of a key so far, when rows or a clock ask for one.

For aggregations whose partials are numbers. Beside the total of a key stand how many events it has
seen, and when the last of them was. When events become final:

1. They are put in order by key, and each becomes a cell.
2. After some of them there is an answer: after so many rows of the key, or behind the last row of a
   tick that has ended. It is of the key's total and the new cells up to it.
3. Totals and new cells are folded into the new totals.

      total | new cells              a clock that ticks at |
      [ ... ] a b | c d e | f        answers: total..b, total..e; that of f when its tick ends

A tick may end without new events. Then the total itself is the answer. So a bin knows when the
first tick ends whose answer was not given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from windrow.compiler.kernel_memory import KernelMemory
from windrow.engine.answer_tables import answered_table
from windrow.engine.feature_columns import FeatureColumns
from windrow.engine.maps import Grouped, Maps
from windrow.engine.order_column import in_own_type, times_to_arrow
from windrow.engine.slice_windows import CompiledSliceWindow, SliceKernels
from windrow.planning.slide_plan import SlidePlan
from windrow.planning.stream_plan import GroupPlan
from windrow.slicing import Slices
from windrow.stream.group import Array, WindowGroup
from windrow.stream.header import GroupState
from windrow.stream.last_answers import LastAnswers
from windrow.stream.state import TOTALS_SCHEMA, ShardBlocks
from windrow.stream.totals.over_totals import FIRST, described
from windrow.stream.totals.stored_totals import StoredTotals
from windrow.windows import Window, ticks
from windrow.windows.extents import Span
from windrow.windows.key_runs import NEVER
from windrow.windows.reach import UNLIMITED

#: beside the total of a key: when the newest of its events was, and how many there were
_LAST, _SEEN = "last", "seen"


class _Cells(NamedTuple):
    """Totals and new cells, by key, older first.

    Attributes:
        grouped: the cells.
        is_new: which of them are of new events.
        lasts: when the newest event of each cell was.
        seen: how many events the key has seen with each cell.
        begins, newest: the first cell of each key, and its last.
        old: for each key, the number of its total; null for new keys.
    """

    grouped: Grouped
    is_new: Array
    lasts: Array
    seen: Array
    begins: Array
    newest: Array
    old: pa.Array


class SlideTotals(WindowGroup):
    """The windows of a plan that hold all events so far; a slice is a tick of the order column."""

    of_moments = True

    def __init__(
        self,
        number: int,
        names: list[str],
        plan: SlidePlan,
        types: Mapping[str, pa.DataType],
        nullable: AbstractSet[str],
    ) -> None:
        """`types` are those of the columns of an event; `nullable` names those with nulls."""
        self.number, self.names, self.slices = number, names, Slices(1, (0,))
        self._plan = replace(plan, changes_only=False)
        self._features = FeatureColumns(plan.features, nullable, as_given=True)
        own = {name: plan.schema.field(name).type for name in plan.columns}
        self._maps = Maps(plan.key, {**types, **own}, self._features, FIRST)
        self._kernels = SliceKernels(self._features, plan, names)
        #: for each window, if only changes are wanted, its last answers
        self._last = {
            name: LastAnswers(plan, name, place)
            for place, name in enumerate(names)
            if plan.changes_only
        }
        beside: dict[str, pa.DataType] = {_LAST: pa.int64(), _SEEN: pa.int64()}
        for last in self._last.values():
            beside |= last.columns
        self._schema, self._beside = pa.schema([*self._maps.schema, *beside.items()]), list(beside)
        self.layouts = {TOTALS_SCHEMA: self._schema}
        self.kept = [f"totals of {', '.join(names)}", *self._maps.description]
        tick = ticks.nanoseconds_per_tick(plan.order_type)
        self._triggers = {name: _Trigger(name, plan.windows[name], tick) for name in names}

    def describe(self) -> GroupPlan:
        """Totals of keys."""
        return described(
            self.names,
            "when the watermark reaches the row that asks for the answer, or the end of its tick",
        )

    def due(self, state: GroupState, blocks: ShardBlocks, oldest: int | None) -> Iterator[int]:
        """When the oldest waiting event is final, and when a tick ends that has no answer yet."""
        yield from super().due(state, blocks, oldest)
        for each in self._stored(blocks).bins:
            if each.due != NEVER:
                yield each.due

    def move(
        self, state: GroupState, blocks: ShardBlocks, events: pa.RecordBatch, frontier: int
    ) -> list[pa.Table]:
        """Answer what the events before a frontier make final."""
        span = Span(state.frontier, frontier)
        state.frontier = frontier
        stored = self._stored(blocks)
        answers: list[pa.Table] = []
        for part in stored.parts(events, self._plan.key, self._plan.order, frontier):
            old, new = part.totals.select(self._maps.schema.names), self._new(part.events)
            cells = self._cells(part.totals, [old, new])
            totals = self._maps.fold([old, new])
            lasts = cells.lasts[cells.newest]
            beside = {_LAST: pa.array(lasts), _SEEN: pa.array(cells.seen[cells.newest])}
            for name in self.names:
                table, keys = self._answered(name, cells, span)
                if self._last:
                    kept = {
                        column: part.totals[column].take(cells.old)
                        for column in self._last[name].columns
                    }
                    table, last = self._last[name].changed(kept, table, keys)
                    beside |= last
                if table.num_rows:
                    answers.append(table)
            columns = [*totals.columns, *(beside[name] for name in self._beside)]
            totals = pa.RecordBatch.from_arrays(columns, schema=self._schema)
            due = [each.due(lasts, frontier) for each in self._triggers.values()]
            # An answer without new events is still the last answer of its key.
            stored.keep(part, totals, np.minimum.reduce(due), whole=bool(self._last))
        stored.bins.close()
        return answers

    def _stored(self, blocks: ShardBlocks) -> StoredTotals:
        return StoredTotals(blocks, self.number, self._schema, self._maps.keys)

    def _new(self, events: pa.RecordBatch) -> pa.RecordBatch:
        """A cell for each new event."""
        columns = dict(zip(events.schema.names, events.columns, strict=True))
        times = ticks.times(columns[self._plan.order[0]])
        return self._maps.of_runs(in_own_type(columns, self._plan), times, np.arange(len(times)))

    def _cells(self, totals: pa.RecordBatch, maps: Sequence[pa.RecordBatch]) -> _Cells:
        """Totals and new cells, by key."""
        grouped, known = self._maps.grouped(maps), totals.num_rows
        places, begins = grouped.places, grouped.starts[:-1]
        times = grouped.cells[FIRST].to_numpy()
        lasts = np.concatenate([totals[_LAST].to_numpy(), times[known:]])[places]
        counts = np.concatenate([totals[_SEEN].to_numpy(), np.ones(len(times) - known, np.int64)])
        seen = np.cumsum(counts[places])
        stops = np.append(begins[1:], len(places))
        before = seen[begins] - counts[places[begins]]
        heads = places[begins]
        return _Cells(
            grouped,
            places >= known,
            lasts,
            seen - np.repeat(before, stops - begins),
            begins,
            stops - 1,
            pa.array(heads, mask=heads >= known),
        )

    def _answered(self, name: str, cells: _Cells, span: Span) -> tuple[pa.Table, Array]:
        """The answers of a window that became final, and the number of each answer's key."""
        found, places, _starts, partials = cells.grouped
        asked = np.flatnonzero(self._triggers[name].asks(cells, span))
        keys = np.searchsorted(cells.begins, asked, "right") - 1
        firsts = cells.begins[keys]
        answers = self._features.answers(len(asked))
        if len(asked):
            window = CompiledSliceWindow(self._kernels, name, KernelMemory(self._features.product))
            window.answer(partials, answers, firsts, asked + 1, 0, len(asked))
        heads = found.take(pa.array(places[firsts]))

        def result(place: int) -> pa.Array:
            index = self._features.compiled.index(self._plan.features[place])
            carried = self._maps.carried(found, index)
            return self._features.column(self._plan, name, place, answers, carried)

        bounds = [
            times_to_arrow(each, self._plan.order_type)
            for each in (heads[FIRST].to_numpy(), cells.lasts[asked])
        ]
        by_key = zip(self._plan.key, self._maps.keys, strict=True)
        named = {column: heads[stored] for column, stored in by_key}
        return answered_table(self._plan, name, named, (bounds[0], bounds[1]), result), keys


class _Trigger:
    """Asks for the answers of one window: after so many rows, or at the ticks of a clock."""

    def __init__(self, name: str, window: Window, tick: int) -> None:
        assert window.every is not None
        period = window.every.period(1)
        self._rows, self._clock = min(period.slide, UNLIMITED), None
        if period.unit == "time":
            self._clock = period._replace(range=period.slide).in_ticks(name, tick)

    def asks(self, cells: _Cells, span: Span) -> Array:
        """Behind which cells there is an answer that became final."""
        if self._clock is None:
            asked: Array = cells.is_new & (cells.seen % self._rows == 0)
            return asked
        ends = self._ends(cells.lasts)
        is_last = np.ones(len(ends), np.bool_)
        is_last[:-1] = ends[1:] != ends[:-1]
        is_last[cells.newest] = True
        return is_last & span.makes_final(ends)

    def due(self, lasts: Array, frontier: int) -> Array:
        """When the ticks of last events end, if they have not ended; else `NEVER`."""
        if self._clock is None:
            return np.full(len(lasts), NEVER)
        ends = self._ends(lasts)
        return np.where(ends > frontier, ends, NEVER)

    def _ends(self, times: Array) -> Array:
        assert self._clock is not None
        ends: Array = self._clock.last_starts(times) + self._clock.slide
        return ends
