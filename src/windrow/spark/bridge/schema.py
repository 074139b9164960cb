"""The schema of a DataFrame, in Arrow's types as windrow's plans take it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkTypeError
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructField, StructType

from windrow.errors import InvalidArgument


def arrow_schema(frame: Any, argument: str = "data") -> pa.Schema:
    """The types of the batches that a task gets from a DataFrame or a `Source`.

    `argument` is the name of the call's argument, for messages.
    """
    fields = [field for column in frame.schema for field in _arrow_fields(column, argument)]
    return pa.schema(fields)


def arrow_of(columns: Any) -> pa.Schema:
    """The columns of a DataFrame, or a `StructType`, in Arrow's types."""
    schema = columns if isinstance(columns, StructType) else columns.schema
    return pa.schema([each for column in schema for each in _arrow_fields(column, "data")])


def under_names(schema: pa.Schema, names: Sequence[str]) -> pa.Schema:
    """The same columns under other names."""
    return pa.schema([field.with_name(name) for field, name in zip(schema, names, strict=True)])


def spark_schema(schema: pa.Schema) -> StructType:
    """The same columns in Spark's types."""
    return from_arrow_schema(schema)


def _arrow_fields(column: StructField, argument: str) -> Iterable[pa.Field]:
    try:
        return to_arrow_schema(StructType([column]), timezone="UTC")  # type: ignore[no-any-return]
    except PySparkTypeError:
        raise InvalidArgument(
            f"{argument}: the column {column.name!r} is {column.dataType.simpleString()}, which "
            "Spark does not hand to Python; cast it or leave it out"
        ) from None


def nullable_columns(frame: Any) -> set[str]:
    """The columns that may hold nulls."""
    return {field.name for field in frame.schema.fields if field.nullable}
