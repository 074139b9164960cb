"""A key of 40 million rows through a Python worker that may use 1 GiB.

The limit is Spark's own, `spark.executor.pyspark.memory`: the worker's address space, which is more
than it ever holds. A worker that asks for more ends the job, and so the suite.
"""

from __future__ import annotations

import resource
from collections.abc import Iterable, Iterator

import pyarrow as pa
from pyspark.sql import DataFrame

import windrow as wr
from benchmarks.harness import Comparison
from benchmarks.spark_events import events, only_shuffled, race, session

ROWS = 40_000_000
LIMIT = 2**30


def run(rows: int = ROWS) -> list[Comparison]:
    """Windows of rows and of time over one key, against the same job without any work."""
    with session(**{"spark.executor.pyspark.memory": f"{LIMIT}b"}) as spark:
        (limit, _), *_ = _of_workers(spark.range(1))
        assert limit == LIMIT, f"the worker may use {limit} bytes"
        frame = events(spark, rows, 1)
        times = race(
            frame, {"windrow": windrow, "nothing": only_shuffled(windrow)}, rounds=1, warm_up=0
        )
        most = max(peak for _, peak in _of_workers(spark.range(8).repartition(8)))
    print(f"  the most that a Python worker held: {most / 2**20:.0f} MiB")
    return [
        Comparison(
            f"over, {rows:,} rows in 1 key, worker of 1 GiB",
            "shuffle, sort, mapInArrow, no work",
            times["windrow"],
            times["nothing"],
        )
    ]


def windrow(frame: DataFrame) -> DataFrame:
    answers: DataFrame = wr.over(
        frame,
        key="k",
        order="ts",
        windows=[wr.rows(1_000), wr.time("1 hour")],
        aggs=[wr.max("x"), wr.mean("x"), wr.arg_max("x", "id")],
    )
    return answers


def _of_workers(frame: DataFrame) -> list[tuple[int, int]]:
    """The limit and the peak, in bytes, of workers that Spark uses again."""

    def measure(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            pass
        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        yield pa.RecordBatch.from_pydict({"bytes": [limit], "peak": [peak]})

    return [tuple(row) for row in frame.mapInArrow(measure, "bytes long, peak long").collect()]
