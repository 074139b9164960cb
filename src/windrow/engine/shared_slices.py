"""Windows that see the same rows and share their slices: `slide` from extents to tables.

1. Cut the rows where some answer begins or ends: the slices, shared by all windows.
2. Combine the rows of each slice, once (`slice_store.py`).
3. For every window, go over the slices and answer. What asks about all values of a window has no
   partials of slices; it is answered from the rows (`counted_spans.py`).
4. Name the answers by their key, begin and end: a table for each window (`answer_tables.py`).

A table comes in one piece, and threads share the work. Sorted batches come one after the other. A
batch is cut also where an answer to come may begin and at its end, and slices are kept until every
window has taken them. So memory is the windows and one batch, however many rows a key has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.engine.answer_tables import answered_table, changes
from windrow.engine.counted_spans import CountedSpans
from windrow.engine.cutting import Cutting
from windrow.engine.empty_windows import UNKNOWN, EmptyWindows
from windrow.engine.feature_columns import FeatureAnswers, FeatureColumns
from windrow.engine.kept_values import KeptValues
from windrow.engine.order_column import in_order_type, times_to_arrow
from windrow.engine.slice_store import SliceStore
from windrow.engine.slice_windows import SliceKernels
from windrow.planning.slide_plan import SlidePlan
from windrow.windows import walks
from windrow.windows.extents import Extents
from windrow.windows.sorted_rows import SortedRows
from windrow.windows.tail import Tail
from windrow.work import sizes
from windrow.work.threads import in_threads

Array = np.ndarray[Any, Any]


class SharedSlices:
    """Windows of a plan between one batch of rows and the next."""

    def __init__(
        self,
        plan: SlidePlan,
        features: FeatureColumns,
        kernels: SliceKernels,
        windows: Sequence[str],
        threads: int = 1,
    ) -> None:
        """Start before the first row; `threads` is how many may work at once."""
        self._plan, self._features, self._threads = plan, features, threads
        self._cutting = Cutting(plan)
        self._store = SliceStore(plan, features, kernels, windows, threads)
        self._spans = CountedSpans(features.counted, threads)
        carried = {column for feature in plan.features for column in feature.carried}
        self._kept = {name: KeptValues() for name in carried}
        #: how many rows came before
        self._position = 0
        #: the rows at which slices begin, from the oldest that is still needed to the next one
        self._begins = Tail()
        self._next_slice = 0
        #: the order values of the slices' first and last rows, for answers that are named by them
        self._first_values, self._last_values = KeptValues(), KeptValues()
        #: of each window, the last answer of the key of the rows before, and its name if it has one
        self._before: dict[str, tuple[pa.Table, Array]] = {}
        self._empty = {name: EmptyWindows(plan, name) for name in windows if name in plan.schedules}
        #: of each window, which of its schedule the key of the rows before has answered last
        self._last: dict[str, int] = {}

    @property
    def slices_kept(self) -> int:
        """How many slices answers to come may need."""
        return max(len(self._begins) - 1, 0)

    @property
    def rows_held(self) -> int:
        """How many rows answers to come may need as they are."""
        return self._spans.rows_held

    def answer(
        self, rows: SortedRows, keys: Sequence[pa.Array], found: Mapping[str, Extents]
    ) -> Iterator[tuple[str, pa.Table]]:
        """The answers of each window, as a table; of a batch, as several.

        Args:
            rows: the next rows.
            keys: the columns of the key, one row for each of `rows.all_runs`.
            found: which rows the answers of each window are about.
        """
        for name, kept in self._kept.items():
            kept.append(rows.columns[name])
        self._spans.extend(rows.columns, rows.size)
        if rows.size:
            self._cut(rows, found)
        asked = {
            name: extents for name, extents in found.items() if len(extents.stops) or rows.is_whole
        }
        if self._threads > 1 or rows.is_whole or self._store.shares:
            yield from self._answered(rows, keys, asked)
        else:
            # A batch, one window after the other: their answers need not be held at once.
            for name, extents in asked.items():
                yield from self._answered(rows, keys, {name: extents})
        if not rows.ends:
            self._forget(rows, found)

    def _answered(
        self, rows: SortedRows, keys: Sequence[pa.Array], found: Mapping[str, Extents]
    ) -> Iterator[tuple[str, pa.Table]]:
        """The answers of some windows, which share the threads."""
        sides = [rows for each in found.values() for rows in (each.firsts, each.stops)]
        numbered = in_threads(self._number, sides, self._threads)
        numbers = dict(zip(found, zip(numbered[::2], numbered[1::2], strict=True), strict=True))
        answers = self._store.answers(numbers, self._cutting.reads(found))
        for name, extents in found.items() if self._features.counted else ():
            counted = self._spans.answers(extents.firsts, extents.stops)
            answers[name].counted = counted.__getitem__

        def tables(name: str) -> Iterable[pa.Table]:
            return self._tables(name, rows, keys, found[name], numbers[name], answers[name])

        for name, made in zip(found, in_threads(tables, found, self._threads), strict=True):
            for table in made:
                yield name, table

    def _cut(self, rows: SortedRows, found: Mapping[str, Extents]) -> None:
        """Combine the rows into slices."""
        whole = rows.is_whole
        marks = self._cutting.marks(rows, found)
        if not whole:
            marks.append(np.array([0, max(rows.open_start, 0), rows.size]))
        cuts = walks.cuts(marks, rows.size)
        readings = self._cutting.readings(cuts, found)
        self._store.extend(
            rows.columns, rows.size, cuts, self._position, self._next_slice, rows.ends, readings
        )
        self._begins.extend(self._position + cuts[1:] if len(self._begins) else cuts)
        self._next_slice += max(len(cuts) - 1, 0)
        if not whole and any(extents.begins is None for extents in found.values()):
            order = in_order_type(rows.columns[self._plan.order[0]], self._plan)
            self._first_values.append(order.take(pa.array(cuts[:-1])))
            self._last_values.append(order.take(pa.array(cuts[1:] - 1)))

    def _number(self, rows: Array) -> Array:
        """The numbers of the slices that begin at some rows, which may lie before this batch."""
        begins = self._begins.values
        if self._position:
            rows = rows + self._position
        # The walk begins near the first row, not at the oldest slice.
        skipped = max(int(np.searchsorted(begins, rows[0])) - 1, 0) if len(rows) else 0
        numbers = walks.runs_of(begins[skipped:], rows)
        oldest = self._next_slice + 1 - len(begins)
        if oldest + skipped:
            numbers += oldest + skipped
        return numbers

    # Tables --------------------------------------------------------------------------------------

    def _tables(
        self, name: str, rows: SortedRows, keys: Sequence[pa.Array], extents: Extents,
        numbers: tuple[Array, Array], answers: FeatureAnswers,
    ) -> Iterable[pa.Table]:  # fmt: skip
        plan, features = self._plan, self._features
        runs = np.zeros(len(extents.stops), np.int64)
        if plan.key:
            runs = walks.runs_of(rows.all_runs, extents.firsts)
        answered = answered_table(
            plan,
            name,
            {
                column: values.take(pa.array(runs))
                for column, values in zip(plan.key, keys, strict=True)
            },
            self._bounds(rows, extents, *numbers),
            lambda place: features.column(
                plan, name, place, answers, lambda column, rows: self._kept[column].take(rows)
            ),
        )
        if name in self._empty:
            pieces = self._filled(name, rows, extents, answered, runs)
            if not plan.changes_only:
                return (piece for piece, _runs in pieces)
            ((answered, runs),) = pieces
        if plan.changes_only:
            answered = self._changed(name, rows, answered, runs, extents.names)
        return [answered]

    def _filled(
        self, name: str, rows: SortedRows, extents: Extents, answered: pa.Table, runs: Array
    ) -> Iterator[tuple[pa.Table, Array]]:
        """The answers with the windows without events among them; lazily, in pieces of a batch."""
        plan, count = self._plan, len(rows.all_runs) - 1
        before = np.full(count, UNKNOWN)
        before[:1] = self._last.pop(name, UNKNOWN)
        if len(runs) and runs[-1] == count - 1:
            self._last[name] = int(extents.names[-1])

        def require(answers: int) -> None:
            if rows.is_whole:
                given = f"with windows without events, the data gives {name!r}"
                plan.require_few(answers, rows.size, given)

        most = None if rows.is_whole or plan.changes_only else sizes.current().most_answers
        return self._empty[name].among(answered, extents.names, runs, before, require, most)

    def _bounds(
        self, rows: SortedRows, extents: Extents, firsts: Array, stops: Array
    ) -> tuple[pa.Array, pa.Array]:
        """Where answers begin and end: in time, or at the order values of their rows."""
        plan = self._plan
        if extents.begins is not None and extents.ends is not None:
            begins, ends = (
                times_to_arrow(each, plan.order_type) for each in (extents.begins, extents.ends)
            )
        elif rows.is_whole:
            order = rows.columns[plan.order[0]]
            begins, ends = (
                in_order_type(order.take(pa.array(places)), plan)
                for places in (extents.firsts, extents.stops - 1)
            )
        else:
            begins = self._first_values.take(pa.array(firsts))
            ends = self._last_values.take(pa.array(stops - 1))
        return begins, ends

    def _changed(
        self, name: str, rows: SortedRows, answered: pa.Table, runs: Array, names: Array
    ) -> pa.Table:
        """The answers that differ from that of the window before of their key."""
        step = self._plan.steps.get(name)
        before = self._before.pop(name, None)
        if before is not None:
            answered, runs = pa.concat_tables([before[0], answered]), np.append([0], runs)
            names = np.append(before[1], names)
        changed = changes(self._plan, answered, runs, *((names, step) if step else ()))
        if before is not None:
            changed[0] = False
        if len(runs) and runs[-1] == len(rows.all_runs) - 2:
            self._before[name] = answered.slice(len(runs) - 1), names[-1:]
        return answered.filter(pa.array(changed))

    def _forget(self, rows: SortedRows, found: Mapping[str, Extents]) -> None:
        """Drop what no answer to come can need."""
        fronts = {name: extents.front for name, extents in found.items()}
        needed = {name: int(self._number(np.array([row]))[0]) for name, row in fronts.items()}
        self._store.forget(needed)
        oldest = min(needed.values())
        self._begins.drop(oldest - (self._next_slice + 1 - len(self._begins)))
        for values in (self._first_values, self._last_values):
            values.forget_before(oldest)
        for kept in self._kept.values():
            kept.forget_before(self._position + min(fronts.values()))
        self._spans.forget_before(min(fronts.values()))
        self._position += rows.size
        if len(rows.all_runs) > 2:  # the last key began here, so older answers are of other keys
            for name, extents in found.items():
                if not len(extents.stops):
                    self._before.pop(name, None)
                    self._last.pop(name, None)
