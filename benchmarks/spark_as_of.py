"""Features as of a moment on Spark: `wr.as_of` against window functions over the union.

Spark SQL answers the same questions with the rows of both tables in one: events, and queries that
have no amount. Window functions go over all of them, and the queries are kept. Its segment tree is
on. They take minutes, so they run once, between runs of windrow.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import Window as SparkWindow
from pyspark.sql import functions as F

import windrow as wr
from benchmarks.harness import Comparison
from benchmarks.spark_events import cached, session
from windrow.experiments.rounds import times_in_turns

EVENTS = 10_000_000
QUERIES = 1_000_000
USERS = 1_000
DAY = 86_400
SPAN = 30 * DAY
#: the windows in seconds
WINDOWS = {"1h": DAY // 24, "1d": DAY, "7d": 7 * DAY}
AGGREGATES: dict[str, Callable[[str], Column]] = {
    "count": F.count, "sum": F.sum, "max": F.max, "mean": F.avg,
}  # fmt: skip
#: how many times as fast windrow must be
BAR = 5.0
MICROSECONDS = 10**6

#: what a contestant makes of queries and events
AsOf = Callable[[DataFrame, DataFrame], DataFrame]


def run(events: int = EVENTS, queries: int = QUERIES, rounds: int = 2) -> list[Comparison]:
    """Four aggregations in three windows, as of moments spread over the events."""
    with session() as spark:
        asked, told = tables(spark, events, queries)
        with cached(told) as told, cached(asked) as asked:
            require_agreement(asked, told)
            ours = {"seconds": to_nowhere(windrow, asked, told)}
            times = times_in_turns(ours, rounds)["seconds"]
            theirs = {"seconds": to_nowhere(window_functions, asked, told)}
            (once,) = times_in_turns(theirs, rounds=1, warm_up=0)["seconds"]
            times += times_in_turns(ours, rounds, warm_up=0)["seconds"]
    features = f"{len(AGGREGATES)} aggregations in {len(WINDOWS)} windows"
    work = f"as_of, {queries:,} queries, {events:,} events, {USERS:,} keys, {features}"
    against = "window functions over the union, segment tree"
    return [Comparison(work, against, statistics.median(times), once, BAR)]


def tables(spark: SparkSession, events: int, queries: int) -> tuple[DataFrame, DataFrame]:
    """Queries and events of the same users over the same days, in no order."""
    amount = (F.rand(1) * 100).alias("amount")
    return _rows(spark, queries, 10), _rows(spark, events, 20, amount)


def _rows(spark: SparkSession, rows: int, seed: int, *columns: Column) -> DataFrame:
    user = F.floor(F.rand(seed) * USERS).alias("user")
    moment = F.timestamp_micros(F.floor(F.rand(seed + 1) * SPAN * MICROSECONDS)).alias("ts")
    return spark.range(rows).select("id", user, moment, *columns)


def windrow(queries: DataFrame, events: DataFrame) -> DataFrame:
    """One call."""
    answers: DataFrame = wr.as_of(
        queries,
        events,
        key="user",
        order="ts",
        windows={name: wr.time(f"{seconds} seconds") for name, seconds in WINDOWS.items()},
        aggs=[getattr(wr, name)("amount") for name in AGGREGATES],
    )
    return answers


def window_functions(queries: DataFrame, events: DataFrame) -> DataFrame:
    """Spark's own functions over the rows of both tables, of which the queries are kept."""
    queries.sparkSession.conf.set("spark.sql.window.segmentTree.enabled", "true")
    no_amount, no_id = F.lit(None).cast("double"), F.lit(None).cast("long")
    both = queries.select("id", "user", "ts", no_amount.alias("amount")).union(
        events.select(no_id, "user", "ts", "amount")
    )
    by_moment = SparkWindow.partitionBy("user").orderBy(F.unix_micros("ts"))
    answers = [
        function("amount")
        .over(by_moment.rangeBetween(1 - seconds * MICROSECONDS, 0))
        .alias(f"{name}_amount_{window}")
        for name, function in AGGREGATES.items()
        for window, seconds in WINDOWS.items()
    ]
    return both.select("id", "user", "ts", *answers).where(F.col("id").isNotNull())


def to_nowhere(as_of: AsOf, queries: DataFrame, events: DataFrame) -> Callable[[], None]:
    return lambda: as_of(queries, events).write.format("noop").mode("overwrite").save()


def require_agreement(queries: DataFrame, events: DataFrame) -> None:
    """Both give the same answers for a few users."""
    few = [frame.where(F.col("user") < 2) for frame in (queries, events)]
    ours, theirs = (_sorted(as_of(*few)) for as_of in (windrow, window_functions))
    assert ours.column_names == theirs.column_names
    assert ours.num_rows
    for name in ours.column_names:
        for mine, other in zip(ours[name].to_pylist(), theirs[name].to_pylist(), strict=True):
            same = mine == other or math.isclose(mine, other, rel_tol=1e-9, abs_tol=1e-9)
            assert same, f"{name}: {mine} is not {other}"


def _sorted(frame: DataFrame) -> pa.Table:
    return frame.toArrow().sort_by("id")
