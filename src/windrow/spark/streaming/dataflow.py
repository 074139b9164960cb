"""From a streaming DataFrame to the answers of its shards, for every kind of query.

      events -> shard numbers -> payloads -> [shuffle by shard] -> state, answers
               Spark         Arrow function                       transformWithState

What a shard does is in `windrow.stream`; here is only what speaks to Spark.

What goes to Python is asked for its columns by Spark's client, which the functions of
`pyspark.pipelines` do not allow. So `to` tells them wherever the client does not know them.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import reduce
from typing import Any

from pyspark.sql import functions as F
from pyspark.sql.types import DoubleType, IntegerType, StructField, StructType

from windrow.errors import InvalidArgument
from windrow.planning.over_plan import OverPlan
from windrow.planning.slide_plan import SlidePlan
from windrow.planning.stream_arguments import require_shards
from windrow.spark.bridge.answer_columns import reading
from windrow.spark.bridge.arrow_batches import Maker, mapped
from windrow.spark.bridge.column_names import new_names
from windrow.spark.bridge.schema import arrow_schema, nullable_columns, under_names
from windrow.spark.bridge.source import Source
from windrow.spark.bridge.workers import own_python
from windrow.spark.streaming.history import history_of
from windrow.spark.streaming.outputs import Answered, output_of
from windrow.spark.streaming.payloads import PACKED, pack
from windrow.spark.streaming.processor import ShardProcessor
from windrow.spark.streaming.sealed import sealed
from windrow.spark.streaming.shards import labels
from windrow.spark.streaming.watermark import lateness_of
from windrow.stream.query import StreamQuery
from windrow.stream.state import NONE

#: what the operator gets
_SENT = StructType([PACKED["shard"], PACKED["payload"], StructField("salt", DoubleType())])
_PARTITIONS = "spark.sql.shuffle.partitions"
_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


@dataclass(frozen=True)
class Told:
    """What a call says of streams alone: `lateness`, `shards` and `history`."""

    lateness: str | timedelta | None
    shards: int | None
    history: Any


def through_shards(
    source: Source,
    plan: SlidePlan | OverPlan,
    columns: Sequence[str],
    query: Callable[[Any, set[str], int], StreamQuery],
    answered: Answered,
    told: Told,
) -> Any:
    """The answers of a query as a streaming DataFrame.

    Args:
        source: the events.
        plan: what is asked.
        columns: those of an event that are kept, the key in front.
        query: from the plan, the columns that may hold nulls and the number of shards to the query.
        answered: what comes out.
        told: what the call says of streams.
    """
    session = source.frame.sparkSession
    lateness = lateness_of(source, plan.order[0], told.lateness)
    parts = shards_of(session, plan.key, told.shards)
    nullable = nullable_columns(source)
    history = None
    if told.history is not None:
        history = history_of(told.history, source, columns)
        nullable |= nullable_columns(history)
    # What a task would refuse is refused here, when the call is made.
    asked = query(plan, nullable, parts)
    delay = lateness.milliseconds
    if asked.is_of_moments and not lateness.marked:
        delay += 1  # An event that comes as late as it may is newer than the watermark.
    _require_rocksdb(session)

    events = under_names(arrow_schema(reading(source, columns)), columns)
    packed = _packed(source, plan, columns, parts, pack(events, plan.order[0], parts))
    if not lateness.marked:
        packed = packed.withWatermark("newest", f"{delay} milliseconds")
    # A stream with a watermark may stand behind another operator.
    initial = [_every_shard(session, parts)] if lateness.marked else []
    if history is not None:
        packing = pack(events, plan.order[0], parts, history=True)
        final = F.unix_millis("newest") - delay
        old = _packed(history, plan, columns, parts, packing)
        initial.append(old.select("shard", final.alias("final"), "payload"))
    output = output_of(answered)
    processor = ShardProcessor(
        uuid.uuid4().hex,
        lambda: query(plan, nullable, parts),
        events,
        output,
        parts,
        lateness.marked,
    )
    # Spark runs equal stages of a plan once, and gives only the first a watermark: one of two
    # queries over a stream would never answer. Random numbers are others in each stage.
    payloads = packed.select("shard", "payload", F.rand().alias("salt")).to(_SENT)
    before = reduce(lambda one, other: one.union(other), initial) if initial else None
    begins = None if before is None else before.groupBy("shard")
    with own_python(session):
        moved = payloads.groupBy("shard").transformWithStateInPandas(
            sealed(processor), output.schema, "Append", "EventTime", begins
        )
    return output.answers(moved, delay)


def _every_shard(session: Any, parts: int) -> Any:
    """A row for each shard, so that each is called before the first batch, with or without news."""
    every = F.split(F.lit(",".join(map(str, labels(parts)))), ",").cast("array<int>")
    final = F.lit(NONE).cast("long").alias("final")
    payload = F.lit("").cast("binary").alias("payload")
    return session.range(1).select(F.explode(every).alias("shard"), final, payload)


def _packed(
    source: Source,
    plan: SlidePlan | OverPlan,
    columns: Sequence[str],
    parts: int,
    packing: Maker,
) -> Any:
    """Events as payloads of their shards."""
    read = reading(source, columns)
    names = read.schema.names
    key = [names[list(columns).index(name)] for name in plan.key]
    number = F.pmod(F.hash(*key), F.lit(parts)) if key else F.lit(0)
    shard = new_names(names)("shard")
    numbered = read.frame.select(number.cast("int").alias(shard), *names)
    fields = [StructField(each.name, each.dataType) for each in read.schema]
    # Spark refuses here what is not as the user stated it.
    stated = numbered.to(StructType([StructField(shard, IntegerType()), *fields]))
    return mapped(stated, [shard, *names], packing, PACKED, "windrow: events into payloads")


def shards_of(session: Any, key: Sequence[str], wanted: int | None) -> int:
    """In how many shards keys are kept."""
    if wanted is None:
        return _partitions(session) if key else 1
    require_shards(wanted, key)
    return wanted


def _partitions(session: Any) -> int:
    partitions = session.conf.get(_PARTITIONS)
    if not partitions.isdecimal():
        raise InvalidArgument(
            f"shards: {_PARTITIONS} is {partitions!r}, which is no number for state to be kept by; "
            "say in how many shards keys are kept, as in shards=64"
        )
    return int(partitions)


def _require_rocksdb(session: Any) -> None:
    provider = session.conf.get(_PROVIDER)
    if not provider.endswith("RocksDBStateStoreProvider"):
        raise InvalidArgument(
            f"data: windows over a stream are kept in RocksDB; set {_PROVIDER} to {_ROCKSDB} in "
            f"the session's configuration, it is {provider}"
        )
