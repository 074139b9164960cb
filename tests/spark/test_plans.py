"""Spark's plans, and so the pages of its UI, say what windrow does; `wr.plan` says the same."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import windrow as wr
from tests.support.stream.events import events
from tests.support.stream.files import read_stream, run_to_end, write_batches
from windrow.spark.streaming.checkpoint import shards_in
from windrow.stream.inspection import summary
from windrow.stream.state import CELLS_SCHEMA, MAPS_SCHEMA, ROWS_SCHEMA, kind_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


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


MINUTES = wr.time("1 minute", every="30 seconds")
#: calls on a table with the columns id, k and ts; where `wr.plan` says that they run; what Spark's
#: plan has if they do, and what it does not have
PLACED: dict[str, tuple[dict[str, Any], str, tuple[str, ...], tuple[str, ...]]] = {
    "Spark's own windows": (
        {"key": "k", "windows": wr.rows(3), "aggs": wr.max("id")},
        "spark", ("Window [max(",), ("windrow over",),
    ),
    "keys": (
        {"key": "k", "windows": wr.session("1 hour"), "aggs": wr.max("id"), "call": "over"},
        "keys", ("hashpartitioning(k", "windrow over"), ("where to cut",),
    ),
    "chunks": (
        {"windows": wr.rows(30), "aggs": wr.max("id")},
        "chunks", ("windrow over: where to cut",), ("hashpartitioning(",),
    ),
    "Spark's slices": (
        {"windows": MINUTES, "aggs": wr.max("id")},
        "slices", ("HashAggregate", "windrow slide"), ("partials of slices",),
    ),
    "slices of kernels": (
        {"windows": MINUTES, "aggs": wr.stddev("id")},
        "slices", ("windrow slide: partials of slices",), ("HashAggregate",),
    ),
    "rows by key": (
        {"key": "k", "windows": wr.rows(4, every=2), "aggs": wr.max("id")},
        "keys", ("hashpartitioning(k", "windrow slide"), ("partials of slices", "HashAggregate"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("placed", PLACED)
def test_wr_plan_says_what_spark_does(
    spark: "SparkSession", capsys: pytest.CaptureFixture[str], placed: str
) -> None:
    arguments, where, present, absent = PLACED[placed]
    frame = spark.range(9).selectExpr("id", "id % 2 AS k", "timestamp_seconds(id) AS ts")
    plan = wr.plan(frame, order="ts", **arguments)
    assert plan.placement is not None
    assert plan.placement.where == where
    assert plan.steps == plan.placement.work
    call = wr.slide if plan.call == "slide" else wr.over
    asked = {name: each for name, each in arguments.items() if name != "call"}
    text = explained(capsys, call(frame, order="ts", **asked))
    assert all(each in text for each in present), text
    assert not any(each in text for each in absent), text


def test_wr_plan_knows_what_may_not_be_asked_or_sampled(spark: "SparkSession") -> None:
    frame = spark.range(9).selectExpr("id", "id % 2 AS k", "timestamp_seconds(id) AS ts")
    asked: dict[str, Any] = {"order": "ts", "windows": wr.time("1 hour"), "aggs": wr.max("id")}
    stated = wr.plan(frame, schema=frame.schema, **asked).placement
    assert stated is not None
    assert stated.why.startswith(
        "all rows are answered by one task: with schema=, nothing is asked"
    )
    shuffled = wr.plan(frame.repartition(2), key="k", **asked).placement
    assert shuffled is not None
    assert shuffled.why.startswith("every key is answered by one task: its rows are not sampled")
    scanned = wr.plan(frame, key="k", **asked).placement
    assert scanned is not None
    assert scanned.where == "chunks"


#: a call on a stream for each way to keep state, and the kinds of blocks that only this way has
WAYS: dict[str, tuple[Any, Any, set[int]]] = {
    "slices": (wr.time("1 minute", every="30 seconds"), wr.max("x"), {CELLS_SCHEMA}),
    "counted rows": (wr.rows(64), wr.max("x"), {ROWS_SCHEMA, MAPS_SCHEMA}),
    "rows": (wr.rows(64), wr.collect("x"), {ROWS_SCHEMA}),
}


@pytest.mark.parametrize("way", WAYS)
def test_wr_plan_says_what_a_stream_keeps(
    streaming: "SparkSession", tmp_path: Path, way: str
) -> None:
    window, agg, kinds = WAYS[way]
    write_batches(tmp_path / "events", [events(seed, 0, 300, 20) for seed in range(2)])
    stream = read_stream(streaming, tmp_path / "events")
    asked = {"key": "user", "order": "ts", "windows": window, "aggs": agg, "lateness": "9 seconds"}
    plan = wr.plan(stream, **asked)
    assert plan.stream is not None
    (group,) = plan.stream.groups
    assert group.way.partition(":")[0] == way
    call = wr.slide if plan.call == "slide" else wr.over
    run_to_end(call(stream, **asked), tmp_path / "answers")
    shards = shards_in(streaming, f"{tmp_path / 'answers'}-checkpoint", 0)
    assert len(shards) == plan.stream.shards
    for blocks in shards.values():
        assert summary(blocks).query == list(plan.stream.checkpoint)
        schemas = {CELLS_SCHEMA, ROWS_SCHEMA, MAPS_SCHEMA}
        assert {kind_of(number) for number in blocks} & schemas == kinds


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"key": "name"}, "key: 'name' is string collate UTF8_LCASE"),
        ({"key": "nobody"}, "key: there is no column 'nobody'"),
        ({"order": None, "windows": wr.rows(3)}, "order: "),
        ({"aggs": wr.max("id").alias("ID"), "windows": wr.rows(3)}, "aggs: Spark takes the result"),
        ({"lateness": "1 second"}, "lateness: is for streams: streaming DataFrames"),
        (
            {"windows": wr.time("1500 nanoseconds", every="500 nanoseconds")},
            "windows: they begin or end between",
        ),
    ],
)
def test_wr_plan_refuses_what_the_calls_refuse(
    spark: "SparkSession", arguments: dict[str, Any], message: str
) -> None:
    frame = spark.range(9).selectExpr(
        "id", "timestamp_seconds(id) AS ts", "CAST(id AS STRING) COLLATE UTF8_LCASE AS name"
    )
    asked = {"order": "ts", "windows": MINUTES, "aggs": wr.max("id"), **arguments}
    slides = getattr(asked["windows"], "every", None)
    for call in (wr.plan, wr.slide if slides else wr.over):
        with pytest.raises(wr.InvalidArgument) as raised:
            call(frame, **asked)
        assert str(raised.value).startswith(message)


@pytest.mark.parametrize("usual", [None, "the user's"])
def test_jobs_of_windrow_are_described(spark: "SparkSession", usual: str | None) -> None:
    from windrow.spark.bridge.progress import job_description

    def description() -> str | None:
        return spark.sparkContext.getLocalProperty("spark.job.description")

    spark.sparkContext.setLocalProperty("spark.job.description", usual)  # type: ignore[arg-type]
    with job_description(spark, "windrow over: keys are counted"):
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
