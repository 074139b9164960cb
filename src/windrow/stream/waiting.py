"""Events that wait until their slice is final.

They stand in queues, each of blocks in storage. A batch's events are a new queue: one block, or
several, each of later slices than the one before, where they are many. So of a queue only the
blocks in front are read when slices become final. What is left of one goes on waiting in its place,
in two blocks where it is much: the next slices take half of it.

      merged twice        merged once             newest
      [ 3-5 | 6-8 ]       [ 2-4 | 5-9 ][ 3-7 ]    [ 4-9 ][ 8-9 ]

Eight queues that were merged equally often become one. So the queues that a batch looks into are a
few times the logarithm of how many batches have events that wait, and an event is rewritten as
often. Blocks of slices that no other block has are not: events that come in order only wait.

Queues stand in the order of arrival, and so do the events of a slice in a queue.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.stream import sizes
from windrow.stream.state import WAITING, GroupState, Queue, ShardBlocks, Waiting, block_number

Array = np.ndarray[Any, Any]
Columns = Mapping[str, pa.Array]


class WaitingEvents:
    """The events of one group of windows that are not final."""

    def __init__(
        self,
        blocks: ShardBlocks,
        group: int,
        schema: pa.Schema,
        state: GroupState,
        slices_of: Callable[[Columns], Array],
    ) -> None:
        """`slices_of` tells the slices of events."""
        self._blocks, self._group, self._schema, self._state = blocks, group, schema, state
        self._slices_of = slices_of

    def add(self, columns: Columns, slices: Array) -> None:
        """Keep events, each in the slice of that number."""
        if len(slices):
            kept = self._kept(self.batch(columns), slices, sizes.current().waiting_block)
            self._state.queues.append(Queue(0, kept))

    def batch(self, columns: Columns | None) -> pa.RecordBatch:
        """Events as a batch."""
        if columns is None:
            return pa.RecordBatch.from_pylist([], self._schema)
        return pa.RecordBatch.from_arrays(
            [columns[name] for name in self._schema.names], schema=self._schema
        )

    def take_before(self, frontier: int) -> Columns | None:
        """The events of the slices before a frontier, if there are any; they wait no longer."""
        taken: list[pa.RecordBatch] = []
        for queue in self._state.queues:
            queue.blocks = [
                left for each in queue.blocks for left in self._left(each, frontier, taken)
            ]
        self._state.queues = [queue for queue in self._state.queues if queue.blocks]
        return _columns(pa.concat_batches(taken)) if taken else None

    def _left(self, each: Waiting, frontier: int, taken: list[pa.RecordBatch]) -> list[Waiting]:
        """What is left of a block without the events before a frontier, which go to `taken`."""
        if each.first >= frontier:
            return [each]
        batch = self._taken(each)
        if each.last < frontier:
            taken.append(batch)
            return []
        slices = self._slices_of(_columns(batch))
        rest = slices >= frontier
        taken.append(batch.filter(pa.array(~rest)))
        half = max(sizes.current().waiting_rest, -(-int(rest.sum()) // 2))
        return self._kept(batch.filter(pa.array(rest)), slices[rest], half)

    def merge(self) -> None:
        """Make one queue of several where they are many."""
        queues, merged = self._state.queues, sizes.current().queues_merged
        most = sizes.current().merged_bytes
        while len(newest := queues[-merged:]) == merged:
            blocks = [block for queue in newest for block in queue.blocks]
            # No queue was merged less often than a newer one.
            oldest = newest[0].merges
            if oldest != newest[-1].merges or sum(each.size for each in blocks) > most:
                return
            queues[-merged:] = [Queue(oldest + 1, self._merged(blocks))]

    def _merged(self, blocks: Sequence[Waiting]) -> list[Waiting]:
        """Blocks in the order of arrival as those of one queue."""
        merged: list[Waiting] = []
        for together in _overlapping(blocks):
            if len(together) == 1:
                merged += together
                continue
            batch = pa.concat_batches([self._taken(each) for each in together])
            merged += self._kept(
                batch, self._slices_of(_columns(batch)), sizes.current().waiting_block
            )
        return merged

    def _taken(self, each: Waiting) -> pa.RecordBatch:
        number = block_number(WAITING, self._group, each.number)
        batch = self._blocks.load(number, self._schema)
        self._blocks.delete(number)
        return batch

    def _kept(self, batch: pa.RecordBatch, slices: Array, most: int) -> list[Waiting]:
        """Write events, about so many to a block."""
        kept = []
        for part, numbers in _cut(batch, slices, most):
            number = self._state.next_waiting
            self._state.next_waiting += 1
            self._blocks.store(block_number(WAITING, self._group, number), part)
            kept.append(Waiting(number, int(numbers.min()), int(numbers.max()), part.nbytes))
        return kept


def _columns(batch: pa.RecordBatch) -> Columns:
    return dict(zip(batch.schema.names, batch.columns, strict=True))


def _cut(batch: pa.RecordBatch, slices: Array, most: int) -> Iterator[tuple[pa.RecordBatch, Array]]:
    """Events in parts of some size, each with slices of its own; events of a slice in order."""
    if len(slices) <= most:
        yield batch, slices
        return
    order = np.argsort(slices, kind="stable")
    batch, slices = batch.take(pa.array(order)), slices[order]
    cuts = np.searchsorted(slices, slices[::most])
    marks = [*np.unique(cuts).tolist(), len(slices)]
    for begin, stop in pairwise(marks):
        yield batch.slice(begin, stop - begin), slices[begin:stop]


def _overlapping(blocks: Sequence[Waiting]) -> Iterator[list[Waiting]]:
    """Blocks that have slices in common, by slice; small ones that have none too.

    Those that come together are in the order that they were in.
    """
    together: list[int] = []
    last = size = 0
    for place in sorted(range(len(blocks)), key=lambda place: blocks[place].first):
        each = blocks[place]
        if together and each.first > last and size + each.size > sizes.current().neighbour_bytes:
            yield [blocks[other] for other in sorted(together)]
            together, size = [], 0
        last = max(last, each.last) if together else each.last
        together.append(place)
        size += each.size
    if together:
        yield [blocks[other] for other in sorted(together)]
