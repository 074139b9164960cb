"""Columns are found by name as Spark's session finds them: by default in any case."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import windrow as wr
from tests.support.stream.files import answers_in, read_stream, run_to_end, write_batches

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("interpreted")]

SIZE = 20
EVENTS = pa.table(
    {
        "Id": range(SIZE),
        "ts": pa.array([row * 1_000_000 for row in range(SIZE)], pa.timestamp("us", "UTC")),
        "User": [row % 3 for row in range(SIZE)],
        "amount": [float(row * 7 % 5) for row in range(SIZE)],
        "isBig": [row % 4 == 0 for row in range(SIZE)],
    }
)
#: the same call in the frame's spelling and in another, beside each other
RIGHT: dict[str, Any] = {
    "key": "User",
    "order": ["ts", "Id"],
    "aggs": [
        wr.sum("amount").where('amount > 1 and not "isBig" or Id in (1, 2)').alias("total"),
        wr.time_since_last("isBig"),
    ],
}
OTHER: dict[str, Any] = {
    "key": "user",
    "order": ["TS", "ID"],
    "aggs": [
        wr.sum("AMOUNT").where('Amount > 1 and not "isbig" or ID in (1, 2)').alias("total"),
        wr.time_since_last("isBIG").alias("time_since_last_isBig"),
    ],
}
WINDOWS: dict[str, Any] = {
    "rows": wr.rows(3),
    "marks": wr.punctuated("ISBIG"),
    "sums": wr.policies.at_most_sum(6, "Amount"),
}
IN_PROCESS = {
    **WINDOWS,
    "marks": wr.punctuated("isBig"),
    "sums": wr.policies.at_most_sum(6, "amount"),
}
SLIDING = wr.time("4 seconds", every="2 seconds")


def test_columns_of_a_table_are_found_in_any_case(spark: "SparkSession") -> None:
    frame = spark.createDataFrame(EVENTS)
    answers = wr.over(frame, windows=WINDOWS, **OTHER).toArrow().sort_by("Id")
    expected = wr.over(EVENTS, windows=IN_PROCESS, **RIGHT)
    assert answers.column_names == expected.column_names
    assert answers.drop_columns("ts").to_pylist() == expected.drop_columns("ts").to_pylist()
    slid = wr.slide(frame, windows=SLIDING, **OTHER)
    assert slid.columns == wr.slide(EVENTS, windows=SLIDING, **RIGHT).column_names
    explained = wr.plan(frame, windows=WINDOWS, **OTHER).to_dict()
    assert explained["key"] == ["User"]


def test_columns_of_a_stream_are_found_in_any_case(
    streaming: "SparkSession", tmp_path: Path
) -> None:
    write_batches(tmp_path / "events", [EVENTS.slice(8)])
    stream = read_stream(streaming, tmp_path / "events")
    old = EVENTS.slice(0, 8).rename_columns([name.upper() for name in EVENTS.column_names])
    history = streaming.createDataFrame(old)
    called = {**OTHER, "windows": SLIDING, "lateness": "0 seconds", "history": history}
    run_to_end(wr.slide(stream, **called), tmp_path)
    answers = answers_in(streaming, tmp_path)
    expected = wr.slide(EVENTS, windows=SLIDING, **RIGHT)
    assert answers.column_names == expected.column_names
    # What history makes final is not answered again; the last windows are not final yet.
    found, known = totals(answers), totals(expected)
    assert found
    assert found == {each: known[each] for each in found}


def totals(answers: pa.Table) -> dict[tuple[int, float], float | None]:
    ends = [moment.timestamp() for moment in answers["window_end"].to_pylist()]
    keys = zip(answers["User"].to_pylist(), ends, strict=True)
    return dict(zip(keys, answers["total"].to_pylist(), strict=True))


def test_what_spark_takes_for_one_name_is_ambiguous(spark: "SparkSession") -> None:
    frame = spark.createDataFrame(EVENTS).toDF("id", "ts", "K", "k", "x")
    call: dict[str, Any] = {"key": "k", "order": "id", "windows": wr.rows(3), "aggs": wr.count()}
    with pytest.raises(
        wr.InvalidArgument, match=r"^key: 'k' is ambiguous: Spark takes 'K', 'k' for"
    ):
        wr.over(frame, **call)
    for aggs in (wr.max("K"), wr.max("x").where("K > 3")):
        with pytest.raises(wr.InvalidArgument, match=r"^aggs: 'K' is ambiguous"):
            wr.over(frame, **{**call, "key": None, "aggs": aggs})

    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        assert wr.over(frame, **call).columns == ["id", "ts", "K", "k", "x", "count"]
        with pytest.raises(wr.InvalidArgument, match=r"^order: there is no column 'ID'"):
            wr.over(frame, **{**call, "order": "ID"})
    finally:
        spark.conf.unset("spark.sql.caseSensitive")
