"""An aggregation of one's own on Spark against Python functions over the same frame.

Spark calls such a function once per row, with all rows of its frame. The bar is for the aggregation
as its author wrote it, combining event by event. Beside it stand two forms that only this one has,
written with whole columns of pandas and of Arrow; they have no bar.
"""

from __future__ import annotations

import math
from functools import reduce
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DoubleType

import windrow as wr
from benchmarks.harness import Comparison
from benchmarks.spark_builtin import frame_of
from benchmarks.spark_events import Query, cached, events, race, require_agreement, session

ROWS = 500_000
KEYS = 100
EXTENT = 1_000
BAR = 200.0


def _lift(price: Any) -> Any:
    return price, price, 0.0


def _combine(older: Any, newer: Any) -> Any:
    low, high = min(older[0], newer[0]), max(older[1], newer[1])
    return low, high, max(older[2], newer[2], older[1] - newer[0])


#: the deepest fall from a high to a later low
deepest_fall = wr.aggregation(
    name="deepest_fall",
    identity=(math.inf, -math.inf, 0.0),
    lift=_lift,
    combine=_combine,
    lower=lambda partial: partial[2],
)


def run(rows: int = ROWS) -> list[Comparison]:
    """The functions are measured once, because they take minutes."""

    @F.arrow_udf(DoubleType())
    def combined(x: pa.Array) -> float:
        return reduce(_combine, map(_lift, x.to_pylist()))[2]

    @F.pandas_udf(DoubleType())
    def by_pandas(x: pd.Series) -> float:
        return float((x.cummax() - x).max())

    @F.arrow_udf(DoubleType())
    def by_arrow(x: pa.Array) -> float:
        return pc.max(pc.subtract(pc.cumulative_max(x), x)).as_py()

    others = {
        "Arrow UDF, event by event": over_frame(combined),
        "pandas UDF, whole columns": over_frame(by_pandas),
        "Arrow UDF, whole columns": over_frame(by_arrow),
    }
    with session() as spark, cached(events(spark, rows, KEYS)) as frame:
        require_agreement(frame, windrow, *others.values())
        times = race(frame, {"windrow": windrow}, rounds=9)
        times |= race(frame, others, rounds=1, warm_up=0)
    work = f"over, {rows:,} rows, 100 keys, user-defined, 1000 rows"
    bars = [BAR, None, None]
    return [
        Comparison(work, name, times["windrow"], times[name], bar)
        for name, bar in zip(others, bars, strict=True)
    ]


def windrow(frame: DataFrame) -> DataFrame:
    answers: DataFrame = wr.over(
        frame, key="k", order="ts", windows=wr.rows(EXTENT), aggs=deepest_fall("x")
    )
    return answers


def over_frame(function: Any) -> Query:
    return lambda frame: frame.select("*", function("x").over(frame_of("k", EXTENT)).alias("fall"))
