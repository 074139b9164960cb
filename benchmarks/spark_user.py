"""An aggregation of one's own on Spark against Python functions over the same frame."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import LongType

import windrow as wr
from benchmarks.harness import Comparison
from benchmarks.spark_builtin import frame_of
from benchmarks.spark_events import Query, cached, events, race, require_agreement, session

ROWS = 1_000_000
KEYS = 100
EXTENT = 1_000


def _combine(older: Any, newer: Any) -> Any:
    if older[0] != newer[0]:
        return older if older[0] > newer[0] else newer
    return older[0], older[1] + newer[1]


#: how often the largest value occurs
max_count = wr.aggregation(
    name="max_count",
    identity=(-math.inf, 0),
    lift=lambda x: (x, 1),
    combine=_combine,
    lower=lambda partial: partial[1],
)


def run(rows: int = ROWS) -> list[Comparison]:
    """Spark calls a Python function once per row, with all rows of its frame; measured once."""

    @F.pandas_udf(LongType())
    def by_pandas(x: pd.Series) -> int:
        return int((x == x.max()).sum())

    @F.arrow_udf(LongType())
    def by_arrow(x: pa.Array) -> int:
        return pc.sum(pc.equal(x, pc.max(x))).as_py()

    others = {
        "pandas UDF over the frame": over_frame(by_pandas),
        "Arrow UDF over the frame": over_frame(by_arrow),
    }
    with session() as spark, cached(events(spark, rows, KEYS)) as frame:
        require_agreement(frame, windrow, *others.values())
        times = race(frame, {"windrow": windrow}, rounds=3)
        times |= race(frame, others, rounds=1, warm_up=0)
    work = f"over, {rows:,} rows, 100 keys, user-defined, 1000 rows"
    return [Comparison(work, name, times["windrow"], times[name], bar=200.0) for name in others]


def windrow(frame: DataFrame) -> DataFrame:
    answers: DataFrame = wr.over(
        frame, key="k", order="ts", windows=wr.rows(EXTENT), aggs=max_count("x")
    )
    return answers


def over_frame(function: Any) -> Query:
    return lambda frame: frame.select("*", function("x").over(frame_of("k", EXTENT)).alias("n"))
