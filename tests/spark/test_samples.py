"""Samples before the job: of rows that lie in files or memory, and of none that take work."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import windrow as wr
from windrow.work import sizes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

GROUP = "the jobs of a call"


@pytest.fixture(autouse=True)
def _much_data(interpreted: None) -> Iterator[None]:
    """No data is small."""
    with sizes.using(small_data=0):
        yield


@pytest.fixture(scope="module")
def written(spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory) -> "DataFrame":
    """A table of files."""
    folder = str(tmp_path_factory.mktemp("samples") / "events")
    rows = spark.range(1_000)
    columns = ["id", "id % 5 AS k", "timestamp_seconds(id) AS ts"]
    rows.selectExpr(*columns).write.parquet(folder)
    return spark.read.parquet(folder)


def jobs_of(spark: "SparkSession", call: Callable[[], object]) -> int:
    """How many jobs run while a call is made."""
    context = spark.sparkContext
    before = len(context.statusTracker().getJobIdsForGroup(GROUP))
    context.setJobGroup(GROUP, "")
    try:
        call()
    finally:
        for name in ("spark.jobGroup.id", "spark.job.description"):
            context.setLocalProperty(name, None)  # type: ignore[arg-type]
    context._jsc.sc().listenerBus().waitUntilEmpty()
    return len(context.statusTracker().getJobIdsForGroup(GROUP)) - before


def calls(frame: "DataFrame") -> Iterator[Callable[[], object]]:
    """The calls that sample keys, heavy keys, and slices."""
    yield lambda: wr.over(frame, key="k", order="ts", windows=wr.rows(100), aggs=wr.max("id"))
    yield lambda: wr.over(frame, key="k", order="ts", windows=wr.rows(9), aggs=wr.collect("id"))
    windows = wr.time("1 minute", every="10 seconds")
    yield lambda: wr.slide(frame, key="k", order="ts", windows=windows, aggs=wr.max("id"))


NEAR: dict[str, Callable[["DataFrame"], "DataFrame"]] = {
    "files": lambda frame: frame,
    "a filter": lambda frame: frame.where("id > 7").withColumnRenamed("id", "id"),
    "a union": lambda frame: frame.union(frame),
}


@pytest.mark.parametrize("near", NEAR)
def test_a_scan_is_sampled(spark: "SparkSession", written: "DataFrame", near: str) -> None:
    # The first call samples keys of few rows and heavy ones. The second samples heavy ones, which
    # takes three stages and so three jobs. The third takes first rows from one partition and, as
    # they are too few, from the others.
    assert [jobs_of(spark, call) for call in calls(NEAR[near](written))] == [4, 3, 2]


def with_python(frame: "DataFrame") -> "DataFrame":
    from pyspark.sql import functions as F

    return frame.withColumn("k", F.udf(lambda k: k, "bigint")("k"))


FAR: dict[str, Callable[["DataFrame"], "DataFrame"]] = {
    "a shuffle": lambda frame: frame.repartition(3),
    "a sort": lambda frame: frame.orderBy("id"),
    "a join": lambda frame: frame.join(frame.select("id"), "id"),
    "an aggregate": lambda frame: frame.groupBy("k", "ts").agg({"id": "max"}).toDF("k", "ts", "id"),
    "distinct rows": lambda frame: frame.distinct(),
    "a Python function": with_python,
    "rows of Python": lambda frame: frame.sparkSession.createDataFrame(frame.rdd, frame.schema),
    "a subquery": lambda frame: frame.where("id > (SELECT max(id) / 2 FROM range(9))"),
    "an empty cache": lambda frame: frame.where("id > 3").cache(),
}


@pytest.mark.parametrize("far", FAR)
def test_nothing_runs_behind(spark: "SparkSession", written: "DataFrame", far: str) -> None:
    frame = FAR[far](written)
    try:
        assert [jobs_of(spark, call) for call in calls(frame)] == [0, 0, 0]
    finally:
        frame.unpersist()


def test_a_full_cache_is_sampled(spark: "SparkSession", written: "DataFrame") -> None:
    cached = written.repartition(2).cache()
    cached.count()
    try:
        assert all(jobs_of(spark, call) for call in calls(cached))
    finally:
        cached.unpersist()


def test_the_first_rows_are_taken_from_few_files(spark: "SparkSession", tmp_path: Path) -> None:
    rows = spark.range(100_000, numPartitions=4)
    rows.selectExpr("id", "id % 5 AS k", "timestamp_seconds(id) AS ts").write.parquet(
        str(tmp_path / "events")
    )
    frame = spark.read.parquet(str(tmp_path / "events"))
    *_, slide = calls(frame)
    tracker = spark.sparkContext.statusTracker()
    seen = set(tracker.getJobIdsForGroup(GROUP))
    assert jobs_of(spark, slide) == 1
    (job,) = set(tracker.getJobIdsForGroup(GROUP)) - seen
    info = tracker.getJobInfo(job)
    assert info is not None
    stages = [tracker.getStageInfo(stage) for stage in info.stageIds]
    assert [stage.numTasks for stage in stages if stage is not None] == [1]
