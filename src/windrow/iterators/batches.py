"""Batches of a stream, brought to the columns of the first.

Types may differ where values do not: another width of integers, another unit of times, strings in
another layout. Whatever would change a value is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from windrow.algebra.kinds import Kind, plain_type
from windrow.errors import InvalidArgument
from windrow.tables.choose import to_table

_NUMBERS = {Kind.INTEGER, Kind.FLOAT, Kind.DECIMAL}


def table_of(batch: Any, number: int) -> pa.Table:
    """A batch of a stream as a table of its own: nobody else changes its values later."""
    if isinstance(batch, pa.Table | pa.RecordBatch):
        return to_table(batch)
    try:
        table = to_table(batch)
    except InvalidArgument as error:
        raise InvalidArgument(f"data: batch {number}: {_without_name(error)}") from None
    # What is made of numpy arrays may share them with a program that fills them again.
    copies = [pa.concat_arrays(each.chunks) if each.num_chunks else each for each in table.columns]
    return pa.table(copies, schema=table.schema)


def says_its_types(table: pa.Table) -> bool:
    """Whether the columns of a stream can be known from this batch: empty lists have no type."""
    if table.num_rows:
        return True
    return bool(len(table.schema)) and not any(pa.types.is_null(each.type) for each in table.schema)


class Conforming:
    """Brings batches to the columns that the stream's query reads."""

    def __init__(self, schema: pa.Schema, columns: Sequence[str], takes_more: bool) -> None:
        """`columns` are those that are read; `takes_more` lets batches have others."""
        self.schema = pa.schema([schema.field(name) for name in columns])
        self._known, self._takes_more = set(schema.names), takes_more

    def table(self, table: pa.Table, which: str) -> pa.Table:
        """The columns that are read, in the types of the first batch; `which` is for messages."""
        if table.schema.equals(self.schema):
            return table
        if not table.num_rows:
            return self.schema.empty_table()
        names = table.column_names
        for name in self.schema.names:
            count = names.count(name)
            if count != 1:
                found = f"{count} columns" if count else "no column"
                raise InvalidArgument(
                    f"{which} has {found} {name!r}, and the first batch has one; give every batch "
                    "the columns of the first"
                )
        others = [] if self._takes_more else [name for name in names if name not in self._known]
        if others:
            raise InvalidArgument(
                f"{which} has a column {others[0]!r} that the first batch does not have; select "
                "the columns of the first, or give schema="
            )
        columns = [_converted(table[field.name], field, which) for field in self.schema]
        return pa.table(columns, schema=self.schema)


def _converted(column: pa.ChunkedArray, field: pa.Field, which: str) -> pa.ChunkedArray:
    if column.type == field.type:
        return column
    problem = "" if _may_become(column.type, field.type) else "values of another kind"
    try:
        if not problem:
            return column.cast(field.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        problem = str(error)
    raise InvalidArgument(
        f"{which} has {field.name!r} as {column.type}, and the first batch as {field.type}: "
        f"{problem}; cast it, or state the types of all batches with schema="
    )


def _may_become(given: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether values of a type are values of another."""
    if pa.types.is_null(given):
        return True
    given, wanted = plain_type(given), plain_type(wanted)
    kinds = {Kind.of(given), Kind.of(wanted)}
    if kinds == {Kind.TEMPORAL}:
        return _family(given) == _family(wanted)
    return len(kinds) == 1 or kinds <= _NUMBERS


def _family(data_type: pa.DataType) -> str:
    """What a type of time tells: a moment, a moment of some clock on a wall, a day, or a time."""
    if pa.types.is_timestamp(data_type):
        return "moment" if data_type.tz is not None else "wall clock"
    return "day" if pa.types.is_date(data_type) else "time"


def _without_name(error: InvalidArgument) -> str:
    return str(error).removeprefix("data: ")
