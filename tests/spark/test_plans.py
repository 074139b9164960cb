"""Spark's plans, and so the pages of its UI, say what windrow does."""

from typing import TYPE_CHECKING, Any

import pytest

import windrow as wr

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.compiled]


def explained(capsys: pytest.CaptureFixture[str], frame: Any) -> str:
    capsys.readouterr()
    frame.explain()
    return capsys.readouterr().out


@pytest.mark.parametrize("stated", [False, True], ids=["asked", "stated"])
def test_a_plan_names_the_work(
    spark: "SparkSession", capsys: pytest.CaptureFixture[str], stated: bool
) -> None:
    frame = spark.range(9).selectExpr("id", "id % 2 AS k", "current_timestamp() AS ts")
    schema = frame.schema if stated else None
    features = wr.over(
        frame,
        key="k",
        order="ts",
        windows=[wr.rows(3), wr.time("1 hour")],
        aggs=[wr.max("id"), wr.arg_max("id", "ts")],
        schema=schema,
    )
    said = "windrow over: max(id), arg_max(id, ts) in rows_3, time_1_hour"
    assert said in explained(capsys, features)
    answers = wr.slide(
        frame,
        key="k",
        order="ts",
        windows=wr.time("1 hour", every="1 minute"),
        aggs=wr.max("id"),
        schema=schema,
    )
    assert "windrow slide: max(id) in " in explained(capsys, answers)


def test_a_long_name_is_cut(spark: "SparkSession", capsys: pytest.CaptureFixture[str]) -> None:
    aggs = [wr.max("id").alias(f"answer {number}") for number in range(3)]
    windows = {f"a window with quite a name, number {number}": wr.rows(2) for number in range(5)}
    answer = wr.over(spark.range(3), order="id", windows=windows, aggs=aggs)
    assert "windrow over: max(id) in a window" in explained(capsys, answer)
    assert " ...(id#" in explained(capsys, answer)


@pytest.mark.parametrize("window", [wr.rows(2), wr.time("1 hour")], ids=str)
def test_without_a_key_spark_never_warns_of_one_partition(
    spark: "SparkSession", capsys: pytest.CaptureFixture[str], window: Any
) -> None:
    frame = spark.range(9).selectExpr("id", "timestamp_seconds(id) AS ts")
    answer = wr.over(frame, order="ts", windows=window, aggs=wr.max("id"))
    # Only Spark's own operator gives that warning, and only without a PARTITION BY.
    assert "Window [" not in explained(capsys, answer)
    native = frame.selectExpr("max(id) OVER (ORDER BY ts ROWS 1 PRECEDING)")
    assert "Window [" in explained(capsys, native)


@pytest.mark.parametrize("usual", [None, "the user's"])
def test_jobs_of_windrow_are_described(spark: "SparkSession", usual: str | None) -> None:
    from windrow.spark.bridge.progress import described

    def description() -> str | None:
        return spark.sparkContext.getLocalProperty("spark.job.description")

    spark.sparkContext.setLocalProperty("spark.job.description", usual)  # type: ignore[arg-type]
    with described(spark, "windrow over: keys are counted"):
        assert description() == "windrow over: keys are counted"
    assert description() == usual
    spark.sparkContext.setLocalProperty("spark.job.description", None)  # type: ignore[arg-type]


def test_nothing_of_the_session_is_changed(spark: "SparkSession") -> None:
    def settings() -> dict[str, str]:
        return {row.key: row.value for row in spark.sql("SET").collect()}

    before, views = settings(), spark.catalog.listTables()
    described = spark.sparkContext.getLocalProperty("spark.job.description")
    frame = spark.range(20).selectExpr("id", "id % 2 AS k", "timestamp_seconds(id) AS ts")
    wr.over(frame, key="k", order="id", windows=wr.rows(3), aggs=wr.collect("id")).collect()
    minutes = wr.time("1 minute", every="30 seconds")
    wr.slide(frame, order="ts", windows=minutes, aggs=wr.collect("id")).collect()
    assert settings() == before
    assert spark.catalog.listTables() == views
    assert spark.sparkContext.getLocalProperty("spark.job.description") == described
