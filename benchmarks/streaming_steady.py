"""Streams once they run: the time of a batch, apart from that of the first ones.

`streaming` measures whole queries, start-up included. Here a query answers several batches, and the
median of those after the first two counts, as Spark's own progress gives them. The contestants take
turns, a whole query each. The first batch is shown apart.

Flink reads the same events from its generator and not from files, and throws its answers away. Its
start-up is left out by taking a short job's time from that of a long one.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from benchmarks import flink_stream
from benchmarks.harness import Comparison
from benchmarks.spark_events import session
from benchmarks.streaming import (
    FILES_IN_A_BATCH,
    KEYS,
    REST,
    SCHEMA,
    SETTINGS,
    Query,
    by_key,
    files,
    native,
    windrow,
    windrow_over,
)

#: batches that do not count, and that do
FIRST, COUNTED = 2, 4
SETTINGS_HERE = {
    **SETTINGS,
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}


@dataclass(frozen=True)
class Batches:
    """What the batches of a query took, in seconds."""

    first: float
    steady: float


def run() -> list[Comparison]:
    """Measure all."""
    with session(**SETTINGS_HERE) as spark:
        return [*_slides(spark), *_overs(spark), *_small(spark), *_against_flink(spark)]


def _slides(spark: SparkSession) -> Iterator[Comparison]:
    taken = race(spark, {"windrow": windrow(60), "F.window": native(60)}, 1_000_000, rounds=2)
    yield _compared("slide 60:1, 1,000,000 events a batch", "F.window", taken, 10)
    yield Comparison(
        "slide 60:1, the first batch", "F.window", taken["windrow"].first, taken["F.window"].first
    )
    taken = race(spark, {"windrow": windrow(500), "F.window": native(500)}, 125_000, rounds=1)
    yield _compared("slide 500:1, 125,000 events a batch", "F.window", taken, 60)
    taken = race(
        spark,
        {"windrow": windrow(60), "F.window": native(60)},
        1_000_000,
        rounds=1,
        in_a_second=100,
    )
    yield _compared("slide 60:1, 100 events of a key in a slice", "F.window", taken, 15)


def _overs(spark: SparkSession) -> Iterator[Comparison]:
    for of_key, bar in ((100, 4), (500, 2.5)):
        taken = race(spark, {"windrow": windrow_over, "by key": by_key}, KEYS * of_key, rounds=2)
        work = f"over 1,000 rows, {of_key} events of a key in a batch"
        yield _compared(work, "applyInPandasWithState", taken, bar, "by key")


def _small(spark: SparkSession) -> Iterator[Comparison]:
    contestants = {"windrow": windrow(60), "nothing": _does_nothing}
    taken = race(spark, contestants, 1_000, rounds=2, counted=12)
    yield _compared("slide 60:1, 1,000 events a batch", "an operator that does nothing", taken,
                    1 / 1.25, "nothing")  # fmt: skip


def _against_flink(spark: SparkSession) -> Iterator[Comparison]:
    """The same work by Flink SQL, in seconds for a million events."""
    if not flink_stream.is_there():
        print(f"  Flink is left out: {flink_stream.HOW_TO}")
        return
    works: list[tuple[str, Query, int, str, int, float]] = [
        ("slide 60:1", windrow(60), 1_000_000, flink_stream.hop(60), 1_000_000, 8),
        ("slide 500:1", windrow(500), 125_000, flink_stream.hop(500), 300_000, 40),
        ("over 1,000 rows", windrow_over, 500_000, flink_stream.OVER, 300_000, 10),
    ]
    for work, query, events, text, of_flink, bar in works:
        ours = race(spark, {"windrow": query}, events, rounds=1)["windrow"].steady / events
        theirs = flink_stream.seconds_per_event(text, of_flink)
        yield Comparison(
            f"{work}, seconds for a million events", "Flink SQL", ours * 1e6, theirs * 1e6, bar
        )


def _compared(
    work: str, against: str, taken: Mapping[str, Batches], bar: float, rival: str | None = None
) -> Comparison:
    other = taken[rival or against]
    return Comparison(work, against, taken["windrow"].steady, other.steady, bar)


def race(
    spark: SparkSession,
    queries: Mapping[str, Query],
    events: int,
    rounds: int,
    counted: int = COUNTED,
    in_a_second: int = 1,
) -> dict[str, Batches]:
    """The median batch of each query, over all rounds; they take turns."""
    batches = FIRST + counted
    with files(events * batches, KEYS, batches, in_a_second) as folder:
        found: dict[str, list[list[float]]] = {name: [] for name in queries}
        for _ in range(rounds):
            for name, query in queries.items():
                time.sleep(REST)
                found[name].append(_batch_seconds(spark, folder, query))
    return {
        name: Batches(
            statistics.median(each[0] for each in taken),
            statistics.median(one for each in taken for one in each[FIRST:]),
        )
        for name, taken in found.items()
    }


def _batch_seconds(spark: SparkSession, folder: Path, query: Query) -> list[float]:
    """What each batch with events took."""
    stream = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", FILES_IN_A_BATCH)
    checkpoint = tempfile.mkdtemp(prefix="windrow-bench-")
    try:
        started = (
            query(stream.parquet(str(folder)))
            .writeStream.format("noop")
            .option("checkpointLocation", checkpoint)
            .trigger(availableNow=True)
            .start()
        )
        started.awaitTermination()
        return [
            each.durationMs["triggerExecution"] / 1000
            for each in started.recentProgress
            if each.numInputRows
        ]
    finally:
        shutil.rmtree(checkpoint)


class _Nothing(StatefulProcessor):
    """Reads its rows, keeps no state and answers nothing."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Nothing to begin with."""

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[Any]:  # noqa: N802, N803
        """Read the rows."""
        for _frame in rows:
            pass
        return iter(())

    def close(self) -> None:
        """Nothing to end with."""


def _does_nothing(stream: DataFrame) -> DataFrame:
    """Two groups of rows, as many as windrow has shards, for an operator that does nothing."""
    shard = F.pmod(F.hash("k"), F.lit(2)).alias("shard")
    return (
        stream.withWatermark("ts", "10 seconds")
        .select(shard, "x")
        .groupBy("shard")
        .transformWithStateInPandas(_Nothing(), "x double", "Append", "None")
    )
