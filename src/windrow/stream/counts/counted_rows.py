"""Counted rows: the newest rows of a shard's keys, read only where windows begin.

A window of rows begins so many rows before its key's newest. Counts tell in which block that is,
before any row is read. Of the rows behind, a window needs only their partial, which stands in a map
(see `row_maps`).

Keys lie in bins. A bin has a front and a back. The rows of the back came in blocks, one for each
batch. When a bin is rewritten (see `tidying`), its rows of use become the front, cut into segments
(see `segments`). The map of a block is of its rows; that of a segment is of its rows and all behind
it in the front; and one map is of the whole back.

      front                                back
      [ segment 0 | segment 1 | segment 2 ][ block 0 ][ block 1 ][ block 2 ]     new events
                 ^ some windows begin      [           back map           ]
      read:        [ segment 1 ][ map of 2 ][          back map            ]

If windows of some key begin in the back, they take the rows of the block that they begin in, and
the maps of the blocks behind it in place of the back map.

Invariants:

1. The ledger of a bin has its keys in the order in which the bin met them, each with the rows that
   it has in the front and how they are cut. Cells in storage name a key by its place there.
2. The rows of a segment lie by the place of their key, and the rows of a block by the cells of its
   map. So counting tells whose they are.
3. The stored rows of a key have no gap, and are at least all that windows to come hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.engine.columns import only
from windrow.stream import sizes
from windrow.stream.bins import ByBin
from windrow.stream.counts.counted_bins import CountedBins
from windrow.stream.counts.counted_keys import CountedKeys, NewRows, entered
from windrow.stream.counts.row_maps import RowMaps, keys_of, rows_of
from windrow.stream.counts.tidying import counted_down, tidy
from windrow.stream.row_layout import RowLayout
from windrow.stream.state import MAP, ROWS, SEGMENT, SEGMENT_MAP, ShardBlocks

Array = np.ndarray[Any, Any]


class CountedRows:
    """The rows of a shard while one batch is worked on."""

    def __init__(
        self, blocks: ShardBlocks, group: int, layout: RowLayout, maps: RowMaps, most: int
    ) -> None:
        """`most` is how many rows of a key the windows of events to come may hold."""
        self._layout, self._maps, self._most = layout, maps, most
        self._stored = CountedBins(blocks, group, layout, maps)
        self.bins = self._stored.bins

    def parts(self, events: pa.RecordBatch) -> Iterator[CountedKeys]:
        """The bins that have new events, some at a time; final events, in any order."""
        found = self._by_bin(events)
        known = len(self.bins)
        for number, count in enumerate(found.counts):
            if count:
                tidy(self._stored, number, self._most)
        if len(self.bins) > known:
            found = self._by_bin(events)
        touched = [number for number, count in enumerate(found.counts) if count]
        heads = np.cumsum(found.lengths) - found.lengths
        most = sizes.current().rows_at_once
        for chosen, begin, arrived in self.bins.together(touched, found.counts, most):
            first, stop = np.searchsorted(heads, [begin, begin + arrived])
            counts = [found.counts[number] for number in chosen]
            came = found.events.slice(begin, arrived)
            yield entered(self._stored, NewRows(chosen, came, counts, found.lengths[first:stop]))

    def _by_bin(self, events: pa.RecordBatch) -> ByBin:
        return self.bins.arranged(events, self._layout.key, self._layout.order)

    # What windows hold ---------------------------------------------------------------------------

    def new_cells(self, keys: CountedKeys) -> pa.RecordBatch:
        """A cell for each new event."""
        new = keys.new
        return self._maps.of_each(new.events, np.repeat(keys.new_keys, new.lengths))

    def held(self, keys: CountedKeys, least: Array, most: Array) -> list[pa.RecordBatch]:
        """The cells of what windows hold of rows that were there before, by key older first.

        All windows of a key hold its `least` newest rows, and none holds more than its `most`. Some
        window begins at each row between, so those rows are cells by themselves.
        """
        found = _Gathered()
        # The windows of a key hold the whole back, or some begin in it.
        in_back = (least < keys.back) & (most > 0)
        self._gather_front(found, keys, least, most)
        reach = np.where(in_back, np.minimum(most, keys.back), 0)
        for number, first, stop in keys.spans():
            if in_back[first:stop].any():
                self._gather_back(found, number, slice(first, stop), least, reach)
        back = only(keys.back_map, (~in_back & (most > 0))[keys_of(keys.back_map)])
        return [self._cells_of(found), *found.front_maps, back, *found.back_maps]

    def _gather_front(self, found: _Gathered, keys: CountedKeys, least: Array, most: Array) -> None:
        """The rows of the segments that windows begin in, and the map of what lies behind."""
        front = keys.front
        least, most = (np.clip(each - keys.back, 0, front.rows) for each in (least, most))
        first, last = front.of(front.rows - most), front.of(np.maximum(front.rows - 1, 0))
        # All windows hold every row from this segment on.
        mapped = front.first_from(front.rows - least)
        is_mapped = (least > 0) & (mapped <= last)
        stop = np.where(most > 0, np.minimum(mapped, last + 1), first)
        for number, begin, end in keys.spans():
            own = slice(begin, end)
            for segment in _covered(first[own], stop[own]):
                rows = self._stored.rows(SEGMENT, number, segment)
                lengths = front.only(begin, end).lengths(segment)
                wanted = (first[own] <= segment) & (segment < stop[own])
                found.add(
                    rows, np.repeat(np.arange(begin, end), lengths), np.repeat(wanted, lengths)
                )
            for segment in np.unique(mapped[own][is_mapped[own]]).tolist():
                cells = self._stored.map(SEGMENT_MAP, number, segment, begin)
                wanted = is_mapped & (mapped == segment)
                found.front_maps.append(only(cells, wanted[keys_of(cells)]))

    def _gather_back(
        self, found: _Gathered, number: int, own: slice, least: Array, reach: Array
    ) -> None:
        """From the newest block of a bin on, its rows or its map, as far as windows reach."""
        seen = np.zeros(len(reach), np.int64)
        rows, maps = [], []
        blocks = iter(reversed(self._stored.blocks_of(number)))
        while (seen < reach)[own].any():
            block = next(blocks)
            cells = self._stored.map(MAP, number, block, own.start)
            keys, counts = keys_of(cells), rows_of(cells)
            within = seen[keys] < reach[keys]
            seen[keys] += counts
            is_whole = within & (seen[keys] <= least[keys])
            maps.append(only(cells, is_whole))
            in_part = within & ~is_whole
            if in_part.any():
                rows.append((block, np.repeat(keys, counts), np.repeat(in_part, counts)))
        for block, keys, wanted in reversed(rows):
            found.add(self._stored.rows(ROWS, number, block), keys, wanted)
        found.back_maps.extend(reversed(maps))

    def _cells_of(self, found: _Gathered) -> pa.RecordBatch:
        if not found.rows:
            return self._maps.empty
        return self._maps.of_each(pa.concat_batches(found.rows), np.concatenate(found.keys))

    # Writing -------------------------------------------------------------------------------------

    def keep(self, keys: CountedKeys) -> None:
        """Append the new events that windows to come may hold."""
        new = keys.new
        lengths = np.minimum(new.lengths, self._most)
        newest = counted_down(new.lengths) < self._most
        rows = only(new.events.select(self._layout.rows.names), newest)
        if not rows.num_rows:
            return
        cells = self._maps.of_runs(rows, keys.new_keys, lengths)
        back = self._maps.joined([keys.back_map, cells])
        cuts = np.searchsorted(keys_of(back), keys.firsts)
        row = cell = 0
        for place, (number, first, stop) in enumerate(keys.spans()):
            count = int(((keys.new_keys >= first) & (keys.new_keys < stop)).sum())
            size = int(lengths[cell : cell + count].sum())
            own_back = back.slice(cuts[place], cuts[place + 1] - cuts[place])
            self._stored.append(
                number, rows.slice(row, size), cells.slice(cell, count), own_back, first
            )
            row, cell = row + size, cell + count


@dataclass(frozen=True)
class _Gathered:
    """What windows hold: rows and the numbers of their keys; maps of the front, and of blocks."""

    rows: list[pa.RecordBatch] = field(default_factory=list)
    keys: list[Array] = field(default_factory=list)
    front_maps: list[pa.RecordBatch] = field(default_factory=list)
    back_maps: list[pa.RecordBatch] = field(default_factory=list)

    def add(self, rows: pa.RecordBatch, keys: Array, wanted: Array) -> None:
        """Some rows."""
        self.rows.append(only(rows, wanted))
        self.keys.append(keys[wanted])


def _covered(firsts: Array, stops: Array) -> list[int]:
    """The numbers that lie from a first to before its stop."""
    changes = np.zeros(int(stops.max(initial=0)) + 1, np.int64)
    some = firsts < stops
    np.add.at(changes, firsts[some], 1)
    np.add.at(changes, stops[some], -1)
    return np.flatnonzero(np.cumsum(changes)).tolist()
