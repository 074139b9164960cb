"""DataFrames of every kind go through `wr.over` on Spark, whatever their names, types and settings.

Where it does not matter, what is computed is of strings, which needs no kernel to be compiled.
"""

import datetime as dt
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import windrow as wr
from tests.support.over.oracle import assert_agrees

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SIZE = 40
EVENTS = pa.table(
    {
        "id": range(SIZE),
        "k": [row % 3 for row in range(SIZE)],
        "ts": pa.array([row * 1_500_000 for row in range(SIZE)], pa.timestamp("us", "UTC")),
        "x": [float(row * 7 % 11) for row in range(SIZE)],
        "s": [f"s{row}" if row % 5 else None for row in range(SIZE)],
    }
)


@pytest.fixture(autouse=True)
def setting(spark: "SparkSession") -> Iterator[Callable[[str, str], None]]:
    """Changes a setting of the session for one test; batches are always small."""
    usual: dict[str, str | None] = {}

    def change(name: str, value: str) -> None:
        usual[name] = spark.conf.get(name, None)
        spark.conf.set(name, value)

    change("spark.sql.execution.arrow.maxRecordsPerBatch", "7")
    yield change
    for name, value in usual.items():
        if value is None:
            spark.conf.unset(name)
        else:
            spark.conf.set(name, value)


def both(spark: "SparkSession", table: pa.Table, **arguments: Any) -> tuple[pa.Table, pa.Table]:
    """The answers in this process and on Spark, in the order of the first column."""
    arguments = {"key": "k", "order": "id", "windows": wr.rows(3), **arguments}
    on_spark = wr.over(spark.createDataFrame(table), **arguments).toArrow()
    first = table.column_names[0]
    return wr.over(table, **arguments), on_spark.sort_by(first)


def assert_same(spark: "SparkSession", table: pa.Table, **arguments: Any) -> None:
    in_process, on_spark = both(spark, table, **arguments)
    assert in_process.column_names == on_spark.column_names
    assert_agrees(in_process.to_pydict(), on_spark)


def test_names_that_spark_would_take_apart(spark: "SparkSession") -> None:
    # Found: with a dot or a backtick in a name, Spark looks for another column.
    table = EVENTS.rename_columns(["id", "the `k`", "t.s", "x.y", "s s"])
    assert_same(spark, table, key="the `k`", aggs=[wr.collect("x.y"), wr.max("s s")])


def test_names_that_occur_twice(spark: "SparkSession") -> None:
    # Found: of two columns with one name, in any case, Spark finds neither.
    frame = spark.createDataFrame(EVENTS).toDF("id", "k", "twice", "twice", "TWICE")
    answer = wr.over(frame, key="k", order="id", windows=wr.rows(3), aggs=wr.count())
    assert answer.columns == ["id", "k", "twice", "twice", "TWICE", "count"]
    assert sorted(row["count"] for row in answer.collect()) == [1, 1, 1, 2, 2, 2] + [3] * (SIZE - 6)


def test_a_session_in_another_time_zone(
    spark: "SparkSession", setting: Callable[[str, str], None]
) -> None:
    setting("spark.sql.session.timeZone", "America/New_York")
    _, on_spark = both(
        spark,
        EVENTS,
        order="ts",
        windows=wr.time("9 seconds"),
        aggs=[wr.first("ts"), wr.max("ts"), wr.collect("ts")],
    )
    moments = on_spark["ts"].cast(pa.timestamp("us", "UTC")).to_pylist()
    oldest = [moments[max(row % 3, row - 3)] for row in range(SIZE)]
    assert on_spark["first_ts"].cast(pa.timestamp("us", "UTC")).to_pylist() == oldest
    assert on_spark["max_ts"].cast(pa.timestamp("us", "UTC")).to_pylist() == moments
    assert [times[0] for times in on_spark["collect_ts"].to_pylist()] == oldest
    assert moments == EVENTS["ts"].to_pylist()


def test_a_session_with_large_strings(
    spark: "SparkSession", setting: Callable[[str, str], None]
) -> None:
    setting("spark.sql.execution.arrow.useLargeVarTypes", "true")
    aggs = [wr.max("s"), wr.arg_max("s", "s"), wr.collect("s"), wr.concat("s")]
    assert_same(spark, EVENTS, aggs=aggs)


def test_values_of_every_type_are_carried(spark: "SparkSession") -> None:
    days = [dt.date(2012, 2, 22) + dt.timedelta(days=row) for row in range(SIZE)]
    table = EVENTS.append_column("date", pa.array(days))
    table = table.append_column("binary", EVENTS["s"].cast(pa.binary()))
    table = table.append_column("decimal", EVENTS["x"].cast(pa.decimal128(10, 2)))
    table = table.append_column("list", pa.array([[row, None] for row in range(SIZE)]))
    table = table.append_column("flag", pa.array([row % 2 == 0 for row in range(SIZE)]))
    table = table.append_column("small", pa.array(range(SIZE), pa.int8()))
    table = table.append_column("single", EVENTS["x"].cast(pa.float32()))
    names = table.column_names[4:]
    carried = [wr.arg_max("s", name) for name in names]
    collected = [wr.collect(name) for name in names]
    compared = [wr.max(name) for name in ("date", "binary", "decimal", "flag", "small")]
    assert_same(spark, table, aggs=[*carried, *collected, *compared])


@pytest.mark.parametrize("key", [None, ["k", "s"]], ids=str)
def test_no_rows_at_all(spark: "SparkSession", key: Any) -> None:
    frame = spark.createDataFrame(EVENTS).where("id < 0")
    windows = [wr.rows(3), wr.time("1 hour", ties="peers")]
    answer = wr.over(frame, key=key, order="ts", windows=windows, aggs=[wr.max("x"), wr.first("s")])
    assert answer.collect() == []
    assert answer.columns[5:] == [
        "max_x_rows_3", "max_x_time_1_hour", "first_s_rows_3", "first_s_time_1_hour"
    ]  # fmt: skip


def test_it_is_a_step_of_a_pipeline(spark: "SparkSession") -> None:
    def with_features(frame: Any) -> Any:
        return wr.over(frame, key="k", order="id", windows=wr.rows(3), aggs=wr.max("x"))

    answer = spark.createDataFrame(EVENTS).transform(with_features)
    assert answer.where("k = 1").agg({"max_x": "max"}).first()[0] == 10.0


def test_an_aggregation_of_ones_own(spark: "SparkSession") -> None:
    spread = wr.aggregation(
        name="spread",
        identity=(float("inf"), float("-inf")),
        lift=lambda x: (x, x),
        combine=lambda older, newer: (min(older[0], newer[0]), max(older[1], newer[1])),
        lower=lambda partial: partial[1] - partial[0],
    )
    assert_same(spark, EVENTS, aggs=spread("x"))


def test_an_overflow_ends_the_job_with_its_reason(spark: "SparkSession") -> None:
    table = EVENTS.append_column("large", pa.array([2**62] * SIZE))
    frame = spark.createDataFrame(table)
    answer = wr.over(frame, key="k", order="id", windows=wr.rows(3), aggs=wr.sum("large"))
    with pytest.raises(Exception, match=r"AggregateOverflow: sum\(\w+\): a sum left the range"):
        answer.collect()
