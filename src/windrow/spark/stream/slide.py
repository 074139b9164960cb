"""`slide` on streaming DataFrames: payloads of events by shard, through Spark's stateful operator.

      events -> shard numbers -> payloads -> [shuffle by shard] -> state, answers -> answers
               Spark            mapInArrow                        transformWithState  mapInArrow

What a shard does is in `windrow.runtime.stream`; here is only what speaks to Spark.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pyarrow as pa
from pyspark.sql import functions as F

from windrow.errors import InvalidArgument
from windrow.planning.slide import SlidePlan
from windrow.runtime.stream.slide import StreamSlide
from windrow.spark.answers import answer_batches, in_microseconds, reading, result_columns
from windrow.spark.frames import plain_names, renamed, require_new_names
from windrow.spark.schema import arrow_schema, nullable_columns
from windrow.spark.source import Source, title
from windrow.spark.stream.pack import PACKED, pack, unpacked
from windrow.spark.stream.processor import ANSWERED, COUNTS, ShardProcessor
from windrow.spark.stream.watermark import lateness_of

_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def slide_stream(
    source: Source, plan: SlidePlan, lateness: str | timedelta | None, shards: int | None
) -> Any:
    """The answers of `wr.slide` as a streaming DataFrame, each when it is final."""
    session = source.frame.sparkSession
    delay = lateness_of(source.schema, plan.order[0], lateness)
    parts = _shards(session, plan, shards)
    nullable = nullable_columns(source)
    StreamSlide(plan, nullable, parts)  # what a task would refuse is refused here
    result = result_columns(source.schema, plan)
    outputs = [name for name, _place in plan.outputs]
    require_new_names(source.frame, result.names[: -len(outputs)], outputs)
    _require_rocksdb(session)

    read = reading(source, plan.columns)
    names = read.schema.names
    number = F.pmod(F.hash(*names[: len(plan.key)]), F.lit(parts)) if plan.key else F.lit(0)
    events = pa.schema(
        [
            field.with_name(name)
            for field, name in zip(arrow_schema(read), plan.columns, strict=True)
        ]
    )
    packed = read.frame.select(number.cast("int").alias("shard"), *names).mapInArrow(
        pack(events, plan.order[0], parts), PACKED
    )
    if delay is not None:
        packed = packed.withWatermark("newest", delay)
    work, plain = title("slide", plan.features, plan.windows), plain_names(result.names)
    answers = pa.schema(
        [
            field.with_name(name)
            for field, name in zip(in_microseconds(plan.output_schema), plain, strict=True)
        ]
    )
    moved = packed.drop("newest").groupBy("shard").transformWithStateInPandas(
        _processor(plan, nullable, parts, events), ANSWERED, "Append", "EventTime"
    )  # fmt: skip
    counts = [F.coalesce(F.sum(name), F.lit(0)).alias(name) for name in COUNTS]
    take = unpacked(answers)
    take.__name__ = work
    return moved.observe(work, *counts).mapInArrow(take, renamed(result, plain)).toDF(*result.names)


def _processor(
    plan: SlidePlan, nullable: set[str], shards: int, events: pa.Schema
) -> ShardProcessor:
    schema = in_microseconds(plan.output_schema)

    def ready() -> StreamSlide:
        return StreamSlide(plan, nullable, shards)

    def batches(table: pa.Table) -> Iterator[pa.RecordBatch]:
        return answer_batches(table, schema)

    return ShardProcessor(uuid.uuid4().hex, ready, events, batches)


def _shards(session: Any, plan: SlidePlan, wanted: int | None) -> int:
    if wanted is None:
        return int(session.conf.get("spark.sql.shuffle.partitions")) if plan.key else 1
    if isinstance(wanted, bool) or not isinstance(wanted, int) or wanted < 1:
        raise InvalidArgument(f"shards: a number of at least 1, not {wanted!r}")
    if not plan.key and wanted > 1:
        raise InvalidArgument("shards: without a key there is one window, and one shard")
    return wanted


def _require_rocksdb(session: Any) -> None:
    provider = session.conf.get(_PROVIDER)
    if not provider.endswith("RocksDBStateStoreProvider"):
        raise InvalidArgument(
            f"data: windows over a stream are kept in RocksDB; set {_PROVIDER} to {_ROCKSDB} in "
            f"the session's configuration, it is {provider}"
        )
