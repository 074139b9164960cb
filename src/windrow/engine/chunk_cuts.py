"""Where rows are cut into chunks that tasks answer side by side, after Zhang et al. 2021, §4.

Every row has a place: the hash of its key, then its order value. A chunk holds the rows from one
cut to the next. A key that fits a chunk lies in one chunk. A longer key is cut inside. Then windows
behind the cut hold rows before it, the fillers. They go to both chunks; the second chunk inserts
them and does not answer them. Where windows end ahead of their row, rows behind the cut fill the
first chunk in the same way.

    chunk 0            | chunk 1               | chunk 2
    a a a b b c c c c c c c c c c c c c c c c c c c c d e e f
                       ^ inside key c            ^ where key d begins
                 ^ since: from here on, rows fill windows behind the cut
                             ^ until: up to here, rows fill windows before the cut

1. A cut is an order value, so rows of equal order stay together.
2. No filler is missing, however few rows were seen. A window of time begins one range before the
   cut, and ends as far behind it as it reaches ahead. A window of rows takes a count, and only rows
   that were seen count. They are kept as summaries (lowest place, highest place, rows). A summary
   counts if it lies wholly on one side. So a sample can make too many fillers, and never too few.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.engine.ranks import float_ranks

Array = np.ndarray[Any, Any]
#: the hash of a key, and the rank of an order value
Place = tuple[int, int]

#: the rank of a null: before all values; and behind all values
LOWEST, HIGHEST = int(np.iinfo(np.int64).min), int(np.iinfo(np.int64).max)

#: what `summarise` yields
SUMMARY = ("lowest_key", "lowest", "highest_key", "highest", "rows")

_SIDES: tuple[Any, Any] = ("left", "right")
_ROWS_AT_ONCE = 2**18
_SUMMARIES_AT_ONCE = 2**10


@dataclass(frozen=True)
class ChunkCut:
    """Where a chunk begins.

    Attributes:
        place: the place of its first row.
        since: from here on, rows of the chunk before fill its windows.
        until: up to and with this place, its rows fill windows of the chunk before.
    """

    place: Place
    since: Place
    until: Place


@dataclass(frozen=True)
class Cutting:
    """How rows are to be cut.

    Attributes:
        chunks: how many chunks there are to be at most.
        smallest: fewer rows than this are not worth a chunk.
        fraction: the share of rows that were seen.
        rows: how many rows before its own the widest window of rows holds.
        ticks: how many ticks before its row no window of time holds a row; 0 if there is none.
        rows_ahead: how many rows behind its own some window of rows holds.
        ticks_ahead: how many ticks behind its row no window of time holds a row; 0 if there is
            none, 1 if windows hold no later times.
    """

    chunks: int
    smallest: int
    fraction: float
    rows: int
    ticks: int
    rows_ahead: int = 0
    ticks_ahead: int = 0

    def cuts(self, summaries: dict[str, Array]) -> list[ChunkCut]:
        """The cuts between chunks, in order."""
        order = np.lexsort((summaries["highest"], summaries["highest_key"]))
        places = {name: summaries[name][order] for name in SUMMARY}
        behind = np.cumsum(places["rows"])
        total = int(behind[-1]) if len(behind) else 0
        chunks = min(self.chunks, int(total / self.fraction) // self.smallest)
        found: list[ChunkCut] = []
        for number in range(1, chunks):
            at = int(np.searchsorted(behind, total * number // chunks, side="right"))
            place = (int(places["highest_key"][at]), int(places["highest"][at]))
            cut = self._cut(places, place, total / chunks)
            # Fillers come from the chunk before and the chunk behind, and not from further.
            if not found or _are_apart(found[-1], cut):
                found.append(cut)
        return found

    def _cut(self, places: dict[str, Array], place: Place, chunk_rows: float) -> ChunkCut:
        key, rank = place
        first, stop = (np.searchsorted(places["highest_key"], key, side) for side in _SIDES)
        alone = first + np.flatnonzero(places["lowest_key"][first:stop] == key)
        lowest, highest, rows = (places[name][alone] for name in ("lowest", "highest", "rows"))
        if rows.sum() <= chunk_rows / 2:
            return ChunkCut((key, LOWEST), (key, LOWEST), (key, LOWEST))
        since, until = rank, LOWEST
        if self.ticks:
            since = max(rank - self.ticks + 1, LOWEST)
        if self.rows:
            since = min(since, _rows_before(lowest, highest, rows, rank, self.rows))
        if self.ticks_ahead > 1:
            until = min(rank + self.ticks_ahead - 2, HIGHEST)
        if self.rows_ahead:
            until = max(until, _rows_behind(lowest, highest, rows, rank, self.rows_ahead))
        return ChunkCut(place, (key, since), (key, until))


def _are_apart(before: ChunkCut, cut: ChunkCut) -> bool:
    """Whether the chunk between two cuts has the fillers of both neighbours."""
    return before.place < cut.place and before.place <= cut.since and before.until < cut.place


def _rows_behind(lowest: Array, highest: Array, rows: Array, rank: int, wanted: int) -> int:
    """The smallest value up to which so many rows certainly lie at the rank or behind it."""
    behind = lowest >= rank
    oldest_first = np.argsort(highest[behind])
    counted = np.cumsum(rows[behind][oldest_first])
    enough = int(np.searchsorted(counted, wanted))
    return int(highest[behind][oldest_first[enough]]) if enough < len(counted) else HIGHEST


def _rows_before(lowest: Array, highest: Array, rows: Array, rank: int, wanted: int) -> int:
    """The largest value from which so many rows certainly lie before the rank."""
    before = highest < rank
    newest_first = np.argsort(lowest[before])[::-1]
    counted = np.cumsum(rows[before][newest_first])
    enough = int(np.searchsorted(counted, wanted))
    return int(lowest[before][newest_first[enough]]) if enough < len(counted) else LOWEST


def summarise(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rows of two columns, hash and order, as summaries."""
    held: list[tuple[Array, Array]] = []
    size = 0
    for batch in batches:
        held.append((batch.column(0).to_numpy(), ranks(batch.column(1))))
        size += batch.num_rows
        if size >= _ROWS_AT_ONCE:
            yield _summaries(held)
            held, size = [], 0
    if size:
        yield _summaries(held)


def _summaries(held: list[tuple[Array, Array]]) -> pa.RecordBatch:
    keys, values = (np.concatenate(column) for column in zip(*held, strict=True))
    order = np.lexsort((values, keys))
    size = len(order)
    firsts = np.arange(0, size, max(1, size // _SUMMARIES_AT_ONCE))
    stops = np.append(firsts[1:], size)
    low, high = order[firsts], order[stops - 1]
    columns = [keys[low], values[low], keys[high], values[high], stops - firsts]
    return pa.RecordBatch.from_arrays([pa.array(column) for column in columns], SUMMARY)


def gathered(batches: Iterable[pa.RecordBatch]) -> dict[str, Array]:
    """The summaries of all batches."""
    columns = [[batch[name].to_numpy() for name in SUMMARY] for batch in batches]
    empty = np.empty(0, np.int64)
    return {
        name: np.concatenate([empty, *(each[index] for each in columns)])
        for index, name in enumerate(SUMMARY)
    }


def ranks(order: pa.Array) -> Array:
    """Integers in the order of the values: nulls first, NaN last, as Spark sorts."""
    if pa.types.is_floating(order.type):
        return float_ranks(order)
    if pa.types.is_temporal(order.type):
        order = order.view(pa.int64() if order.type.bit_width == 64 else pa.int32())
    numbers = pc.fill_null(order.cast(pa.int64()), LOWEST)
    return numbers.to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]


def from_ranks(places: list[int], data_type: pa.DataType) -> pa.Array:
    """The values of ranks; null for the lowest.

    Where the type is too narrow, what lies below is null, and what lies above its largest value.
    """
    if pa.types.is_floating(data_type):
        bits = np.array(places, np.int64)
        bits ^= (bits >> 63) & np.int64(2**63 - 1)
        numbers = pa.array(bits.view(np.float64), mask=np.array(places, np.int64) == LOWEST)
        return numbers.cast(data_type)
    width = data_type.bit_width
    least = -(2 ** (width - 1))
    kept = [None if place == LOWEST or place < least else min(place, ~least) for place in places]
    whole = {8: pa.int8(), 16: pa.int16(), 32: pa.int32(), 64: pa.int64()}[width]
    return pa.array(kept, whole).view(data_type)
