"""Arrow columns as the arrays of numbers that loops read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.algebra.kinds import Kind
from windrow.errors import InvalidArgument

Array = np.ndarray[Any, Any]


#: truths for columns without nulls, and how many are kept
_TRUE: Array = np.ones(0, np.bool_)
_MOST_TRUE = 2**22


def values(column: pa.Array) -> Array:
    """The values of a column as 64-bit numbers; what stands where a null is means nothing."""
    kind = Kind.of(column.type)
    if kind.in_ticks:
        column = column.view(pa.int64() if column.type.bit_width == 64 else pa.int32())
    wanted = pa.float64() if kind is Kind.FLOAT else pa.int64()
    if column.type != wanted:
        try:
            column = column.cast(wanted)
        except pa.ArrowInvalid as error:
            raise InvalidArgument(
                f"data: a value of type {column.type} does not fit 64-bit integers: {error}"
            ) from None
    dtype = np.float64 if kind is Kind.FLOAT else np.int64
    if not len(column):
        return read_only(np.empty(0, dtype))
    buffer = column.buffers()[1]
    return read_only(np.frombuffer(buffer, dtype, len(column), column.offset * 8))


def truth(column: pa.Array) -> Array:
    """Which values of a column of truth values are true; null is not.

    Not by `to_numpy`, for which pyarrow loads pandas where it is installed: 0.2 s of a first call.
    """
    valid, bits = column.buffers()
    found = _unpacked(bits, column)
    return found & _unpacked(valid, column) if column.null_count else found


def _unpacked(bits: pa.Buffer | None, column: pa.Array) -> Array:
    """The bits of a column, each as a truth value."""
    if bits is None or not len(column):
        return np.zeros(len(column), np.bool_)
    stop = column.offset + len(column)
    unpacked = np.unpackbits(np.frombuffer(bits, np.uint8), count=stop, bitorder="little")
    return unpacked[column.offset :].view(np.bool_)


def column_of(numbers: Array) -> pa.Array:
    """Numbers as a column, without a copy; not by `pa.array`, for the reason above."""
    held = pa.py_buffer(np.ascontiguousarray(numbers))
    return pa.Array.from_buffers(pa.from_numpy_dtype(numbers.dtype), len(numbers), [None, held])


def validity(column: pa.Array) -> Array:
    """Which rows of a column hold a value."""
    if not column.null_count:
        return _all_true(len(column))
    return read_only(truth(pc.is_valid(column)))


def _all_true(size: int) -> Array:
    """So many truths; blocks share them, as long as they are no more than some megabytes."""
    global _TRUE
    if size > _MOST_TRUE:
        return read_only(np.ones(size, np.bool_))
    if size > len(_TRUE):
        _TRUE = read_only(np.ones(1 << (size - 1).bit_length(), np.bool_))
    return _TRUE[:size]


def present(column: pa.Array) -> Array | None:
    """Which rows hold something to measure by, neither null nor NaN; None if all do."""
    is_float = pa.types.is_floating(column.type)
    if not (is_float or column.null_count):
        return None
    missing = truth(column.is_null(nan_is_null=is_float))
    return read_only(~missing) if missing.any() else None


def read_only(array: Array) -> Array:
    """The array in the one form that kernels are compiled for."""
    array = np.ascontiguousarray(array)
    if not array.flags.aligned:
        array = array.copy()
    view = array.view()
    view.flags.writeable = False
    return view
