"""Counted bins: the blocks of each bin of counted rows, with the maps beside their rows.

      ledger   the bin's keys, each with its rows in the front and how many of them are shared
      front    segments: rows, and for each a map of its rows and all behind it in the front
      back     blocks: rows, and for each a map of its rows
               back map: one map of the whole back

Numbers of blocks go on counting when old blocks are deleted. `tidying` decides when a bin is
rewritten; `counted_rows` says what the parts are for, and what always holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.stream.bins import Bins
from windrow.stream.counts.row_maps import RowMaps, from_places, to_places
from windrow.stream.counts.segments import Segments
from windrow.stream.row_layout import RowLayout, empty
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
from windrow.windows.key_runs import NEVER

Array = np.ndarray[Any, Any]

#: what the ledger has of a key beside its columns: see `Segments.rows` and `Segments.shared`
FRONT_ROWS, FRONT_SHARED = "front", "shared"
LEDGER_COLUMNS = {FRONT_ROWS: pa.int64(), FRONT_SHARED: pa.int64()}


class CountedBins:
    """The bins of a shard while one batch is worked on."""

    def __init__(self, blocks: ShardBlocks, group: int, layout: RowLayout, maps: RowMaps) -> None:
        self._blocks, self._group = blocks, group
        self.layout, self.maps = layout, maps
        self.bins = Bins(blocks, group)

    # The ledger ----------------------------------------------------------------------------------

    def ledger(self, number: int) -> pa.RecordBatch:
        """The keys of a bin, in the order in which the bin met them."""
        if not self.bins[number].entries:
            return empty(self.layout.ledger)
        return self._blocks.load(self._ledger_place(number), self.layout.ledger)

    def write_ledger(self, number: int, ledger: pa.RecordBatch) -> None:
        """Write the ledger of a bin."""
        self.bins[number].entries = ledger.num_rows
        self._blocks.store(self._ledger_place(number), ledger)

    def entries(self, keys: Sequence[pa.Array], rows: Array, shared: Array) -> pa.RecordBatch:
        """Entries of the ledger: keys with so many rows in the front."""
        return pa.RecordBatch.from_arrays(
            [*keys, pa.array(rows), pa.array(shared)], schema=self.layout.ledger
        )

    def entries_without_front(self, keys: Sequence[pa.Array], size: int) -> pa.RecordBatch:
        """Entries of the ledger: `size` keys that have no rows in the front."""
        return self.entries(keys, np.zeros(size, np.int64), np.ones(size, np.int64))

    def front(self, number: int) -> Segments:
        """How the rows of the front are cut, by place in the ledger."""
        ledger = self.ledger(number)
        shares = np.full(ledger.num_rows, self.shares(number))
        return Segments(ledger[FRONT_ROWS].to_numpy(), ledger[FRONT_SHARED].to_numpy(), shares)

    def shares(self, number: int) -> int:
        """Over how many segments shared rows are spread; the last segment has the rest."""
        return max(self.bins[number].segments - 1, 1)

    # Rows and maps -------------------------------------------------------------------------------

    def blocks_of(self, number: int) -> range:
        """The numbers of the blocks of the back, oldest first."""
        each = self.bins[number]
        return range(each.oldest, each.oldest + each.blocks)

    def rows(self, kind: int, number: int, block: int) -> pa.RecordBatch:
        """The rows of a block or a segment."""
        return self._blocks.load(self._place(kind, number, block), self.layout.rows)

    def map(self, kind: int, number: int, block: int, first: int = 0) -> pa.RecordBatch:
        """A map of a bin, with keys by number; `first` is the number of the bin's first key."""
        schema = self.maps.maps.schema
        return from_places(self._blocks.load(self._place(kind, number, block), schema), first)

    def back_map(self, number: int, first: int = 0) -> pa.RecordBatch:
        """The map of the whole back of a bin."""
        return self.map(BACK_MAP, number, 0, first) if self.bins[number].blocks else self.maps.empty

    # Writing -------------------------------------------------------------------------------------

    def append(
        self, number: int, rows: pa.RecordBatch, cells: pa.RecordBatch, back: pa.RecordBatch,
        first: int,
    ) -> None:  # fmt: skip
        """Add a block of rows with its map to the back; `back` is now the map of the whole back."""
        each = self.bins[number]
        block = each.oldest + each.blocks
        self._blocks.store(self._place(ROWS, number, block), rows)
        self._store_map(MAP, number, block, to_places(cells, first))
        self.write_back_map(number, to_places(back, first))
        each.blocks, each.rows, each.expiry = each.blocks + 1, each.rows + rows.num_rows, NEVER

    def write_back_map(self, number: int, cells: pa.RecordBatch) -> None:
        """Write the map of the whole back; keys are by place."""
        self._store_map(BACK_MAP, number, 0, cells)

    def write_segment(
        self, number: int, segment: int, rows: pa.RecordBatch, cells: pa.RecordBatch
    ) -> None:
        """Write a segment of the front with its map; keys are by place."""
        self._blocks.store(self._place(SEGMENT, number, segment), rows)
        self._store_map(SEGMENT_MAP, number, segment, cells)

    def delete_block(self, number: int, block: int) -> None:
        """Delete a block of the back and its map."""
        self._delete((ROWS, MAP), number, block)

    def delete_front(self, number: int) -> None:
        """Delete all segments of a bin."""
        each = self.bins[number]
        for segment in range(each.segments):
            self._delete((SEGMENT, SEGMENT_MAP), number, segment)
        each.segments = 0

    def clear(self, number: int) -> None:
        """Delete all that a bin has; it has rows."""
        self.delete_front(number)
        for block in self.blocks_of(number):
            self.delete_block(number, block)
        each = self.bins[number]
        if each.blocks:
            self._delete((BACK_MAP,), number, 0)
        self._blocks.delete(self._ledger_place(number))
        each.blocks = each.rows = each.entries = each.oldest = 0

    # Places --------------------------------------------------------------------------------------

    def _store_map(self, kind: int, number: int, block: int, cells: pa.RecordBatch) -> None:
        self._blocks.store(self._place(kind, number, block), cells)

    def _delete(self, kinds: Sequence[int], number: int, block: int) -> None:
        for kind in kinds:
            self._blocks.delete(self._place(kind, number, block))

    def _place(self, kind: int, number: int, block: int) -> int:
        return block_number(kind, self._group, place_in_bin(number, block))

    def _ledger_place(self, number: int) -> int:
        return block_number(LEDGER, self._group, number)
