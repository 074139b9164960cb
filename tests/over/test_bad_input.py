"""What cannot be right is refused when the call is made, in words that name the argument.

The same calls on a table and on a Spark DataFrame; on Spark no job runs before the error.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import windrow as wr

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLE = pa.table(
    {
        "user": ["ann", "bob"],
        "ts": pa.array([1, 2], pa.timestamp("us", "UTC")),
        "amount": [1.0, 2.0],
        "visits": [1, 2],
        "tags": [["a"], []],
    }
)
GOOD: dict[str, Any] = {
    "key": "user",
    "order": "ts",
    "windows": wr.rows(2),
    "aggs": wr.max("amount"),
}
COLUMNS = "user, ts, amount, visits, tags"
SOME_WINDOW = "windows: give a window such as wr.rows(100) or wr.time('1 hour'), a list of them, or"

#: what to change in a good call, and how the message begins
BAD: dict[str, tuple[dict[str, Any], str]] = {
    # columns
    "key unknown": ({"key": "usr"}, f"key: there is no column 'usr'; there are {COLUMNS}"),
    "one key unknown": ({"key": ["user", "no"]}, "key: there is no column 'no'; there are"),
    "key no name": ({"key": 5}, "key: give the name of a column or a list of names, not 5"),
    "keys no names": ({"key": ["user", 5]}, "key: columns are given by name, not 5"),
    "key twice": ({"key": ["user", "user"]}, "key: a column is named twice: user, user"),
    "order unknown": ({"order": "time"}, f"order: there is no column 'time'; there are {COLUMNS}"),
    "order no name": ({"order": b"ts"}, "order: give the name of a column or a list of names, "),
    "order nested": ({"order": "tags"}, "order: 'tags' is list<"),
    "aggs unknown": ({"aggs": wr.max("amout")}, "aggs: there is no column 'amout'; there are user"),
    "carried unknown": ({"aggs": wr.arg_max("amount", "shop")}, "aggs: there is no column 'shop';"),
    # types
    "time over integers": (
        {"order": "visits", "windows": wr.time("1 hour")},
        "order: a time window measures by a timestamp or a date, and 'visits' is int64; use wr.",
    ),
    "time over strings": (
        {"order": ["user", "ts"], "windows": [wr.rows(2), wr.time("1 hour")]},
        "order: a time window measures by a timestamp or a date, and 'user' is string",
    ),
    "time without order": (
        {"order": None, "windows": wr.time("1 hour")},
        "order: a time window needs a timestamp column to measure by",
    ),
    "sum of strings": (
        {"aggs": [wr.count("user"), wr.sum("user")]},
        "aggs: sum('user') cannot take a column of type string; it takes boolean, decimal, d",
    ),
    "mean of times": ({"aggs": wr.mean("ts")}, "aggs: mean('ts') cannot take a column of type ti"),
    "max of lists": ({"aggs": wr.max("tags")}, "aggs: max('tags') cannot take a column of type l"),
    "concat of numbers": ({"aggs": wr.concat("visits")}, "aggs: concat('visits') cannot take a "),
    # names
    "two of one name": (
        {"aggs": [wr.max("amount"), wr.max("amount")]},
        "aggs: 2 results would be called 'max_amount'; rename one with .alias(...)",
    ),
    "two of one alias": (
        {"aggs": [wr.max("amount").alias("x"), wr.min("amount", alias="x")]},
        "aggs: 2 results would be called 'x'; rename one with .alias(...)",
    ),
    "one name from two windows": (
        {"windows": {"b_c": wr.rows(2), "c": wr.rows(3)},
         "aggs": [wr.max("amount").alias("a"), wr.min("amount").alias("a_b")]},
        "aggs: 2 results would be called 'a_b_c'; rename one with .alias(...)",
    ),
    "name of a column": (
        {"aggs": wr.max("amount").alias("visits")},
        "aggs: the table has a column 'visits' already; rename the result with .alias(...)",
    ),
    # aggregations
    "aggs missing": ({"aggs": []}, "aggs: at least one aggregation is needed, as in wr.max("),
    "aggs none": ({"aggs": None}, "aggs: give an aggregation such as wr.max('amount') or a list"),
    "aggs a string": ({"aggs": "max"}, "aggs: give an aggregation such as wr.max('amount') or"),
    "aggs a dict": ({"aggs": {"a": wr.max("amount")}}, "aggs: give an aggregation such as wr.max("),
    "aggs strings": ({"aggs": ["max"]}, "aggs: give aggregations such as wr.max('amount'), not"),
    "aggs uncalled": ({"aggs": wr.max}, "aggs: max needs its column, as in max('amount')"),
    "aggs one uncalled": ({"aggs": [wr.max]}, "aggs: max needs its column, as in max('amount')"),
    "aggs of nothing": ({"aggs": wr.max()}, "aggs: max() names no column; write max('value')"),
    # windows
    "windows missing": ({"windows": []}, "windows: at least one window is needed"),
    "windows none": ({"windows": None}, SOME_WINDOW),
    "windows a number": ({"windows": 100}, SOME_WINDOW),
    "windows a duration": ({"windows": "1 hour"}, SOME_WINDOW),
    "windows uncalled": ({"windows": wr.rows}, SOME_WINDOW),
    "windows durations": ({"windows": ["1 hour"]}, "windows: '1 hour' is no window; use wr.rows("),
    "windows of one name": (
        {"windows": [wr.rows(2), wr.rows(2)]},
        "windows: two windows are called 'rows_2'; name them in a dict",
    ),
    "windows with every": (
        {"windows": wr.rows(2, every=1)},
        "windows: 'rows_2' says every=, which is for wr.slide; wr.over answers every row",
    ),
    "delta with every": (
        {"windows": {"d": wr.delta("amount", 5, every=1)}},
        "windows: 'd' says every=, which is for wr.slide; wr.over answers every row",
    ),
    "delta of strings": (
        {"windows": wr.delta("user", 5)},
        "windows: delta('user', ...) needs a column of numbers, not string",
    ),
    "delta of nothing": ({"windows": wr.delta("no", 5)}, "windows: there is no column 'no'; there"),
    "marks of numbers": (
        {"windows": [wr.rows(2), wr.punctuated("visits")]},
        "windows: punctuated('visits') needs a boolean column, not int64",
    ),
    "session over integers": (
        {"order": "visits", "windows": wr.session("1 hour")},
        "order: a time window measures by a timestamp or a date, and 'visits' is int64; use wr.",
    ),
    # algorithms
    "algorithm unknown": ({"algorithm": "fast"}, "algorithm: 'fast' is not known; there are "),
    "algorithm empty": ({"algorithm": ""}, "algorithm: '' is not known; there are "),
    "algorithm no name": ({"algorithm": ["recompute"]}, "algorithm: ['recompute'] is not known; "),
}  # fmt: skip


def assert_refused(data: Any, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(wr.WindrowError) as caught:
        wr.over(data, **{**GOOD, **arguments})
    assert str(caught.value).startswith(message)
    assert isinstance(caught.value, wr.InvalidArgument | wr.NotApplicable)


@pytest.mark.parametrize("case", BAD)
def test_a_table(case: str) -> None:
    assert_refused(TABLE, *BAD[case])


@pytest.fixture
def spark_without_jobs(spark: "SparkSession") -> Iterator["SparkSession"]:
    """A session in which no job may run."""
    context = spark.sparkContext
    context.setJobGroup("bad input", "calls that are refused")
    yield spark
    assert not context.statusTracker().getJobIdsForGroup("bad input")
    context.setLocalProperty("spark.jobGroup.id", None)


@pytest.mark.spark
def test_a_spark_dataframe(spark_without_jobs: "SparkSession") -> None:
    frame = spark_without_jobs.createDataFrame(TABLE)
    for arguments, message in BAD.values():
        assert_refused(frame, arguments, message)


@pytest.mark.spark
def test_what_only_spark_refuses(spark_without_jobs: "SparkSession") -> None:
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    frame = spark_without_jobs.createDataFrame(TABLE)
    no_order = "order: rows of a Spark DataFrame have no order of their own; name a column"
    assert_refused(frame, {"order": None}, no_order)
    assert_refused(frame, {"order": []}, no_order)
    assert_refused(frame, {"key": F.col("user")}, "key: give the name of a column or a list of nam")
    assert_refused(frame, {"key": [F.col("user")]}, "key: columns are given by name, not Column<")
    assert_refused(frame, {"aggs": F.max("amount")}, "aggs: give an aggregation such as wr.max('am")
    assert_refused(frame, {"aggs": [F.max("amount")]}, "aggs: give aggregations such as wr.max('am")
    assert_refused(frame, {"windows": Window.partitionBy("user")}, SOME_WINDOW)
    blind = "aggs: Spark takes the result 'Visits' and the column 'visits' for one; rename the resu"
    assert_refused(frame, {"aggs": wr.max("amount").alias("Visits")}, blind)
    assert_refused(frame.amount, {}, "data: give a Spark DataFrame, not Column")
    assert_refused(frame.groupBy("user"), {}, "data: give a Spark DataFrame, not GroupedData")


@pytest.mark.parametrize(
    "data",
    [
        None, 5, "amount", [1.0], np.zeros(3), pd.Series([1.0]),
        pa.array([1.0]), pa.chunked_array([[1.0]]), pl.Series([1.0]),
    ],
    ids=lambda data: type(data).__name__,
)  # fmt: skip
def test_what_is_no_table(data: Any) -> None:
    assert_refused(data, {}, "data: give a DataFrame of Spark, pandas or Polars, a relation of Duc")


def test_a_name_that_occurs_twice() -> None:
    table = pa.Table.from_arrays([TABLE["amount"], TABLE["amount"]], names=["amount", "amount"])
    arguments = {"key": None, "order": None}
    assert_refused(table, arguments, "aggs: 2 columns are called 'amount'; rename them")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: wr.max(5), "max(...): columns are given by name, as strings, not 5"),
        (lambda: wr.max("a", "b"), "max(...) takes 1 column (value), not 2: a, b"),
        (lambda: wr.arg_max("a"), "arg_max(...) takes 2 columns (value, at), not 1: a"),
        (lambda: wr.max("a").alias(5), "alias: a result is named by a non-empty string, not 5"),
        (lambda: wr.max("a").alias(""), "alias: a result is named by a non-empty string, not ''"),
        (lambda: wr.max("a", alias=5), "alias: a result is named by a non-empty string, not 5"),
    ],
)
def test_measures_that_cannot_be(call: Any, message: str) -> None:
    with pytest.raises(wr.InvalidArgument) as caught:
        call()
    assert str(caught.value) == message
