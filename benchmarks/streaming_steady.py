"""Streams once they run: the time of a batch, apart from that of the first ones.

`streaming` measures whole queries, start-up included. Here a query answers several batches, and the
median of the last ones counts, as Spark's own progress gives them. They begin when windows are full
and answers come in every batch. The contestants take turns, a whole query each, and every other
round goes through them backwards. The first batch is shown apart. What each batch took is printed
as soon as its query is over.

Flink reads the same events from its generator and not from files, and throws its answers away. Its
start-up is left out by taking a short job's time from that of a long one. windrow runs before it
and after it.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
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
    ROWS,
    SCHEMA,
    SETTINGS,
    Query,
    by_key,
    files,
    native,
    windrow,
    windrow_over,
)
from windrow.experiments.rounds import in_turns

#: batches that do not count, if windows are full by then, and that do
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
    """Measure all: about half an hour, and a quarter more with Flink."""
    # Spark's workers warn of their own use of pandas, for every key.
    os.environ.setdefault("PYTHONWARNINGS", "ignore::FutureWarning")
    with session(**SETTINGS_HERE) as spark:
        found = []
        # F.window at 500:1 comes last: it leaves Java's heap full.
        for part in (_small, _overs, _slides, _against_flink, _long_slides):
            for each in part(spark):
                print(f"  {each.work}: {each.ratio:.2f} times {each.against}", flush=True)
                found.append(each)
    return found


def _small(spark: SparkSession) -> Iterator[Comparison]:
    # A batch is a second: the windows are full after 60, and the lateness is over after 10 more.
    contestants = {"windrow": windrow(60), "nothing": _does_nothing}
    yield from _compared(
        race(spark, contestants, 1_000, rounds=2, first=72, counted=12),
        "slide 60:1, 1,000 events a batch",
        "an operator that does nothing",
        1 / 1.25,
    )


def _overs(spark: SparkSession) -> Iterator[Comparison]:
    for of_key, bar in ((100, 4), (500, 2.5)):
        contestants = {"windrow": windrow_over, "by key": by_key}
        yield from _compared(
            race(spark, contestants, KEYS * of_key, rounds=2, first=ROWS // of_key),
            f"over 1,000 rows, {of_key} events of a key in a batch",
            "applyInPandasWithState",
            bar,
        )


def _slides(spark: SparkSession) -> Iterator[Comparison]:
    contestants = {"windrow": windrow(60), "F.window": native(60)}
    yield from _compared(
        race(spark, contestants, 1_000_000, rounds=2),
        "slide 60:1, 1,000,000 events a batch",
        "F.window",
        10,
    )
    # A batch is 10 seconds.
    yield from _compared(
        race(spark, contestants, 1_000_000, rounds=1, first=7, in_a_second=100),
        "slide 60:1, 100 events of a key in a slice",
        "F.window",
        15,
    )


def _long_slides(spark: SparkSession) -> Iterator[Comparison]:
    # A batch is 125 seconds.
    contestants = {"windrow": windrow(500), "F.window": native(500)}
    yield from _compared(
        race(spark, contestants, 125_000, rounds=1, first=4),
        "slide 500:1, 125,000 events a batch",
        "F.window",
        60,
    )


def _against_flink(spark: SparkSession) -> Iterator[Comparison]:
    """The same work by Flink SQL, in seconds for a million events."""
    if not flink_stream.is_there():
        print(f"  Flink is left out: {flink_stream.HOW_TO}", flush=True)
        return
    works: list[tuple[str, Query, int, int, str, int, float]] = [
        ("slide 60:1", windrow(60), 1_000_000, 2, flink_stream.hop(60), 1_000_000, 8),
        ("slide 500:1", windrow(500), 125_000, 4, flink_stream.hop(500), 300_000, 40),
        ("over 1,000 rows", windrow_over, 500_000, 2, flink_stream.OVER, 2_000_000, 10),
    ]
    for work, query, events, first, text, of_flink, bar in works:
        before = race(spark, {"windrow": query}, events, 1, first)["windrow"].steady
        try:
            theirs = flink_stream.seconds_per_event(text, of_flink)
        except subprocess.CalledProcessError as error:
            print(f"  {work}: Flink failed\n{error.stderr[-2000:]}", flush=True)
            continue
        after = race(spark, {"windrow": query}, events, 1, first)["windrow"].steady
        ours = statistics.median([before, after]) / events
        yield Comparison(
            f"{work}, seconds for a million events", "Flink SQL", ours * 1e6, theirs * 1e6, bar
        )


def _compared(
    taken: Mapping[str, Batches], work: str, against: str, bar: float
) -> Iterator[Comparison]:
    """How windrow and the other one compare, steadily and in the first batch."""
    ours, other = taken.values()
    yield Comparison(work, against, ours.steady, other.steady, bar)
    yield Comparison(f"{work}: the first batch", against, ours.first, other.first)


def race(
    spark: SparkSession,
    queries: Mapping[str, Query],
    events: int,
    rounds: int,
    first: int = FIRST,
    counted: int = COUNTED,
    in_a_second: int = 1,
) -> dict[str, Batches]:
    """The median batch of each query after the first ones, over all rounds; they take turns."""
    batches = first + counted
    with files(events * batches, KEYS, batches, in_a_second) as folder:
        found = in_turns(
            {
                name: partial(_batch_seconds, spark, folder, name, query, batches)
                for name, query in queries.items()
            },
            rounds, warm_up=0, rest=REST,
        )  # fmt: skip
    return {
        name: Batches(
            statistics.median(each[0] for each in taken),
            statistics.median(one for each in taken for one in each[first:]),
        )
        for name, taken in found.items()
    }


def _batch_seconds(
    spark: SparkSession, folder: Path, name: str, query: Query, batches: int
) -> list[float]:
    """What each batch with events took, of which there have to be so many."""
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
        taken = [
            each.durationMs["triggerExecution"] / 1000
            for each in started.recentProgress
            if each.numInputRows
        ]
    finally:
        shutil.rmtree(checkpoint)
    print(f"    {name}: {' '.join(f'{each:.2f}' for each in taken)}", flush=True)
    assert len(taken) == batches, "a batch is missing"
    return taken


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
