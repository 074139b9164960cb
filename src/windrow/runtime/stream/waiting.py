"""Events that wait until their slice is final.

They lie in blocks, in the order of arrival. A batch's events are cut into several blocks by slice
where they are many, so that a block is seldom read before all of it is final; what is left of one
that was goes on waiting in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.runtime.stream.state import WAITING, Blocks, GroupState, Waiting, block_number

Array = np.ndarray[Any, Any]
Columns = Mapping[str, pa.Array]

#: fewer events than this are not cut
_EVENTS_IN_A_BLOCK = 2**14


class WaitingEvents:
    """The events of one group of windows that are not final."""

    def __init__(self, blocks: Blocks, group: int, schema: pa.Schema, state: GroupState) -> None:
        self._blocks, self._group, self._schema, self._state = blocks, group, schema, state

    def add(self, columns: Columns, slices: Array) -> None:
        """Keep events, each in the slice of that number."""
        if not len(slices):
            return
        for part, numbers in _cut(self.batch(columns), slices):
            self._state.waiting.append(self._kept(part, numbers))

    def batch(self, columns: Columns | None) -> pa.RecordBatch:
        """Events as a batch."""
        if columns is None:
            return pa.RecordBatch.from_pylist([], self._schema)
        return pa.RecordBatch.from_arrays(
            [columns[name] for name in self._schema.names], schema=self._schema
        )

    def take_before(self, edge: int, slices_of: Callable[[Columns], Array]) -> Columns | None:
        """The events of the slices before an edge, if there are any; they wait no longer."""
        taken: list[pa.RecordBatch] = []
        left: list[Waiting] = []
        for each in self._state.waiting:
            if each.first >= edge:
                left.append(each)
                continue
            number = block_number(WAITING, self._group, each.number)
            batch = self._blocks.load(number, self._schema)
            self._blocks.delete(number)
            if each.last >= edge:
                slices = slices_of(_columns(batch))
                rest = slices >= edge
                left.append(self._kept(batch.filter(pa.array(rest)), slices[rest]))
                batch = batch.filter(pa.array(~rest))
            taken.append(batch)
        self._state.waiting = left
        return _columns(pa.concat_batches(taken)) if taken else None

    def _kept(self, batch: pa.RecordBatch, slices: Array) -> Waiting:
        number = self._state.next_waiting
        self._state.next_waiting += 1
        self._blocks.store(block_number(WAITING, self._group, number), batch)
        return Waiting(number, int(slices.min()), int(slices.max()))


def _columns(batch: pa.RecordBatch) -> Columns:
    return dict(zip(batch.schema.names, batch.columns, strict=True))


def _cut(batch: pa.RecordBatch, slices: Array) -> Iterator[tuple[pa.RecordBatch, Array]]:
    """Events in parts of some size, each with slices of its own; events of a slice in order."""
    if len(slices) <= _EVENTS_IN_A_BLOCK:
        yield batch, slices
        return
    order = np.argsort(slices, kind="stable")
    batch, slices = batch.take(pa.array(order)), slices[order]
    cuts = np.searchsorted(slices, slices[::_EVENTS_IN_A_BLOCK])
    marks = [*np.unique(cuts).tolist(), len(slices)]
    for begin, stop in pairwise(marks):
        yield batch.slice(begin, stop - begin), slices[begin:stop]
