"""`wr.slide` on Spark gives the answers of `wr.slide` in this process."""

import contextlib
import io
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from tests.support.over.events import random_events
from tests.support.over.oracle import agree, grouped
from windrow.work import sizes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

WINDOWS: dict[str, Any] = {
    "clock": wr.time("7 seconds", every="2 seconds", offset="500 milliseconds", min_rows=2),
    "sampled": wr.time("1 second", every="3 seconds"),
    "trailing": wr.time("9 seconds", every=3),
    "rows": wr.rows(7, every=2, min_rows=5, of="values"),
    "rows by clock": wr.rows(5, every="4 seconds"),
    "delta": wr.delta("x", 2.5, every=2),
    "whole delta": wr.delta("n", 2, every="3 seconds"),
    "punctuated": wr.punctuated("flag"),
    "session": wr.session("1 second", min_rows=2),
}
AGGS = [
    wr.max("x"), wr.count(), wr.sum("n"), wr.variance("n"), wr.arg_max("u", "c"), wr.last("c"),
    wr.concat("c"), wr.median("n"), wr.count_distinct("c"), wr.percent_rank("x"),
]  # fmt: skip


@pytest.fixture(scope="module")
def events() -> pa.Table:
    table = random_events(31, 20)
    flags = pa.array([row % 4 == 0 for row in table["id"].to_pylist()])
    return table.append_column("flag", flags)


@pytest.fixture(scope="module")
def frame(spark: "SparkSession", events: pa.Table) -> "DataFrame":
    return spark.createDataFrame(events)


def assert_same(on_spark: Any, in_process: pa.Table, key: list[str]) -> None:
    """The same answers; those of a window and key in the same order."""
    table = on_spark.toArrow()
    assert table.column_names == in_process.column_names
    assert table.num_rows == in_process.num_rows > 0
    named = [name for name in ("window", *key) if name in table.column_names]

    def by_key(answers: pa.Table) -> dict[Any, list[dict[str, Any]]]:
        groups: dict[Any, list[dict[str, Any]]] = {}
        for row in answers.to_pylist():
            groups.setdefault(tuple(grouped(row[name]) for name in named), []).append(row)
        return groups

    mine, spark = by_key(in_process), by_key(table)
    assert mine.keys() == spark.keys()
    for group, rows in mine.items():
        for row, answer in zip(rows, spark[group], strict=True):
            for name, value in row.items():
                if name not in key:
                    assert near(value, answer[name]), f"{name}: {answer} is not {row}"


def near(value: Any, answer: Any) -> bool:
    """Slices of other lengths round differently."""
    if isinstance(value, float) and isinstance(answer, float) and math.isfinite(value):
        return math.isclose(value, answer, rel_tol=1e-12, abs_tol=1e-12)
    return agree(value, answer)


@pytest.mark.parametrize("changes_only", [False, True])
@pytest.mark.parametrize("key", [["case", "name"], ["level"], []], ids=str)
def test_every_window(
    frame: "DataFrame", events: pa.Table, key: list[str], changes_only: bool
) -> None:
    arguments: dict[str, Any] = {
        "key": key, "order": ["ts", "id"], "windows": WINDOWS,
        "aggs": AGGS[:5] if changes_only else AGGS, "changes_only": changes_only,
    }  # fmt: skip
    assert_same(wr.slide(frame, **arguments), wr.slide(events, **arguments), key)


# Slices by Spark's own aggregates ----------------------------------------------------------------

CLOCKS = {
    "tumbling": wr.time("4 seconds", every="4 seconds", min_rows=3, of="values"),
    "not dividing": wr.time("7 seconds", every="3 seconds", offset="1 second"),
    "fine": wr.time("3 seconds", every="70 milliseconds 900 microseconds", offset="-5 seconds"),
    "sampled": wr.time("1 second", every="3 seconds"),
}
SLICED = [
    wr.count(), wr.count("c"), wr.max("x"), wr.min("n"), wr.min("ts"), wr.sum("x"), wr.sum("flag"),
    wr.mean("x"), wr.mean("n"), wr.value_range("x"),
]  # fmt: skip


@pytest.mark.parametrize("key", [["case", "name"], ["level"], []], ids=str)
def test_slices_by_spark(frame: "DataFrame", events: pa.Table, key: list[str]) -> None:
    arguments: dict[str, Any] = {
        "key": key, "order": "ts", "windows": CLOCKS, "aggs": SLICED, "empty": "emit",
    }  # fmt: skip
    with sizes.using(dense_slice=0.0):
        on_spark = wr.slide(frame, **arguments)
    assert has_slices(on_spark)
    assert_same(on_spark, wr.slide(events, **arguments), key)


KERNELS = [
    wr.variance("n"), wr.stddev("x"), wr.sum("x"), wr.mean("x").where("n > 0").alias("some"),
    wr.count("x").where("n > 0").alias("counted"), wr.count(), wr.max_count("n"),
    wr.covariance("x", "n"),
]  # fmt: skip


@pytest.mark.parametrize("key", [["case", "name"], []], ids=str)
def test_slices_by_kernels(frame: "DataFrame", events: pa.Table, key: list[str]) -> None:
    arguments: dict[str, Any] = {"key": key, "order": "ts", "windows": CLOCKS, "aggs": KERNELS}
    with sizes.using(dense_slice=0.0):
        on_spark = wr.slide(frame, **arguments)
    assert "partials of slices" in explained(on_spark)
    assert_same(on_spark, wr.slide(events, **arguments), key)


def has_slices(answers: "DataFrame") -> bool:
    return "HashAggregate(" in explained(answers)


def explained(answers: "DataFrame") -> str:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        answers.explain()
    return printed.getvalue()


def test_slices_are_made_before_the_shuffle_where_they_have_many_rows(
    spark: "SparkSession",
) -> None:
    events = spark.range(2_000).selectExpr("id % 3 as k", "timestamp_seconds(id) as ts", "id as x")

    def slides(window: Any) -> bool:
        return has_slices(wr.slide(events, key="k", order="ts", windows=window, aggs=wr.max("x")))

    sparse, dense = (wr.time(f"{n} seconds", every=f"{n} seconds") for n in (3, 300))
    assert not slides(sparse)
    assert slides(dense)
    spark.conf.set("spark.windrow.look", "false")
    try:
        assert slides(sparse)
    finally:
        spark.conf.unset("spark.windrow.look")


def test_sums_on_the_way_may_leave_64_bits(spark: "SparkSession") -> None:
    # The sum of a slice does not fit, those of its windows do.
    seconds = pa.array([0, 0, 0, 1], pa.int64()).cast(pa.timestamp("s", "UTC"))
    table = pa.table({"t": seconds, "n": [2**62, 2**62, 2**62, -(2**63)]})
    frame = spark.createDataFrame(table)
    window = wr.time("2 seconds", every="2 seconds")
    other = wr.time("3 seconds", every="3 seconds", offset="1 second")
    aggs = [wr.sum("n"), wr.mean("n")]
    answers = wr.slide(frame, order="t", windows=window, aggs=aggs).collect()
    assert [(row["sum_n"], row["mean_n"]) for row in answers] == [(2**62, 2.0**60)]
    with pytest.raises(Exception, match=r"AggregateOverflow: sum\(\w+\): a sum left the range"):
        wr.slide(frame, order="t", windows=other, aggs=aggs).collect()


@pytest.mark.parametrize("order", ["timestamp_ntz", "date"])
def test_times_of_other_types(spark: "SparkSession", order: str) -> None:
    # At 2:30 on the first of these days clocks in New York had been put forward.
    zone = "spark.sql.session.timeZone"
    spark.conf.set(zone, "America/New_York")
    try:
        frame = spark.sql(
            f"select cast(t as {order}) as t, x from values "
            "(timestamp_ntz'2024-03-10 02:30:00', 1), (timestamp_ntz'2024-03-11 03:10:00', 2), "
            "(timestamp_ntz'1969-12-31 23:10:00', 4), (null, 8) as events(t, x)"
        )
        table = frame.toArrow()
        for window in (wr.time("2 days", every="1 day"), wr.time("36 hours", every="12 hours")):
            arguments: dict[str, Any] = {"order": "t", "windows": window, "aggs": wr.sum("x")}
            on_spark = wr.slide(frame, **arguments)
            in_process = wr.slide(table, **arguments)
            same_type = on_spark.toArrow().cast(in_process.schema)
            assert same_type.to_pylist() == in_process.to_pylist()
    finally:
        spark.conf.set(zone, "UTC")


def test_arguments_that_spark_cannot_serve(frame: "DataFrame") -> None:
    arguments: dict[str, Any] = {"key": "case", "order": "ts", "aggs": wr.max("x")}
    with pytest.raises(wr.InvalidArgument, match="windows: they begin or end between two micro"):
        wr.slide(frame, windows=wr.time("2500 nanoseconds", every="1 second"), **arguments)
    with pytest.raises(wr.InvalidArgument, match="does not say when it answers"):
        wr.slide(frame, windows=wr.time("1 second"), **arguments)
    with pytest.raises(wr.InvalidArgument, match="aggs: Spark takes the result 'Case'"):
        wr.slide(
            frame, key="case", order="ts", windows=wr.rows(2, every=1),
            aggs=wr.max("x", alias="Case"),
        )  # fmt: skip


def test_names_that_spark_would_take_apart(spark: "SparkSession", events: pa.Table) -> None:
    names = ["id", "the `key`", "name", "level", "t.s", "x.y", "x.`z`", "u", "c", "flag"]
    table = events.rename_columns(names)
    for aggs in ([wr.sum("x.y", alias="a.b")], [wr.concat("c", alias="a.b")]):
        arguments: dict[str, Any] = {
            "key": ["the `key`"], "order": ["t.s", "id"], "aggs": aggs,
            "windows": wr.time("5 seconds", every="1 second"),
        }  # fmt: skip
        on_spark = wr.slide(spark.createDataFrame(table), **arguments)
        assert_same(on_spark, wr.slide(table, **arguments), ["the `key`"])


def test_no_rows_and_a_step_of_a_pipeline(frame: "DataFrame") -> None:
    def answered(rows: Any) -> Any:
        windows = [wr.time("2 seconds", every="1 second"), wr.rows(3, every=1)]
        return wr.slide(rows, key="case", order="ts", windows=windows, aggs=wr.max("x"))

    none = frame.where("id < 0").transform(answered)
    assert none.columns == ["window", "case", "window_start", "window_end", "max_x"]
    assert none.schema["window_start"].dataType == frame.schema["ts"].dataType
    assert none.collect() == []


def test_an_aggregation_of_ones_own(frame: "DataFrame", events: pa.Table) -> None:
    # Partials that are rows of arrays, and a combine that minds the order.
    histogram = wr.aggregation(
        name="histogram",
        identity=np.zeros(4),
        lift=lambda n: np.array([1.0 if n % 4 == place else 0.0 for place in range(4)]),
        combine=lambda older, newer: older + newer,
        lower=lambda partial: partial[0] + 10 * partial[1] + 100 * partial[2] + 1000 * partial[3],
    )
    polynomial = wr.aggregation(
        name="polynomial",
        identity=(0.0, 1.0),
        lift=lambda n: (float(n), 2.0),
        combine=lambda older, newer: (older[0] * newer[1] + newer[0], older[1] * newer[1]),
        lower=lambda partial: partial[0],
    )
    arguments: dict[str, Any] = {
        "key": "case", "order": ["ts", "id"], "aggs": [histogram("n"), polynomial("n")],
        "windows": [wr.time("5 seconds", every="2 seconds"), wr.rows(5, every=2)],
    }  # fmt: skip
    assert_same(wr.slide(frame, **arguments), wr.slide(events, **arguments), ["case"])


def test_few_stored_rows_are_sorted_by_windrow_and_others_by_spark(spark: "SparkSession") -> None:
    events = spark.range(50).selectExpr("id % 3 as k", "7 * id % 50 as t", "double(id) as x")
    table = events.toArrow()
    asked: dict[str, Any] = {"key": "k", "order": "t", "windows": wr.rows(5, every=2)}
    asked["aggs"] = wr.max("x")
    expected = sorted(wr.slide(table, **asked).to_pylist(), key=str)
    for small_data, by_spark in ((2**27, False), (0, True)):
        with sizes.using(small_data=small_data):
            answers = wr.slide(events, **asked)
        assert ("Sort [" in explained(answers)) == by_spark
        assert sorted(answers.toArrow().to_pylist(), key=str) == expected
