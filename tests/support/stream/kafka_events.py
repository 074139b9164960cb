"""Events of a stream in a topic of Kafka; a file beside the answers says where."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests.support.stream.events import events

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: so many are sent and read for a batch
A_BATCH = 150


class KafkaEvents(NamedTuple):
    """Where events are, and the jars that read them."""

    brokers: str
    topic: str
    jars: str

    @classmethod
    def of(cls, folder: Path) -> KafkaEvents | None:
        """Where the events of a folder are; None if they are in its files."""
        said = folder / "kafka.json"
        return cls(**json.loads(said.read_text())) if said.exists() else None

    def say(self, folder: Path) -> None:
        """Write it down for the process that reads them."""
        (folder / "kafka.json").write_text(json.dumps(self._asdict()))

    def stream(self, session: SparkSession) -> DataFrame:
        """The events as a stream."""
        from pyspark.sql import functions as F

        from windrow.spark.bridge.schema import spark_schema

        messages = (
            session.readStream.format("kafka")
            .option("kafka.bootstrap.servers", self.brokers)
            .option("subscribe", self.topic)
            .option("startingOffsets", "earliest")
            .option("maxOffsetsPerTrigger", A_BATCH)
            .load()
        )
        schema = spark_schema(events(0, 0, 1, 1).schema)
        event = F.from_json(F.col("value").cast("string"), schema)
        return messages.select(event.alias("event")).select("event.*")
