"""Hashes of keys: a number of 64 bits for each key, the same in every process and every version.

Equal keys have equal hashes, however their columns are stored: as strings, large strings, views or
dictionaries. A text is hashed by its bytes of UTF-8. Bins depend on these hashes: if you change
one, raise the version of the state's layout.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.aggregations.hashing import hash_128, plain
from windrow.algebra.kinds import Kind
from windrow.engine.ranks import float_ranks
from windrow.errors import InvalidArgument

Array = np.ndarray[Any, Any]

_FACTOR, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)
#: the number of a null
_NULL = np.uint64(0x5851F42D4C957F2D)


def hashes_of(keys: Sequence[pa.Array], size: int) -> Array:
    """The hash of each of `size` keys; `keys` are their columns."""
    mixed = np.zeros(size, np.uint64)
    for column in keys:
        mixed = _mixed(mixed, _numbers(column))
    return mixed


def _mixed(hashes: Array, numbers: Array) -> Array:
    mixed = (hashes ^ numbers) * _FACTOR
    return mixed ^ (mixed >> _SHIFT)


def _numbers(column: pa.Array) -> Array:
    """A number for each value; all nulls have the same, whatever their buffers hold."""
    column = plain(column)
    numbers = _of_values(column)
    if column.null_count:
        numbers = np.where(column.is_valid().to_numpy(zero_copy_only=False), numbers, _NULL)
    return numbers


def _of_values(column: pa.Array) -> Array:
    data_type, kind = column.type, Kind.of(column.type)
    if pa.types.is_null(data_type):
        return np.zeros(len(column), np.uint64)
    if kind is Kind.FLOAT:
        return float_ranks(column).view(np.uint64)
    if kind is Kind.TEXT:
        return hash_128(column)[0]  # type: ignore[no-any-return]
    if kind.in_ticks:
        column = column.view(pa.int64() if data_type.bit_width == 64 else pa.int32())
    if pa.types.is_uint64(data_type):
        column = column.view(pa.int64())
    if kind is Kind.BOOLEAN or pa.types.is_integer(column.type):
        numbers = column.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
        return numbers.view(np.uint64)  # type: ignore[no-any-return]
    if pa.types.is_struct(data_type):
        return hashes_of(column.flatten(), len(column))
    if pa.types.is_map(data_type):
        entries = pa.struct([("key", data_type.key_type), ("value", data_type.item_type)])
        return _of_lists(column.view(pa.list_(entries)))
    if _is_list(data_type):
        return _of_lists(column)
    if kind is Kind.DECIMAL or pa.types.is_interval(data_type):
        return _of_bytes(column)
    raise InvalidArgument(f"key: values of type {data_type} are no keys of a stream")


def _is_list(data_type: pa.DataType) -> bool:
    types = pa.types
    return bool(
        types.is_list(data_type)
        or types.is_large_list(data_type)
        or types.is_fixed_size_list(data_type)
        or types.is_list_view(data_type)
        or types.is_large_list_view(data_type)
    )


def _of_lists(column: pa.Array) -> Array:
    """A number for each list: the sum of its values' hashes, each mixed with its place."""
    lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy().astype(np.int64)
    stops = np.cumsum(lengths)
    values = _numbers(pc.list_flatten(column))
    places = np.arange(1, len(values) + 1) - np.repeat(stops - lengths, lengths)
    sums = np.append(np.uint64(0), np.cumsum(_mixed(places.astype(np.uint64) * _FACTOR, values)))
    found: Array = sums[stops] - sums[stops - lengths] + lengths.astype(np.uint64)
    return found


def _of_bytes(column: pa.Array) -> Array:
    """A number for each value of a fixed number of bytes."""
    width = column.type.bit_width // 8
    data = np.frombuffer(column.buffers()[1], np.uint8)[column.offset * width :]
    words = -(-width // 8)
    padded = np.zeros((len(column), words * 8), np.uint8)
    padded[:, :width] = data[: len(column) * width].reshape(-1, width)
    mixed = np.zeros(len(column), np.uint64)
    for word in padded.view("<u8").T:
        mixed = _mixed(mixed, word)
    return mixed
