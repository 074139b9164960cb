"""`slide` on batch DataFrames: one shuffle by key, one sort, one pass over Arrow batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from windrow.errors import InvalidArgument
from windrow.planning.slide import END, START, SlidePlan, resolve_slide
from windrow.runtime.sliding import Sliding
from windrow.spark.frames import plain_names, renamed, require_new_names
from windrow.spark.schema import arrow_schema, nullable_columns
from windrow.spark.source import Source, source_of, title

#: so many rows are answered at once: Spark's batches of 10,000 cost a third more time
_ROWS_AT_ONCE = 2**16


def slide_dataframe(data: Any, *, schema: StructType | None, **arguments: Any) -> Any:
    """The answers of `wr.slide` as a DataFrame."""
    source = source_of(data, schema)
    plan = resolve_slide(arrow_schema(source), **arguments)
    if plan.order_type == pa.timestamp("ns", getattr(plan.order_type, "tz", None)):
        raise InvalidArgument(
            "windows: they begin or end between two microseconds, and Spark's times are whole "
            "microseconds"
        )
    nullable = nullable_columns(source)
    Sliding(plan, nullable)  # what a task would refuse is refused here, when the call is made
    result = _result(source.schema, plan)
    outputs = [name for name, _place in plan.outputs]
    require_new_names(source.frame, result.names[: -len(outputs)], outputs)
    read = _reading(source, plan.columns)
    names = dict(zip(plan.columns, read.schema.names, strict=True))
    key, order = [[names[name] for name in wanted] for wanted in (plan.key, plan.order)]
    # Without a key all rows go to one task.
    arranged = read.frame.repartition(*key) if key else read.frame.repartition(1)
    answered = read.map_in_arrow(
        arranged.sortWithinPartitions(*key, *order),
        _answer_partition(plan, nullable),
        renamed(result, plain_names(result.names)),
        title("slide", plan.features, plan.windows),
    )
    return answered.toDF(*result.names)


def _reading(source: Source, columns: Sequence[str]) -> Source:
    """The columns that are read, under names that Spark does not take apart."""
    names = plain_names(source.schema.names)
    places = [source.schema.names.index(name) for name in columns]
    frame = source.frame.toDF(*names).select(*(names[place] for place in places))
    fields = renamed(source.schema, names).fields
    return replace(source, frame=frame, schema=StructType([fields[place] for place in places]))


def _result(schema: StructType, plan: SlidePlan) -> StructType:
    """The columns of the answers; keys as they are, times in microseconds."""
    found = from_arrow_schema(_in_microseconds(plan.output_schema))
    fields = {field.name: field for field in schema.fields if field.name in plan.key}
    return StructType([fields.get(field.name, field) for field in found.fields])


def _in_microseconds(schema: pa.Schema) -> pa.Schema:
    """Spark knows no other unit of time."""
    for name in (START, END):
        field = schema.field(name)
        if pa.types.is_timestamp(field.type):
            exact = field.with_type(pa.timestamp("us", field.type.tz))
            schema = schema.set(schema.get_field_index(name), exact)
    return schema


def _answer_partition(plan: SlidePlan, nullable: set[str]) -> Any:
    columns, schema = plan.columns, _in_microseconds(plan.output_schema)

    def answer(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        sliding = Sliding(plan, nullable)
        for batch in _gathered(batches):
            for table in sliding.advance(batch.rename_columns(columns)):
                yield from _batches(table, schema)
        for table in sliding.close():
            yield from _batches(table, schema)

    return answer


def _gathered(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same rows in larger batches."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if sum(each.num_rows for each in held) >= _ROWS_AT_ONCE:
            yield pa.concat_batches(held)
            held = []
    if held:
        yield pa.concat_batches(held)


def _batches(table: pa.Table, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Answers as Spark takes them, under names that it does not take apart."""
    for name in (START, END):
        index = table.column_names.index(name)
        table = table.set_column(index, name, table[name].cast(schema.field(name).type))
    table = table.rename_columns(list(plain_names(table.column_names)))
    yield from table.combine_chunks().to_batches(max_chunksize=_ROWS_AT_ONCE)
