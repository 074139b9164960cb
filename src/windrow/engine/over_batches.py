"""A stream of record batches, sorted by key and order, through all windows of a plan.

Memory is the windows and one batch, however many rows a key has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.engine import columns as arrow
from windrow.engine.over_kernels import OverKernels
from windrow.engine.row_windows import RowBlock
from windrow.engine.trailing import SortedRows
from windrow.windows.key_runs import NEVER, run_starts, same_key

Array = np.ndarray[Any, Any]

#: kept values are joined into one piece when they are in more pieces than this
_MOST_CHUNKS = 64


class Rolling:
    """The windows of a plan between one batch and the next."""

    def __init__(self, program: OverKernels) -> None:
        """The windows are empty."""
        self._program = program
        self._plan = program.plan
        self._passes = {name: program.windows_of(name) for name in self._plan.windows}
        self._trails = {name: program.trail(name) for name in self._plan.windows}
        self._position = 0
        self._runs = _Runs()
        carried = {column for feature in self._plan.features for column in feature.carried}
        self._kept = {name: Kept() for name in carried}

    def advance(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The plan's answers to the rows of a batch, in which there are `plan.columns`."""
        plan, program, size = self._plan, self._program, batch.num_rows
        used = {*program.input_columns, *plan.window_columns}
        columns = {name: arrow.whole(batch[name]) for name in used}
        for name, kept in self._kept.items():
            kept.append(columns[name])
        compiled = program.compiled_block(columns, size, self._position)
        plain = program.plain_block(columns, size, self._position)
        keys = [arrow.whole(batch[name]) for name in plan.key]
        starts = self._runs.starts(keys, size)
        rows = SortedRows(columns, starts, size, next(iter(plan.order), None))
        answers = {}
        for name, passes in self._passes.items():
            bounds = self._trails[name].bounds(rows)
            answers[name] = program.answers(size, bounds.present)
            program.drive(
                passes,
                RowBlock(*compiled, bounds, 0, 0, size),
                RowBlock(plain, (), bounds, 0, 0, size),
                answers[name],
            )
        results = [
            program.result(
                answers[output.window],
                plan.features[output.feature],
                lambda name, positions: self._kept[name].take(positions),
            )
            for output in plan.outputs
        ]
        self._position += size
        self._forget()
        return pa.RecordBatch.from_arrays(results, schema=pa.schema(plan.output_fields))

    def _forget(self) -> None:
        fronts = [
            each.front
            for compiled, plain in self._passes.values()
            for each in (compiled, *plain)
            if each is not None
        ]
        for kept in self._kept.values():
            kept.forget_before(min(fronts))


class _Runs:
    """Runs of equal keys that go on from one batch to the next."""

    def __init__(self) -> None:
        self._last: list[pa.Array] | None = None

    def starts(self, keys: Sequence[pa.Array], size: int) -> Array:
        first, last = [[key.slice(at, 1) for key in keys] for at in (0, size - 1)]
        continues = self._last is not None and same_key(self._last, first)
        self._last = last
        return run_starts(keys, size, continues=continues)


class Kept:
    """The values of a column from the oldest window's front on, found by position.

    What has left is cut off at once and given back when the pieces are joined, so that no more is
    held than the windows and as many batches as there may be pieces.
    """

    def __init__(self) -> None:
        """Nothing yet; the first value has position zero."""
        self._chunks: list[pa.Array] = []
        self._first_position = 0

    def append(self, values: pa.Array) -> None:
        """Add the values of the positions that follow."""
        self._chunks.append(values)
        if len(self._chunks) > _MOST_CHUNKS:
            self._chunks = [pa.concat_arrays(self._chunks)]

    def take(self, positions: pa.Array) -> pa.Array:
        """The values at positions."""
        values = pa.chunked_array(self._chunks)
        offset = pa.scalar(self._first_position, pa.int64())
        return arrow.whole(values.take(pa.compute.subtract(positions, offset)))

    def forget_before(self, position: int) -> None:
        """Drop values that lie before a position."""
        while self._chunks and self._first_position + len(self._chunks[0]) <= position:
            self._first_position += len(self._chunks.pop(0))
        if self._chunks:
            self._chunks[0] = self._chunks[0].slice(position - self._first_position)
            self._first_position = position


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
