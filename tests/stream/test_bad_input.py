"""What streams do not take is refused when the call is made, and what would be right is said."""

import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import windrow as wr
from tests.support.spark.state_store import CHANGELOG, PROVIDER
from windrow.cli.main import main

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

WINDOW = wr.time("1 minute", every="10 seconds")


def rate(spark: "SparkSession") -> "DataFrame":
    return spark.readStream.format("rate").load()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"lateness": None}, "lateness: say how late events may come"),
        ({"lateness": "1 microsecond"}, "lateness: give a number of milliseconds"),
        ({"shards": 0}, "shards: give an integer of at least 1"),
        ({"key": None, "shards": 2}, "shards: without a key there is one window"),
        ({"order": "value", "windows": wr.rows(9, every=1)}, "order: .* by a timestamp or a date"),
        ({"history": pa.table({"value": [1]})}, "history: give a Spark DataFrame, as data is"),
    ],
    ids=str,
)
def test_refused(streaming: "SparkSession", changed: dict[str, Any], message: str) -> None:
    asked: dict[str, Any] = {
        "key": "value", "order": "timestamp", "windows": WINDOW, "aggs": wr.max("value"),
        "lateness": "10 seconds", **changed,
    }  # fmt: skip
    with pytest.raises(wr.InvalidArgument, match=message):
        wr.slide(rate(streaming), **asked)


def test_histories_that_are_none(streaming: "SparkSession") -> None:
    stream, table = rate(streaming), streaming.range(1)
    for history, message in (
        (stream, "history: give a table; this DataFrame is a stream, too"),
        (table, "history: there is no column 'value', which data has"),
        (table.selectExpr("'a' AS value", "now() AS timestamp"), "history: 'value' is string, and"),
    ):
        with pytest.raises(wr.InvalidArgument, match=message):
            wr.slide(stream, key="value", order="timestamp", windows=WINDOW,
                     aggs=wr.max("value"), lateness="1 second", history=history)  # fmt: skip
    with pytest.raises(wr.InvalidArgument, match="history: is for streams: streaming DataFrames"):
        wr.slide(table, order="id", windows=wr.rows(2, every=1), aggs=wr.count(), history=table)


def test_columns_that_share_a_name(streaming: "SparkSession") -> None:
    twice = rate(streaming).selectExpr("timestamp", "value", "1 AS other", "2 AS other")
    asked: dict[str, Any] = {"order": "timestamp", "windows": wr.time("1 minute")}
    with pytest.raises(wr.InvalidArgument, match="data: 2 columns are called 'other'; rename them"):
        wr.over(twice, aggs=wr.max("value"), lateness="1 second", **asked)
    past = streaming.sql("SELECT now() AS timestamp, 1L AS value, 2L AS value")
    with pytest.raises(wr.InvalidArgument, match="history: several columns are called 'value'"):
        wr.over(rate(streaming), aggs=wr.max("value"), lateness="1 second", history=past, **asked)


def test_partitions_that_are_no_number() -> None:
    """As on platforms where Spark's number of partitions may be left to them."""
    from windrow.spark.streaming.stream_setup import shards_of

    session = SimpleNamespace(conf=SimpleNamespace(get=lambda _name: "auto"))
    with pytest.raises(wr.InvalidArgument, match=r"shards: spark.* is 'auto', .* as in shards=64"):
        shards_of(session, ("user",), None)
    assert shards_of(session, ("user",), 64)[0] == 64
    assert shards_of(session, (), None)[0] == 1


def test_watermarks_that_contradict(streaming: "SparkSession") -> None:
    marked = rate(streaming).withWatermark("timestamp", "1 minute")
    asked: dict[str, Any] = {"windows": WINDOW, "aggs": wr.max("value")}
    with pytest.raises(wr.InvalidArgument, match="lateness: data has a watermark"):
        wr.slide(marked, order="timestamp", lateness="1 minute", **asked)
    moved = marked.withColumn("at", marked["timestamp"].cast("timestamp_ntz"))
    with pytest.raises(wr.InvalidArgument, match="order: the watermark of data is on 'timestamp'"):
        wr.slide(moved, order="at", **asked)


def test_a_second_watermark_that_would_never_move(streaming: "SparkSession") -> None:
    """Behind operations with state, Spark's and windrow's, whatever stands between."""
    from pyspark.sql import functions as F

    marked = rate(streaming).withWatermark("timestamp", "1 minute")
    counted = marked.groupBy(F.window("timestamp", "1 minute")).count()
    asked: dict[str, Any] = {"windows": wr.time("5 minutes", every="1 minute")}
    asked["aggs"] = wr.max("count")
    ends = counted.select("count", F.col("window.end").alias("at"))
    slid = wr.slide(
        rate(streaming), order="timestamp", windows=wr.rows(5, every="1 minute"),
        aggs=wr.count(alias="count"), lateness="1 second",
    )  # fmt: skip
    for data, order in (
        (ends, "at"),
        (ends.where("count > 1").unionByName(ends), "at"),
        (counted.selectExpr("*", "window.end AS at"), "at"),
        # Answers to a clock come later than their windows end.
        (slid, "window_end"),
    ):
        for lateness in ("1 second", None):
            with pytest.raises(
                wr.InvalidArgument, match=f"order: .* is not on '{order}', .* order"
            ):
                wr.slide(data, order=order, lateness=lateness, **asked)
    again = counted.select("count", F.window_time("window").alias("at"))
    with pytest.raises(wr.InvalidArgument, match=r"data: it has withWatermark.* leave the second"):
        wr.slide(again.withWatermark("at", "1 minute"), order="at", **asked)
    with pytest.raises(wr.InvalidArgument, match="lateness: data has a watermark on 'at' already"):
        wr.slide(again, order="at", lateness="1 minute", **asked)


def test_a_watermark_that_was(streaming: "SparkSession", tmp_path: Path) -> None:
    """Files note the watermark of the stream that was written to them; what reads them has none."""
    table = streaming.sql("SELECT now() AS timestamp, 1L AS value").withMetadata(
        "timestamp", {"spark.watermarkDelayMs": 1000}
    )
    stream = streaming.readStream.schema(table.schema).parquet(str(tmp_path))
    asked: dict[str, Any] = {"order": "timestamp", "windows": WINDOW, "aggs": wr.max("value")}
    with pytest.raises(wr.InvalidArgument, match="lateness: say how late events may come"):
        wr.slide(stream, **asked)
    assert wr.slide(stream, lateness="1 second", **asked).isStreaming


def test_the_state_store_is_named(streaming: "SparkSession") -> None:
    streaming.conf.set(PROVIDER, "org.example.Other")
    with pytest.raises(wr.InvalidArgument, match=f"data: .* set {PROVIDER} to org.apache"):
        wr.slide(
            rate(streaming), order="timestamp", windows=WINDOW, aggs=wr.max("value"),
            lateness="1 second",
        )  # fmt: skip


def test_a_setting_that_makes_streams_slow_is_named(streaming: "SparkSession") -> None:
    asked: dict[str, Any] = {
        "order": "timestamp", "windows": WINDOW, "aggs": wr.max("value"), "lateness": "1 second"
    }  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("error", wr.SettingWarning)
        wr.slide(rate(streaming), **asked)
    streaming.conf.set(CHANGELOG, "false")
    with pytest.warns(wr.SettingWarning, match=f"{CHANGELOG} is off, so each batch") as caught:
        wr.slide(rate(streaming), **asked)
    assert [each.filename for each in caught] == [__file__]


def test_a_table_is_final(spark: "SparkSession") -> None:
    with pytest.raises(wr.InvalidArgument, match="lateness: is for streams: streaming DataFrames"):
        wr.slide(
            spark.range(2), order="id", windows=wr.rows(2, every=1), aggs=wr.max("id"),
            lateness="1 second",
        )  # fmt: skip


def test_a_checkpoint_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["state", "nowhere"]) == 1
    assert "checkpoint: there is no folder nowhere" in capsys.readouterr().err
