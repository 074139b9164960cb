"""Counted bins: what is stored of the rows of keys that lie together, and how it is kept in trim.

A bin has a front and a back, with maps beside their rows (see `counted_rows`). Before a batch, the
bins that it has events of are looked at:

- Where more rows are of no use than of use, where blocks or rows are many, or where they are not
  few and no window begins in the front any more, it is rewritten: rows of use become the front.
- Where blocks are few, those that no key has a use for are deleted, and so is such a front.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.engine.maps import SLICE, Maps
from windrow.engine.sorting import arrange
from windrow.stream import sizes
from windrow.stream.bins import Bins
from windrow.stream.counts.segments import Segments
from windrow.stream.key_hashes import hashes_of
from windrow.stream.rows.kept_rows import RowLayout, empty
from windrow.stream.state import (
    BACK_MAP,
    LEDGER,
    MAP,
    ROWS,
    SEGMENT,
    SEGMENT_MAP,
    ShardBlocks,
    block_number,
    place_in_bin,
)
from windrow.windows import walks
from windrow.windows.key_runs import NEVER

Array = np.ndarray[Any, Any]

#: what the ledger has of a key beside its columns
FRONT, CUT = "front", "cut"
#: the number of a key, where cells are made of events: no column has this name
NUMBER = "\0number"


class CountedBins:
    """The bins of a shard while one batch is worked on."""

    def __init__(
        self, blocks: ShardBlocks, group: int, layout: RowLayout, maps: Maps, most: int
    ) -> None:
        """`maps` have keys by number; `most` is how many rows of a key events to come may see."""
        self._blocks, self._group, self._layout = blocks, group, layout
        self._maps, self._most = maps, most
        self.bins = Bins(blocks, group)

    # Keys ----------------------------------------------------------------------------------------

    def ledger(self, number: int) -> pa.RecordBatch:
        """The keys of a bin, each with its rows in the front and how they are cut."""
        if not self.bins[number].entries:
            return empty(self._layout.ledger)
        return self._blocks.load(self._place(LEDGER, number), self._layout.ledger)

    def entries(self, keys: Sequence[pa.Array], front: Array, cut: Array) -> pa.RecordBatch:
        """Keys as the ledger has them."""
        return pa.RecordBatch.from_arrays(
            [*keys, pa.array(front), pa.array(cut)], schema=self._layout.ledger
        )

    def enter(self, number: int, ledger: pa.RecordBatch) -> None:
        """Write the ledger of a bin."""
        self.bins[number].entries = ledger.num_rows
        self._blocks.store(self._place(LEDGER, number), ledger)

    def whole(self, chosen: Sequence[int], firsts: Array) -> pa.RecordBatch:
        """The map of the back of some bins."""
        maps = [
            self.map(BACK_MAP, number, 0, int(first))
            for number, first in zip(chosen, firsts, strict=False)
            if self.bins[number].blocks
        ]
        return pa.concat_batches(maps) if maps else self._maps.empty

    def shares(self, number: int) -> int:
        """Among how many segments rows are shared out; the last has the rest."""
        return max(self.bins[number].segments - 1, 1)

    # Rows and maps -------------------------------------------------------------------------------

    def rows(self, kind: int, number: int, block: int) -> pa.RecordBatch:
        """The rows of a block or a segment."""
        return self._blocks.load(self._place(kind, number, block), self._layout.rows)

    def map(self, kind: int, number: int, block: int, first: int) -> pa.RecordBatch:
        """A map, with its keys by number; `first` is that of the bin's first."""
        cells = self._blocks.load(self._place(kind, number, block), self._maps.schema)
        return _renumbered(cells, first)

    def store_map(
        self, kind: int, number: int, block: int, cells: pa.RecordBatch, first: int
    ) -> None:
        """Write a map, whose keys are by number."""
        self._blocks.store(self._place(kind, number, block), _renumbered(cells, -first))

    def _place(self, kind: int, number: int, block: int = 0) -> int:
        if kind == LEDGER:
            return block_number(kind, self._group, number)
        return block_number(kind, self._group, place_in_bin(number, block))

    def cells(
        self, rows: pa.RecordBatch, keys: Array, counts: Array, begins: Array
    ) -> pa.RecordBatch:
        """Cells of rows in order, from one begin to the next; `counts` is what they say of rows."""
        columns = dict(zip(rows.schema.names, rows.columns, strict=True))
        return self._maps.of_runs({**columns, NUMBER: pa.array(keys)}, counts, begins)

    def joined(self, maps: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
        """Maps, older first, as one: by number of key, its cells of as many rows as theirs."""
        cells = self._maps.fold(maps)
        cells = cells.take(pa.array(np.argsort(keys_of(cells), kind="stable")))
        size = int(keys_of(cells).max(initial=-1)) + 1
        counts = np.sum([rows_by_key(each, size) for each in maps], axis=0)
        return cells.set_column(0, SLICE, pa.array(counts[keys_of(cells)]))

    def append(
        self, number: int, rows: pa.RecordBatch, cells: pa.RecordBatch, whole: pa.RecordBatch,
        first: int,
    ) -> None:  # fmt: skip
        """Put rows with their map into a block of their own; `whole` is now the map of the back."""
        each = self.bins[number]
        block = each.oldest + each.blocks
        self._blocks.store(self._place(ROWS, number, block), rows)
        self.store_map(MAP, number, block, cells, first)
        self.store_map(BACK_MAP, number, 0, whole, first)
        each.blocks, each.rows, each.expiry = each.blocks + 1, each.rows + rows.num_rows, NEVER

    # Rewriting -----------------------------------------------------------------------------------

    def tidy(self, number: int) -> None:
        """Rewrite a bin if that is due; if it is large, it is split."""
        each, known = self.bins[number], len(self.bins)
        if not each.rows:
            return
        ledger, whole = self.ledger(number), self.whole([number], np.zeros(1, np.int64))
        front, back = ledger[FRONT].to_numpy(), rows_by_key(whole, each.entries)
        live = np.minimum(front + back, self._most)
        passed = each.rows > live.sum() and not (live > back).any()
        if passed and each.blocks <= sizes.current().frontless_blocks:
            self._drop_front(number)
            self._drop_blocks(number, live)
            front, passed = np.zeros(each.entries, np.int64), False
        if (
            passed
            or each.rows > 2 * live.sum()
            or each.blocks >= sizes.current().counted_bin_blocks
            or self.bins.split(
                number, int(live.sum()), each.entries, sizes.current().counted_bin_rows
            )
        ):
            # Before the first segment that has rows of use, none is read.
            shares = np.full(each.entries, self.shares(number))
            segments = Segments(front, ledger[CUT].to_numpy(), shares)
            of_use = segments.of(front - np.maximum(live - back, 0))[live > back]
            self._rewrite(number, known, int(of_use.min(initial=each.segments)))

    def _drop_front(self, number: int) -> None:
        """Delete the front of a bin."""
        each, ledger = self.bins[number], self.ledger(number)
        if not each.segments:
            return
        for segment in range(each.segments):
            self._blocks.delete(self._place(SEGMENT, number, segment))
            self._blocks.delete(self._place(SEGMENT_MAP, number, segment))
        each.rows -= int(ledger[FRONT].to_numpy().sum())
        each.segments, size = 0, ledger.num_rows
        keys = ledger.columns[: len(self._layout.key)]
        self.enter(number, self.entries(keys, np.zeros(size, np.int64), np.ones(size, np.int64)))

    def _drop_blocks(self, number: int, live: Array) -> None:
        """Delete the oldest blocks, those without any of the rows that are of use to their key."""
        each = self.bins[number]
        seen = np.zeros(len(live), np.int64)
        first, kept = each.oldest + each.blocks, []
        while (seen < live).any():
            first -= 1
            kept.append(self.map(MAP, number, first, 0))
            seen += rows_by_key(kept[-1], len(live))
        if first == each.oldest:
            return
        for block in range(each.oldest, first):
            each.rows -= int(rows_of(self.map(MAP, number, block, 0)).sum())
            self._blocks.delete(self._place(ROWS, number, block))
            self._blocks.delete(self._place(MAP, number, block))
        each.blocks, each.oldest = each.oldest + each.blocks - first, first
        self.store_map(BACK_MAP, number, 0, self.joined(kept[::-1]), 0)

    def _rewrite(self, number: int, known: int, first: int) -> None:
        """Make a front of the rows that are of use; those before a segment are not."""
        each, schema = self.bins[number], self._layout.rows
        old = [self.rows(SEGMENT, number, segment) for segment in range(first, each.segments)]
        new = [
            self.rows(ROWS, number, block)
            for block in range(each.oldest, each.oldest + each.blocks)
        ]
        rows = pa.concat_batches([*old, *new]) if old or new else empty(schema)
        came = np.arange(rows.num_rows) >= sum(batch.num_rows for batch in old)
        blocks = each.blocks
        self._clear(number)
        keys = [rows[name] for name in self._layout.key]
        permutation, starts = arrange(keys, [], rows.num_rows)
        places = np.arange(rows.num_rows) if permutation is None else permutation
        lengths = walks.lengths_of_runs(starts, rows.num_rows)
        heads = [column.take(pa.array(places[starts[:-1]])) for column in keys]
        bins = self.bins.of_hashes(hashes_of(heads, len(lengths)))
        runs = np.repeat(np.arange(len(lengths)), lengths)
        moved = np.bincount(runs[came[places]], minlength=len(lengths))
        newest = counted_down(lengths) < self._most
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
        now = sizes.current()
        smallest = max(now.segment_rows, now.rows_for_a_cell * len(lengths))
        front = Segments.cut_by(lengths, moved, blocks, smallest)
        shares = int(front.shares[0])
        runs = np.repeat(np.arange(len(lengths)), lengths)
        left = counted_down(lengths) + 1
        segments = front.of(lengths[runs] - left, runs)
        begins = np.flatnonzero(np.diff(runs * (shares + 1) + segments, prepend=-1))
        maps = self._maps.suffixes(self.cells(rows, runs, left, begins))
        rows = rows.take(pa.array(np.argsort(segments, kind="stable")))
        maps = maps.take(pa.array(np.argsort(segments[begins], kind="stable")))
        numbers = np.arange(shares + 2)
        row_cuts = np.searchsorted(np.sort(segments), numbers).tolist()
        map_cuts = np.searchsorted(np.sort(segments[begins]), numbers).tolist()
        for segment, (row, cell) in enumerate(zip(row_cuts[:-1], map_cuts[:-1], strict=True)):
            part = rows.slice(row, row_cuts[segment + 1] - row)
            self._blocks.store(self._place(SEGMENT, number, segment), part)
            cells = maps.slice(cell, map_cuts[segment + 1] - cell)
            self.store_map(SEGMENT_MAP, number, segment, cells, 0)
        each = self.bins[number]
        each.segments, each.rows, each.expiry = shares + 1, rows.num_rows, NEVER
        self.enter(number, self.entries(keys, lengths, front.cut))

    def _clear(self, number: int) -> None:
        """Delete the blocks of a bin that has rows."""
        each = self.bins[number]
        blocks = range(each.oldest, each.oldest + each.blocks)
        gone = [(LEDGER, 0), *((kind, block) for kind in (ROWS, MAP) for block in blocks)]
        gone += [(BACK_MAP, 0)] if each.blocks else []
        for kind in (SEGMENT, SEGMENT_MAP):
            gone += [(kind, segment) for segment in range(each.segments)]
        for kind, block in gone:
            self._blocks.delete(self._place(kind, number, block))
        each.blocks = each.rows = each.entries = each.segments = each.oldest = 0


def keys_of(cells: pa.RecordBatch) -> Array:
    """The numbers of the keys of cells."""
    keys: Array = cells.column(1).to_numpy()
    return keys


def rows_of(cells: pa.RecordBatch) -> Array:
    """How many rows cells are of."""
    rows: Array = cells[SLICE].to_numpy()
    return rows


def rows_by_key(cells: pa.RecordBatch, size: int) -> Array:
    """How many rows a map is of, by the numbers of so many keys."""
    rows = np.zeros(size, np.int64)
    rows[keys_of(cells)] = rows_of(cells)
    return rows


def _renumbered(cells: pa.RecordBatch, distance: int) -> pa.RecordBatch:
    if not distance:
        return cells
    return cells.set_column(1, cells.schema.field(1), pa.array(keys_of(cells) + distance))


def counted_down(lengths: Array) -> Array:
    """For each length, the numbers below it down to 0."""
    stops = np.cumsum(lengths)
    numbers: Array = np.repeat(stops, lengths) - 1 - np.arange(int(lengths.sum()))
    return numbers
