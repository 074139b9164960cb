"""`over` on streaming DataFrames."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from windrow.planning.over_plan import OverPlan
from windrow.spark.bridge.answer_columns import ROWS_AT_ONCE
from windrow.spark.bridge.column_names import plain_names, require_distinct_names, require_new_names
from windrow.spark.bridge.source import Source, title
from windrow.spark.streaming.dataflow import Told, through_shards
from windrow.spark.streaming.outputs import Answered
from windrow.spark.streaming.watermark import mark_on
from windrow.stream.over_stream import StreamOver


def over_stream(source: Source, plan: OverPlan, told: Told) -> Any:
    """The events with the columns of `wr.over` added, each when it is final."""
    require_distinct_names(source.schema.names)
    added = from_arrow_schema(pa.schema(plan.output_fields))
    require_new_names(source.frame, source.schema.names, added.names)
    answered = Answered(
        title("over", plan.features, plan.windows),
        StructType([*source.schema.fields, *added.fields]),
        pa.schema([*plan.schema, *plan.output_fields]),
        _batches,
        marked=mark_on(plan.order[0], plan.schema),
    )
    return through_shards(source, plan, plan.schema.names, StreamOver, answered, told)


def _batches(table: pa.Table) -> Iterator[pa.RecordBatch]:
    table = table.rename_columns(list(plain_names(table.column_names)))
    yield from table.combine_chunks().to_batches(max_chunksize=ROWS_AT_ONCE)
