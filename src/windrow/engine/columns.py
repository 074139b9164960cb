"""Columns between Arrow and the arrays that kernels read and write."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.algebra.kinds import Kind, in_ticks, plain_type
from windrow.errors import AggregateOverflow, InvalidAggregation, InvalidArgument

Array = np.ndarray[Any, Any]

_NANOSECONDS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}


def whole(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """A column in one piece."""
    if isinstance(column, pa.ChunkedArray):
        if not column.num_chunks:  # of no chunks, Arrow makes no array of every type
            return pa.array([], plain_type(column.type))
        column = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
        if isinstance(column, pa.ChunkedArray):  # combine_chunks keeps what one array cannot hold
            raise InvalidArgument("data: a column is too large for one array; use large strings")
    return _plain(column)


def _plain(column: pa.Array) -> pa.Array:
    """A column in its plain type (see `plain_type`)."""
    if isinstance(column.type, pa.BaseExtensionType):
        return _plain(column.storage)
    if pa.types.is_dictionary(column.type):
        dictionary = _plain(column.dictionary)
        return pa.DictionaryArray.from_arrays(column.indices, dictionary).dictionary_decode()
    if pa.types.is_run_end_encoded(column.type):
        return _plain(pc.run_end_decode(column))
    plain = plain_type(column.type)
    return column if column.type == plain else column.cast(plain)


def values(column: pa.Array) -> Array:
    """The values of a column as 64-bit numbers; what stands where a null is means nothing."""
    kind = Kind.of(column.type)
    if kind is Kind.TEMPORAL:
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


def python_values(column: pa.Array, name: str, as_python: bool) -> list[Any]:
    """The values of the column of that name for plain Python; times as whole ticks, or Python's."""
    ticks = in_ticks(column.type)
    if ticks == column.type:
        return column.to_pylist()  # type: ignore[no-any-return]
    if not as_python:
        return column.cast(ticks).to_pylist()  # type: ignore[no-any-return]
    try:
        if column.type == pa.time64("ns"):  # Python's have no nanoseconds: none are cut off
            column = column.cast(pa.time64("us"))
        return column.to_pylist()  # type: ignore[no-any-return]
    except (ValueError, OverflowError) as error:
        raise InvalidArgument(
            f"data: {name!r} holds a time of {column.type} that Python's datetime does not have, "
            f"and a function of one's own is to get it: {error}"
        ) from None


def validity(column: pa.Array) -> Array:
    """Which rows of a column hold a value."""
    if not column.null_count:
        return read_only(np.ones(len(column), np.bool_))
    return read_only(pc.is_valid(column).to_numpy(zero_copy_only=False))


def present(column: pa.Array) -> Array | None:
    """Which rows hold something to measure by, neither null nor NaN; None if all do."""
    is_float = pa.types.is_floating(column.type)
    if not (is_float or column.null_count):
        return None
    missing = column.is_null(nan_is_null=is_float).to_numpy(zero_copy_only=False)
    return read_only(~missing) if missing.any() else None


def read_only(array: Array) -> Array:
    """The array in the one form that kernels are compiled for."""
    array = np.ascontiguousarray(array)
    if not array.flags.aligned:
        array = array.copy()
    view = array.view()
    view.flags.writeable = False
    return view


def nanoseconds_per_tick(data_type: pa.DataType) -> int:
    """What one step of a time column means."""
    if pa.types.is_timestamp(data_type):
        return _NANOSECONDS[data_type.unit]
    return 86_400_000_000_000 if pa.types.is_date32(data_type) else 1_000_000


def times(column: pa.Array) -> Array:
    """A time column as integers; all nulls are one time, in runs of their own."""
    numbers = column.view(pa.int64() if column.type.bit_width == 64 else pa.int32())
    numbers = numbers.cast(pa.int64())
    oldest, newest = pc.min_max(numbers).as_py().values()
    if oldest is not None and newest - oldest >= 2**63:
        raise InvalidArgument(
            f"order: its times lie {newest - oldest} ticks of {column.type} apart, more than "
            "64 bits can measure; cast it to a coarser unit"
        )
    if numbers.null_count:
        numbers = pc.fill_null(numbers, 0)
    return read_only(numbers.to_numpy(zero_copy_only=False))


def answers_to_arrow(
    answers: Array, defined: Array | None, data_type: pa.DataType, name: str
) -> pa.Array:
    """Answers of a kernel to the feature of that name as a column of the promised type."""
    if defined is None or defined.all():
        column = pa.array(answers)
    else:
        bitmap = pa.py_buffer(np.packbits(defined, bitorder="little"))
        column = pa.Array.from_buffers(
            pa.from_numpy_dtype(answers.dtype), len(answers), [bitmap, pa.py_buffer(answers)]
        )
    if column.type == data_type:
        return column
    if Kind.of(data_type) is Kind.TEMPORAL:
        narrow = pa.int64() if data_type.bit_width == 64 else pa.int32()
        return column.cast(narrow).view(data_type)
    try:
        return column.cast(data_type)
    except pa.ArrowInvalid as error:
        raise _no_answer(name, data_type, error) from None


def objects_to_arrow(answers: list[Any], data_type: pa.DataType, name: str) -> pa.Array:
    """Answers to the feature of that name in plain Python as a column of the promised type."""
    try:
        # Told to expect integers, Arrow would cut floats off; not told, it takes none above 2^63.
        if pa.types.is_integer(data_type) and not (
            pa.types.is_uint64(data_type) and all(isinstance(each, int | None) for each in answers)
        ):
            return pa.array(answers).cast(data_type)
        return pa.array(answers, data_type)
    except OverflowError:
        raise AggregateOverflow(f"an answer of {name} does not fit 64-bit integers") from None
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        if pa.types.is_decimal(data_type):
            raise AggregateOverflow(f"an answer of {name} does not fit {data_type}") from None
        raise _no_answer(name, data_type, error) from None


def _no_answer(name: str, data_type: pa.DataType, error: Exception) -> InvalidAggregation:
    return InvalidAggregation(
        f"{name} gave an answer that is no {data_type}: {error}; give output= to wr.aggregation, a "
        "type that holds all its answers"
    )
