"""Columns between Arrow and the arrays that kernels read and write."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.algebra.kinds import Kind, in_ticks, plain_type
from windrow.errors import AggregateOverflow, InvalidAggregation, InvalidArgument

Array = np.ndarray[Any, Any]


def whole(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """A column in one piece."""
    if isinstance(column, pa.ChunkedArray):
        if not column.num_chunks:  # Arrow cannot combine no chunks for every type
            return pa.array([], plain_type(column.type))
        column = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
        if isinstance(column, pa.ChunkedArray):  # combine_chunks keeps what one array cannot hold
            raise InvalidArgument("data: a column is too large for one array; use large strings")
    return _plain(column)


def whole_key(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """A column in one piece, for keys: of a dictionary, the indices tell them apart."""
    if not pa.types.is_dictionary(column.type):
        return whole(column)
    if isinstance(column, pa.ChunkedArray):
        if column.num_chunks != 1:  # Arrow unifies few types of dictionaries
            return whole(column)
        column = column.chunk(0)
    return column


def only(batch: pa.RecordBatch, wanted: Array) -> pa.RecordBatch:
    """The wanted rows of a batch; they are not copied if they lie together."""
    count = int(np.count_nonzero(wanted))
    first = int(wanted.argmax()) if count else 0
    if wanted[first : first + count].all():
        return batch.slice(first, count)
    return batch.filter(pa.array(wanted))


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


def python_values(column: pa.Array, name: str, as_python: bool) -> list[Any]:
    """The values of the column of that name for plain Python; times as whole ticks, or Python's."""
    ticks = in_ticks(column.type)
    if ticks == column.type:
        return column.to_pylist()  # type: ignore[no-any-return]
    if not as_python:
        return column.cast(ticks).to_pylist()  # type: ignore[no-any-return]
    try:
        if column.type == pa.time64("ns"):  # Python has no nanoseconds; the cast drops none
            column = column.cast(pa.time64("us"))
        return column.to_pylist()  # type: ignore[no-any-return]
    except (ValueError, OverflowError) as error:
        raise InvalidArgument(
            f"data: {name!r} holds a time of {column.type} that Python's datetime does not have, "
            f"and one of your functions takes it: {error}"
        ) from None


def answers_to_arrow(
    answers: Array, defined: Array | None, data_type: pa.DataType, name: str
) -> pa.Array:
    """The answers of a kernel as a column of the promised type; the name is for messages."""
    bitmap = None
    if defined is not None and not defined.all():
        bitmap = pa.py_buffer(np.packbits(defined, bitorder="little"))
    # Not by `pa.array`, which loads pandas where it is installed: 0.2 s of a first call.
    numbers = pa.py_buffer(np.ascontiguousarray(answers))
    column = pa.Array.from_buffers(
        pa.from_numpy_dtype(answers.dtype), len(answers), [bitmap, numbers]
    )
    if column.type == data_type:
        return column
    if Kind.of(data_type).in_ticks:
        narrow = pa.int64() if data_type.bit_width == 64 else pa.int32()
        return column.cast(narrow).view(data_type)
    try:
        return column.cast(data_type)
    except pa.ArrowInvalid as error:
        raise _no_answer(name, data_type, error) from None


def objects_to_arrow(answers: list[Any], data_type: pa.DataType, name: str) -> pa.Array:
    """The answers of plain Python as a column of the promised type; the name is for messages."""
    try:
        # With an integer type, Arrow cuts floats off; without one, it takes none above 2^63.
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
