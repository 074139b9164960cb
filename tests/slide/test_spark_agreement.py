"""`wr.slide` in this process answers what Spark's F.window and F.session_window answer.

All windows of a kind go to Spark in one job, a union, because F.window takes literals only.
"""

import functools
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import windrow as wr
from tests.support.over.events import random_events
from tests.support.over.oracle import agree, grouped

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

pytestmark = pytest.mark.spark

MEASURES = [
    wr.count("x"), wr.max("x"), wr.min("x"), wr.sum("n"), wr.mean("n"), wr.arg_max("u", "c")
]  # fmt: skip
#: range, slide, offset: tumbling, dividing, not dividing, parts of a second; Spark does not sample,
#: its slide is at most the range
CLOCKS = [
    ("4 seconds", "4 seconds", None),
    ("6 seconds", "2 seconds", None),
    ("7 seconds", "3 seconds", "1 second"),
    ("1500 milliseconds", "500 milliseconds", "250 milliseconds"),
    ("40 seconds", "9 seconds", "-5 seconds"),
    ("3 seconds", "70 milliseconds 900 microseconds", None),
]
GAPS = ["500 milliseconds", "1 second", "2 seconds", "3500 milliseconds"]
KEY = ["case", "name"]


@pytest.fixture(scope="module")
def events() -> pa.Table:
    """Random events, moved so that some lie before the epoch."""
    table = random_events(11, 12)
    moved = pa.compute.subtract(table["ts"].cast(pa.int64()), 15_000_000)
    index = table.column_names.index("ts")
    return table.set_column(index, "ts", moved.cast(table["ts"].type))


def on_spark(frame: "DataFrame", windows: dict[str, "Column"]) -> pa.Table:
    """The answers of Spark's own windows, in one job."""
    from pyspark.sql import functions as F

    aggregates = [
        F.count("x"), F.max("x"), F.min("x"), F.sum("n"), F.avg("n"), F.max_by("c", "u")
    ]  # fmt: skip
    answered = [
        frame.groupBy(*KEY, window.alias("w")).agg(
            *(each.alias(m.name) for each, m in zip(aggregates, MEASURES, strict=True))
        ).select(
            F.lit(name).alias("window"), *KEY, F.col("w.start").alias("window_start"),
            F.col("w.end").alias("window_end"), *(m.name for m in MEASURES),
        )
        for name, window in windows.items()
    ]  # fmt: skip
    return functools.reduce(lambda one, other: one.union(other), answered).toArrow()


def by_window(table: pa.Table) -> dict[Any, dict[str, Any]]:
    """The answers by window, key and start."""
    rows = table.to_pylist()
    found = {
        (row["window"], *(grouped(row[name]) for name in KEY), row["window_start"]): row
        for row in rows
    }
    assert len(found) == len(rows)
    return found


def check(ours: pa.Table, theirs: pa.Table) -> None:
    mine, spark = by_window(ours), by_window(theirs)
    assert mine.keys() == spark.keys()
    assert len(mine) > 100
    for window, row in spark.items():
        for name, value in row.items():
            assert agree(value, mine[window][name]), f"{name} of {mine[window]} is not {row}"


def test_windows_of_a_clock(spark: "SparkSession", events: pa.Table) -> None:
    from pyspark.sql import functions as F

    windows = {str(clock): wr.time(clock[0], clock[1], offset=clock[2]) for clock in CLOCKS}
    ours = wr.slide(events, key=KEY, order=["ts", "id"], windows=windows, aggs=MEASURES)
    native = {str(clock): F.window("ts", *clock) for clock in CLOCKS}
    check(ours, on_spark(spark.createDataFrame(events), native))


def test_sessions(spark: "SparkSession", events: pa.Table) -> None:
    from pyspark.sql import functions as F

    windows = {gap: wr.session(gap) for gap in GAPS}
    ours = wr.slide(events, key=KEY, order=["ts", "id"], windows=windows, aggs=MEASURES)
    frame = spark.createDataFrame(events).where("ts is not null")
    check(ours, on_spark(frame, {gap: F.session_window("ts", gap) for gap in GAPS}))
