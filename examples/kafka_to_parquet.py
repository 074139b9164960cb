"""From Kafka to Parquet files: `spark-submit --packages ... examples/kafka_to_parquet.py --help`.

Spark's file sink keeps a log of the files that belong to the answers. It writes each batch once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_payments import run

if TYPE_CHECKING:
    from pyspark.sql.streaming import DataStreamWriter
    from pyspark.sql.streaming.query import StreamingQuery


def start(writer: DataStreamWriter, folder: str) -> StreamingQuery:
    """Write answers to a folder."""
    return writer.format("parquet").start(folder)


if __name__ == "__main__":
    run(start, "folder", "where the answers go")
