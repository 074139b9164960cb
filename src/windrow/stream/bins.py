"""Bins: keys of a shard that lie together, by the last bits of their hash.

A shard begins with one bin. When a large bin is rewritten, it is split by the next bits of the
hash. So a batch of few keys reads and writes few rows, and a batch of many keys few blocks.

      depth 0            depth 1           depth 2
      [ all keys ]  ->   [ ..0 ][ ..1 ]  ->  [ .00 ][ .10 ][ ..1 ]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from windrow.engine.sorting import arrange
from windrow.stream.key_hashes import hashes_of
from windrow.stream.state import (
    BINS,
    NONE,
    ShardBlocks,
    block_number,
    integers,
    integers_of,
)
from windrow.windows import walks
from windrow.windows.key_runs import NEVER

Array = np.ndarray[Any, Any]

_DEEPEST = 12


@dataclass
class Bin:
    """The keys whose hash ends in `depth` bits like `bits`.

    Attributes:
        depth, bits: which keys.
        blocks: how many blocks of rows it has; in `counts/`, in the back.
        rows: how many rows it has, including those of no use.
        entries: how many keys are in the ledger.
        due: when the next answer is final that takes no more events, in ticks (`rows/` only).
        expiry: from when on none of its rows are of use, in ticks (`rows/` only).
        segments: how many segments the front has (`counts/` only).
        oldest: the number of its oldest block (`counts/` only).
    """

    depth: int = 0
    bits: int = 0
    blocks: int = 0
    rows: int = 0
    entries: int = 0
    due: int = NEVER
    expiry: int = NONE
    segments: int = 0
    oldest: int = 0


class ByBin(NamedTuple):
    """Events sorted by bin, key and order.

    Attributes:
        events: the events.
        counts: how many of them are in each bin.
        lengths: how many of them each key has.
    """

    events: pa.RecordBatch
    counts: list[int]
    lengths: Array


class Bins(list[Bin]):
    """The bins of a shard while one batch is worked on."""

    def __init__(self, blocks: ShardBlocks, group: int) -> None:
        """Read the bins; a new group has one bin for all keys."""
        self._blocks, self._number = blocks, block_number(BINS, group)
        self._written = blocks.bytes_of(self._number)
        super().__init__([Bin()] if self._written is None else _read(self._written))

    def close(self) -> None:
        """Write the bins if they have changed."""
        content = integers([number for each in self for number in astuple(each)])
        if content != self._written:
            self._blocks.write(self._number, content)

    def arranged(self, events: pa.RecordBatch, key: Sequence[str], order: Sequence[str]) -> ByBin:
        """Sort events by bin, key and order."""
        size = events.num_rows
        keys = [events[name] for name in key]
        permutation, starts = arrange(keys, [events[name] for name in order], size)
        places = np.arange(size) if permutation is None else permutation
        heads = pa.array(places[starts[:-1]])
        numbers = self.of_hashes(hashes_of([column.take(heads) for column in keys], len(heads)))
        lengths = walks.lengths_of_runs(starts, size)
        counts = np.bincount(np.repeat(numbers, lengths), minlength=len(self)).tolist()
        if len(self) > 1:
            permutation = places[np.argsort(np.repeat(numbers, lengths), kind="stable")]
            lengths = lengths[np.argsort(numbers, kind="stable")]
        if permutation is not None:
            events = events.take(pa.array(permutation))
        return ByBin(events, counts, lengths)

    def together(
        self, touched: Sequence[int], counts: Sequence[int], most: int
    ) -> Iterator[tuple[list[int], int, int]]:
        """Bins to work on at once, each time with about `most` rows; their events, as a slice.

        Args:
            touched: the bins to work on.
            counts: how many events each bin has.
            most: how many rows, old and new, are enough.

        Yields:
            Some bins, the place of their first event, and how many events they have.
        """
        chosen: list[int] = []
        begin = arrived = kept = 0
        for number in touched:
            chosen.append(number)
            arrived += counts[number]
            kept += self[number].rows
            if arrived + kept >= most or number == touched[-1]:
                yield chosen, begin, arrived
                chosen, begin, arrived, kept = [], begin + arrived, 0, 0

    def of_hashes(self, hashes: Array) -> Array:
        """The number of each key's bin."""
        deepest = max(each.depth for each in self)
        numbers = np.empty(1 << deepest, np.int64)
        for number, each in enumerate(self):
            numbers[each.bits :: 1 << each.depth] = number
        return numbers[(hashes & np.uint64((1 << deepest) - 1)).astype(np.int64)]

    def split(self, number: int, rows: int, keys: int, most: int) -> bool:
        """Split a bin if its rows are more than `most` and its keys more than one.

        Some of its keys get new bins, behind all others. Says whether the bin was split.
        """
        split, parts = self[number], 1
        while parts * most < rows and 2 * parts <= keys:
            parts *= 2
        more = min(parts.bit_length() - 1, _DEEPEST - split.depth)
        if more <= 0:
            return False
        depth = split.depth + more
        self.extend(Bin(depth, split.bits | part << split.depth) for part in range(1, 1 << more))
        split.depth = depth
        return True

    def due(self) -> Iterator[int]:
        """The times at which a bin has an answer, or rows that can go."""
        for each in self:
            soonest = min(each.due, each.expiry)
            if each.blocks and soonest != NEVER:
                yield soonest


def _read(content: bytes) -> Iterator[Bin]:
    numbers, width = integers_of(content), len(fields(Bin))
    return (Bin(*numbers[begin : begin + width]) for begin in range(0, len(numbers), width))
