"""From a streaming DataFrame to the answers of its shards: the plan that Spark gets.

      events -> shard numbers -> payloads -> [shuffle by shard] -> state, answers
                Spark            Arrow function                    transformWithState

What a shard does is in `windrow.stream`; only what speaks to Spark is here.

Spark's client looks up the columns of what goes to Python. The functions of `pyspark.pipelines` do
not allow that. So `to` states the columns wherever the client does not know them.
"""

from __future__ import annotations

import uuid
from functools import partial, reduce
from typing import Any

from pyspark.sql import functions as F
from pyspark.sql.types import DoubleType, IntegerType, StructField, StructType

from windrow.spark.bridge.answer_columns import read_columns
from windrow.spark.bridge.arrow_batches import BatchMaker, map_partitions
from windrow.spark.bridge.column_names import new_names
from windrow.spark.bridge.schema import arrow_schema, under_names
from windrow.spark.bridge.source import Source
from windrow.spark.bridge.workers import own_python
from windrow.spark.streaming.outputs import AnswerFormat, output_of
from windrow.spark.streaming.payloads import PACKED, pack
from windrow.spark.streaming.pickled_processor import pickled
from windrow.spark.streaming.processor import ShardProcessor
from windrow.spark.streaming.shards import labels
from windrow.spark.streaming.stream_setup import StreamSetup
from windrow.stream.plan_stream import query_of
from windrow.stream.state import NONE

#: the columns that the operator gets
_SENT = StructType([PACKED["shard"], PACKED["payload"], StructField("salt", DoubleType())])


def answer_stream(setup: StreamSetup, answers: AnswerFormat) -> Any:
    """The answers to a stream as a streaming DataFrame.

    Args:
        setup: the call, checked.
        answers: the columns that come out.
    """
    plan, shards, watermark = setup.plan, setup.shards, setup.watermark
    session = setup.source.frame.sparkSession
    make_query = partial(query_of, plan, setup.nullable, shards)
    delay = watermark.delay
    if make_query().is_of_moments and not watermark.is_own:
        delay += 1  # An event that comes as late as it may is newer than the watermark.

    events = under_names(arrow_schema(read_columns(setup.source, setup.columns)), setup.columns)
    packed = _packed(setup, setup.source, pack(events, plan.order[0], shards))
    if not watermark.is_own:
        packed = packed.withWatermark("newest", f"{delay} milliseconds")
    # A stream with a watermark of its own may come from another operator with state.
    initial = [_every_shard(session, shards)] if watermark.is_own else []
    if setup.history is not None:
        packing = pack(events, plan.order[0], shards, history=True)
        final = F.unix_millis("newest") - delay
        old = _packed(setup, setup.history, packing)
        initial.append(old.select("shard", final.alias("final"), "payload"))
    output = output_of(answers)
    processor = ShardProcessor(
        uuid.uuid4().hex, make_query, events, output, shards, watermark.is_own
    )
    # Spark runs equal stages of a plan once, and gives only the first a watermark: the other of two
    # queries over a stream would never answer. Random numbers make every stage different.
    payloads = packed.select("shard", "payload", F.rand().alias("salt")).to(_SENT)
    before = reduce(lambda one, other: one.union(other), initial) if initial else None
    begins = None if before is None else before.groupBy("shard")
    with own_python(session):
        moved = payloads.groupBy("shard").transformWithStateInPandas(
            pickled(processor), output.schema, "Append", "EventTime", begins
        )
    return output.answers(moved, delay)


def _every_shard(session: Any, shards: int) -> Any:
    """A row for each shard, so that Spark calls each of them before the first batch."""
    every = F.split(F.lit(",".join(map(str, labels(shards)))), ",").cast("array<int>")
    final = F.lit(NONE).cast("long").alias("final")
    payload = F.lit("").cast("binary").alias("payload")
    return session.range(1).select(F.explode(every).alias("shard"), final, payload)


def _packed(setup: StreamSetup, source: Source, packing: BatchMaker) -> Any:
    """Events of the stream or of its history, as payloads of their shards."""
    read = read_columns(source, setup.columns)
    names = read.schema.names
    key = [names[list(setup.columns).index(name)] for name in setup.plan.key]
    number = F.pmod(F.hash(*key), F.lit(setup.shards)) if key else F.lit(0)
    shard = new_names(names)("shard")
    numbered = read.frame.select(number.cast("int").alias(shard), *names)
    fields = [StructField(each.name, each.dataType) for each in read.schema]
    # Spark refuses here what is not as the user stated it.
    stated = numbered.to(StructType([StructField(shard, IntegerType()), *fields]))
    return map_partitions(stated, [shard, *names], packing, PACKED, "windrow: events into payloads")
