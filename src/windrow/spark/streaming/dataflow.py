"""From a streaming DataFrame to the answers of its shards: the plan that Spark gets.

      events -> shard numbers -> payloads -> [shuffle by shard] -> state, answers
                Spark            Arrow function                    transformWithState

What a shard does is in `windrow.stream`; only what speaks to Spark is here.

Spark's client looks up the columns of what goes to Python. The functions of `pyspark.pipelines` do
not allow that. So `to` states the columns wherever the client does not know them.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, StructField, StructType

from windrow.spark.bridge.answer_columns import read_columns
from windrow.spark.bridge.arrow_batches import BatchMaker, map_partitions, mapped
from windrow.spark.bridge.column_names import new_names
from windrow.spark.bridge.schema import arrow_schema, under_names
from windrow.spark.bridge.source import Source
from windrow.spark.bridge.workers import own_python
from windrow.spark.streaming.outputs import AnswerFormat, delivered, output_of
from windrow.spark.streaming.payloads import PACKED, pack
from windrow.spark.streaming.pickled_processor import pickled
from windrow.spark.streaming.processor import ShardProcessor
from windrow.spark.streaming.shards import labels
from windrow.spark.streaming.stream_setup import StreamSetup
from windrow.stream.plan_stream import query_of
from windrow.stream.query import StreamQuery
from windrow.stream.state import NONE

_PACKING = "windrow: events into payloads"
#: the columns that the operator gets
_SENT = StructType([PACKED["shard"], PACKED["payload"], StructField("salt", IntegerType())])


def answer_stream(setup: StreamSetup, answers: AnswerFormat) -> Any:
    """The answers to a stream as a streaming DataFrame.

    Args:
        setup: the call, checked.
        answers: the columns that come out.
    """
    plan, shards, watermark = setup.plan, setup.shards, setup.watermark
    make_query = partial(query_of, plan, setup.nullable, shards, delivery=setup.delivery)
    delay = watermark.delay
    if make_query().is_of_moments and not watermark.is_own:
        delay += 1  # An event that comes as late as it may is newer than the watermark.

    events = under_names(arrow_schema(read_columns(setup.source, setup.columns)), setup.columns)
    packed = _packed(setup, setup.source, pack(events, plan.order[0], shards))
    if not watermark.is_own:
        packed = packed.withWatermark("newest", f"{delay} milliseconds")
    initial = []
    if setup.history is not None:
        packing = pack(events, plan.order[0], shards, history=True)
        final = F.unix_millis("newest") - delay
        old = _packed(setup, setup.history, packing)
        initial.append(old.select("shard", final.alias("final"), "payload"))
    shard = Shards(make_query, events, shards, watermark.is_own)
    answers = delivered(answers, setup.delivery, events)
    return answer_payloads(packed, shard, answers, delay, initial)


@dataclass(frozen=True)
class Shards:
    """What shards do with payloads.

    Attributes:
        make_query: makes the query, with its kernels.
        events: the columns of a payload.
        count: the number of shards.
        is_behind: whether a stream has a watermark of its own: then it may come from another
            operator with state.
    """

    make_query: Callable[[], StreamQuery]
    events: pa.Schema
    count: int
    is_behind: bool


def answer_payloads(
    packed: Any, shards: Shards, answers: AnswerFormat, delay: int, initial: Sequence[Any] = ()
) -> Any:
    """The answers to a stream of payloads.

    Args:
        packed: payloads, of streams with a watermark.
        shards: what is done with them.
        answers: the columns that come out.
        delay: how far the watermark is behind the newest event, in milliseconds.
        initial: payloads of tables before the stream.
    """
    session, output = packed.sparkSession, output_of(answers)
    if shards.is_behind:
        initial = [_every_shard(session, shards.count), *initial]
    processor = ShardProcessor(
        uuid.uuid4().hex,
        shards.make_query,
        shards.events,
        output,
        shards.count,
        shards.is_behind,
    )
    # Spark runs equal stages of a plan once, and gives only the first a watermark: the other of two
    # queries over a stream would never answer. Random numbers make every stage different. Their
    # seed is new in every batch. Spark interprets `zip_with`, so it compiles no Java for the seed.
    random = F.zip_with(F.array(F.rand()), F.array(F.lit(0)), lambda number, _zero: number)
    payloads = packed.select("shard", "payload", F.size(random).alias("salt")).to(_SENT)
    before = reduce(lambda one, other: one.union(other), initial) if initial else None
    begins = None if before is None else before.groupBy("shard")
    with own_python(session):
        moved = payloads.groupBy("shard").transformWithStateInPandas(
            pickled(processor), output.schema, answers.mode, "EventTime", begins
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
    key = [read.schema.names[list(setup.columns).index(name)] for name in setup.plan.key]
    return packed_rows(read, key, setup.shards, packing)


def packed_rows(source: Source, key: Sequence[str], shards: int, packing: BatchMaker) -> Any:
    """Rows of a source, all of whose columns are read, as payloads of their shards."""
    frame, schema = source.frame, source.schema
    names = schema.names
    number = F.pmod(F.hash(*key), F.lit(shards)) if key else F.lit(0)
    shard = new_names(names)("shard")
    numbered = frame.select(number.cast("int").alias(shard), *names)
    fields = [StructField(each.name, each.dataType) for each in schema]
    # Spark refuses here what is not as the user stated it.
    stated = numbered.to(StructType([StructField(shard, IntegerType()), *fields]))
    if source.may_ask:
        # No row waits for an answer, as it would for a function of columns.
        return mapped(stated, packing, PACKED, _PACKING)
    return map_partitions(stated, [shard, *names], packing, PACKED, _PACKING)
