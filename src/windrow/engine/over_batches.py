"""`over` on a stream of batches that are sorted by key and order, as a Spark task sees them.

Windows keep their state from batch to batch. Memory is the windows and one batch, however many rows
a key has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.engine import columns as arrow
from windrow.engine.kept_values import KeptValues
from windrow.engine.over_block import OverBlock
from windrow.engine.over_kernels import OverKernels
from windrow.planning.over_plan import OverPlan
from windrow.windows.key_runs import NEVER, run_starts, same_key
from windrow.windows.sorted_rows import SortedRows

Array = np.ndarray[Any, Any]


def over_batches(
    batches: Iterable[pa.RecordBatch], plan: OverPlan, nullable: AbstractSet[str]
) -> Iterator[pa.RecordBatch]:
    """Answer the rows of sorted batches, in their order.

    A plan that cannot be run is refused at once; batches are read as you read the answers.

    Args:
        batches: rows of `plan.columns`, sorted by key and order.
        plan: what to answer.
        nullable: the columns that may hold nulls.

    Returns:
        Batches of `plan.output_fields`, a row for each row.
    """
    windows = RollingWindows(OverKernels(plan, nullable))
    filled = (batch for batch in batches if batch.num_rows)
    whole = whole_peers(filled, (*plan.key, plan.order[0])) if plan.has_peers else filled
    return map(windows.advance, whole)


class RollingWindows:
    """The windows of a plan between one batch and the next."""

    def __init__(self, kernels: OverKernels) -> None:
        """Start with empty windows."""
        self._kernels, self._plan = kernels, kernels.plan
        self._windows = {name: kernels.windows_of(name) for name in self._plan.windows}
        self._bounding = {name: kernels.bounding(name) for name in self._plan.windows}
        self._position = 0
        self._runs = _RunsAcrossBatches()
        carried = {column for feature in self._plan.features for column in feature.carried}
        self._kept = {name: KeptValues() for name in carried}

    def advance(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The plan's answers to the rows of a batch; it may not end between peers."""
        plan, size = self._plan, batch.num_rows
        used = {*self._kernels.input_columns, *plan.window_columns}
        columns = {name: arrow.whole(batch[name]) for name in used}
        for name, kept in self._kept.items():
            kept.append(columns[name])
        starts = self._runs.starts([arrow.whole(batch[name]) for name in plan.key], size)
        rows = SortedRows(columns, starts, size, next(iter(plan.order), None))
        block = OverBlock(self._kernels, self._bounding, rows, self._position)
        for name, windows in self._windows.items():
            block.answer(name, windows)
        results = [
            block.column(output, lambda name, positions: self._kept[name].take(positions))
            for output in plan.outputs
        ]
        self._position += size
        self._forget()
        return pa.RecordBatch.from_arrays(results, schema=pa.schema(plan.output_fields))

    def _forget(self) -> None:
        """Drop the carried values of events that have left every window."""
        fronts = [
            each.front
            for compiled, plain in self._windows.values()
            for each in (compiled, *plain)
            if each is not None
        ]
        for kept in self._kept.values():
            kept.forget_before(min(fronts))


class _RunsAcrossBatches:
    """Runs of equal keys that go on from one batch to the next."""

    def __init__(self) -> None:
        self._last: list[pa.Array] | None = None

    def starts(self, keys: Sequence[pa.Array], size: int) -> Array:
        """The rows of the next batch at which a new key begins, and `NEVER`."""
        first, last = [[key.slice(at, 1) for key in keys] for at in (0, size - 1)]
        continues = self._last is not None and same_key(self._last, first)
        self._last = last
        return run_starts(keys, size, continues=continues)


def whole_peers(batches: Iterable[pa.RecordBatch], by: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """The same rows in batches that never end between rows with equal values in `by`."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        joined = pa.concat_batches([*held, batch]) if held else batch
        starts = run_starts([arrow.whole(joined[name]) for name in by], joined.num_rows)
        last = int(starts[starts != NEVER][-1])
        if last:
            yield joined.slice(0, last)
        held = [joined.slice(last)]
    yield from held
