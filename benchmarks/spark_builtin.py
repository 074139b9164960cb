"""One built-in function on Spark: where Spark is at its worst, and where it is at its best."""

from __future__ import annotations

from pyspark.sql import DataFrame, WindowSpec
from pyspark.sql import Window as SparkWindow
from pyspark.sql import functions as F

import windrow as wr
from benchmarks.harness import Comparison
from benchmarks.spark_events import (
    Query,
    by_segment_tree,
    cached,
    events,
    race,
    require_agreement,
    session,
)

ROWS = 4_000_000
DEFAULT = "window function, default settings"
TREE = "window function, segment tree"
#: how many rounds two take that are about as fast
CLOSE_ROUNDS = 13
#: functions and windows where Spark is at its best; with 100,000 keys there are 40 rows in a key
SHORT = [("max", 10), ("max", 100), ("mean", 10), ("mean", 100)]


def run(rows: int = ROWS) -> list[Comparison]:
    """A long window with few keys, short windows, and many keys."""
    comparisons = []
    with session() as spark:
        with cached(events(spark, rows, 1)) as frame:
            comparisons += long_window(frame, "k", tree_bar=None)
            comparisons += long_window(frame, None, tree_bar=1.5)
        for keys in (100, 100_000):
            with cached(events(spark, rows, keys)) as frame:
                few = f"{keys:,} keys"
                comparisons += [
                    against_the_faster(frame, name, extent, few, bar=0.95) for name, extent in SHORT
                ]
                # Spark's loses digits, so that it takes a word to have it.
                comparisons += [
                    against_the_faster(frame, "stddev", 10, few, bar=0.95, exact=False),
                    against_the_faster(frame, "stddev", 10, few, bar=None),
                ]
    return comparisons


def long_window(frame: DataFrame, key: str | None, tree_bar: float | None) -> list[Comparison]:
    """Max of the last 1000 rows. By default Spark takes minutes, so that is measured once."""
    ours = windrow("max", 1_000, key)
    by_default, by_tree = window_function("max", 1_000, key)
    require_agreement(frame, ours, by_default, by_tree)
    times = race(frame, {"windrow": ours, "tree": by_tree}, rounds=3)
    times |= race(frame, {"default": by_default}, rounds=1, warm_up=0)
    keys = "no key" if key is None else "1 key"
    work = f"over, {frame.count():,} rows, {keys}, max of 1000 rows"
    return [
        Comparison(work, DEFAULT, times["windrow"], times["default"], bar=15.0),
        Comparison(work, TREE, times["windrow"], times["tree"], bar=tree_bar),
    ]


def against_the_faster(
    frame: DataFrame, name: str, extent: int, keys: str, bar: float | None, exact: bool = True
) -> Comparison:
    """What Spark does well: windrow must not be the slower choice."""
    ours = by_segment_tree(False, windrow(name, extent, "k", exact))
    theirs = dict(zip((DEFAULT, TREE), window_function(name, extent, "k"), strict=True))
    require_agreement(frame, ours, *theirs.values())
    times = race(frame, {"windrow": ours, **theirs}, rounds=3)
    faster = min(theirs, key=times.__getitem__)
    seconds, seconds_against = times["windrow"], times[faster]
    if seconds_against < 1.25 * seconds:
        # Often both are the same plan, of which single runs differ by half: more rounds tell.
        again = race(frame, {"windrow": ours, faster: theirs[faster]}, CLOSE_ROUNDS, warm_up=0)
        seconds, seconds_against = again["windrow"], again[faster]
    work = f"over, {frame.count():,} rows, {keys}, {name} of {extent} rows"
    work += "" if exact else ", exact=False"
    return Comparison(work, faster, seconds, seconds_against, bar)


def windrow(name: str, extent: int, key: str | None, exact: bool = True) -> Query:
    def query(frame: DataFrame) -> DataFrame:
        measure = getattr(wr, name)("x")
        answers: DataFrame = wr.over(
            frame, key=key, order="ts", windows=wr.rows(extent), aggs=measure, exact=exact
        )
        return answers

    return query


def window_function(name: str, extent: int, key: str | None) -> tuple[Query, Query]:
    """Spark's own function over the same rows, by default and by its segment tree."""

    def query(frame: DataFrame) -> DataFrame:
        return frame.select("*", getattr(F, name)("x").over(frame_of(key, extent)).alias("answer"))

    return by_segment_tree(False, query), by_segment_tree(True, query)


def frame_of(key: str | None, extent: int) -> WindowSpec:
    """Spark's frame of the last rows."""
    partitioned = SparkWindow.partitionBy(*([] if key is None else [key]))
    return partitioned.orderBy("ts").rowsBetween(1 - extent, 0)
