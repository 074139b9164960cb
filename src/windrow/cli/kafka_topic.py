"""A topic of Kafka that carries the readings of the demo: machines send, Spark reads.

A message is a reading as JSON, with the columns that the live windows ask for. Its key is the
machine, so a machine's readings stay in one partition, in the order in which they were sent.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from windrow.errors import WindrowError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_COLUMNS = ["machine", "ts", "mf01"]
_SCHEMA = "machine string, ts timestamp, mf01 double"
_SECONDS = 60
#: no warnings on the terminal while a broker starts
_ERRORS = 3


@dataclass(frozen=True)
class Topic:
    """A topic, and the addresses of its brokers."""

    brokers: str
    name: str

    def make(self, partitions: int = 2) -> None:
        """Make it, where there is none of this name."""
        from confluent_kafka.admin import (  # type: ignore[attr-defined]
            AdminClient,
            NewTopic,
        )

        client = AdminClient({"bootstrap.servers": self.brokers, "log_level": _ERRORS})
        made = client.create_topics([NewTopic(self.name, partitions, 1)])
        made[self.name].result(timeout=_SECONDS)

    def stream(self, spark: SparkSession) -> DataFrame:
        """Its readings, as a stream."""
        messages = (
            spark.readStream.format("kafka")
            .option("kafka.bootstrap.servers", self.brokers)
            .option("subscribe", self.name)
            .option("startingOffsets", "earliest")
            .load()
        )
        parsed = f"from_json(cast(value as string), '{_SCHEMA}') as reading"
        return messages.selectExpr(parsed).select("reading.*")


class Sender:
    """Sends readings to a topic, each once."""

    def __init__(self, topic: Topic) -> None:
        from confluent_kafka import Producer

        settings: dict[str, Any] = {
            "bootstrap.servers": topic.brokers,
            "enable.idempotence": True,
            "linger.ms": 20,
            "log_level": _ERRORS,
        }
        self._topic, self._producer = topic.name, Producer(settings)

    def send(self, readings: pa.Table) -> None:
        """Send readings, and return when the broker has them.

        Raises:
            WindrowError: The broker did not take them.
        """
        for row in readings.select(_COLUMNS).to_pylist():
            message = json.dumps({**row, "ts": row["ts"].isoformat()})
            while True:
                try:
                    self._producer.produce(self._topic, key=row["machine"], value=message)
                    break
                except BufferError:  # the queue is full: let some go
                    self._producer.poll(0.1)
        if left := self._producer.flush(_SECONDS):
            raise WindrowError(f"Kafka did not take {left} readings")
