"""A million rows of 100 keys on Spark, against what Spark does for the same answers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from pyspark.sql import DataFrame

from benchmarks.harness import Comparison
from benchmarks.spark import KEYS, ROWS, rows_windows, spark_rows, windrow
from benchmarks.spark_events import (
    Query,
    cached,
    contestants,
    events,
    require_agreement,
    session,
)
from benchmarks.spark_slide import MOMENTS, few, own, require_same_windows, slid
from windrow.experiments.rounds import median_times

#: range, slide, the least ratio, rounds; a key has an event a second
SLIDES = (("100 seconds", "1 second", 12.0, 3), ("10 seconds", "1 second", 1.5, 9))


def run() -> list[Comparison]:
    """Twenty features, and sliding windows of few and many slides."""
    with session() as spark, cached(events(spark, ROWS, KEYS)) as frame:
        return [_features(frame), *(_slide(frame, *each) for each in SLIDES)]


def _features(frame: DataFrame) -> Comparison:
    ours, theirs = windrow(rows_windows()), spark_rows()
    require_agreement(frame, ours, theirs)
    times = _medians(frame, {"windrow": ours, "spark": theirs}, rounds=3)
    work = "over, 1M rows, 100 keys, 4 aggregations x 5 windows of rows"
    against = "window functions, segment tree"
    return Comparison(work, against, times["windrow"], times["spark"], bar=10.0)


def _slide(frame: DataFrame, extent: str, slide: str, bar: float, rounds: int) -> Comparison:
    ours, theirs = (partial(query, MOMENTS, extent, slide) for query in (slid, own))
    require_same_windows(ours(few(frame)), theirs(few(frame)))
    times = _medians(frame, {"windrow": ours, "spark": theirs}, rounds)
    work = f"slide, 1M rows, 100 keys, {extent} every {slide}: max, mean, stddev"
    return Comparison(work, "F.window", times["windrow"], times["spark"], bar)


def _medians(frame: DataFrame, queries: Mapping[str, Query], rounds: int) -> dict[str, float]:
    return median_times(contestants(frame, queries), rounds)
