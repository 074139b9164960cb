"""`wr.over` on Spark, `wr.over` in this process, the oracle and Spark's own window functions agree.

Spark's functions take part where Spark has the same meaning. It differs in two places, where the
design wins: `collect_list` of no values is an empty list and not null, and of equal values `max_by`
and `min_by` may carry any (the column `u` has no equal values). A time window that is open on the
left has no counterpart in Spark: test_spark_frames.py holds it against what one can read off.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import windrow as wr
from tests.support.over import oracle
from tests.support.over.events import random_events
from windrow.work import sizes

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession, WindowSpec

pytestmark = pytest.mark.spark

MEASURES = [
    *(aggregation("x") for aggregation in (wr.count, wr.sum, wr.mean, wr.min, wr.max)),
    *(wr.variance("x", population=population) for population in (False, True)),
    *(wr.stddev("x", population=population) for population in (False, True)),
    wr.sum("n"),
    *(aggregation("c") for aggregation in (wr.first, wr.last, wr.collect)),
    wr.arg_max("u", "c"),
    wr.arg_min("u", "c"),
]
WINDOWS = {
    "r4": wr.rows(4),
    "r100": wr.rows(100),
    "range": wr.time("5 seconds", closed="both", ties="peers"),
}
#: what Spark computes over rows of equal time without regard to their order
UNORDERED = {"count", "sum", "mean", "min", "max", "variance", "variance_pop", "stddev",
             "stddev_pop", "arg_max", "arg_min"}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def _small_batches(spark: "SparkSession") -> Iterator[None]:
    """Hand over a few rows at a time, so that every window lives through many batches."""
    setting = "spark.sql.execution.arrow.maxRecordsPerBatch"
    usual = spark.conf.get(setting)
    spark.conf.set(setting, "7")
    yield
    spark.conf.set(setting, usual)


def native(name: str, columns: tuple[str, ...]) -> "Column":
    """Spark's own function."""
    from pyspark.sql import functions as F

    if name in ("arg_max", "arg_min"):
        carry = F.max_by if name == "arg_max" else F.min_by
        return carry(columns[1], columns[0])
    if name in ("first", "last"):
        return getattr(F, name)(columns[0], ignorenulls=True)  # type: ignore[no-any-return]
    names = {
        "mean": "avg",
        "variance": "var_samp",
        "variance_pop": "var_pop",
        "stddev": "stddev_samp",
        "collect": "collect_list",
    }
    return getattr(F, names.get(name, name))(columns[0])  # type: ignore[no-any-return]


def native_frames(key: list[str]) -> dict[str, "WindowSpec"]:
    """Spark's frames for those of the windows that it has."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    by_key = Window.partitionBy(*key)
    ordered = by_key.orderBy("ts", "id")
    return {
        "r4": ordered.rowsBetween(-3, 0),
        "r100": ordered.rowsBetween(-99, 0),
        "range": by_key.orderBy(F.unix_micros("ts")).rangeBetween(-5_000_000, 0),
    }


def by_id(table: pa.Table) -> pa.Table:
    return table.sort_by("id")


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("key", "cases", "tables"),
    [(["case", "name", "level"], 40, 2), (["case"], 20, 1), ([], 5, 1)],
    ids=str,
)
def test_all_agree(spark: "SparkSession", key: list[str], cases: int, tables: int) -> None:
    # Few tables, because each is two jobs; but each is up to some hundred random groups.
    @given(st.integers(0, 2**32))
    @settings(max_examples=tables, phases=[Phase.generate], database=None)
    def run(seed: int) -> None:
        check(spark, random_events(seed, cases), key)

    run()


def test_windows_that_values_and_gaps_end(spark: "SparkSession") -> None:
    from pyspark.sql import functions as F

    events = random_events(5, 12)
    events = events.append_column("mark", pa.compute.greater(events["n"], 1))
    arguments: dict[str, Any] = {
        "key": ["case"],
        "order": ["ts", "id"],
        "windows": {
            "rows": wr.rows(4),
            "delta": wr.delta("x", 12.5),
            "marks": wr.punctuated("mark"),
            "session": wr.session("2 seconds"),
        },
        "aggs": [
            wr.sum("n"), wr.count(), wr.collect("c"), wr.arg_max("u", "c"),
            wr.median("x"), wr.count_distinct("c"), wr.rank("n"),
        ],
    }  # fmt: skip
    frame = spark.createDataFrame(events)
    on_spark = by_id(wr.over(frame, **arguments).toArrow())
    oracle.assert_agrees(by_id(wr.over(events, **arguments)).to_pydict(), on_spark)
    oracle.assert_agrees(oracle.over(by_id(events), **arguments), on_spark)

    # The last row of a session is answered over all of it, as Spark answers once per session.
    sessions = (
        frame.where("ts is not null")
        .groupBy("case", F.session_window("ts", "2 seconds"))
        .agg(F.sum("n").alias("sum"), F.count("*").alias("count"), F.max("ts").alias("ts"))
    )
    expected = {
        (row["case"], row["ts"], row["count"], row["sum"]) for row in sessions.toArrow().to_pylist()
    }
    answers = on_spark.to_pylist()
    assert expected <= {
        (row["case"], row["ts"], row["count_session"], row["sum_n_session"]) for row in answers
    }
    assert len(expected) == sum(row["count_session"] == 1 for row in answers) > 20


def test_few_stored_rows_are_sorted_by_windrow_and_others_by_spark(spark: "SparkSession") -> None:
    events = random_events(7, 20)
    stored = spark.createDataFrame(events).cache()
    stored.count()
    asked: dict[str, Any] = {"key": ["case", "name", "level"], "order": ["ts", "id"]}
    asked |= {"windows": WINDOWS, "aggs": [wr.sum("x"), wr.variance("x"), wr.sum("n")]}
    listed = {**asked, "aggs": [wr.sum("x"), wr.collect("c")]}
    sorted_by: dict[tuple[int, bool], str] = {}
    try:
        for small_data in (2**27, 0):
            for arguments in (asked, listed):
                with sizes.using(small_data=small_data):
                    on_spark = wr.over(stored, **arguments)
                by_spark = "Sort [" in on_spark._jdf.queryExecution().toString()
                sorted_by[small_data, arguments is asked] = "Spark" if by_spark else "windrow"
                in_process = by_id(wr.over(events, **arguments))
                oracle.assert_agrees(in_process.to_pydict(), by_id(on_spark.toArrow()))
    finally:
        stored.unpersist()
    assert [place for place, by in sorted_by.items() if by == "windrow"] == [(2**27, True)]


def check(spark: "SparkSession", events: pa.Table, key: list[str]) -> None:
    arguments: dict[str, Any] = {
        "key": key, "order": ["ts", "id"], "windows": WINDOWS, "aggs": MEASURES,
    }  # fmt: skip
    frame = spark.createDataFrame(events)
    on_spark = by_id(wr.over(frame, **arguments).toArrow())
    in_process = by_id(wr.over(events, **arguments))
    assert on_spark.column_names == in_process.column_names
    # To the last bit: the same rows go through the same kernels in the same order.
    oracle.assert_agrees(in_process.to_pydict(), on_spark)

    expected = oracle.over(by_id(events), **arguments)
    oracle.assert_agrees(expected, on_spark)

    frames = native_frames(key)
    shared = {
        f"{measure.name}_{window}": native(measure.aggregation.name, measure.columns).over(frame)
        for measure in MEASURES
        for window, frame in frames.items()
        if window != "range" or measure.aggregation.name in UNORDERED
    }
    by_spark = by_id(
        frame.select("id", *(each.alias(name) for name, each in shared.items())).toArrow()
    )
    oracle.assert_agrees({name: lists_of_spark(name, expected[name]) for name in shared}, by_spark)


def lists_of_spark(name: str, expected: list[Any]) -> list[Any]:
    """For Spark the list of no values is empty."""
    if not name.startswith("collect"):
        return expected
    return [[] if values is None else values for values in expected]
