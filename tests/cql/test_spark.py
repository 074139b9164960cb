"""A query on Spark answers as in process, on tables and on streams."""

import datetime as dt

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import windrow as wr

pytestmark = pytest.mark.spark

ROWS = [
    {
        "ts": dt.datetime(2026, 5, 1) + dt.timedelta(minutes=7 * row),
        "x": None if row % 7 == 3 else float(row * 7 % 11),
        "n": row % 4,
        "k": row % 2,
    }
    for row in range(40)
]
TABLE = pa.Table.from_pylist(ROWS)


def in_order(rows):
    return sorted(list(map(str, row)) for row in rows)


def in_process(text):
    return in_order(row.values() for row in wr.cql(text, t=TABLE).run().to_pylist())


def test_tables_answer_as_in_process(spark):
    frame = spark.createDataFrame(TABLE.to_pandas().assign(x=lambda f: f.x.astype(object)),
                                  "ts timestamp_ntz, x double, n long, k long")  # fmt: skip
    for text in (
        "SELECT SUM(x * n) / COUNT(*) AS each, n FROM t [ROWS 5] WHERE n % 3 <> 1 OR x / n > 2 "
        "GROUP BY k HAVING each > 1",
        "SELECT ISTREAM(MAX(x) - MIN(x) AS d) FROM t [RANGE 1 HOUR SLIDE 10 MINUTES] GROUP BY k",
        "SELECT ISTREAM(COUNT(*) / 1 AS c) FROM t [RANGE 1 MINUTE SLIDE 1 MINUTE] GROUP BY k",
        "SELECT COUNT(*) FILTER (WHERE x > 3) AS c FROM t [ROWS 4 SLIDE 2], [ROWS 8 SLIDE 4]",
    ):
        found = wr.cql(text, t=frame).run()
        assert in_order(found.collect()) == in_process(text), text
    one, two = wr.cql("SELECT MAX(x) FROM t [ROWS 3]; SELECT MAX(x) FROM t [ROWS 9]", t=frame).run()
    assert one.count() == two.count() == 40


def test_a_stream_answers_as_in_process(streaming, tmp_path):
    text = (
        "SELECT SUM(x * n) AS s, COUNT(*) * 2 AS c FROM t [RANGE 1 HOUR SLIDE 10 MINUTES] "
        "WHERE n > 0 GROUP BY k"
    )
    (tmp_path / "in").mkdir()
    pq.write_table(TABLE, tmp_path / "in" / "part.parquet")
    stream = (
        streaming.readStream.schema("ts timestamp_ntz, x double, n long, k long")
        .parquet(str(tmp_path / "in"))
        .selectExpr("cast(ts as timestamp) as ts", "x", "n", "k")
        .withWatermark("ts", "0 seconds")
    )
    answers = wr.cql(text, t=stream).run()
    running = (
        answers.writeStream.format("memory").queryName("cql_answers")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True).start()
    )  # fmt: skip
    running.awaitTermination(120)
    found = in_order(streaming.table("cql_answers").collect())
    expected = in_process(text)
    assert 5 < len(found) <= len(expected)
    assert all(row in expected for row in found)
