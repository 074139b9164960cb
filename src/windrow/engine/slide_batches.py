"""`slide` on a stream of batches that are sorted by key and order, as a Spark task sees them.

Each batch goes to `shared_slices.py`, which keeps the slices that answers to come
may need. Here is what goes on from batch to batch: the key that is open, and how each window finds
its answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.algebra import arrays
from windrow.engine import columns as arrow
from windrow.engine.feature_columns import FeatureColumns
from windrow.engine.held_rows import gathered
from windrow.engine.policy_counts import PolicyCounters
from windrow.engine.shared_slices import SharedSlices
from windrow.engine.slice_windows import SliceKernels
from windrow.planning.slide_plan import SlidePlan
from windrow.windows import Window
from windrow.windows.key_runs import NEVER, run_starts, same_key
from windrow.windows.setting import Setting
from windrow.windows.sorted_rows import SortedRows
from windrow.work import sizes

Array = np.ndarray[Any, Any]


def slide_batches(
    batches: Iterable[pa.RecordBatch | None], plan: SlidePlan, nullable: AbstractSet[str]
) -> Iterator[pa.Table | None]:
    """The answers of all windows of a plan over sorted batches, as soon as they are complete.

    A plan that cannot be run is refused at once; batches are read as you read the answers.

    Args:
        batches: rows of `plan.columns`, sorted by key and order. A None is handed on, so that
            somebody between two batches gets a turn.
        plan: what to answer.
        nullable: the columns that may hold nulls.

    Returns:
        Tables of `plan.output_schema`, each of one window.
    """
    return SlidingWindows(plan, nullable).answers(batches)


class SlidingWindows:
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
            (measured, _BatchStream(plan, windows, nullable))
            for (measured, _number), windows in shared.items()
        ]

    def answers(self, batches: Iterable[pa.RecordBatch | None]) -> Iterator[pa.Table | None]:
        """The answers to all batches; see `slide_batches`."""
        if any(stream.counts for _measured, stream in self._streams):
            batches = gathered(batches, lambda: self.rows_held)
        for batch in batches:
            if batch is None:
                yield None
            else:
                yield from self.advance(batch)
        for _measured, stream in self._streams:
            yield from stream.close()

    def advance(self, batch: pa.RecordBatch) -> Iterator[pa.Table]:
        """The answers that are complete with a batch."""
        columns = {name: arrow.whole(batch[name]) for name in self._plan.columns}
        for measured, stream in self._streams:
            seen, size = columns, batch.num_rows
            present = [arrays.present(columns[name]) for name in measured]
            partly = [rows for rows in present if rows is not None]
            if partly:
                mask = np.logical_and.reduce(partly)
                seen = {name: column.filter(pa.array(mask)) for name, column in columns.items()}
                size = int(mask.sum())
            yield from stream.advance(seen, size)

    @property
    def rows_held(self) -> int:
        """How many rows answers to come may need as they are."""
        return max(stream.slices.rows_held for _measured, stream in self._streams)

    @property
    def slices_kept(self) -> int:
        """How many slices answers to come may need, for tests to see."""
        return sum(stream.slices.slices_kept for _measured, stream in self._streams)


class _BatchStream:
    """The rows that some windows see, batch by batch; the windows share their slices."""

    def __init__(
        self, plan: SlidePlan, windows: Mapping[str, Window], nullable: AbstractSet[str]
    ) -> None:
        self._plan = plan
        counts = PolicyCounters(plan.schema, nullable)
        self._answering = {
            name: window.answering(Setting(name, plan.order[0], plan.order_type, counts))
            for name, window in windows.items()
        }
        features = FeatureColumns(plan.features, nullable, counts=plan.wish.counts_values)
        #: whether rows are numbered, so that batches should not be small
        self.counts = bool(features.counted)
        kernels = SliceKernels(features, plan, windows)
        self.slices = SharedSlices(plan, features, kernels, list(windows))
        #: the key of the rows before, and where it began
        self._key: list[pa.Array] | None = None
        self._open_start = 0
        self._empty: dict[str, pa.Array] = {}

    def advance(self, columns: Mapping[str, pa.Array], size: int) -> Iterator[pa.Table]:
        """The answers that are complete with these rows."""
        if not size:
            return
        keys = [columns[name] for name in self._plan.key]
        rows = self._next_rows(columns, keys, size)
        most = sizes.current().most_answers
        if size > 1 and max(each.count(rows) for each in self._answering.values()) > most:
            for begin, length in ((0, size // 2), (size // 2, size - size // 2)):
                part = {name: column.slice(begin, length) for name, column in columns.items()}
                yield from self.advance(part, length)
            return
        heads = pa.array(rows.runs[:-1])
        yield from self._answer(rows, [column.take(heads) for column in keys])
        self._key = [column.slice(size - 1) for column in keys]
        self._open_start = rows.open_start - size
        self._empty = {name: column.slice(0, 0) for name, column in columns.items()}

    def close(self) -> Iterator[pa.Table]:
        """The answers that waited for more rows."""
        if self._key is not None:
            none_new = [column.slice(0, 0) for column in self._key]
            none_left = self._rows(self._empty, np.array([NEVER]), 0, ends=True)
            yield from self._answer(none_left, none_new)

    def _next_rows(
        self, columns: Mapping[str, pa.Array], keys: Sequence[pa.Array], size: int
    ) -> SortedRows:
        continues = self._key is not None and same_key(
            self._key, [column.slice(0, 1) for column in keys]
        )
        return self._rows(columns, run_starts(keys, size, continues=continues), size, ends=False)

    def _rows(
        self, columns: Mapping[str, pa.Array], runs: Array, size: int, *, ends: bool
    ) -> SortedRows:
        plan = self._plan
        since = None if self._key is None else self._open_start
        return SortedRows(
            columns, runs, size, plan.order[0], plan.order_type, since=since, ends=ends
        )

    def _answer(self, rows: SortedRows, new_keys: Sequence[pa.Array]) -> Iterator[pa.Table]:
        keys = new_keys
        if self._key is not None:
            pairs = zip(self._key, new_keys, strict=True)
            keys = [pa.concat_arrays([before, new]) for before, new in pairs]
        found = {name: each.find(rows) for name, each in self._answering.items()}
        for _name, table in self.slices.answer(rows, keys, found):
            yield table
