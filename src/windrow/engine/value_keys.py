"""Columns as keys: integers in the order of their values, for the loops of `value_counts`.

Numbers and times are their own keys, floats by rank. Of other values, such as texts, Arrow finds
the different ones; they are sorted, and a key is a place among them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.algebra import arrays
from windrow.algebra.conditions import Condition
from windrow.algebra.kinds import Kind
from windrow.algebra.ordering import unrank
from windrow.algorithms import value_orders, value_quantiles
from windrow.compiler.array_loops import compiled_loop
from windrow.engine import columns as arrow
from windrow.engine.feature_columns import truth_of
from windrow.work import sizes
from windrow.work.threads import cores, even_pieces, in_threads

Array = np.ndarray[Any, Any]

#: for loops: every row counts
ALL_ROWS = arrays.read_only(np.empty(0, np.bool_))


class Keys:
    """The keys of one column.

    Each kind of key is made when it is first asked for; ask before threads do.
    """

    def __init__(self, column: pa.Array) -> None:
        self.column = column
        self._kind = Kind.of(column.type)
        #: whether keys are the values themselves, or their ranks
        self.are_values = self._kind.is_compiled and not _exceeds(column)

    @cached_property
    def ordered(self) -> Array:
        """Keys in the order of the values."""
        if self.are_values:
            return self.equal
        codes, different = self._encoded
        places = np.zeros(max(len(different), 1), np.int64)  # nulls alone have code 0
        places[pc.sort_indices(different).to_numpy()] = np.arange(len(different))
        return arrays.read_only(places[codes] if len(different) else codes)

    @cached_property
    def equal(self) -> Array:
        """Keys that are equal where values are."""
        if not self.are_values:
            return arrays.read_only(self._encoded[0])
        values = arrays.values(self.column)
        return float_keys(values) if self._kind is Kind.FLOAT else values

    @cached_property
    def numbers(self) -> Array:
        """Keys in the order of the values as floats."""
        if self.are_values:
            return self.ordered
        codes, different = self._encoded
        floats = np.array([float(each) for each in different.to_pylist()], np.float64)
        return float_keys(floats[codes] if len(floats) else np.zeros(len(codes)))

    @property
    def decoding(self) -> int:
        """How `numbers` become floats again."""
        by_rank = self._kind is Kind.FLOAT or not self.are_values
        return value_quantiles.OF_FLOATS if by_rank else value_quantiles.OF_INTEGERS

    def values_of(self, keys: Array, defined: Array, name: str) -> pa.Array:
        """The values of keys that `are_values`, null where none is defined."""
        found = np.where(defined, keys, 0)
        values: Any = unrank(found) if self._kind is Kind.FLOAT else found
        return arrow.answers_to_arrow(values, defined, self.column.type, name)

    @cached_property
    def _encoded(self) -> tuple[Array, pa.Array]:
        """For each row the place of its value among the different ones, and those."""
        encoded = self.column.dictionary_encode()
        codes = pc.fill_null(encoded.indices, 0).to_numpy(zero_copy_only=False)
        return codes.astype(np.int64), encoded.dictionary.drop_null()


def _exceeds(column: pa.Array) -> bool:
    """Whether integers are too large for keys."""
    if not pa.types.is_uint64(column.type):
        return False
    largest = pc.max(column).as_py()
    return largest is not None and largest >= 2**63


def float_keys(numbers: Array) -> Array:
    """The ranks of floats."""
    keys, numbers = np.empty(len(numbers), np.int64), arrays.read_only(numbers)
    wanted = max(min(cores(), len(numbers) // sizes.current().smallest_piece), 1)

    def rank(piece: tuple[int, int]) -> None:
        begin, stop = piece
        compiled_loop(value_orders.float_keys)(numbers[begin:stop], keys[begin:stop])

    in_threads(rank, even_pieces(len(numbers), wanted))
    return arrays.read_only(keys)


def counted_rows(
    column: pa.Array,
    condition: Condition | None,
    columns: Mapping[str, pa.Array],
    present: Array | None,
) -> Array:
    """Which rows count: those with a value, of which a condition is true, that are in windows."""
    masks = [] if present is None else [present]
    if column.null_count:
        masks.append(arrays.validity(column))
    if condition is not None:
        masks.append(truth_of(condition, columns, len(column)))
    return arrays.read_only(np.logical_and.reduce(masks)) if masks else ALL_ROWS


@dataclass(frozen=True)
class Links:
    """The rows with equal values: see `value_orders`."""

    before: Array
    after: Array
    numbers: Array
    different: int

    @classmethod
    def of(cls, keys: Array, counted: Array) -> Links:
        """Of the rows that count."""
        size = len(keys)
        narrow = np.int32 if size < 2**31 else np.int64
        table = np.full(1 << max(2 * size - 1, 1).bit_length(), -1, narrow)
        before, after, numbers = (np.empty(size, narrow) for _ in range(3))
        link = compiled_loop(value_orders.link_equal)
        different = link(keys, counted, table, before, after, numbers)
        before, after, numbers = map(arrays.read_only, (before, after, numbers))
        return cls(before, after, numbers, int(different))
