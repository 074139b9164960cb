"""Many features at once on Spark, against window functions and against no work at all."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import Window as SparkWindow
from pyspark.sql import functions as F

import windrow as wr
from benchmarks.harness import Comparison
from benchmarks.spark_events import (
    Query,
    by_segment_tree,
    cached,
    events,
    only_shuffled,
    race,
    require_agreement,
    session,
)

ROWS = 1_000_000
#: the shuffle alone is compared on more rows, because starting a job costs it most
MORE_ROWS = 4_000_000
KEYS = 100
EXTENTS = (10, 100, 1_000, 3_000, 9_000)
SECONDS = (10, 100, 500)


def run(rows: int = ROWS, more_rows: int = MORE_ROWS) -> list[Comparison]:
    """Max, min, mean and stddev over five windows of rows and over three of time."""
    in_rows = rows_windows()
    in_time = {f"{seconds}s": wr.time(f"{seconds} seconds") for seconds in SECONDS}
    with session() as spark:
        with cached(events(spark, rows, KEYS)) as frame:
            comparisons = [
                _against_functions(frame, "5 windows of rows", windrow(in_rows), spark_rows()),
                _against_functions(frame, "3 windows of time", windrow(in_time), _of_time()),
            ]
        with cached(events(spark, more_rows, KEYS)) as frame:
            return [*comparisons, _against_nothing(frame, windrow(in_rows))]


def rows_windows() -> dict[str, Any]:
    return {str(extent): wr.rows(extent) for extent in EXTENTS}


def windrow(windows: Any) -> Query:
    def query(frame: DataFrame) -> DataFrame:
        aggs = [wr.max("x"), wr.min("x"), wr.mean("x"), wr.stddev("x")]
        features: DataFrame = wr.over(frame, key="k", order="ts", windows=windows, aggs=aggs)
        return features

    return query


def spark_rows() -> Query:
    ordered = SparkWindow.partitionBy("k").orderBy("ts")
    return window_functions([ordered.rowsBetween(1 - extent, 0) for extent in EXTENTS])


def _of_time() -> Query:
    # In microseconds, and one less than the range: windrow's windows are open on the left.
    ordered = SparkWindow.partitionBy("k").orderBy(F.unix_micros("ts"))
    return window_functions([ordered.rangeBetween(1 - each * 1_000_000, 0) for each in SECONDS])


def window_functions(frames: list[Any]) -> Query:
    functions = (F.max, F.min, F.mean, F.stddev)
    columns = [
        function("x").over(frame).alias(f"{function.__name__}_{number}")
        for function in functions
        for number, frame in enumerate(frames)
    ]
    return by_segment_tree(True, lambda frame: frame.select("*", *columns))


def _against_functions(frame: DataFrame, windows: str, ours: Query, spark: Query) -> Comparison:
    require_agreement(frame, ours, spark)
    times = race(frame, {"windrow": ours}, rounds=3) | race(frame, {"spark": spark}, rounds=1)
    return Comparison(
        f"over, {frame.count():,} rows, 100 keys, 4 aggregations x {windows}",
        "window functions, segment tree",
        times["windrow"],
        times["spark"],
        bar=5.0,
    )


def _against_nothing(frame: DataFrame, ours: Query) -> Comparison:
    times = race(frame, {"windrow": ours, "nothing": only_shuffled(ours)}, rounds=4)
    return Comparison(
        f"over, {frame.count():,} rows, 100 keys, 20 features",
        "shuffle, sort, mapInArrow, no work",
        times["windrow"],
        times["nothing"],
        bar=round(1 / 1.3, 2),
    )
