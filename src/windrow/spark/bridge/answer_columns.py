"""The columns that windrow reads from a DataFrame, and those of answers, for tables and streams."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from windrow.planning.slide_plan import END, START, SlidePlan
from windrow.spark.bridge.column_names import plain_names, renamed
from windrow.spark.bridge.source import Source

#: rows that are answered at once; Spark's own batches are smaller, and each has a fixed cost
ROWS_AT_ONCE = 2**16


def read_columns(source: Source, columns: Sequence[str]) -> Source:
    """The source with only the columns that are read, under names that Spark does not misread."""
    names = plain_names(source.schema.names)
    places = [source.schema.names.index(name) for name in columns]
    frame = source.frame.toDF(*names).select(*(names[place] for place in places))
    fields = renamed(source.schema, names).fields
    return replace(source, frame=frame, schema=StructType([fields[place] for place in places]))


def result_columns(schema: StructType, plan: SlidePlan) -> StructType:
    """The columns of the answers; keys as they are, times in microseconds."""
    found = from_arrow_schema(in_microseconds(plan.output_schema))
    fields = {field.name: field for field in schema.fields if field.name in plan.key}
    return StructType([fields.get(field.name, field) for field in found.fields])


def in_microseconds(schema: pa.Schema) -> pa.Schema:
    """The schema with begins and ends in Spark's only unit of time."""
    for name in (START, END):
        field = schema.field(name)
        if pa.types.is_timestamp(field.type):
            exact = field.with_type(pa.timestamp("us", field.type.tz))
            schema = schema.set(schema.get_field_index(name), exact)
    return schema


def answer_batches(table: pa.Table, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Answers as batches for Spark, under names that it does not misread."""
    for name in (START, END):
        index = table.column_names.index(name)
        table = table.set_column(index, name, table[name].cast(schema.field(name).type))
    table = table.rename_columns(list(plain_names(table.column_names)))
    yield from table.combine_chunks().to_batches(max_chunksize=ROWS_AT_ONCE)


def answers_in_bulk(
    batches: Iterable[pa.RecordBatch],
    answers: Callable[[pa.RecordBatch], Iterable[pa.RecordBatch]],
    rows: int = ROWS_AT_ONCE,
    most_bytes: float = math.inf,
) -> Iterator[pa.RecordBatch | None]:
    """Answer many batches at once; gives None for a batch that has to wait for more.

    Args:
        batches: the batches of a partition.
        answers: answers one batch.
        rows: batches are joined until they have so many rows,
        most_bytes: or so many bytes.
    """
    held: list[pa.RecordBatch] = []
    held_rows = held_bytes = 0
    for batch in batches:
        held.append(batch)
        held_rows += batch.num_rows
        held_bytes += batch.nbytes
        if held_rows >= rows or held_bytes >= most_bytes:
            yield from answers(pa.concat_batches(held))
            held, held_rows, held_bytes = [], 0, 0
        else:
            yield None
    if held_rows:
        yield from answers(pa.concat_batches(held))
