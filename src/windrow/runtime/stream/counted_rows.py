"""Counted rows: the newest rows of a shard's keys in its storage, read only where windows begin.

Windows of rows begin at rows that are so many before their key's newest. Which block those are in
follows from counts, so it is known before any row is read. Of the rows behind them nothing is
needed but their partial, which stands in a map (see `maps`).

Keys lie in bins. A bin has a front and a back. The rows of the back came in blocks, one for each
batch. When more rows are of no use than of use, or blocks are many, the bin is rewritten: what is
of use becomes the front, cut into stretches (see `stretches`). The map of a block is of its rows,
that of a stretch of its rows and all behind it in the front, and one map is of the whole back.

      front                                back
      [ stretch 0 | stretch 1 | stretch 2 ][ block 0 ][ block 1 ][ block 2 ]     new events
                 ^ some windows begin      [            whole              ]
      read:        [ stretch 1 ][ map of 2 ][          whole map            ]

A window of some key that begins in the back takes the rows of the block that it begins in, and the
maps of the blocks behind it in place of that of the whole back.

Invariants:

1. The ledger of a bin has its keys, in the order in which the bin met them, each with the rows that
   it has in the front and how they are cut. The cells of maps name a key by its place there.
2. The rows of a stretch lie by the place of their key, those of a block by the cells of its map. So
   whose they are is counted off.
3. The rows that are stored of a key have no gap, and are all that windows hold, or more.

A bin of which there is no ledger was written by a windrow that knew no maps: it is rewritten.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.runtime import edges
from windrow.runtime.runs import NEVER
from windrow.runtime.sorting import arrange
from windrow.runtime.stream.bins import Bins, ByBin, hashes_of
from windrow.runtime.stream.kept_rows import Layout, empty
from windrow.runtime.stream.maps import SLICE, Maps
from windrow.runtime.stream.state import (
    BINS,
    LEDGER,
    MAP,
    ROWS,
    STRETCH,
    STRETCH_MAP,
    WHOLE_MAP,
    Blocks,
    block_number,
    place_in_bin,
)
from windrow.runtime.stream.stretches import Stretches

Array = np.ndarray[Any, Any]

#: a bin with more rows is split, unless it is of one key; few of them are read in a batch
ROWS_IN_A_BIN = 2**18
#: a bin with so many blocks is rewritten
MOST_BLOCKS = 240
#: so many rows of some bins are worked on at once
ROWS_AT_ONCE = 2**20
#: a stretch has no fewer rows, nor than so many times its keys: a map has a cell for each of them
ROWS_IN_A_STRETCH = 2**10
ROWS_FOR_A_CELL = 8

#: what the ledger has of a key beside its columns
FRONT, CUT = "front", "cut"
#: the number of a key, where cells are made of events: no column has this name
NUMBER = "\0number"


@dataclass(frozen=True)
class Part:
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
    front: Stretches
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

    def __init__(self, blocks: Blocks, group: int, layout: Layout, maps: Maps, most: int) -> None:
        """`maps` have keys by number; `most` is how many rows of a key events to come may see."""
        self._blocks, self._group, self._layout = blocks, group, layout
        self._maps, self._most = maps, most
        self._written = blocks.bytes_of(block_number(BINS, group))
        self.bins = Bins.of_bytes(self._written)

    def close(self) -> None:
        """Write what is known of the bins."""
        content = self.bins.to_bytes()
        if content != self._written:
            self._blocks.write(block_number(BINS, self._group), content)

    # Keys ----------------------------------------------------------------------------------------

    def parts(self, events: pa.RecordBatch) -> Iterator[Part]:
        """The keys that have new events, which are final and come in any order; other keys too."""
        found = self._by_bin(events)
        known = len(self.bins)
        for number, count in enumerate(found.counts):
            if count:
                self._tidy(number)
        if len(self.bins) > known:
            found = self._by_bin(events)
        touched = [number for number, count in enumerate(found.counts) if count]
        heads = np.cumsum(found.lengths) - found.lengths
        chosen: list[int] = []
        begin = arrived = kept = 0
        for number in touched:
            chosen.append(number)
            arrived += found.counts[number]
            kept += self.bins[number].rows
            if arrived + kept >= ROWS_AT_ONCE or number == touched[-1]:
                first, stop = np.searchsorted(heads, [begin, begin + arrived])
                came = found.events.slice(begin, arrived)
                counts = [found.counts[each] for each in chosen]
                yield self._part(chosen, came, counts, found.lengths[first:stop])
                chosen, begin, arrived, kept = [], begin + arrived, 0, 0

    def _by_bin(self, events: pa.RecordBatch) -> ByBin:
        return self.bins.arranged(events, self._layout.key, self._layout.order)

    def _part(
        self, chosen: list[int], events: pa.RecordBatch, counts: list[int], lengths: Array
    ) -> Part:
        """New keys are entered into the ledger."""
        ledgers = [self._ledger(number) for number in chosen]
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
        shares = np.array([self._shares(number) for number in chosen])
        for place, number in enumerate(chosen):
            if news[place]:
                indices = pa.array(np.flatnonzero(is_new & (bins == place)))
                new = np.zeros(len(indices), np.int64)
                added = self._entries([key.take(indices) for key in head_keys], new, new + 1)
                self._enter(number, pa.concat_batches([ledgers[place], added]))
        whole = self._whole(chosen, firsts)
        back = np.zeros(firsts[-1], np.int64)
        back[_keys(whole)] = whole[SLICE].to_numpy()
        stretches = Stretches(front, cut, np.repeat(shares, np.diff(firsts)))
        return Part(list(chosen), firsts, stretches, back, whole, events, lengths, numbers)

    def _ledger(self, number: int) -> pa.RecordBatch:
        if not self.bins[number].entries:
            return empty(self._layout.ledger)
        return self._blocks.load(self._place(LEDGER, number), self._layout.ledger)

    def _entries(self, keys: Sequence[pa.Array], front: Array, cut: Array) -> pa.RecordBatch:
        """Keys as the ledger has them."""
        return pa.RecordBatch.from_arrays(
            [*keys, pa.array(front), pa.array(cut)], schema=self._layout.ledger
        )

    def _enter(self, number: int, ledger: pa.RecordBatch) -> None:
        self.bins[number].entries = ledger.num_rows
        self._blocks.store(self._place(LEDGER, number), ledger)

    def _whole(self, chosen: Sequence[int], firsts: Array) -> pa.RecordBatch:
        """The map of the back of some bins."""
        maps = [
            self._map(WHOLE_MAP, number, 0, int(first))
            for number, first in zip(chosen, firsts, strict=False)
            if self.bins[number].blocks
        ]
        return pa.concat_batches(maps) if maps else self._maps.empty

    def _shares(self, number: int) -> int:
        # The last stretch has the rest.
        return max(self.bins[number].stretches - 1, 1)

    # What windows hold ---------------------------------------------------------------------------

    def held(self, part: Part, least: Array, most: Array) -> list[pa.RecordBatch]:
        """The cells of what windows hold of rows that were there before, by key older first.

        All windows of a key hold its `least` newest rows, and none holds more than its `most`; some
        begin at each row between, so those are cells by themselves.
        """
        held = _Held([], [], [], [])
        # They hold the whole back of a key, or begin in it.
        opened = (least < part.back) & (most > 0)
        self._take_stretches(held, part, least, most)
        for number, begin, stop in part.spans():
            if opened[begin:stop].any():
                self._take_blocks(
                    held, part, number, (begin, stop), least, np.where(opened, most, 0)
                )
        whole = _only(part.whole, (~opened & (most > 0))[_keys(part.whole)])
        return [self._cells_of_rows(held), *held.older, whole, *held.newer]

    def _take_stretches(self, held: _Held, part: Part, least: Array, most: Array) -> None:
        """Where windows begin in the front, the rows; behind, the map."""
        front = part.front
        few, many = (np.clip(each - part.back, 0, front.rows) for each in (least, most))
        first, last = front.of(front.rows - many), front.of(np.maximum(front.rows - 1, 0))
        mapped = front.not_before(front.rows - few)
        stop = np.where(many > 0, np.minimum(mapped, last + 1), first)
        mapped = np.where((few > 0) & (mapped <= last), mapped, -1)
        for number, begin, end in part.spans():
            keys = slice(begin, end)
            for stretch in _covered(first[keys], stop[keys]):
                rows = self._blocks.load(self._place(STRETCH, number, stretch), self._layout.rows)
                lengths = front.only(begin, end).lengths(stretch)
                wanted = (first[keys] <= stretch) & (stretch < stop[keys])
                held.add(
                    rows, np.repeat(np.arange(begin, end), lengths), np.repeat(wanted, lengths)
                )
            for stretch in np.unique(mapped[keys]).tolist():
                if stretch >= 0:
                    cells = self._map(STRETCH_MAP, number, stretch, begin)
                    held.older.append(_only(cells, mapped[_keys(cells)] == stretch))

    def _take_blocks(
        self, held: _Held, part: Part, number: int, span: tuple[int, int], least: Array, most: Array
    ) -> None:
        """From the newest block on, as far as windows reach that begin in the back."""
        seen = np.zeros(len(most), np.int64)
        reach = np.minimum(most, part.back)
        rows, maps = [], []
        block = self.bins[number].blocks
        while (seen < reach)[slice(*span)].any():
            block -= 1
            cells = self._map(MAP, number, block, span[0])
            keys, counts = _keys(cells), cells[SLICE].to_numpy()
            within = seen[keys] < reach[keys]
            seen[keys] += counts
            whole = within & (seen[keys] <= least[keys])
            maps.append(_only(cells, whole))
            if (within & ~whole).any():
                rows.append((block, np.repeat(keys, counts), np.repeat(within & ~whole, counts)))
        for block, keys, wanted in reversed(rows):
            batch = self._blocks.load(self._place(ROWS, number, block), self._layout.rows)
            held.add(batch, keys, wanted)
        held.newer.extend(reversed(maps))

    def _cells_of_rows(self, held: _Held) -> pa.RecordBatch:
        if not held.rows:
            return self._maps.empty
        rows, keys = pa.concat_batches(held.rows), np.concatenate(held.keys)
        return self.cells(rows, keys, np.ones(len(keys), np.int64), np.arange(len(keys)))

    def cells(
        self, rows: pa.RecordBatch, keys: Array, counts: Array, begins: Array
    ) -> pa.RecordBatch:
        """Cells of rows in order, from one begin to the next; `counts` is what they say of rows."""
        columns = dict(zip(rows.schema.names, rows.columns, strict=True))
        return self._maps.of_runs({**columns, NUMBER: pa.array(keys)}, counts, begins)

    # Writing -------------------------------------------------------------------------------------

    def keep(self, part: Part) -> None:
        """Append of the new events what events to come may see."""
        lengths = np.minimum(part.lengths, self._most)
        newest = _counted_down(part.lengths) < self._most
        rows = _only(part.events.select(self._layout.rows.names), newest)
        if not rows.num_rows:
            return
        begins = np.cumsum(lengths) - lengths
        numbers = np.repeat(part.keys, lengths)
        cells = self.cells(rows, numbers, np.repeat(lengths, lengths), begins)
        whole = self._joined(part, cells)
        cuts = np.searchsorted(_keys(whole), part.firsts)
        row = cell = 0
        for place, (number, begin, stop) in enumerate(part.spans()):
            each = self.bins[number]
            count = int(((part.keys >= begin) & (part.keys < stop)).sum())
            size = int(lengths[cell : cell + count].sum())
            self._blocks.store(self._place(ROWS, number, each.blocks), rows.slice(row, size))
            self._store_map(MAP, number, each.blocks, cells.slice(cell, count), begin)
            held = whole.slice(cuts[place], cuts[place + 1] - cuts[place])
            self._store_map(WHOLE_MAP, number, 0, held, begin)
            each.blocks, each.rows, each.expiry = each.blocks + 1, each.rows + size, NEVER
            row, cell = row + size, cell + count

    def _joined(self, part: Part, cells: pa.RecordBatch) -> pa.RecordBatch:
        """The map of the back with that of a new block, by number of key.

        Where it is of more rows than a window, no more is combined: nobody asks for it, and a sum
        could overflow that no window has.
        """
        counts = part.back.copy()
        counts[_keys(cells)] += cells[SLICE].to_numpy()
        over = (counts > self._most) & (counts > part.back)
        joined = self._maps.fold([_only(part.whole, ~over[_keys(part.whole)]), cells])
        joined = joined.take(pa.array(np.argsort(_keys(joined), kind="stable")))
        return joined.set_column(0, SLICE, pa.array(counts[_keys(joined)]))

    # Rewriting -----------------------------------------------------------------------------------

    def _tidy(self, number: int) -> None:
        """Rewrite a bin if that is due; if it is large, it is split."""
        each, known = self.bins[number], len(self.bins)
        if not each.rows:
            return
        if not each.entries:
            self._rewrite(number, known, 0)
            return
        ledger, whole = self._ledger(number), self._whole([number], np.zeros(1, np.int64))
        front, back = ledger[FRONT].to_numpy(), np.zeros(each.entries, np.int64)
        back[_keys(whole)] = whole[SLICE].to_numpy()
        live = np.minimum(front + back, self._most)
        if (
            each.rows > 2 * live.sum()
            or (each.stretches and not (live > back).any())
            or each.blocks >= MOST_BLOCKS
            or self.bins.split(number, int(live.sum()), each.entries, ROWS_IN_A_BIN)
        ):
            # Before the first stretch that has rows of use, none is read.
            shares = np.full(each.entries, self._shares(number))
            stretches = Stretches(front, ledger[CUT].to_numpy(), shares)
            of_use = stretches.of(front - np.maximum(live - back, 0))[live > back]
            self._rewrite(number, known, int(of_use.min(initial=each.stretches)))

    def _rewrite(self, number: int, known: int, first: int) -> None:
        """Make a front of the rows that are of use; those before a stretch are not."""
        each, schema = self.bins[number], self._layout.rows
        old = [
            self._blocks.load(self._place(STRETCH, number, stretch), schema)
            for stretch in range(first, each.stretches)
        ]
        new = [
            self._blocks.load(self._place(ROWS, number, block), schema)
            for block in range(each.blocks)
        ]
        rows = pa.concat_batches([*old, *new]) if old or new else empty(schema)
        came = np.arange(rows.num_rows) >= sum(batch.num_rows for batch in old)
        blocks = each.blocks
        self._clear(number)
        keys = [rows[name] for name in self._layout.key]
        permutation, starts = arrange(keys, [], rows.num_rows)
        places = np.arange(rows.num_rows) if permutation is None else permutation
        lengths = edges.lengths_of_runs(starts, rows.num_rows)
        heads = [column.take(pa.array(places[starts[:-1]])) for column in keys]
        bins = self.bins.of_hashes(hashes_of(heads, len(lengths)))
        runs = np.repeat(np.arange(len(lengths)), lengths)
        moved = np.bincount(runs[came[places]], minlength=len(lengths))
        newest = _counted_down(lengths) < self._most
        for target in (number, *range(known, len(self.bins))):
            mine = bins == target
            if mine.any():
                held = rows.take(pa.array(places[newest & mine[runs]]))
                chosen = pa.array(np.flatnonzero(mine))
                self._write_front(
                    target,
                    [column.take(chosen) for column in heads],
                    held,
                    np.minimum(lengths[mine], self._most),
                    moved[mine],
                    blocks,
                )

    def _write_front(
        self, number: int, keys: Sequence[pa.Array], rows: pa.RecordBatch,
        lengths: Array, moved: Array, blocks: int,
    ) -> None:  # fmt: skip
        """Write the front of a bin: rows by key, of which so many came since, in so many blocks."""
        smallest = max(ROWS_IN_A_STRETCH, ROWS_FOR_A_CELL * len(lengths))
        front = Stretches.cut_by(lengths, moved, blocks, smallest)
        shares = int(front.shares[0])
        runs = np.repeat(np.arange(len(lengths)), lengths)
        left = _counted_down(lengths) + 1
        stretches = front.of(lengths[runs] - left, runs)
        begins = np.flatnonzero(np.diff(runs * (shares + 1) + stretches, prepend=-1))
        maps = self._maps.suffixes(self.cells(rows, runs, left, begins))
        rows = rows.take(pa.array(np.argsort(stretches, kind="stable")))
        maps = maps.take(pa.array(np.argsort(stretches[begins], kind="stable")))
        numbers = np.arange(shares + 2)
        row_cuts = np.searchsorted(np.sort(stretches), numbers).tolist()
        map_cuts = np.searchsorted(np.sort(stretches[begins]), numbers).tolist()
        for stretch, (row, cell) in enumerate(zip(row_cuts[:-1], map_cuts[:-1], strict=True)):
            part = rows.slice(row, row_cuts[stretch + 1] - row)
            self._blocks.store(self._place(STRETCH, number, stretch), part)
            cells = maps.slice(cell, map_cuts[stretch + 1] - cell)
            self._store_map(STRETCH_MAP, number, stretch, cells, 0)
        each = self.bins[number]
        each.stretches, each.rows, each.expiry = shares + 1, rows.num_rows, NEVER
        self._enter(number, self._entries(keys, lengths, front.cut))

    def _clear(self, number: int) -> None:
        """Delete the blocks of a bin; without a ledger, there are rows only."""
        each = self.bins[number]
        gone = [(ROWS, block) for block in range(each.blocks)]
        if each.entries:
            gone += [(LEDGER, 0), *((MAP, block) for block in range(each.blocks))]
            gone += [(WHOLE_MAP, 0)] if each.blocks else []
        for kind in (STRETCH, STRETCH_MAP):
            gone += [(kind, stretch) for stretch in range(each.stretches)]
        for kind, block in gone:
            self._blocks.delete(self._place(kind, number, block))
        each.blocks = each.rows = each.entries = each.stretches = 0

    # Blocks --------------------------------------------------------------------------------------

    def _map(self, kind: int, number: int, block: int, first: int) -> pa.RecordBatch:
        """A map, with its keys by number; `first` is that of the bin's first."""
        cells = self._blocks.load(self._place(kind, number, block), self._maps.schema)
        return _renumbered(cells, first)

    def _store_map(
        self, kind: int, number: int, block: int, cells: pa.RecordBatch, first: int
    ) -> None:
        self._blocks.store(self._place(kind, number, block), _renumbered(cells, -first))

    def _place(self, kind: int, number: int, block: int = 0) -> int:
        if kind == LEDGER:
            return block_number(kind, self._group, number)
        return block_number(kind, self._group, place_in_bin(number, block))


@dataclass(frozen=True)
class _Held:
    """What windows hold: rows and the numbers of their keys; maps of the front, and of the back."""

    rows: list[pa.RecordBatch]
    keys: list[Array]
    older: list[pa.RecordBatch]
    newer: list[pa.RecordBatch]

    def add(self, rows: pa.RecordBatch, keys: Array, wanted: Array) -> None:
        """Some rows."""
        self.rows.append(_only(rows, wanted))
        self.keys.append(keys[wanted])


def _keys(cells: pa.RecordBatch) -> Array:
    keys: Array = cells.column(1).to_numpy()
    return keys


def _renumbered(cells: pa.RecordBatch, distance: int) -> pa.RecordBatch:
    if not distance:
        return cells
    return cells.set_column(1, cells.schema.field(1), pa.array(_keys(cells) + distance))


def _only(batch: pa.RecordBatch, wanted: Array) -> pa.RecordBatch:
    return batch if wanted.all() else batch.filter(pa.array(wanted))


def _covered(firsts: Array, stops: Array) -> list[int]:
    """The numbers that lie from a first to before its stop."""
    changes = np.zeros(int(stops.max(initial=0)) + 1, np.int64)
    some = firsts < stops
    np.add.at(changes, firsts[some], 1)
    np.add.at(changes, stops[some], -1)
    return np.flatnonzero(np.cumsum(changes)).tolist()


def _counted_down(lengths: Array) -> Array:
    """For each length, the numbers below it down to 0."""
    stops = np.cumsum(lengths)
    numbers: Array = np.repeat(stops, lengths) - 1 - np.arange(int(lengths.sum()))
    return numbers


def _first_equal(keys: Sequence[pa.Array], size: int) -> Array:
    """For each row, the first that has the same key."""
    permutation, starts = arrange(keys, [], size)
    places = np.arange(size) if permutation is None else permutation
    firsts = np.empty(size, np.int64)
    firsts[places] = np.repeat(places[starts[:-1]], edges.lengths_of_runs(starts, size))
    return firsts
