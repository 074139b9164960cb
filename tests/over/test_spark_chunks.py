"""One window over everything and heavy keys, on many tasks: the answers of `wr.over` in process.

Chunks are made so small here that some dozen rows fill one, and batches smaller still.
"""

import datetime as dt
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from tests.support.over.events import with_nulls
from tests.support.over.oracle import assert_agrees
from windrow.work import sizes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

SIZE = 1_500
CHUNKS = 6
#: the same everywhere, so that few kernels are compiled
AGGS = [wr.concat("s"), wr.sum("x"), wr.first("s"), wr.median("x"), wr.rank("x")]


@pytest.fixture(autouse=True)
def _small_chunks(spark: "SparkSession") -> Iterator[None]:
    settings = {
        "spark.sql.shuffle.partitions": str(CHUNKS),
        "spark.sql.execution.arrow.maxRecordsPerBatch": "50",
    }
    usual = {name: spark.conf.get(name) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    with sizes.using(smallest_chunk=20, key_sample=0.5, small_data=0):
        yield
    for name, value in usual.items():
        spark.conf.set(name, value)


def random_rows(seed: int) -> pa.Table:
    """Rows in no order; seven of ten in one key, many at the same time, some without one."""
    random = np.random.default_rng(seed)
    keys = np.where(random.random(SIZE) < 0.7, "heavy", random.integers(0, 30, SIZE).astype("U"))
    seconds = pa.array(random.integers(0, 300, SIZE) * 1_000_000, pa.timestamp("us", "UTC"))
    level = random.choice([*random.normal(size=40), np.nan, np.inf, -0.0, 0.0], SIZE)
    columns = {
        "id": pa.array(np.arange(SIZE)),
        "k": with_nulls(pa.array(keys), random, 0.02),
        "ts": with_nulls(seconds, random, 0.03),
        "level": with_nulls(pa.array(level), random, 0.03),
        "x": with_nulls(pa.array(random.integers(0, 50, SIZE)), random, 0.1),
        "s": pa.array([f"{row}," for row in range(SIZE)]),
    }
    return pa.table(columns).take(pa.array(random.permutation(SIZE)))


def tasks_of(answer: "DataFrame") -> int:
    """How many tasks answer."""
    from pyspark.sql import functions as F

    return answer.select(F.spark_partition_id()).distinct().count()


def assert_same(spark: "SparkSession", table: pa.Table, **arguments: Any) -> "DataFrame":
    on_spark: DataFrame = wr.over(spark.createDataFrame(table), **arguments)
    expected = wr.over(table, **arguments).sort_by("id")
    found = on_spark.toArrow().sort_by("id")
    assert found.column_names == expected.column_names
    assert_agrees(expected.to_pydict(), found)
    return on_spark


@pytest.mark.parametrize("key", [None, "k"])
def test_rows_and_time_at_once(spark: "SparkSession", key: str | None) -> None:
    windows = {
        "rows": wr.rows(30, min_rows=20),
        "time": wr.time("8 seconds", min_rows=3, of="values"),
        "peers": wr.time("8 seconds", closed="both", ties="peers"),
    }
    table = random_rows(1)
    answer = assert_same(spark, table, key=key, order=["ts", "id"], windows=windows, aggs=AGGS)
    assert tasks_of(answer) == CHUNKS


@pytest.mark.parametrize("key", [None, "k"])
def test_windows_that_end_elsewhere(spark: "SparkSession", key: str | None) -> None:
    windows = {
        "around": wr.rows(before=5, after=20),
        "before": wr.rows(5, current=False),
        "soon": wr.time(before="3 seconds", after="8 seconds", min_rows=30),
        "left": wr.time("8 seconds", closed="left", ties="peers"),
    }
    table = random_rows(11)
    answer = assert_same(spark, table, key=key, order=["ts", "id"], windows=windows, aggs=AGGS)
    assert tasks_of(answer) == CHUNKS


def test_an_order_with_nan_and_nulls(spark: "SparkSession") -> None:
    windows = [wr.rows(1), wr.rows(40), wr.rows(before=1, after=30)]
    table = random_rows(2)
    answer = assert_same(spark, table, order=["level", "id"], windows=windows, aggs=AGGS)
    assert tasks_of(answer) > 3


def test_a_window_wider_than_chunks(spark: "SparkSession") -> None:
    table = random_rows(3)
    windows = [wr.rows(SIZE // 4), wr.time("60 seconds", ties="peers")]
    answer = assert_same(spark, table, key="k", order=["ts", "id"], windows=windows, aggs=AGGS)
    assert 1 < tasks_of(answer) < CHUNKS


def test_a_window_wider_than_the_table(spark: "SparkSession") -> None:
    table = random_rows(4)
    windows = [wr.rows(10**9), wr.time("900 days")]
    assert_same(spark, table, order=["ts", "id"], windows=windows, aggs=AGGS)


def test_all_rows_at_one_moment(spark: "SparkSession") -> None:
    moment = pa.array([dt.datetime(2012, 2, 22)] * SIZE, pa.timestamp("us", "UTC"))
    table = random_rows(5).set_column(2, "ts", moment)
    windows = {"rows": wr.rows(7), "peers": wr.time("1 hour", ties="peers")}
    assert_same(spark, table, order=["ts", "id"], windows=windows, aggs=AGGS)


def test_order_is_by_moments_and_dates_in_any_time_zone(spark: "SparkSession") -> None:
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        table = random_rows(6)
        days = pa.compute.divide(table["ts"].cast(pa.int64()), 10_000_000).cast(pa.int32())
        table = table.append_column("day", days.cast(pa.date32()))
        local = table["ts"].cast(pa.timestamp("us"))
        table = table.append_column("local", local)
        for order in ("ts", "day", "local"):
            windows = wr.time("3 days" if order == "day" else "9 seconds")
            frame = spark.createDataFrame(table)
            answer = wr.over(frame, order=[order, "id"], windows=windows, aggs=wr.concat("s"))
            expected = wr.over(table, order=[order, "id"], windows=windows, aggs=wr.concat("s"))
            found = answer.select("id", "concat_s").toArrow().sort_by("id")
            assert found["concat_s"].to_pylist() == expected.sort_by("id")["concat_s"].to_pylist()
            assert tasks_of(answer) > 3
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


def test_columns_that_are_named_like_those_of_chunks(spark: "SparkSession") -> None:
    names = ["id", "windrow_place", "Windrow_", "t.s", "x", "s"]
    table = random_rows(7).rename_columns(names)
    answer = assert_same(spark, table, order=["t.s", "id"], windows=wr.rows(5), aggs=AGGS)
    assert answer.columns[: -len(AGGS)] == table.column_names


def test_even_keys_stay_whole(spark: "SparkSession", monkeypatch: pytest.MonkeyPatch) -> None:
    from windrow.spark.batch import over_dataframe as over

    monkeypatch.setattr(over, "chunked", lambda *_: pytest.fail("an even key was cut"))
    table = random_rows(8)
    table = table.set_column(1, "k", pa.compute.bit_wise_and(table["id"], 31))
    assert_same(spark, table, key="k", order="id", windows=wr.rows(30), aggs=AGGS)


def test_looking_for_heavy_keys_can_be_switched_off(
    spark: "SparkSession", monkeypatch: pytest.MonkeyPatch
) -> None:
    from windrow.spark.batch import over_dataframe as over

    monkeypatch.setattr(over, "chunked", lambda *_: pytest.fail("a key was cut"))
    spark.conf.set("spark.windrow.look", "false")
    try:
        table = random_rows(9)
        assert_same(spark, table, key="k", order="id", windows=wr.rows(30), aggs=AGGS)
    finally:
        spark.conf.unset("spark.windrow.look")


def test_what_cannot_be_cut_is_answered_by_one_task(spark: "SparkSession") -> None:
    table = random_rows(10)
    answer = assert_same(spark, table, order=["s", "id"], windows=wr.rows(30), aggs=AGGS)
    assert tasks_of(answer) == 1
    windows = {"so_far": wr.expanding(), "all": wr.whole()}
    assert_same(spark, table, key="k", order=["ts", "id"], windows=windows, aggs=AGGS)
