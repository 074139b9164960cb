"""Maps of counted rows: from the number of a key to the partial of some of its rows.

They are the maps of `windrow.engine.maps`. In place of a slice, a cell says of how many rows it is:

      rows | key_0 | field_0 .. | value_0 ..

A key goes by a number, so that a cell is small however long the key is. In storage that is the
key's place in the ledger of its bin. At work, where several bins are worked on at once, places of
each bin are moved up behind those of the bins before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.engine.feature_columns import FeatureColumns
from windrow.engine.maps import Maps

Array = np.ndarray[Any, Any]

#: the column that says how many rows a cell is of
CELL_ROWS = "rows"
#: the column of key numbers, where cells are made of rows: no column of a user has this name
_NUMBER = "\0number"
#: the same column in cells
_CELL_KEY = "key_0"


class RowMaps:
    """The maps of the compiled features of a plan, over counted rows."""

    def __init__(self, types: Mapping[str, pa.DataType], features: FeatureColumns) -> None:
        """`types` are those of the columns of an event."""
        self.maps = Maps([_NUMBER], {**types, _NUMBER: pa.int64()}, features, CELL_ROWS)
        self.empty = self.maps.empty

    def of_each(self, rows: pa.RecordBatch, keys: Array) -> pa.RecordBatch:
        """A cell for each row; `keys` are the numbers of their keys."""
        return self._cells(rows, keys, np.ones(len(keys), np.int64), np.arange(len(keys)))

    def of_runs(self, rows: pa.RecordBatch, keys: Array, lengths: Array) -> pa.RecordBatch:
        """A cell for each run of rows: `keys` and `lengths` are of the runs."""
        begins = np.cumsum(lengths) - lengths
        numbers, counts = np.repeat(keys, lengths), np.repeat(lengths, lengths)
        return self._cells(rows, numbers, counts, begins)

    def of_ends(
        self, rows: pa.RecordBatch, keys: Array, left: Array, begins: Array
    ) -> pa.RecordBatch:
        """For each begin, a cell of its row and all rows of the key behind it.

        `left` says how many those are, for each row. Keys lie one after the other.
        """
        return self.maps.suffixes(self._cells(rows, keys, left, begins))

    def joined(self, maps: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
        """Maps, older first, as one, by number of key; rows add up."""
        cells = self.maps.fold(maps)
        cells = cells.take(pa.array(np.argsort(keys_of(cells), kind="stable")))
        size = int(keys_of(cells).max(initial=-1)) + 1
        counts = np.sum([rows_by_key(each, size) for each in maps], axis=0)
        return cells.set_column(0, CELL_ROWS, pa.array(counts[keys_of(cells)]))

    def _cells(
        self, rows: pa.RecordBatch, keys: Array, counts: Array, begins: Array
    ) -> pa.RecordBatch:
        """Cells of rows from one begin to the next; `counts` has what the cells say of rows."""
        columns = dict(zip(rows.schema.names, rows.columns, strict=True))
        return self.maps.of_runs({**columns, _NUMBER: pa.array(keys)}, counts, begins)


def keys_of(cells: pa.RecordBatch) -> Array:
    """The number of each cell's key."""
    keys: Array = cells[_CELL_KEY].to_numpy()
    return keys


def rows_of(cells: pa.RecordBatch) -> Array:
    """How many rows each cell is of."""
    rows: Array = cells[CELL_ROWS].to_numpy()
    return rows


def rows_by_key(cells: pa.RecordBatch, size: int) -> Array:
    """For each of `size` keys, how many rows a map has of it."""
    rows = np.zeros(size, np.int64)
    rows[keys_of(cells)] = rows_of(cells)
    return rows


def from_places(cells: pa.RecordBatch, first: int) -> pa.RecordBatch:
    """A map of a bin with keys by number; `first` is the number of the bin's first key."""
    return _with_keys(cells, keys_of(cells) + first) if first else cells


def to_places(cells: pa.RecordBatch, first: int) -> pa.RecordBatch:
    """A map of a bin with keys by their places in its ledger."""
    return _with_keys(cells, keys_of(cells) - first) if first else cells


def _with_keys(cells: pa.RecordBatch, keys: Array) -> pa.RecordBatch:
    place = cells.schema.get_field_index(_CELL_KEY)
    return cells.set_column(place, cells.schema.field(place), pa.array(keys))
