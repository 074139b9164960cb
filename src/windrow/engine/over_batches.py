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
from windrow.engine.counted_spans import CountedSpans
from windrow.engine.held_rows import gathered
from windrow.engine.kept_values import KeptValues
from windrow.engine.over_block import OverBlock
from windrow.engine.over_kernels import OverKernels
from windrow.engine.row_windows import takes_spans
from windrow.engine.waiting_answers import WaitingAnswers
from windrow.planning.over_plan import OverPlan
from windrow.windows.key_runs import NEVER, run_starts, same_key
from windrow.windows.sorted_rows import SortedRows
from windrow.windows.spans import Spanning

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
    filled: Iterable[pa.RecordBatch] = (batch for batch in batches if batch.num_rows)
    if any(window.ahead(1).ticks == 0 for window in plan.windows.values()):
        # All rows of a batch are inserted, and these windows hold a row only when its peers are
        # all answered.
        filled = whole_peers(filled, (*plan.key, plan.order[0]))
    return windows.answers(windows.gathered(filled))


class RollingWindows:
    """The windows of a plan between one batch and the next.

    Attributes:
        spans: what is answered from value counts, with the rows that it holds.
    """

    def __init__(self, kernels: OverKernels) -> None:
        """Start with empty windows."""
        self._kernels, self._plan = kernels, kernels.plan
        windows = self._plan.windows
        self._windows = {name: kernels.windows_of(name) for name in windows}
        self._bounding = {name: kernels.bounding(name) for name in windows}
        self._spanning = {
            name: Spanning() for name in windows if kernels.counted or takes_spans(windows[name])
        }
        self.spans = CountedSpans(kernels.counted)
        self._fronts = dict.fromkeys(windows, 0)
        self._position = 0
        self._runs = RunsAcrossBatches()
        carried = {column for feature in self._plan.features for column in feature.carried}
        self._kept = {name: KeptValues() for name in carried}
        self._waiting = WaitingAnswers(self._plan)

    def gathered(self, batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        """The same rows, in batches that are large enough for what is done with them."""
        if not self._kernels.counted:
            return batches
        found = gathered(batches, lambda: self.spans.rows_held)
        return (batch for batch in found if batch is not None)

    def answers(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The plan's answers to the rows of all batches, in their order.

        A batch of answers has another number of rows than one that was read if windows end behind
        their row: a row waits until its windows are complete.
        """
        batch = None
        for batch in batches:
            starts = self._runs.starts(
                [arrow.whole(batch[name]) for name in self._plan.key], batch.num_rows
            )
            self._advance(batch, starts, self._plan.windows)
            yield from self._waiting.complete()
        unfinished = self._waiting.short_of(self._position)
        if batch is not None and unfinished:
            self._advance(batch.slice(0, 0), np.array([NEVER]), unfinished, ends=True)
            yield from self._waiting.complete()

    def _advance(
        self, batch: pa.RecordBatch, starts: Array, names: Iterable[str], ends: bool = False
    ) -> None:
        """Drive the rows of a batch through some windows; what they answer waits for the others."""
        plan, size = self._plan, batch.num_rows
        used = {*self._kernels.input_columns, *plan.window_columns}
        columns = {name: arrow.whole(batch[name]) for name in used}
        for name, kept in self._kept.items():
            kept.append(columns[name])
        rows = SortedRows(columns, starts, size, next(iter(plan.order), None), ends=ends)
        bounding = {name: self._bounding[name] for name in names}
        spanning = {name: self._spanning[name] for name in names if name in self._spanning}
        block = OverBlock(self._kernels, bounding, rows, self._position, spanning, self.spans)
        for name in names:
            block.answer(name, self._windows[name])
            front = block.front(name)
            self._fronts[name] = self._fronts[name] if front is None else front
            outputs = [output for output in plan.outputs if output.window == name]
            self._waiting.add(name, [block.column(each, self._carried) for each in outputs])
        self.spans.forget_before(min(self._fronts.values()) - self._position)
        self._position += size
        self._forget()

    def _carried(self, name: str, positions: pa.Array) -> pa.Array:
        """Values of a column by position."""
        return self._kept[name].take(positions)

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


class RunsAcrossBatches:
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
