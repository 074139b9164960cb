"""Text with a collation is refused where it would be compared, and handed on elsewhere."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import windrow as wr
from tests.support.stream.files import read_stream, run_to_end, write_batches

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("interpreted")]

SIZE = 20
EVENTS = pa.table(
    {
        "id": range(SIZE),
        "ts": pa.array([row * 1_000_000 for row in range(SIZE)], pa.timestamp("us", "UTC")),
        "k": [row % 3 for row in range(SIZE)],
        "s": ["aAbB"[row % 4] for row in range(SIZE)],
    }
)


def collated(frame: "DataFrame") -> "DataFrame":
    """Columns of text that has a collation, at several depths."""
    named = frame.withColumn("text", frame["s"]).selectExpr("*", "s COLLATE UTF8_LCASE AS t")
    return named.selectExpr(
        "*", "named_struct('a', t) AS struct", "array(t) AS list", "t COLLATE UNICODE_CI AS icu"
    )


REFUSED: dict[str, dict[str, Any]] = {
    "key: 't' is string collate UTF8_LCASE;": {"key": "t"},
    "key: 'icu' is string collate UNICODE_CI;": {"key": ["k", "icu"]},
    "key: 'struct' is struct<a:string collate UTF8_LCASE>;": {"key": "struct"},
    "key: 'list' is array<string collate UTF8_LCASE>;": {"key": "list"},
    "order: 't' is": {"order": ["ts", "t"]},
    "aggs: 't' is": {"aggs": [wr.count(), wr.max("t")]},
    "aggs: 'icu' is": {"aggs": wr.count("icu").over_distinct()},
    "aggs: 'list' is": {"aggs": wr.collect("list")},
    "aggs: 'struct' is": {"aggs": wr.last("struct")},
}
CONDITION = {"aggs": wr.count().where("t = 'a'")}


@pytest.mark.parametrize("kind", ["table", "stream"])
def test_it_is_refused_where_it_is_read(
    streaming: "SparkSession", tmp_path: Path, kind: str
) -> None:
    write_batches(tmp_path / "events", [EVENTS])
    events = read_stream(streaming, tmp_path / "events")
    told: dict[str, Any] = {"lateness": "1 second"}
    if kind == "table":
        events, told = streaming.createDataFrame(EVENTS), {}
    frame = collated(events)
    usual = {"key": "k", "order": "ts", "aggs": wr.count(), **told}
    for said, arguments in [*REFUSED.items(), ("aggs: 't' is", CONDITION)]:
        slid = wr.time("4 seconds", every="2 seconds")
        for call, windows in ((wr.over, wr.rows(99)), (wr.slide, slid)):
            with pytest.raises(wr.InvalidArgument) as error:
                call(frame, windows=windows, **{**usual, **arguments})
            assert str(error.value).startswith(said)
            assert "'UTF8_BINARY')" in str(error.value)


@pytest.mark.parametrize("kind", ["table", "stream"])
def test_it_is_handed_on_where_it_is_not(
    streaming: "SparkSession", tmp_path: Path, kind: str
) -> None:
    arguments: dict[str, Any] = {
        "key": "k", "order": "ts", "windows": wr.rows(99), "aggs": wr.max("text"),
    }  # fmt: skip
    write_batches(tmp_path / "events", [EVENTS, EVENTS.slice(SIZE)])
    stream = collated(read_stream(streaming, tmp_path / "events"))
    answers = wr.over(stream, lateness="0 seconds", **arguments)
    if kind == "table":
        answers = wr.over(collated(streaming.createDataFrame(EVENTS)), **arguments)
    else:
        assert answers.schema["t"].dataType == stream.schema["t"].dataType
        run_to_end(answers, tmp_path / "answers")
        answers = streaming.read.schema(answers.schema).parquet(str(tmp_path / "answers"))
    rows = answers.where("t = 'A'").orderBy("id").collect()
    final = range(SIZE) if kind == "table" else range(SIZE - 1)
    assert [row.id for row in rows] == [row for row in final if row % 4 < 2]
    assert all(row.struct.a == row.list[0] == row.t == row.text for row in rows)
    by_bytes = wr.over(EVENTS.rename_columns(["id", "ts", "k", "text"]), **arguments)
    largest = by_bytes["max_text"].to_pylist()
    assert [row.max_text for row in rows] == [largest[row.id] for row in rows]


def test_a_column_made_plain_is_taken(spark: "SparkSession") -> None:
    from pyspark.sql import functions as F

    frame = collated(spark.createDataFrame(EVENTS))
    plain = frame.withColumn("lower", F.collate(F.lower("t"), "UTF8_BINARY"))
    answers = wr.over(plain, key="lower", order="ts", windows=wr.rows(99), aggs=wr.collect("id"))
    (last,) = answers.where(f"id = {SIZE - 1}").collect()
    assert last.collect_id == [row for row in range(SIZE) if row % 4 > 1]
