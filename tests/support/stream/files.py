"""Streams of files on Spark: a batch of events is a file, and answers are written to files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


def write_batches(folder: Path, batches: Sequence[pa.Table], first: int = 0) -> None:
    """Write events for a stream to read in this order."""
    folder.mkdir(exist_ok=True)
    for number, batch in enumerate(batches, first):
        path = folder / f"{number:04}.parquet"
        pq.write_table(batch, path)
        os.utime(path, (10**9 + number, 10**9 + number))


def read_stream(spark: SparkSession, folder: Path) -> DataFrame:
    """The events of a folder as a stream, a file in each batch."""
    from windrow.spark.bridge.schema import spark_schema

    schema = spark_schema(pq.read_schema(next(folder.glob("*.parquet"))))
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))


def run_to_end(answers: DataFrame, folder: Path) -> StreamingQuery:
    """Write answers to a folder until there are no more events; the checkpoint lies beside it."""
    query = (
        answers.writeStream.format("parquet")
        .option("checkpointLocation", f"{folder}-checkpoint")
        .trigger(availableNow=True)
        .start(str(folder))
    )
    query.awaitTermination()
    return query


def answers_in(spark: SparkSession, folder: Path) -> pa.Table:
    """All that was written."""
    table: pa.Table = spark.read.parquet(str(folder)).toArrow()
    return table


def counted(query: StreamingQuery) -> dict[str, int]:
    """What windrow counted, over all batches."""
    totals: dict[str, int] = {}
    for progress in query.recentProgress:
        for name, row in progress["observedMetrics"].items():
            assert name.startswith("windrow ")
            counts: dict[str, Any] = row.asDict()
            for each, count in counts.items():
                totals[each] = totals.get(each, 0) + count
    return totals
