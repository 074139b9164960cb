"""What the examples with Kafka share: payments from a topic, what each user spent, the arguments.

A message of the topic is JSON: {"user": "ann", "ts": "2026-05-04T09:00:00Z", "amount": 5.0}
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import windrow as wr

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import DataStreamWriter
    from pyspark.sql.streaming.query import StreamingQuery

PAYMENT = "user string, ts timestamp, amount double"
SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}


def payments(spark: SparkSession, brokers: str, topic: str, **options: Any) -> DataFrame:
    """The payments of a topic, as a stream."""
    from pyspark.sql import functions as F

    messages = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", brokers)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .options(**options)
        .load()
    )
    payment = F.from_json(F.col("value").cast("string"), PAYMENT)
    return messages.select(payment.alias("payment")).select("payment.*")


def spending(events: Any, **stream: Any) -> Any:
    """What each user spent in ten minutes, every five."""
    return wr.slide(
        events,
        key="user",
        order="ts",
        windows=wr.time("10 minutes", every="5 minutes"),
        aggs=[wr.sum("amount", alias="spent"), wr.count(alias="payments")],
        **stream,
    )


def run(start: Callable[[DataStreamWriter, str], StreamingQuery], target: str, about: str) -> None:
    """Read the arguments and run the query until it is stopped."""
    from pyspark.sql import SparkSession

    parser = argparse.ArgumentParser()
    parser.add_argument(target, help=about)
    parser.add_argument("--brokers", default="localhost:9092", help="addresses of Kafka")
    parser.add_argument("--topic", default="payments")
    parser.add_argument("--checkpoint", required=True, help="folder of the query's state")
    parser.add_argument("--lateness", default="1 minute", help="how late a payment may come")
    parser.add_argument("--once", action="store_true", help="answer what is there, then stop")
    given = parser.parse_args()

    builder = SparkSession.builder
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    events = payments(builder.getOrCreate(), given.brokers, given.topic)
    writer = spending(events, lateness=given.lateness).writeStream
    writer = writer.option("checkpointLocation", given.checkpoint)
    if given.once:
        writer = writer.trigger(availableNow=True)
    start(writer, getattr(given, target)).awaitTermination()
