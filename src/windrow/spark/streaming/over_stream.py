"""`over` on streaming DataFrames."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from windrow.planning.over_plan import OverPlan
from windrow.planning.stream_arguments import StreamArguments
from windrow.spark.bridge.answer_columns import ROWS_AT_ONCE
from windrow.spark.bridge.column_names import plain_names
from windrow.spark.bridge.source import Source, title
from windrow.spark.streaming.dataflow import answer_stream
from windrow.spark.streaming.outputs import AnswerFormat
from windrow.spark.streaming.stream_setup import set_up
from windrow.spark.streaming.watermark import column_with_watermark


def over_stream(source: Source, plan: OverPlan, arguments: StreamArguments) -> Any:
    """The events with the columns of `wr.over` added, each when it is final."""
    added = from_arrow_schema(pa.schema(plan.output_fields))
    answers = AnswerFormat(
        title("over", plan.features, plan.windows),
        StructType([*source.schema.fields, *added.fields]),
        pa.schema([*plan.schema, *plan.output_fields]),
        plain_batches,
        column_with_watermark(plan.order[0], plan.schema),
    )
    return answer_stream(set_up(source, plan, arguments), answers)


def plain_batches(table: pa.Table) -> Iterator[pa.RecordBatch]:
    """Answers as batches for Spark, under names that it does not misread."""
    table = table.rename_columns(list(plain_names(table.column_names)))
    yield from table.combine_chunks().to_batches(max_chunksize=ROWS_AT_ONCE)
