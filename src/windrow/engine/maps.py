"""Maps from key to partial: the monoid whose windows are the windows of all keys at once.

A map is a batch of cells. A cell is the partial of one key over a run of slices. Its columns are

      slice | key_0 .. | field_0 .. | value_0 ..

the oldest of its slices, the columns of the key, the fields of the partial, and the values that
answers are taken from. Where cells are of counted rows, the first column is `rows`: of how many.

Cells of many slices may stand in one batch: it is a map whose folding is put off.

To combine maps is to lay their cells one behind the other, older first, and to fold the cells of
equal keys. One pass groups the keys without comparing them, so that any number of maps is combined
at the cost of reading them once. Keys come in the order in which they were first seen.

A partial that carries a position, as that of `arg_max` does, says which row its answer is taken
from. Rows do not last, so the value itself goes with the cell. While cells are folded, the position
is that of the cell.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from windrow.compiler.kernel import Kernel
from windrow.compiler.kernel_memory import KernelMemory
from windrow.compiler.slots import Ring, combine, load, store
from windrow.engine.feature_columns import FeatureColumns
from windrow.engine.slice_loops import aggregate_slices
from windrow.engine.sorting import arrange
from windrow.planning.feature_groups import FeatureGroups
from windrow.planning.features import Feature

Array = np.ndarray[Any, Any]

#: the first column of cells of slices
SLICE = "slice"


def has_partials_of_numbers(features: Sequence[Feature]) -> bool:
    """Whether partials can be kept as cells.

    They cannot if they are Python objects or rows of arrays, or if an answer is taken from several
    events.
    """
    if not all(feature.compiled for feature in features):
        return False
    if any(feature.monoid.members and feature.carried for feature in features):
        return False
    return not FeatureGroups(features, set()).product.holds_rows


class Grouped(NamedTuple):
    """Cells, arranged by key; those of a key keep their order.

    Attributes:
        cells: the cells as they were.
        places: for each arranged cell, its place in `cells`.
        starts: the arranged cells at which a new key begins (see `windrow.windows.key_runs`).
        partials: the partials of the arranged cells.
    """

    cells: pa.RecordBatch
    places: Array
    starts: Array
    partials: Ring


class GroupedEvents(NamedTuple):
    """Events, with those of a cell together: of a key and slice.

    Attributes:
        places: for each grouped event, its place among the events; None if they lie so already.
        slices: the slice of each grouped event.
        begins: the grouped events at which cells begin.
    """

    places: Array | None
    slices: Array
    begins: Array


class Maps:
    """The maps of the compiled features of a plan."""

    def __init__(
        self,
        key: Sequence[str],
        types: Mapping[str, pa.DataType],
        features: FeatureColumns,
        number: str = SLICE,
    ) -> None:
        """Prepare the kernels.

        Args:
            key: the columns of the key.
            types: the types of the columns that hold the key and what is carried.
            features: what partials are of.
            number: the name of the first column of cells.
        """
        self.number = number
        self._features, product = features, features.product
        self._key = key
        #: by the place of a position among the fields of a partial, the column that it points into
        self._carried = {
            product.fields_of(index)[-1]: feature.carried[0]
            for index, feature in enumerate(features.compiled)
            if feature.carried
        }
        self._fields = [f"field_{place}" for place in range(len(product.fields))]
        self.keys = [f"key_{index}" for index in range(len(key))]
        self.schema = pa.schema(
            [
                (number, pa.int64()),
                *zip(self.keys, (types[name] for name in key), strict=True),
                *(
                    (name, pa.from_numpy_dtype(np.dtype(entry.dtype)))
                    for name, entry in zip(self._fields, product.fields, strict=True)
                ),
                *((f"value_{place}", types[name]) for place, name in self._carried.items()),
            ]
        )
        self.empty = pa.RecordBatch.from_pylist([], self.schema)
        #: how partials are laid out, line by line, for the description of a query
        self.description = _layout_of(features)
        self._aggregate = Kernel(aggregate_slices, (), product, features.checked)
        self._fold = Kernel(fold_cells, (), product, features.checked)
        self._combine_newer = Kernel(combine_newer, (), product, features.checked)

    # From events ---------------------------------------------------------------------------------

    def of_events(
        self, columns: Mapping[str, pa.Array], order: Sequence[str], slices: Array
    ) -> pa.RecordBatch:
        """The cells of events, one for each key and slice, sorted by key and then by slice.

        Args:
            columns: the key, the order, and what the features read.
            order: the columns that order the events of a key.
            slices: the slice of each event.
        """
        found = self.events(columns, [columns[name] for name in order], slices)
        return self.of_grouped(columns, found)

    def events(
        self, columns: Mapping[str, pa.Array], order: Sequence[pa.Array], slices: Array
    ) -> GroupedEvents:
        """Which events make up each cell; by `order`, slices rise within a key."""
        size = len(slices)
        keys = [columns[name] for name in self._key]
        permutation, starts = arrange(keys, order, size)
        if permutation is not None:
            slices = slices[permutation]
        return GroupedEvents(permutation, slices, _begins(slices, starts))

    def of_grouped(self, columns: Mapping[str, pa.Array], found: GroupedEvents) -> pa.RecordBatch:
        """The cells of events that are grouped."""
        if found.places is not None:
            indices = pa.array(found.places)
            read = {*self._key, *self._features.input_columns, *self._carried.values()}
            columns = {name: columns[name].take(indices) for name in read}
        return self.of_runs(columns, found.slices, found.begins)

    def of_runs(
        self, columns: Mapping[str, pa.Array], slices: Array, begins: Array
    ) -> pa.RecordBatch:
        """The cells of sorted events: one for the events from each begin to the next."""
        partials = self._room(len(begins))
        if len(slices):
            block = self._features.compiled_block(columns, len(slices), 0)
            cuts = np.append(begins, len(slices))
            self._aggregate(*block, cuts, partials, 0, 0, len(begins))
        heads = pa.array(begins)
        return self._batch(
            slices[begins],
            [columns[name].take(heads) for name in self._key],
            partials,
            lambda place: columns[self._carried[place]],
        )

    # The monoid ----------------------------------------------------------------------------------

    def fold(self, maps: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
        """Combine maps, older first, into one with a single cell for each key."""
        cells, places, starts, partials = self.grouped(maps)
        begins = starts[:-1]
        folded = self._room(len(begins))
        if cells.num_rows:
            cuts = np.append(begins, cells.num_rows)
            self._fold(partials, cuts, folded, 0, len(begins))
        heads = cells.take(pa.array(places[begins]))
        return self._batch(
            heads[self.number].to_numpy(),
            [heads[name] for name in self.keys],
            folded,
            lambda place: cells[f"value_{place}"],
        )

    def merged(self, older: pa.RecordBatch, newer: pa.RecordBatch) -> tuple[pa.RecordBatch, Array]:
        """Combine cells of the same key and slice; by key and slice, and which have newer events.

        Of each key and slice, both have at most one cell.
        """
        grouped = self.grouped([older, newer], by_slice=True)
        found, cuts = self._by_slice(grouped)
        return found, grouped.places[cuts[1:] - 1] >= older.num_rows

    def joined(self, maps: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
        """Combine the cells of the same key and slice, older first; by key and slice."""
        return self._by_slice(self.grouped(maps, by_slice=True))[0]

    def _by_slice(self, grouped: Grouped) -> tuple[pa.RecordBatch, Array]:
        """A cell for each key and slice, and between which arranged cells each lies."""
        cells, places, starts, partials = grouped
        slices = cells[self.number].to_numpy()[places]
        cuts = np.append(_begins(slices, starts), len(slices))
        folded = self._room(len(cuts) - 1)
        if len(slices):
            self._fold(partials, cuts, folded, 0, len(cuts) - 1)
        heads = cells.take(pa.array(places[cuts[:-1]]))
        found = self._batch(
            heads[self.number].to_numpy(),
            [heads[name] for name in self.keys],
            folded,
            lambda place: cells[f"value_{place}"],
        )
        return found, cuts

    def suffixes(self, cells: pa.RecordBatch) -> pa.RecordBatch:
        """Combine each cell with all newer cells of its key; the cells lie by key."""
        cells, places, starts, partials = self.grouped([cells])
        folded = self._room(cells.num_rows)
        if cells.num_rows:
            cuts = np.append(starts[:-1], cells.num_rows)
            self._combine_newer(partials, cuts, folded, 0, len(starts) - 1)
        heads = cells.take(pa.array(places))
        return self._batch(
            heads[self.number].to_numpy(),
            [heads[name] for name in self.keys],
            folded,
            lambda place: cells[f"value_{place}"],
        )

    def grouped(self, maps: Sequence[pa.RecordBatch], *, by_slice: bool = False) -> Grouped:
        """The cells of all maps, older first, with those of a key together, or of key and slice."""
        cells = pa.concat_batches(maps) if maps else self.empty
        size = cells.num_rows
        order = [cells[self.number]] if by_slice else []
        permutation, starts = arrange([cells[name] for name in self.keys], order, size)
        places = np.arange(size) if permutation is None else permutation
        partials = self._room(size)
        for place, (name, stored) in enumerate(zip(self._fields, partials, strict=True)):
            values = cells[name].to_numpy()[places]
            # A stored position only says whether there was one: here it is that of the cell.
            stored[:size] = np.where(values < 0, -1, places) if place in self._carried else values
        return Grouped(cells, places, starts, partials)

    def carried(self, cells: pa.RecordBatch, feature: int) -> Callable[[str, pa.Array], pa.Array]:
        """A function that finds the values of a compiled feature's answers by position."""
        place = self._features.product.fields_of(feature)[-1]
        return lambda _name, positions: cells[f"value_{place}"].take(positions)

    # Columns -------------------------------------------------------------------------------------

    def _room(self, count: int) -> Ring:
        """Room for partials; kernels find them by the low bits of their number."""
        return KernelMemory(self._features.product).queue(1 << max(count - 1, 0).bit_length())

    def _batch(
        self,
        slices: Array,
        keys: Sequence[pa.Array],
        partials: Ring,
        source: Callable[[int], pa.Array],
    ) -> pa.RecordBatch:
        """Make cells from partials; `source` gives the values that their positions point to."""
        fields = [column[: len(slices)] for column in partials]
        values = [
            source(place).take(pa.array(fields[place], mask=fields[place] < 0))
            for place in self._carried
        ]
        for place in self._carried:
            fields[place] = np.minimum(fields[place], 0)
        arrays = [pa.array(slices), *keys, *map(pa.array, fields), *values]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)


def _begins(slices: Array, starts: Array) -> Array:
    """Where a new key or slice begins, from where a new key does (see `arrange`)."""
    begins = np.ones(len(slices), np.bool_)
    begins[1:] = slices[1:] != slices[:-1]
    begins[starts[:-1]] = True
    return np.flatnonzero(begins)


def _layout_of(features: FeatureColumns) -> list[str]:
    """The fields of partials, and the columns whose nulls they skip: both decide what they mean.

    The fields of your own aggregations have names that count up with every aggregation made, so
    they are described by the aggregation's name instead.
    """
    product = features.product
    names = [field.name for field in product.fields]
    for index, places in product.combining:
        owner = features.compiled[index].aggregation if index < len(features.compiled) else None
        if owner is not None and owner.custom:
            for number, place in enumerate(places):
                names[place] = f"{owner.name}.{number}"
    fields = [f"{name}: {field.dtype}" for name, field in zip(names, product.fields, strict=True)]
    skipped = [features.slots[place] for place in product.nullable_columns]
    nulls = sorted({slot.column for slot in skipped if slot.condition is None})
    return [f"partials=[{', '.join(fields)}]", f"columns with nulls=[{', '.join(nulls)}]"]


def fold_cells(cells: Ring, cuts: Any, folded: Ring, begin: int, stop: int) -> None:
    """Combine the cells from each cut to the next."""
    for number in range(begin, stop):
        partial = load(cells, cuts[number])
        for cell in range(cuts[number] + 1, cuts[number + 1]):
            partial = combine(partial, load(cells, cell))
        store(folded, number, partial)


def combine_newer(cells: Ring, cuts: Any, folded: Ring, begin: int, stop: int) -> None:
    """Combine each cell with those behind it, up to the next cut."""
    for number in range(begin, stop):
        partial = load(cells, cuts[number + 1] - 1)
        store(folded, cuts[number + 1] - 1, partial)
        for back in range(2, cuts[number + 1] - cuts[number] + 1):
            partial = combine(load(cells, cuts[number + 1] - back), partial)
            store(folded, cuts[number + 1] - back, partial)
