"""With `schema=`, `wr.over` asks Spark nothing about the data, and answers the same.

That is for the functions of `pyspark.pipelines`: test_environments.py runs a pipeline. Here is also
what Spark must not do with the function that answers.
"""

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import windrow as wr
from tests.support.over.oracle import assert_agrees

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

SIZE = 60
EVENTS = pa.table(
    {
        "id": range(SIZE),
        "k": [row % 3 for row in range(SIZE)],
        "t.s": pa.array([row * 1_500_000 for row in range(SIZE)], pa.timestamp("us", "UTC")),
        "s": [f"s{row}" if row % 5 else None for row in range(SIZE)],
    }
)
ARGUMENTS: dict[str, Any] = {
    "key": "k",
    "order": "id",
    "windows": [wr.rows(3), wr.rows(40)],
    "aggs": [wr.count(), wr.max("s"), wr.first("t.s")],
}


@pytest.fixture(params=["7", "10000"], ids="batches of {}".format)
def frame(spark: "SparkSession", request: pytest.FixtureRequest) -> Any:
    setting = "spark.sql.execution.arrow.maxRecordsPerBatch"
    usual = spark.conf.get(setting)
    spark.conf.set(setting, request.param)
    yield spark.createDataFrame(EVENTS)
    spark.conf.set(setting, usual)


def over(frame: "DataFrame", **arguments: Any) -> Any:
    return wr.over(frame, **{**ARGUMENTS, "schema": frame.schema, **arguments})


def by_id(frame: "DataFrame") -> pa.Table:
    return frame.toArrow().sort_by("id")


@pytest.mark.parametrize("key", [None, "k"])
def test_the_answers_are_the_same(frame: "DataFrame", key: str | None) -> None:
    answers = by_id(over(frame, key=key))
    expected = wr.over(EVENTS, **{**ARGUMENTS, "key": key})
    assert answers.column_names == expected.column_names
    assert_agrees(expected.to_pydict(), answers)


def test_the_stated_columns_are_taken_and_no_others(frame: "DataFrame") -> None:
    schema = type(frame.schema)([frame.schema[name] for name in ("s", "id")])
    answers = by_id(over(frame, key=None, windows=wr.rows(2), aggs=wr.max("s"), schema=schema))
    assert answers.column_names == ["s", "id", "max_s"]


def test_a_filter_of_the_answers_does_not_reach_the_windows(frame: "DataFrame") -> None:
    everything = by_id(over(frame))
    filtered = by_id(over(frame).where("id >= 30"))
    assert filtered.equals(everything.slice(30))


def test_an_aggregate_of_the_answers_leaves_the_sort_below_them(frame: "DataFrame") -> None:
    shuffled = frame.orderBy((frame["id"] * 37) % SIZE)
    largest = over(shuffled, windows=wr.rows(3), aggs=wr.last("id")).where("last_id != id")
    assert largest.groupBy("k").count().collect() == []


def test_no_rows_at_all(frame: "DataFrame") -> None:
    assert over(frame.where("id < 0")).collect() == []


def test_a_column_that_is_not_what_was_said_is_named(frame: "DataFrame") -> None:
    changed = frame.withColumn("s", frame["id"])
    with pytest.raises(Exception, match="InvalidArgument: schema: 's' is bigint, not string"):
        over(changed, schema=frame.schema).collect()


def test_a_schema_is_a_struct_type(frame: "DataFrame") -> None:
    with pytest.raises(wr.InvalidArgument, match="schema: give the columns of data as a StructTy"):
        over(frame, schema="id long")


def test_only_spark_needs_to_be_told() -> None:
    with pytest.raises(wr.InvalidArgument, match="schema: is for Spark DataFrames"):
        wr.over(EVENTS, **ARGUMENTS, schema=EVENTS.schema)
