"""`wr.as_of` on Spark tables gives what it gives in process; that is checked against an oracle.

Chunks are made so small here that some dozen rows fill one, and batches smaller still.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import windrow as wr
from tests.support.as_of import oracle as moments
from tests.support.as_of.tables import events, queries
from tests.support.over.oracle import assert_agrees
from windrow.work import sizes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

CHUNKS = 6
#: the same everywhere, so that few kernels are compiled
AGGS = [wr.sum("n"), wr.last("s"), wr.count("x"), wr.median("x")]
WINDOWS = {
    "time": wr.time("8 seconds", min_rows=3, of="values"),
    "left": wr.time("40 seconds", closed="left"),
    "rows": wr.rows(9),
    "around": wr.time(before="5 seconds", after="10 seconds"),
}
ORDER = ["ts", "place"]


@pytest.fixture(autouse=True)
def _small_chunks(spark: "SparkSession") -> Iterator[None]:
    settings = {
        "spark.sql.shuffle.partitions": str(CHUNKS),
        "spark.sql.execution.arrow.maxRecordsPerBatch": "50",
    }
    usual = {name: spark.conf.get(name) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    with sizes.using(smallest_chunk=20, key_sample=0.5, small_data=0, smallest_block=100):
        yield
    for name, value in usual.items():
        spark.conf.set(name, value)


def answers(
    spark: "SparkSession", asked: pa.Table, told: pa.Table | dict[str, pa.Table], **arguments: Any
) -> "DataFrame":
    """The answers on Spark, after they were compared with those in process."""
    on_spark: dict[str, Any] | Any
    if isinstance(told, dict):
        on_spark = {name: spark.createDataFrame(each) for name, each in told.items()}
    else:
        on_spark = spark.createDataFrame(told)
    found: DataFrame = wr.as_of(spark.createDataFrame(asked), on_spark, **arguments)
    if arguments["key"] == "ZONE":  # found in any case on Spark alone
        arguments["key"] = "zone"
    expected = wr.as_of(asked, told, **arguments).sort_by("id")
    table = found.toArrow().sort_by("id")
    assert table.column_names == expected.column_names
    assert_agrees(expected.to_pydict(), table)
    return found


def tasks_of(answer: "DataFrame") -> int:
    from pyspark.sql import functions as F

    return answer.select(F.spark_partition_id()).distinct().count()


@pytest.mark.parametrize("key", [None, "user"])
def test_a_heavy_key_and_no_key_are_cut_into_chunks(spark: "SparkSession", key: str | None) -> None:
    asked, told = queries(1, 150), events(2, 900)
    found = answers(spark, asked, told, key=key, order=ORDER, windows=WINDOWS, aggs=AGGS)
    assert tasks_of(found) == CHUNKS
    brute = moments.as_of(
        asked, told, key=[key] if key else [], order=ORDER, windows=WINDOWS, aggs=AGGS
    )
    assert_agrees(brute, found.toArrow().sort_by("id"))


@pytest.mark.parametrize("small_data", [0, 2**27])
def test_several_sources_with_keys_of_their_own(
    spark: "SparkSession", small_data: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys and moments of other types, windows without an end, and names that Spark misreads.

    Keys of small data are taken to be even, and are answered in bins.
    """
    from windrow.spark.batch import as_of_bins

    monkeypatch.setattr(as_of_bins, "_TASK_BYTES", 2**10)
    monkeypatch.setattr(as_of_bins, "_BIN_BYTES", 2**11)
    told = {
        "clicks": events(3, 400).set_column(1, "zone", events(3, 400)["zone"].cast(pa.int16())),
        "paid.late": events(4, 300).set_column(
            2, "ts", events(4, 300)["ts"].cast(pa.timestamp("us", "Asia/Tokyo"))
        ),
    }
    with sizes.using(small_data=small_data):
        found = answers(
            spark,
            queries(5, 200),
            told,
            key={"clicks": ["user", "zone"], "paid.late": "user"},
            order=ORDER,
            windows={"all": wr.expanding(), "ever": wr.whole(), "month": wr.calendar("1 month")},
            aggs=AGGS,
        )
    plan = found._jdf.queryExecution().toString()
    assert ("events into bins" in plan) == bool(small_data)


def test_an_order_that_is_no_time(spark: "SparkSession") -> None:
    with sizes.using(small_data=2**27):
        answers(spark, queries(6, 50), events(7, 0), key="user", order="ts", windows=WINDOWS,
                aggs=AGGS)  # fmt: skip
    answers(
        spark, queries(6, 100), events(7, 200), key="ZONE", order="user",
        windows=[wr.rows(5, current=False), wr.rows(before=2, after=3)], aggs=[wr.sum("n")],
    )  # fmt: skip
    none = events(7, 0)
    answers(spark, queries(6, 10), none, key="zone", order="ts", windows=WINDOWS, aggs=AGGS)


def test_what_is_refused(spark: "SparkSession") -> None:
    asked, told = spark.createDataFrame(queries(1, 5)), spark.createDataFrame(events(1, 5))
    stream = spark.readStream.format("rate").load().withColumnsRenamed({"timestamp": "ts"})
    question: dict[str, Any] = {"order": "ts", "windows": WINDOWS, "aggs": [wr.count()]}
    for one, other, more, message in (
        (asked, queries(1, 5), {}, "events: give a Spark DataFrame, not Table"),
        (asked, told, {"lateness": "1 second"}, "lateness: is for streams"),
        (asked, stream, {}, "queries: events are a stream and these are a table"),
        (stream, told, {}, "events: queries are a stream and these are a table"),
        (asked, told, {"schema": asked.schema}, "schema: state the columns of all DataFrames"),
    ):
        with pytest.raises(wr.InvalidArgument, match=message):
            wr.as_of(one, other, **question, **more)
