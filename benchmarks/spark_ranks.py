"""Medians and exact distinct counts over long windows on Spark, against its window functions.

Spark refuses `F.median` over a frame of rows; `F.percentile` of 0.5 is the same number, and takes
one. It sorts every frame anew: the whole table would take it hours. So it gets some of the keys,
and windrow all of them. Ratios are of these times as they are: windrow does far more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession, WindowSpec
from pyspark.sql import functions as F

import windrow as wr
from benchmarks.harness import Comparison
from benchmarks.spark_builtin import frame_of
from benchmarks.spark_events import Query, cached, events, race, require_agreement, session
from windrow.algebra.aggregation import Measure

ROWS = 1_000_000
KEYS = 100
#: the rows of a window, and the keys that Spark gets for a median and for different values
EXTENTS = {1_000: (5, 20), 10_000: (2, 4)}
#: how many times as fast windrow must be
BAR = 5.0
#: so that values are seen again within a window
DIFFERENT = 5_000


@dataclass(frozen=True)
class Contest:
    """One answer: windrow's measure, and Spark's function of a frame."""

    answer: str
    measure: Measure
    function: Callable[[WindowSpec], Column]
    called: str


MEDIAN = Contest(
    "median",
    wr.median("x"),
    lambda frame: F.percentile("x", 0.5).over(frame),
    "F.percentile(..., 0.5).over(...)",
)
DIFFERENT_VALUES = Contest(
    "different values",
    wr.count_distinct("code"),
    lambda frame: F.size(F.collect_set("code").over(frame)),
    "F.size(F.collect_set(...).over(...))",
)


def run(rows: int = ROWS, extents: dict[int, tuple[int, int]] = EXTENTS) -> list[Comparison]:
    """Both aggregations over windows of a thousand and of ten thousand rows."""
    comparisons = []
    with session() as spark, cached(_events_with_codes(spark, rows)) as frame:
        for extent, (for_median, for_different) in extents.items():
            comparisons += [
                _compared(frame, MEDIAN, extent, for_median),
                _compared(frame, DIFFERENT_VALUES, extent, for_different),
            ]
    return comparisons


def _events_with_codes(spark: SparkSession, rows: int) -> DataFrame:
    return events(spark, rows, KEYS).withColumn("code", F.floor(F.rand(5) * DIFFERENT))


def _compared(frame: DataFrame, contest: Contest, extent: int, keys: int) -> Comparison:
    """One answer over the last rows. Spark takes minutes, so that is measured once."""
    ours, theirs = _windrow(contest.measure, extent), _window_function(contest.function, extent)
    require_agreement(frame, ours, theirs)
    times = race(frame, {"windrow": ours}, rounds=3)
    some = frame.where(F.col("k") < keys)
    times |= race(some, {"spark": theirs}, rounds=1, warm_up=0)
    work = f"over, {frame.count():,} rows, {KEYS} keys, {contest.answer} of {extent:,} rows"
    against = f"{contest.called}, {keys} keys"
    return Comparison(work, against, times["windrow"], times["spark"], BAR)


def _windrow(measure: Measure, extent: int) -> Query:
    def query(frame: DataFrame) -> DataFrame:
        answers: DataFrame = wr.over(
            frame, key="k", order="ts", windows=wr.rows(extent), aggs=measure
        )
        return answers

    return query


def _window_function(function: Callable[[WindowSpec], Column], extent: int) -> Query:
    def query(frame: DataFrame) -> DataFrame:
        return frame.select("*", function(frame_of("k", extent)).alias("answer"))

    return query
