"""`slide` on a stream of batches that are sorted by key and order, as a Spark task sees them.

Each batch is cut into slices where an answer begins or ends, where an answer to come may begin, and
at its end. A slice is known by its number and kept until every window has taken it; a window keeps
the slices that it holds. So memory is the windows and one batch, however many rows a key has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.algorithms.plain_memory import PlainMemory
from windrow.compiler.kernel_memory import KernelMemory
from windrow.engine import columns as arrow
from windrow.engine.extents import Extents, Stretch, finder_for
from windrow.engine.feature_columns import Answers, FeatureColumns
from windrow.engine.kept_values import KeptValues
from windrow.engine.named_failures import kernels_named
from windrow.engine.slice_windows import (
    CompiledSliceWindow,
    PlainSliceWindow,
    SliceKernels,
    aggregate_paced,
    answered_table,
    changes,
    plain_partials,
    times_to_arrow,
)
from windrow.engine.slide_table import in_order_type
from windrow.planning.slide_plan import SlidePlan
from windrow.windows import Window, walks
from windrow.windows.key_runs import NEVER, run_starts, same_key
from windrow.windows.tail import Tail
from windrow.work import sizes

Array = np.ndarray[Any, Any]


class Sliding:
    """The windows of a plan between one batch and the next."""

    def __init__(self, plan: SlidePlan, nullable: AbstractSet[str]) -> None:
        """`nullable` names the columns that may hold nulls."""
        self._plan = plan
        shared: dict[tuple[tuple[str, ...], int], dict[str, Window]] = {}
        for number, group in enumerate(plan.groups):
            for name in group:
                window = plan.windows[name]
                shared.setdefault((plan.measured(window), number), {})[name] = window
        #: each with the columns that its windows measure by
        self._streams = [
            (measured, _Stream(plan, windows, nullable))
            for (measured, _number), windows in shared.items()
        ]

    def advance(self, batch: pa.RecordBatch) -> Iterator[pa.Table]:
        """The answers that are complete with a batch."""
        plan = self._plan
        columns = {name: arrow.whole(batch[name]) for name in plan.columns}
        for measured, stream in self._streams:
            seen, size = columns, batch.num_rows
            present = [arrow.present(columns[name]) for name in measured]
            partly = [rows for rows in present if rows is not None]
            if partly:
                mask = np.logical_and.reduce(partly)
                seen = {name: column.filter(pa.array(mask)) for name, column in columns.items()}
                size = int(mask.sum())
            yield from stream.advance(seen, size)

    @property
    def slices_kept(self) -> int:
        """How many slices answers to come may need, for tests to see."""
        return sum(stream.slices_kept for _measured, stream in self._streams)

    def close(self) -> Iterator[pa.Table]:
        """The answers that waited for more rows."""
        for _measured, stream in self._streams:
            yield from stream.close()


class _Stream:
    """Windows that see the same rows, and share their slices."""

    def __init__(
        self, plan: SlidePlan, windows: Mapping[str, Window], nullable: AbstractSet[str]
    ) -> None:
        self._plan = plan
        self._timed = any(window.needs_time for window in windows.values())
        self._finders = {
            name: finder_for(name, window, plan.order[0], plan.order_type)
            for name, window in windows.items()
        }
        self._features = FeatureColumns(plan.features, nullable)
        self._slices = _Slices(self._features, plan, windows)
        carried = {column for feature in plan.features for column in feature.carried}
        self._kept = {name: KeptValues() for name in carried}
        #: how many rows came before
        self._position = 0
        #: the rows at which slices begin, from the oldest that is still needed to the next one
        self._begins = Tail()
        self._begins.extend(np.zeros(1, np.int64))
        self._next_slice = 0
        #: the order values of the slices' first and last rows
        self._first_values, self._last_values = KeptValues(), KeptValues()
        #: the key of the rows before, where it began, and its last answers
        self._key: list[pa.Array] | None = None
        self._open_start = 0
        self._before: dict[str, pa.Table] = {}
        self._empty: dict[str, pa.Array] = {}

    def advance(self, columns: Mapping[str, pa.Array], size: int) -> Iterator[pa.Table]:
        """The answers that are complete with these rows."""
        if not size:
            return
        keys = [columns[name] for name in self._plan.key]
        stretch = self._stretch(columns, keys, size)
        most = sizes.current().most_answers
        if size > 1 and max(f.count(stretch) for f in self._finders.values()) > most:
            for begin, length in ((0, size // 2), (size // 2, size - size // 2)):
                part = {name: column.slice(begin, length) for name, column in columns.items()}
                yield from self.advance(part, length)
            return
        heads = pa.array(stretch.new_starts[:-1])
        yield from self._answer(stretch, [column.take(heads) for column in keys])
        self._key = [column.slice(size - 1) for column in keys]
        self._empty = {name: column.slice(0, 0) for name, column in columns.items()}

    def close(self) -> Iterator[pa.Table]:
        """The answers that waited for more rows."""
        if self._key is not None:
            starts = np.array([self._open_start, NEVER])
            yield from self._answer(Stretch(self._empty, 0, starts, follows=True), [])

    @property
    def slices_kept(self) -> int:
        """How many slices answers to come may need."""
        return len(self._begins) - 1

    def _stretch(self, columns: Mapping[str, pa.Array], keys: list[pa.Array], size: int) -> Stretch:
        follows = self._key is not None
        continues = self._key is not None and same_key(
            self._key, [column.slice(0, 1) for column in keys]
        )
        starts = run_starts(keys, size, continues=continues)
        if follows:
            starts = np.append([self._open_start], starts)
        times = np.empty(0, np.int64)
        if self._timed:
            times = arrow.times(in_order_type(columns[self._plan.order[0]], self._plan))
        return Stretch(columns, size, starts, follows, False, times)

    def _answer(self, stretch: Stretch, new_keys: list[pa.Array]) -> Iterator[pa.Table]:
        found = {name: finder.find(stretch) for name, finder in self._finders.items()}
        for name, kept in self._kept.items():
            kept.append(stretch.columns[name])
        with kernels_named(self._features.compiled):
            self._cut(stretch, found.values())
            for name, extents in found.items():
                firsts, stops = (self._number(rows) for rows in (extents.firsts, extents.stops))
                answers = self._slices.answers(name, firsts, stops)
                if len(stops):
                    yield self._table(name, stretch, new_keys, extents, (firsts, stops), answers)
                elif len(stretch.starts) > 2:
                    self._before.pop(name, None)
        self._forget(stretch, found)

    def _cut(self, stretch: Stretch, found: Iterable[Extents]) -> None:
        """Combine the rows of the stretch into slices."""
        if not stretch.size:
            return
        marks = [np.array([0, max(stretch.open_start, 0), stretch.size])]
        for extents in found:
            marks += [extents.firsts[extents.firsts >= 0], extents.stops, extents.openings]
        cuts = walks.cuts(marks, stretch.size)
        self._slices.extend(stretch, cuts, self._position, self._next_slice)
        self._begins.extend(self._position + cuts[1:])
        self._next_slice += len(cuts) - 1
        if any(extents.begins is None for extents in found):
            order = in_order_type(stretch.columns[self._plan.order[0]], self._plan)
            self._first_values.append(order.take(pa.array(cuts[:-1])))
            self._last_values.append(order.take(pa.array(cuts[1:] - 1)))

    def _number(self, rows: Array) -> Array:
        """The numbers of the slices that begin at rows of the stretch, or before it."""
        begins, rows = self._begins.values, rows + self._position
        # The walk begins near the first row, not at the oldest slice.
        skipped = max(int(np.searchsorted(begins, rows[0])) - 1, 0) if len(rows) else 0
        oldest = self._next_slice + 1 - len(begins)
        return oldest + skipped + walks.runs_of(begins[skipped:], rows)

    # Tables --------------------------------------------------------------------------------------

    def _table(
        self, name: str, stretch: Stretch, new_keys: list[pa.Array], extents: Extents,
        numbers: tuple[Array, Array], answers: Answers,
    ) -> pa.Table:  # fmt: skip
        plan, features = self._plan, self._features
        runs = walks.runs_of(stretch.starts, extents.firsts)
        keys = {}
        for index, column in enumerate(plan.key):
            pieces = [self._key[index]] if self._key is not None else []
            pieces += new_keys[index : index + 1]
            keys[column] = pa.concat_arrays(pieces).take(pa.array(runs))
        answered = answered_table(
            plan,
            name,
            keys,
            self._bounds(extents, *numbers),
            lambda place: features.result(
                answers, plan.features[place], lambda column, rows: self._kept[column].take(rows)
            ),
        )
        return self._changed(name, stretch, answered, runs) if plan.changes_only else answered

    def _bounds(self, extents: Extents, firsts: Array, stops: Array) -> tuple[pa.Array, pa.Array]:
        if extents.begins is None or extents.ends is None:
            begins = self._first_values.take(pa.array(firsts))
            return begins, self._last_values.take(pa.array(stops - 1))
        order_type = self._plan.order_type
        return times_to_arrow(extents.begins, order_type), times_to_arrow(extents.ends, order_type)

    def _changed(self, name: str, stretch: Stretch, answered: pa.Table, runs: Array) -> pa.Table:
        """The answers that differ from the one before of their key."""
        before = self._before.pop(name, None)
        if before is not None:
            answered, runs = pa.concat_tables([before, answered]), np.append([0], runs)
        changed = changes(self._plan, answered, runs)
        if before is not None:
            changed[0] = False
        if runs[-1] == len(stretch.starts) - 2:
            self._before[name] = answered.slice(len(runs) - 1)
        return answered.filter(pa.array(changed))

    def _forget(self, stretch: Stretch, found: Mapping[str, Extents]) -> None:
        """Drop what no answer to come can need."""
        fronts = {name: extents.front for name, extents in found.items()}
        needed = {name: int(self._number(np.array([row]))[0]) for name, row in fronts.items()}
        self._slices.forget(needed)
        oldest = min(needed.values())
        self._begins.drop(oldest - (self._next_slice + 1 - len(self._begins)))
        for values in (self._first_values, self._last_values):
            values.forget_before(oldest)
        for kept in self._kept.values():
            kept.forget_before(self._position + min(fronts.values()))
        self._position += stretch.size
        self._open_start = stretch.open_start - stretch.size


class _Slices:
    """The slices that some window has not taken yet, and the windows."""

    def __init__(self, features: FeatureColumns, plan: SlidePlan, windows: Iterable[str]) -> None:
        self._features = features
        self._compiled: dict[str, CompiledSliceWindow] = {}
        if features.compiled:
            self._kernels = SliceKernels(features, plan, windows)
            self._memory = KernelMemory(features.product)
            self._capacity = sizes.current().slice_capacity
            self._ring = self._memory.queue(self._capacity)
            self._compiled = {
                name: CompiledSliceWindow(self._kernels, name, self._memory) for name in windows
            }
        self._plain_partials = [PlainMemory().queue(0) for _ in features.plain]
        self._plain = {
            name: [PlainSliceWindow(features, feature, plan, name) for feature in features.plain]
            for name in windows
        }
        #: the oldest slice of numbers that is kept
        self._oldest = 0

    def extend(self, stretch: Stretch, cuts: Array, position: int, first_slice: int) -> None:
        """Combine the rows between cuts; the first row stands at a position of the stream."""
        features, count = self._features, len(cuts) - 1
        if features.compiled:
            self._make_room(first_slice, first_slice + count)
            block = features.compiled_block(stretch.columns, stretch.size, position)
            fixed = (*self._memory.workspace(), *block, cuts, self._ring, first_slice)
            aggregate_paced(
                lambda begin, stop: self._kernels.aggregate(*fixed, begin, stop), cuts, 0, count
            )
        if features.plain:
            plain_block = features.plain_block(stretch.columns, stretch.size, position)
            for index, store in enumerate(self._plain_partials):
                partials = plain_partials(features, index, plain_block, cuts)
                for number, partial in enumerate(partials):
                    store.store(first_slice + number, partial)

    def _make_room(self, end: int, wanted: int) -> None:
        if wanted - self._oldest <= self._capacity:
            return
        self._capacity = 1 << (wanted - self._oldest - 1).bit_length()
        larger = self._memory.queue(self._capacity)
        self._kernels.copy(*self._memory.workspace(), self._ring, larger, self._oldest, end)
        self._ring = larger

    def answers(self, name: str, firsts: Array, stops: Array) -> Answers:
        """The answers of a window over slices."""
        answers = self._features.answers(len(stops))
        if not len(stops):
            return answers
        if self._compiled:
            self._compiled[name].answer(self._ring, answers, firsts, stops, 0, len(stops))
        for partials, window, values in zip(
            self._plain_partials, self._plain[name], answers.plain, strict=True
        ):
            window.answer(partials, values, firsts, stops)
        return answers

    def forget(self, needed: Mapping[str, int]) -> None:
        """Drop the slices that every window has taken, or that it will never ask for."""
        if self._compiled:
            self._oldest = min(
                max(number, self._compiled[name].end) for name, number in needed.items()
            )
        for index, partials in enumerate(self._plain_partials):
            partials.release(
                min(max(number, self._plain[name][index].end) for name, number in needed.items())
            )
