"""Bins: the keys of a shard that lie together, by their hash.

A shard begins with one bin. A bin that has grown large is split by the next bits of the hash when
it is rewritten. So a batch of few keys reads and writes few rows, and one of many keys few blocks.

      depth 0            depth 1           depth 2
      [ all keys ]  ->   [ ..0 ][ ..1 ]  ->  [ .00 ][ .10 ][ ..1 ]
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.runtime.runs import NEVER
from windrow.runtime.sorting import float_ranks
from windrow.runtime.stream.state import NONE, integers, integers_of

Array = np.ndarray[Any, Any]

#: a bin with more rows is split when it is rewritten, unless it is of one key
ROWS_IN_A_BIN = 2**16
_DEEPEST = 12
_FIELDS = 7


@dataclass
class Bin:
    """The keys whose hash ends in `depth` bits like `bits`.

    Attributes:
        depth, bits: which keys.
        blocks: how many blocks of rows there are.
        rows: how many rows they hold, those that are of no use any more among them.
        entries: how many keys are in the ledger.
        due: when the next answer is final that takes no more events, in ticks.
        expiry: from when on nothing that it holds is of use.
    """

    depth: int = 0
    bits: int = 0
    blocks: int = 0
    rows: int = 0
    entries: int = 0
    due: int = NEVER
    expiry: int = NONE


class Bins(list[Bin]):
    """The bins of a shard."""

    @classmethod
    def of_bytes(cls, content: bytes | None) -> Bins:
        """The bins that were written as these bytes; without them, one for all keys."""
        if content is None:
            return cls([Bin()])
        numbers = integers_of(content)
        return cls(
            Bin(*numbers[begin : begin + _FIELDS]) for begin in range(0, len(numbers), _FIELDS)
        )

    def to_bytes(self) -> bytes:
        """The bins as bytes."""
        return integers([number for each in self for number in astuple(each)])

    def of_hashes(self, hashes: Array) -> Array:
        """The number of the bin that each key is in."""
        deepest = max(each.depth for each in self)
        numbers = np.empty(1 << deepest, np.int64)
        for number, each in enumerate(self):
            numbers[each.bits :: 1 << each.depth] = number
        return numbers[(hashes & np.uint64((1 << deepest) - 1)).astype(np.int64)]

    def split(self, number: int, rows: int, keys: int) -> bool:
        """Make several bins of one that has so many rows of so many keys, if they are many.

        Those behind the bins that there were get some of its keys.
        """
        split, parts = self[number], 1
        while parts * ROWS_IN_A_BIN < rows and 2 * parts <= keys:
            parts *= 2
        more = min(parts.bit_length() - 1, _DEEPEST - split.depth)
        if more <= 0:
            return False
        depth = split.depth + more
        self.extend(Bin(depth, split.bits | part << split.depth) for part in range(1, 1 << more))
        split.depth = depth
        return True

    def due(self) -> Iterator[int]:
        """When bins are to be looked at again."""
        for each in self:
            soonest = min(each.due, each.expiry)
            if each.blocks and soonest != NEVER:
                yield soonest


def hashes_of(keys: Sequence[pa.Array], size: int) -> Array:
    """A number for each key, the same in every process; equal keys have equal numbers."""
    mixed = np.zeros(size, np.uint64)
    for column in keys:
        mixed = (mixed ^ _numbers(column)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return mixed


def _numbers(column: pa.Array) -> Array:
    data_type = column.type
    if pa.types.is_floating(data_type):
        return float_ranks(column).view(np.uint64)
    if pa.types.is_temporal(data_type) and not pa.types.is_interval(data_type):
        column = column.view(pa.int64() if data_type.bit_width == 64 else pa.int32())
    if pa.types.is_boolean(data_type) or pa.types.is_signed_integer(column.type):
        # A null and what stands in for it may share a bin.
        numbers = column.cast(pa.int64()).fill_null(0)
        return numbers.to_numpy(zero_copy_only=False).view(np.uint64)  # type: ignore[no-any-return]
    written = (repr(value).encode() for value in column.to_pylist())
    return np.fromiter(map(zlib.crc32, written), np.uint64, len(column))
