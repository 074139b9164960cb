"""Counted rows: the newest rows of a shard's keys in its storage, read only where windows begin.

Windows of rows begin at rows that are so many before their key's newest. Which block those are in
follows from counts, so it is known before any row is read. Of the rows behind them nothing is
needed but their partial, which stands in a map (see `maps`).

Keys lie in bins. A bin has a front and a back. The rows of the back came in blocks, one for each
batch. When a bin is rewritten (see `counted_bins`), what is of use becomes the front, cut into
segments (see `segments`). The map of a block is of its rows, that of a segment of its rows and
all behind it in the front, and one map is of the whole back.

      front                                back
      [ segment 0 | segment 1 | segment 2 ][ block 0 ][ block 1 ][ block 2 ]     new events
                 ^ some windows begin      [            whole              ]
      read:        [ segment 1 ][ map of 2 ][          whole map            ]

A window of some key that begins in the back takes the rows of the block that it begins in, and the
maps of the blocks behind it in place of that of the whole back.

Invariants:

1. The ledger of a bin has its keys, in the order in which the bin met them, each with the rows that
   it has in the front and how they are cut. The cells of maps name a key by its place there.
2. The rows of a segment lie by the place of their key, those of a block by the cells of its map. So
   whose they are is counted off.
3. The rows that are stored of a key have no gap, and are all that windows hold, or more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.engine.maps import Maps
from windrow.engine.sorting import arrange
from windrow.stream import sizes
from windrow.stream.bins import ByBin
from windrow.stream.counts.counted_bins import (
    CUT,
    FRONT,
    CountedBins,
    counted_down,
    keys_of,
    rows_by_key,
    rows_of,
)
from windrow.stream.counts.segments import Segments
from windrow.stream.rows.kept_rows import RowLayout
from windrow.stream.state import MAP, ROWS, SEGMENT, SEGMENT_MAP, ShardBlocks
from windrow.windows import walks

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class CountedKeys:
    """The keys of some bins, by number: bin after bin, in the order of the ledger.

    Attributes:
        bins: the numbers of the bins.
        firsts: of each bin, the number of its first key; and how many keys there are.
        front: the rows in the front of each key.
        back: of each key, how many rows are in the back.
        whole: the map of the back.
        events: the new events, by bin, key and order.
        lengths: how many there are of each key that has some.
        keys: the numbers of those keys.
    """

    bins: Sequence[int]
    firsts: Array
    front: Segments
    back: Array
    whole: pa.RecordBatch
    events: pa.RecordBatch
    lengths: Array
    keys: Array

    @property
    def fresh(self) -> Array:
        """How many new events each key has."""
        fresh = np.zeros(len(self.back), np.int64)
        fresh[self.keys] = self.lengths
        return fresh

    def spans(self) -> Iterator[tuple[int, int, int]]:
        """Each bin, the number of its first key, and that behind its last."""
        return zip(self.bins, self.firsts.tolist(), self.firsts[1:].tolist(), strict=False)


class CountedRows:
    """The rows of a shard while one batch is worked on."""

    def __init__(
        self, blocks: ShardBlocks, group: int, layout: RowLayout, maps: Maps, most: int
    ) -> None:
        """`maps` have keys by number; `most` is how many rows of a key events to come may see."""
        self._layout, self._maps, self._most = layout, maps, most
        self._stored = CountedBins(blocks, group, layout, maps, most)
        self.bins = self._stored.bins

    # Keys ----------------------------------------------------------------------------------------

    def parts(self, events: pa.RecordBatch) -> Iterator[CountedKeys]:
        """The keys that have new events, which are final and come in any order; other keys too."""
        found = self._by_bin(events)
        known = len(self.bins)
        for number, count in enumerate(found.counts):
            if count:
                self._stored.tidy(number)
        if len(self.bins) > known:
            found = self._by_bin(events)
        touched = [number for number, count in enumerate(found.counts) if count]
        heads = np.cumsum(found.lengths) - found.lengths
        most = sizes.current().rows_at_once
        for chosen, begin, arrived in self.bins.together(touched, found.counts, most):
            first, stop = np.searchsorted(heads, [begin, begin + arrived])
            counts = [found.counts[number] for number in chosen]
            came = found.events.slice(begin, arrived)
            yield self._part(chosen, came, counts, found.lengths[first:stop])

    def _by_bin(self, events: pa.RecordBatch) -> ByBin:
        return self.bins.arranged(events, self._layout.key, self._layout.order)

    def _part(
        self, chosen: list[int], events: pa.RecordBatch, counts: list[int], lengths: Array
    ) -> CountedKeys:
        """New keys are entered into the ledger."""
        ledgers = [self._stored.ledger(number) for number in chosen]
        ledger = pa.concat_batches(ledgers)
        known, sizes = ledger.num_rows, np.array([each.num_rows for each in ledgers])
        heads = np.cumsum(lengths) - lengths
        bins = np.searchsorted(np.cumsum(counts), heads, "right")
        head_keys = [events[name].take(pa.array(heads)) for name in self._layout.key]
        places = _first_equal(
            [
                pa.concat_arrays([entered, new])
                for entered, new in zip(ledger.columns, head_keys, strict=False)
            ],
            known + len(heads),
        )[known:]
        is_new = places >= known
        news = np.bincount(bins[is_new], minlength=len(chosen))
        firsts = np.append(0, np.cumsum(sizes + news))
        # From places in all ledgers to numbers: behind each there is room for new keys.
        shifts = np.repeat(firsts[:-1] - (np.cumsum(sizes) - sizes), sizes)
        numbers = np.empty(len(heads), np.int64)
        numbers[~is_new] = places[~is_new] + shifts[places[~is_new]]
        behind = np.repeat(firsts[:-1] + sizes - (np.cumsum(news) - news), news)
        numbers[is_new] = behind + np.arange(len(behind))
        entries = np.arange(known) + shifts
        front, cut = np.zeros(firsts[-1], np.int64), np.ones(firsts[-1], np.int64)
        front[entries], cut[entries] = ledger[FRONT].to_numpy(), ledger[CUT].to_numpy()
        shares = np.array([self._stored.shares(number) for number in chosen])
        for place, number in enumerate(chosen):
            if news[place]:
                indices = pa.array(np.flatnonzero(is_new & (bins == place)))
                new = np.zeros(len(indices), np.int64)
                added = self._stored.entries([key.take(indices) for key in head_keys], new, new + 1)
                self._stored.enter(number, pa.concat_batches([ledgers[place], added]))
        whole = self._stored.whole(chosen, firsts)
        back = rows_by_key(whole, firsts[-1])
        segments = Segments(front, cut, np.repeat(shares, np.diff(firsts)))
        return CountedKeys(chosen, firsts, segments, back, whole, events, lengths, numbers)

    # What windows hold ---------------------------------------------------------------------------

    def held(self, part: CountedKeys, least: Array, most: Array) -> list[pa.RecordBatch]:
        """The cells of what windows hold of rows that were there before, by key older first.

        All windows of a key hold its `least` newest rows, and none holds more than its `most`; some
        begin at each row between, so those are cells by themselves.
        """
        held = _Gathered([], [], [], [])
        # They hold the whole back of a key, or begin in it.
        opened = (least < part.back) & (most > 0)
        self._take_segments(held, part, least, most)
        for number, begin, stop in part.spans():
            if opened[begin:stop].any():
                self._take_blocks(
                    held, part, number, (begin, stop), least, np.where(opened, most, 0)
                )
        whole = _only(part.whole, (~opened & (most > 0))[keys_of(part.whole)])
        return [self._cells_of_rows(held), *held.older, whole, *held.newer]

    def _take_segments(self, held: _Gathered, part: CountedKeys, least: Array, most: Array) -> None:
        """Where windows begin in the front, the rows; behind, the map."""
        front = part.front
        few, many = (np.clip(each - part.back, 0, front.rows) for each in (least, most))
        first, last = front.of(front.rows - many), front.of(np.maximum(front.rows - 1, 0))
        mapped = front.not_before(front.rows - few)
        stop = np.where(many > 0, np.minimum(mapped, last + 1), first)
        mapped = np.where((few > 0) & (mapped <= last), mapped, -1)
        for number, begin, end in part.spans():
            keys = slice(begin, end)
            for segment in _covered(first[keys], stop[keys]):
                rows = self._stored.rows(SEGMENT, number, segment)
                lengths = front.only(begin, end).lengths(segment)
                wanted = (first[keys] <= segment) & (segment < stop[keys])
                held.add(
                    rows, np.repeat(np.arange(begin, end), lengths), np.repeat(wanted, lengths)
                )
            for segment in np.unique(mapped[keys]).tolist():
                if segment >= 0:
                    cells = self._stored.map(SEGMENT_MAP, number, segment, begin)
                    held.older.append(_only(cells, mapped[keys_of(cells)] == segment))

    def _take_blocks(
        self,
        held: _Gathered,
        part: CountedKeys,
        number: int,
        span: tuple[int, int],
        least: Array,
        most: Array,
    ) -> None:
        """From the newest block on, as far as windows reach that begin in the back."""
        seen = np.zeros(len(most), np.int64)
        reach = np.minimum(most, part.back)
        rows, maps = [], []
        block = self.bins[number].oldest + self.bins[number].blocks
        while (seen < reach)[slice(*span)].any():
            block -= 1
            cells = self._stored.map(MAP, number, block, span[0])
            keys, counts = keys_of(cells), rows_of(cells)
            within = seen[keys] < reach[keys]
            seen[keys] += counts
            whole = within & (seen[keys] <= least[keys])
            maps.append(_only(cells, whole))
            if (within & ~whole).any():
                rows.append((block, np.repeat(keys, counts), np.repeat(within & ~whole, counts)))
        for block, keys, wanted in reversed(rows):
            batch = self._stored.rows(ROWS, number, block)
            held.add(batch, keys, wanted)
        held.newer.extend(reversed(maps))

    def new_cells(self, part: CountedKeys) -> pa.RecordBatch:
        """A cell for each new event."""
        return self._cells(part.events, np.repeat(part.keys, part.lengths))

    def _cells_of_rows(self, held: _Gathered) -> pa.RecordBatch:
        if not held.rows:
            return self._maps.empty
        return self._cells(pa.concat_batches(held.rows), np.concatenate(held.keys))

    def _cells(self, rows: pa.RecordBatch, keys: Array) -> pa.RecordBatch:
        """A cell for each row."""
        return self._stored.cells(rows, keys, np.ones(len(keys), np.int64), np.arange(len(keys)))

    # Writing -------------------------------------------------------------------------------------

    def keep(self, part: CountedKeys) -> None:
        """Append of the new events what events to come may see."""
        lengths = np.minimum(part.lengths, self._most)
        newest = counted_down(part.lengths) < self._most
        rows = _only(part.events.select(self._layout.rows.names), newest)
        if not rows.num_rows:
            return
        begins = np.cumsum(lengths) - lengths
        numbers = np.repeat(part.keys, lengths)
        cells = self._stored.cells(rows, numbers, np.repeat(lengths, lengths), begins)
        whole = self._stored.joined([part.whole, cells])
        cuts = np.searchsorted(keys_of(whole), part.firsts)
        row = cell = 0
        for place, (number, begin, stop) in enumerate(part.spans()):
            count = int(((part.keys >= begin) & (part.keys < stop)).sum())
            size = int(lengths[cell : cell + count].sum())
            held = whole.slice(cuts[place], cuts[place + 1] - cuts[place])
            self._stored.append(
                number, rows.slice(row, size), cells.slice(cell, count), held, begin
            )
            row, cell = row + size, cell + count


@dataclass(frozen=True)
class _Gathered:
    """What windows hold: rows and the numbers of their keys; maps of the front, and of the back."""

    rows: list[pa.RecordBatch]
    keys: list[Array]
    older: list[pa.RecordBatch]
    newer: list[pa.RecordBatch]

    def add(self, rows: pa.RecordBatch, keys: Array, wanted: Array) -> None:
        """Some rows."""
        self.rows.append(_only(rows, wanted))
        self.keys.append(keys[wanted])


def _only(batch: pa.RecordBatch, wanted: Array) -> pa.RecordBatch:
    return batch if wanted.all() else batch.filter(pa.array(wanted))


def _covered(firsts: Array, stops: Array) -> list[int]:
    """The numbers that lie from a first to before its stop."""
    changes = np.zeros(int(stops.max(initial=0)) + 1, np.int64)
    some = firsts < stops
    np.add.at(changes, firsts[some], 1)
    np.add.at(changes, stops[some], -1)
    return np.flatnonzero(np.cumsum(changes)).tolist()


def _first_equal(keys: Sequence[pa.Array], size: int) -> Array:
    """For each row, the first that has the same key."""
    permutation, starts = arrange(keys, [], size)
    places = np.arange(size) if permutation is None else permutation
    firsts = np.empty(size, np.int64)
    firsts[places] = np.repeat(places[starts[:-1]], walks.lengths_of_runs(starts, size))
    return firsts
