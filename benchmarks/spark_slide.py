"""`wr.slide` on Spark against Spark's own F.window, where a slice holds one event and many."""

from __future__ import annotations

from functools import partial

import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import windrow as wr
from benchmarks.harness import Comparison
from benchmarks.spark_events import cached, events, race, session
from windrow.algebra.aggregation import Measure

ROWS, KEYS = 1_000_000, 100
MOMENTS = [wr.max("x"), wr.mean("x"), wr.stddev("x")]
#: what Spark combines into slices by itself
FIELDS = [wr.max("x"), wr.mean("x"), wr.sum("x")]
#: range, slide, aggregations, the least ratio, rounds; a key has an event a second
CASES: list[tuple[str, str, list[Measure], float, int]] = [
    ("10 seconds", "1 second", MOMENTS, 1.0, 3),
    ("10 seconds", "1 second", FIELDS, 1.0, 3),
    ("10 minutes", "1 minute", MOMENTS, 1.0, 3),
    ("10 minutes", "1 minute", FIELDS, 1.0, 3),
    ("500 seconds", "1 second", MOMENTS, 50.0, 1),
]


def run() -> list[Comparison]:
    """Three aggregates of a million rows in a hundred keys."""
    comparisons = []
    with session() as spark, cached(events(spark, ROWS, KEYS)) as frame:
        for extent, slide, aggs, bar, rounds in CASES:
            ours, theirs = (partial(query, aggs, extent, slide) for query in (slid, own))
            require_same_windows(ours(few(frame)), theirs(few(frame)))
            if rounds > 1:
                times = race(frame, {"windrow": ours, "own": theirs}, rounds)
            else:
                # F.window takes minutes then, and needs no warming up.
                times = race(frame, {"windrow": ours}, 3) | race(
                    frame, {"own": theirs}, 1, warm_up=0
                )
            names = ", ".join(measure.name for measure in aggs)
            work = f"slide, {extent} every {slide}: {names}"
            comparisons.append(Comparison(work, "F.window", times["windrow"], times["own"], bar))
    return comparisons


def few(frame: DataFrame) -> DataFrame:
    """The oldest events."""
    return frame.where(F.col("id") < 20_000)


def slid(aggs: list[Measure], extent: str, slide: str, frame: DataFrame) -> DataFrame:
    window = wr.time(extent, every=slide)
    answers: DataFrame = wr.slide(frame, key="k", order="ts", windows=window, aggs=aggs)
    return answers


def own(aggs: list[Measure], extent: str, slide: str, frame: DataFrame) -> DataFrame:
    names = [measure.aggregation.name for measure in aggs]
    aggregates = [getattr(F, name)("x").alias(f"{name}_x") for name in names]
    answered = frame.groupBy("k", F.window("ts", extent, slide).alias("w")).agg(*aggregates)
    bounds = [F.col("w.start").alias("window_start"), F.col("w.end").alias("window_end")]
    return answered.select("k", *bounds, *(f"{name}_x" for name in names))


def require_same_windows(ours: DataFrame, own: DataFrame) -> None:
    """The same windows, and answers that differ by rounding only."""
    by = [("k", "ascending"), ("window_start", "ascending")]
    mine, theirs = (each.toArrow().sort_by(by) for each in (ours, own))
    assert mine.select(range(3)).equals(theirs.select(range(3))), "other windows"
    for name in mine.column_names[3:]:
        far = pc.abs(pc.subtract(mine[name], theirs[name]))
        assert pc.max(far).as_py() < 1e-6, f"other answers: {name}"
        assert mine[name].null_count == theirs[name].null_count, f"other nulls: {name}"
