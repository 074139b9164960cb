"""What settings of Spark do to `wr.over`; windrow itself changes none."""

from __future__ import annotations

import statistics
from functools import partial

from pyspark.sql import DataFrame

from benchmarks.harness import Comparison
from benchmarks.spark import rows_windows, windrow
from benchmarks.spark_events import Query, cached, events, race, session
from windrow.experiments.rounds import in_turns

ROWS = 1_000_000
KEYS = 100
USUAL_BATCH = 10_000
BATCHES = (1_000, 30_000, 100_000)
#: settings that a session is started with
AT_START = {
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.python.worker.reuse": "false",
}
#: sessions with and without a setting take turns
TURNS = 2


def run(rows: int = ROWS) -> list[Comparison]:
    """Twenty features, with each setting alone and with none."""
    work = f"over, {rows:,} rows, 20 features"
    with session() as spark, cached(events(spark, rows, KEYS)) as frame:
        sizes = (USUAL_BATCH, *BATCHES)
        times = race(frame, {str(size): in_batches_of(size) for size in sizes}, rounds=3)
    comparisons = [
        Comparison(f"{work}, batches of {size:,}", "10,000", times[str(size)], times["10000"])
        for size in BATCHES
    ]
    for name, value in AT_START.items():
        found = in_turns(
            {"without": partial(_time, rows), "with": partial(_time, rows, **{name: value})},
            TURNS, warm_up=0,
        )  # fmt: skip
        taken = {which: statistics.median(each) for which, each in found.items()}
        title = f"{work}, {name}={value}"
        comparisons.append(Comparison(title, "the default", taken["with"], taken["without"]))
    return comparisons


def in_batches_of(size: int) -> Query:
    def query(frame: DataFrame) -> DataFrame:
        conf = frame.sparkSession.conf
        conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", str(size))
        return windrow(rows_windows())(frame)

    return query


def _time(rows: int, **conf: str) -> float:
    with session(**conf) as spark, cached(events(spark, rows, KEYS)) as frame:
        return race(frame, {"windrow": windrow(rows_windows())}, rounds=2)["windrow"]
