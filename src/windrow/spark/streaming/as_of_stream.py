"""`as_of` on streaming DataFrames: queries are a second stream.

      queries -> payloads, with a watermark \
                                             } -> [shuffle by shard] -> state, answers
      events  -> payloads, with a watermark /

Spark's watermark is that of the stream that is behind, so a query is answered when no event before
its moment is to come. Both streams are rows of one layout (`stream/asked_rows.py`). Several sources
answer one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import BooleanType, StructField, StructType

from windrow.errors import InvalidArgument
from windrow.planning.as_of_plan import AsOfPlan
from windrow.planning.stream_arguments import StreamArguments
from windrow.spark.bridge.column_names import plain_names
from windrow.spark.bridge.schema import arrow_schema, nullable_columns
from windrow.spark.bridge.source import Source, title
from windrow.spark.streaming.dataflow import Shards, answer_payloads, packed_rows
from windrow.spark.streaming.outputs import AnswerFormat
from windrow.spark.streaming.over_stream import plain_batches
from windrow.spark.streaming.payloads import pack
from windrow.spark.streaming.stream_setup import require_rocksdb, shards_of
from windrow.spark.streaming.watermark import (
    Watermark,
    column_with_watermark,
    find_watermark,
    has_watermark,
)
from windrow.stream.as_of_stream import StreamAsOf
from windrow.stream.asked_rows import AskedRows


def as_of_stream(
    queries: Source,
    sources: Sequence[Source],
    plans: Sequence[AsOfPlan],
    arguments: StreamArguments,
) -> Any:
    """The queries with the columns of `wr.as_of` added, each when it is final."""
    require_rocksdb(queries.frame.sparkSession)
    if arguments.lateness is not None and all(map(has_watermark, (queries, *sources))):
        raise InvalidArgument(
            "lateness: queries and events have watermarks already, and Spark does not take a "
            "second; leave one of them out"
        )
    found = queries
    for events, plan in zip(sources, plans, strict=True):
        found = _with_answers(found, events, plan, arguments)
    return found.frame


def _with_answers(
    queries: Source, events: Source, plan: AsOfPlan, arguments: StreamArguments
) -> Source:
    """The queries with the answers of one source."""
    schema = arrow_schema(queries, "queries")
    shards, _why = shards_of(queries.frame.sparkSession, plan.key, arguments.shards)
    query = partial(StreamAsOf, plan, schema, nullable_columns(events), shards)
    is_of_moments = query().is_of_moments  # made once here: refuses what a task would refuse
    rows = AskedRows(plan, schema)
    sides = [(queries, rows.asked, True), (events, {name: name for name in rows.told}, False)]
    packed, watermarks = None, []
    for source, columns, asks in sides:
        watermark = _watermark(source, plan.order[0], arguments, is_of_moments)
        side = _packed(rows, source, columns, asks, shards, (queries, events))
        if not watermark.is_own:
            side = side.withWatermark("newest", f"{watermark.delay} milliseconds")
        packed = side if packed is None else packed.union(side)
        watermarks.append(watermark)
    added = from_arrow_schema(pa.schema(plan.output_fields))
    result = StructType([*queries.schema.fields, *added.fields])
    answers = AnswerFormat(
        title("as_of", plan.features, plan.windows),
        result,
        pa.schema([*schema, *plan.output_fields]),
        plain_batches,
        column_with_watermark(plan.order[0], schema),
    )
    is_behind = any(each.is_own for each in watermarks)
    delay = max(each.delay for each in watermarks)
    layout = pa.schema(list(rows.types.items()))
    frame = answer_payloads(packed, Shards(query, layout, shards, is_behind), answers, delay)
    marked = frame.schema if queries.may_ask else result
    return replace(queries, frame=frame, schema=marked)


def _watermark(
    source: Source, order: str, arguments: StreamArguments, is_of_moments: bool
) -> Watermark:
    """When rows of one of the streams are final; the call's lateness is for those that say not."""
    lateness = None if has_watermark(source) else arguments.lateness
    watermark = find_watermark(source, order, lateness)
    if is_of_moments and not watermark.is_own:
        # A row that comes as late as it may is newer than the watermark.
        return watermark._replace(delay=watermark.delay + 1)
    return watermark


def _packed(
    rows: AskedRows,
    source: Source,
    columns: dict[str, str],
    asks: bool,
    shards: int,
    both: tuple[Source, Source],
) -> Any:
    """Queries or events as payloads of the layout that they share.

    `columns` are those of the source that go along, and how they are called there.
    """
    queries, events = both
    types = {name: events.schema[name].dataType for name in rows.told}
    types |= {here: queries.schema[name].dataType for name, here in rows.asked.items()}
    types[rows.asks] = BooleanType()
    plain = plain_names(source.schema.names)
    own = {here: plain[source.schema.names.index(name)] for name, here in columns.items()}
    names = [f"column_{place}" for place in range(len(rows.types))]
    laid = [
        F.lit(asks).alias(name)
        if here == rows.asks
        else (F.col(own[here]) if here in own else F.lit(None).cast(types[here])).alias(name)
        for name, here in zip(names, rows.types, strict=True)
    ]
    schema = StructType(
        [StructField(name, types[here]) for name, here in zip(names, rows.types, strict=True)]
    )
    layout = pa.schema(list(rows.types.items()))
    key = [names[list(rows.types).index(each)] for each in rows.plan.key]
    read = replace(source, frame=source.frame.toDF(*plain).select(*laid), schema=schema)
    return packed_rows(read, key, shards, pack(layout, rows.plan.order[0], shards))
