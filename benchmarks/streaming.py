"""Streams against what Spark has, in the same trigger, start-up included.

`slide` against `F.window`: every event is one second after the one before of its key, so that a
slide of a second has an answer for every key: as many answers as events. `over` against a function
of each key and its events that keeps the rows of its window as state, since Spark has no window of
rows on a stream. Files are read two at a time, until there are no more.

How often a function of each key is called depends on how many batches events come in. So `over` of
1,000 keys is measured twice: with 100 events of a key in a batch, and with 500.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import windrow as wr
from benchmarks.harness import Comparison
from benchmarks.spark_events import session
from windrow.experiments.rounds import median_times
from windrow.planning.choose import Wish
from windrow.planning.slide_plan import resolve_slide
from windrow.stream.slide_stream import StreamSlide

EVENTS = 4_000_000
FEWER_EVENTS = 500_000
KEYS = 1_000
#: for `over`: events by the number of keys
EVENTS_OF_KEYS = {1_000: 2_000_000, 20_000: 200_000}
ROWS = 1_000
BATCHES = 4
FILES_IN_A_BATCH = 2
#: seconds in which Spark lets go of the state stores of the query before
REST = 10
SCHEMA = "k long, ts timestamp, x double"
_ARROW = pa.schema([("k", pa.int64()), ("ts", pa.timestamp("us", "UTC")), ("x", pa.float64())])
SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
}
_SECOND = 10**6
_BEGIN = 10**9  # seconds

#: what a contestant makes of a stream of events
Query = Callable[[DataFrame], DataFrame]


def run(events: int = EVENTS, fewer: int = FEWER_EVENTS, rounds: int = 2) -> list[Comparison]:
    """Throughput at several ratios of range to slide, and what state costs."""
    # Spark's workers warn of their own use of pandas, for every key.
    os.environ.setdefault("PYTHONWARNINGS", "ignore::FutureWarning")
    with session(**SETTINGS) as spark, files(events) as many, files(fewer) as few:
        at_60 = race(spark, many, {"windrow": windrow(60), "F.window": native(60)}, rounds)
        # Not in turns, where windrow was 14 times as fast: F.window takes minutes, needs no warming
        # up, and leaves Java's heap full.
        at_500 = race(spark, few, {"windrow": windrow(500)}, 3)
        at_500 |= race(spark, few, {"F.window": native(500)}, 1)
        ranges = race(spark, many, {"60": windrow(60), "3600": windrow(3600)}, rounds)
        rows = [
            rows_of_keys(spark, 1_000, 20, 2.5, rounds),
            rows_of_keys(spark, 1_000, BATCHES, None, rounds),
            # One round: it takes minutes by the key.
            rows_of_keys(spark, 20_000, BATCHES, 10, 1),
        ]
    day, hour = bytes_written(24 * 60), bytes_written(60)
    return [
        Comparison(
            f"slide of {events:,} events, 60:1", "F.window", at_60["windrow"], at_60["F.window"], 6
        ),
        Comparison(
            f"slide of {fewer:,} events, 500:1",
            "F.window",
            at_500["windrow"],
            at_500["F.window"],
            20,
        ),
        Comparison("slide, 3600:1", "slide, 60:1", ranges["3600"], ranges["60"], 0.8),
        Comparison(
            "state written per batch, 24 hours (s: MB)", "1 hour", day / 1e6, hour / 1e6, 1 / 1.5
        ),
        *rows,
    ]


def rows_of_keys(
    spark: SparkSession, keys: int, batches: int, bar: float | None, rounds: int
) -> Comparison:
    """Each event with the aggregates of the last rows of its key."""
    events = EVENTS_OF_KEYS[keys]
    with files(events, keys, batches) as folder:
        times = race(spark, folder, {"windrow": windrow_over, "by key": by_key}, rounds)
    return Comparison(
        f"over {ROWS:,} rows, {events:,} events in {batches} batches, {keys:,} keys",
        "applyInPandasWithState",
        times["windrow"],
        times["by key"],
        bar,
    )


def windrow_over(stream: DataFrame) -> DataFrame:
    """Max and mean of the last rows of each key."""
    answers: DataFrame = wr.over(
        stream, key="k", order="ts", windows=wr.rows(ROWS), aggs=[wr.max("x"), wr.mean("x")],
        lateness="10 seconds",
    )  # fmt: skip
    return answers


def by_key(stream: DataFrame) -> DataFrame:
    """The same by a function that Spark calls for each key, with its rows as state."""

    def answers(
        key: tuple[Any, ...], frames: Iterator[pd.DataFrame], state: Any
    ) -> Iterator[pd.DataFrame]:
        frame = pd.concat(frames).sort_values("ts")
        old = np.frombuffer(state.get[0]) if state.exists else np.empty(0)
        values = pd.Series(np.concatenate([old, frame["x"].to_numpy()]))
        state.update((values.to_numpy()[-(ROWS - 1) :].tobytes(),))
        window = values.rolling(ROWS, min_periods=1)
        frame["max_x"] = window.max().to_numpy()[len(old) :]
        frame["mean_x"] = window.mean().to_numpy()[len(old) :]
        yield frame

    return stream.groupBy("k").applyInPandasWithState(
        answers, f"{SCHEMA}, max_x double, mean_x double", "rows binary", "append", "NoTimeout"
    )


def windrow(seconds: int) -> Query:
    """Max and mean of so many seconds, every second."""
    window = wr.time(f"{seconds} seconds", every="1 second")

    def query(stream: DataFrame) -> DataFrame:
        answers: DataFrame = wr.slide(
            stream, key="k", order="ts", windows=window, aggs=[wr.max("x"), wr.mean("x")],
            lateness="10 seconds",
        )  # fmt: skip
        return answers

    return query


def native(seconds: int) -> Query:
    """The same with Spark's own windows."""
    window = F.window("ts", f"{seconds} seconds", "1 second")

    def query(stream: DataFrame) -> DataFrame:
        watched = stream.withWatermark("ts", "10 seconds")
        return watched.groupBy("k", window).agg(F.max("x"), F.avg("x"))

    return query


@contextmanager
def files(
    events: int, keys: int = KEYS, batches: int = BATCHES, in_a_second: int = 1
) -> Iterator[Path]:
    """Events in files, in the order of time; a key has so many events in a second."""
    folder = Path(tempfile.mkdtemp(prefix="windrow-bench-"))
    try:
        count = batches * FILES_IN_A_BATCH
        per_file = events // count
        random = np.random.default_rng(3)
        for number in range(count):
            ids = np.arange(number * per_file, (number + 1) * per_file)
            times = (_BEGIN + ids // (keys * in_a_second)) * _SECOND + ids % (keys * in_a_second)
            columns = [
                pa.array(ids % keys),
                pa.array(times).view(_ARROW.field("ts").type),
                pa.array(random.random(per_file)),
            ]
            pq.write_table(pa.table(columns, schema=_ARROW), folder / f"{number:03}.parquet")
        yield folder
    finally:
        shutil.rmtree(folder)


def race(
    spark: SparkSession, folder: Path, queries: dict[str, Query], rounds: int
) -> dict[str, float]:
    """The median time of each query over all files; they take turns."""

    def to_nowhere(query: Query) -> Callable[[], None]:
        def run() -> None:
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
            finally:
                shutil.rmtree(checkpoint)

        return run

    contestants = {name: to_nowhere(query) for name, query in queries.items()}
    return median_times(contestants, rounds, warm_up=0, rest=REST)


class _Memory(dict[int, bytes]):
    """A shard's storage, in this process."""

    def put(self, number: int, data: bytes) -> None:
        self[number] = data

    def delete(self, number: int) -> None:
        del self[number]


def bytes_written(minutes: int) -> float:
    """State written per batch of a minute, by a shard of all keys, once the window is full."""
    plan = resolve_slide(
        _ARROW, key="k", order="ts", windows=wr.time(f"{minutes} minutes", every="1 minute"),
        aggs=[wr.max("x"), wr.mean("x")], wish=Wish(), changes_only=False,
    )  # fmt: skip
    stream, storage, written = StreamSlide(plan, set(), shards=1), _Memory(), []
    keys, values = np.arange(KEYS), np.ones(KEYS)
    for batch in range(minutes + 64):
        times = np.full(KEYS, (_BEGIN + 60 * batch) * _SECOND)
        events = pa.table(
            [keys, pa.array(times).view(_ARROW.field("ts").type), values], schema=_ARROW
        )
        step = stream.advance(storage, [events], (_BEGIN + 60 * (batch - 1)) * 1000)
        written.append(step.bytes_written)
    return float(np.mean(written[-64:]))
