"""Waiting events: kept once for all groups of windows, until they are final for every group.

Groups have slices of their own, so an event may be final for one group and not yet for another. The
edges of all groups together cut time into joint slices. All events of a joint slice become final
for a group at once, so events are kept by the time at which their joint slice begins.

The frontier of a group is the time at which its oldest slice begins that is not final. A slice
before the furthest frontier gets no more events: they would be late. So there are two stages:

                       frontier of a group      furthest frontier
      ----------------------|-----------------------------|--------------------------- time
        final for all           partly final                 open: events still arrive
        deleted                 kept for lagging groups      kept for all groups

When frontiers move, each group takes the events between its old frontier and its new one, whichever
stage they are in. Then the events that the furthest frontier has passed move from `open` to
`partly_final`, without those that are final for all groups. With one group there are none left, so
that an event is written once and read once.

Both stages are queues of blocks. A batch's events are a new queue of one block, or of several where
they are many, each of later slices than the one before. So only the front blocks of a queue are
read when slices become final. What is left of a block stays in its place, as two blocks where it
is much: the next slices take half of it.

Where the next frontier is expected to fall among a batch's events, they are cut there instead: it
lags as far behind the newest event as it does now. Then the next batch takes one block whole, and
the one after it the other.

      merged twice        merged once             newest
      [ 3-5 | 6-8 ]       [ 2-4 | 5-9 ][ 3-7 ]    [ 4-9 ][ 8-9 ]

Eight queues that were merged equally often become one. So a batch looks into a few times log(n)
queues, where n batches have waiting events, and an event is rewritten as often. Non-overlapping
blocks are not rewritten: events that come in order only wait. Events that are final for some group
with their own batch, as in a stream without Spark, do not wait at all.

Invariants:

1. Every block of `open` begins at the furthest frontier or later; every block of `partly_final`
   ends before it.
2. No frontier lies inside a block: a block is final for a group, or it is not.
3. Events of the same time are in the order of arrival, within a block and from queue to queue.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.engine.columns import only
from windrow.stream import sizes
from windrow.stream.header import Queue, WaitingBlock, WaitingState
from windrow.stream.state import NONE, WAITING, ShardBlocks, block_number

Array = np.ndarray[Any, Any]
Columns = Mapping[str, pa.Array]


class WaitingEvents:
    """The events of a shard that are not final for all groups, while one batch is worked on."""

    def __init__(
        self,
        blocks: ShardBlocks,
        schema: pa.Schema,
        state: WaitingState,
        begins_of: Callable[[Columns], Array],
    ) -> None:
        """`begins_of` tells when the joint slice of each event begins, in ticks."""
        self._blocks, self._schema, self._state = blocks, schema, state
        self._begins_of = begins_of
        #: events that have arrived and need not wait for the furthest frontier
        self._passing: list[pa.RecordBatch] = []

    def add(self, columns: Columns, begins: Array, frontier: int = NONE) -> None:
        """Keep events that have arrived; those before the furthest frontier are taken next.

        `begins` are those of their joint slices.
        """
        batch = pa.RecordBatch.from_arrays(
            [columns[name] for name in self._schema.names], schema=self._schema
        )
        if not batch.num_rows:
            return
        waits = begins >= frontier
        if not waits.all():
            self._passing = [only(batch, ~waits)]
            batch, begins = only(batch, waits), begins[waits]
        if len(begins):
            next_frontier = self._next_frontier(int(begins.max()), frontier)
            batch, begins = self._arrived(batch, begins)
            self._state.open.append(Queue(0, self._kept_for(next_frontier, batch, begins)))

    def _next_frontier(self, newest: int, frontier: int) -> int | None:
        """Where the furthest frontier is expected after the next batch; None if behind new events.

        Spark's watermark comes from the newest event of the batch before, so the frontier lags
        behind the newest event that waited before this batch.
        """
        waited = (each.last for queue in self._state.open for each in queue.blocks)
        before = max(waited, default=NONE)
        if NONE in (before, frontier):
            return None
        expected = newest - (before - frontier)
        return expected if expected > before else None

    def _kept_for(
        self, next_frontier: int | None, batch: pa.RecordBatch, begins: Array
    ) -> list[WaitingBlock]:
        """Write new events, so that the next frontier falls between two blocks."""
        now = sizes.current()
        if next_frontier is None:
            return self._kept(batch, begins, now.waiting_block)
        passed, kept = begins < next_frontier, []
        for part in (passed, ~passed):
            if part.any():
                kept += self._kept(only(batch, part), begins[part], now.waiting_together)
        return kept

    def take(self, before: Sequence[int], now: Sequence[int]) -> list[pa.RecordBatch]:
        """For each group, the events between its frontier before and its frontier now."""
        passed = self._take_open(max(now))
        begins = self._begins(passed) if min(now) < max(now) else None
        taken = [
            self._between(old, new, passed, begins) if new > old else self._batch([])
            for old, new in zip(before, now, strict=True)
        ]
        self._drop_before(min(now))
        if begins is not None:
            self._leave(passed, begins, sorted(set(now)))
        return taken

    def merge(self, frontiers: Sequence[int]) -> None:
        """Make one queue of several where they are many."""
        for queues in (self._state.open, self._state.partly_final):
            self._merge(queues, frontiers)

    # Taking --------------------------------------------------------------------------------------

    def _take_open(self, frontier: int) -> pa.RecordBatch:
        """Remove the events before the furthest frontier from `open`."""
        taken: list[pa.RecordBatch] = []
        for queue in self._state.open:
            queue.blocks = [
                left for each in queue.blocks for left in self._left(each, frontier, taken)
            ]
        self._state.open = [queue for queue in self._state.open if queue.blocks]
        taken += self._passing
        return self._batch(taken)

    def _left(
        self, each: WaitingBlock, frontier: int, taken: list[pa.RecordBatch]
    ) -> list[WaitingBlock]:
        """What is left of a block without the events before a frontier, which go to `taken`."""
        if each.first >= frontier:
            return [each]
        batch = self._removed(each)
        if each.last < frontier:
            taken.append(batch)
            return []
        begins = self._begins(batch)
        rest = begins >= frontier
        taken.append(only(batch, ~rest))
        half = max(sizes.current().waiting_rest, -(-int(rest.sum()) // 2))
        return self._kept(only(batch, rest), begins[rest], half)

    def _between(
        self, old: int, new: int, passed: pa.RecordBatch, begins: Array | None
    ) -> pa.RecordBatch:
        """The events from one frontier to another; `passed` are those that were open before."""
        found = []
        for queue in self._state.partly_final:
            for each in queue.blocks:
                if each.last >= old and each.first < new:
                    batch = self._loaded(each)
                    own = self._begins(batch)
                    found.append(only(batch, (own >= old) & (own < new)))
        found.append(passed if begins is None else only(passed, begins < new))
        return self._batch(found)

    def _drop_before(self, frontier: int) -> None:
        """Delete the blocks that are final for all groups."""
        for queue in self._state.partly_final:
            for each in queue.blocks:
                if each.last < frontier:
                    self._blocks.delete(self._place(each))
            queue.blocks = [each for each in queue.blocks if each.last >= frontier]
        self._state.partly_final = [queue for queue in self._state.partly_final if queue.blocks]

    def _leave(self, passed: pa.RecordBatch, begins: Array, frontiers: Sequence[int]) -> None:
        """Keep what is final for some groups only; no block reaches over a frontier."""
        kept: list[WaitingBlock] = []
        for low, high in pairwise(frontiers):
            within = (begins >= low) & (begins < high)
            if within.any():
                part = only(passed, within)
                kept += self._kept(part, begins[within], sizes.current().waiting_block)
        if kept:
            self._state.partly_final.append(Queue(0, kept))

    # Merging -------------------------------------------------------------------------------------

    def _merge(self, queues: list[Queue], frontiers: Sequence[int]) -> None:
        count, most = sizes.current().queues_merged, sizes.current().merged_bytes
        while len(newest := queues[-count:]) == count:
            blocks = [block for queue in newest for block in queue.blocks]
            # No queue was merged less often than a newer one.
            oldest = newest[0].merges
            if oldest != newest[-1].merges or sum(each.size for each in blocks) > most:
                return
            queues[-count:] = [Queue(oldest + 1, self._merged(blocks, frontiers))]

    def _merged(
        self, blocks: Sequence[WaitingBlock], frontiers: Sequence[int]
    ) -> list[WaitingBlock]:
        """The blocks of several queues, in the order of arrival, as those of one."""
        merged: list[WaitingBlock] = []
        most = sizes.current().waiting_block
        for together in _overlapping(blocks, frontiers):
            if len(together) == 1:
                merged += together
                continue
            batch = self._batch([self._removed(each) for each in together])
            merged += self._kept(*self._condensed(batch, self._begins(batch)), most)
        return merged

    # What waits, which partials change (see `slices/waiting_partials`) ---------------------------

    def _arrived(self, batch: pa.RecordBatch, begins: Array) -> tuple[pa.RecordBatch, Array]:
        """What waits in place of new events, and when their joint slices begin."""
        return batch, begins

    def _condensed(self, batch: pa.RecordBatch, begins: Array) -> tuple[pa.RecordBatch, Array]:
        """The same for what comes of merged blocks."""
        return batch, begins

    def _kind(self, batch: pa.RecordBatch) -> int:
        """The kind of a block of what waits."""
        return WAITING

    def _schema_of(self, kind: int) -> pa.Schema:
        return self._schema

    # Blocks --------------------------------------------------------------------------------------

    def _begins(self, batch: pa.RecordBatch) -> Array:
        return self._begins_of(dict(zip(batch.schema.names, batch.columns, strict=True)))

    def _batch(self, batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
        if len(batches) == 1:
            return batches[0]
        if not batches:
            return pa.RecordBatch.from_pylist([], self._schema)
        return pa.concat_batches(batches)

    def _loaded(self, each: WaitingBlock) -> pa.RecordBatch:
        return self._blocks.load(self._place(each), self._schema_of(each.kind))

    def _removed(self, each: WaitingBlock) -> pa.RecordBatch:
        """The events of a block, which is deleted."""
        batch = self._loaded(each)
        self._blocks.delete(self._place(each))
        return batch

    def _kept(self, batch: pa.RecordBatch, begins: Array, most: int) -> list[WaitingBlock]:
        """Write events, about `most` to a block."""
        kept = []
        for part, own in _cut(batch, begins, most):
            number = self._state.next_block
            self._state.next_block += 1
            span = int(own.min()), int(own.max())
            kept.append(WaitingBlock(number, *span, part.nbytes, self._kind(part)))
            self._blocks.store(self._place(kept[-1]), part)
        return kept

    def _place(self, each: WaitingBlock) -> int:
        return block_number(each.kind, number=each.number)


def _cut(batch: pa.RecordBatch, begins: Array, most: int) -> Iterator[tuple[pa.RecordBatch, Array]]:
    """Events in parts of about `most`, each with slices of its own; those of a slice in order."""
    if len(begins) <= most:
        yield batch, begins
        return
    order = np.argsort(begins, kind="stable")
    batch, begins = batch.take(pa.array(order)), begins[order]
    cuts = np.searchsorted(begins, begins[::most])
    marks = [*np.unique(cuts).tolist(), len(begins)]
    for begin, stop in pairwise(marks):
        yield batch.slice(begin, stop - begin), begins[begin:stop]


def _overlapping(
    blocks: Sequence[WaitingBlock], frontiers: Sequence[int]
) -> Iterator[list[WaitingBlock]]:
    """Blocks that have slices in common, and small neighbours, on the same side of all frontiers.

    Those that come together are in the order in which they were.
    """
    together: list[int] = []
    last = size = 0
    for place in sorted(range(len(blocks)), key=lambda place: blocks[place].first):
        each = blocks[place]
        is_large = size + each.size > sizes.current().neighbour_bytes
        is_apart = any(last < frontier <= each.first for frontier in frontiers)
        if together and each.first > last and (is_large or is_apart):
            yield [blocks[other] for other in sorted(together)]
            together, size = [], 0
        last = max(last, each.last) if together else each.last
        together.append(place)
        size += each.size
    if together:
        yield [blocks[other] for other in sorted(together)]
