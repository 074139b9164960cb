"""`emit="updates"` and `late="side"` on Spark, in its update mode and in an append sink."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import windrow as wr
from tests.support.slide import oracle
from tests.support.stream.events import events
from tests.support.stream.files import answers_in, counted, read_stream, run_to_end, write_batches
from tests.support.stream.revisions import Revisions, newest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

KEY = ["user", "zone"]
ASKED: dict[str, Any] = {
    "key": KEY,
    "order": "ts",
    "windows": {
        "fast": wr.time("10 seconds", every="2 seconds"),
        "slow": wr.time("1 minute", every="15 seconds", offset="5 seconds", min_rows=5),
    },
    "aggs": [wr.max("x"), wr.sum("n"), wr.count("x"), wr.arg_max("x", "place")],
}
#: the watermark is 10 seconds behind the newest event of the batches before, the horizon 50
LATENESS = {"lateness": "10 seconds", "allowed_lateness": "40 seconds"}
IN_TIME = [events(0, 100, 140, 300), events(1, 105, 170, 300), events(2, 125, 200, 50)]
TOO_LATE = events(3, 100, 140, 7)


def run_updates(
    answers: "DataFrame", checkpoint: Path
) -> tuple[list[pa.Table], list[pa.Table], Any]:
    """The answers and the late events of each batch, in Spark's update mode."""
    found: list[pa.Table] = []
    late: list[pa.Table] = []

    def take(batch: "DataFrame", _number: int) -> None:
        batch.persist()
        found.append(wr.on_time(batch).toArrow())
        late.append(wr.late(batch).toArrow())
        batch.unpersist()

    query = (
        answers.writeStream.foreachBatch(take)
        .option("checkpointLocation", str(checkpoint))
        .outputMode("update")
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return found, late, query


def test_revisions(streaming: "SparkSession", tmp_path: Path) -> None:
    """Also across a restart; late events come beside the answers, with all their columns."""
    folder, checkpoint = tmp_path / "events", tmp_path / "checkpoint"
    write_batches(folder, IN_TIME[:2])
    stream = read_stream(streaming, folder)
    asked = wr.slide(stream, **ASKED, **LATENESS, emit="updates", late="side")
    first, _late, _query = run_updates(asked, checkpoint)
    write_batches(folder, [IN_TIME[2], TOO_LATE, events(4, 1000, 1001, 1)], first=2)
    second, too_late, query = run_updates(asked, checkpoint)
    assert counted(query)["late"] == TOO_LATE.num_rows
    late = pa.concat_tables(too_late)
    by = [(name, "ascending") for name in TOO_LATE.column_names]
    assert late.sort_by(by).to_pylist() == TOO_LATE.sort_by(by).to_pylist()
    answers = newest([*first, *second], KEY)
    is_last = pc.greater(answers["window_start"], pa.scalar(900 * 10**6, pa.timestamp("us", "UTC")))
    answers = answers.filter(pc.invert(is_last))
    assert set(answers["final"].to_pylist()) == {True}
    expected = wr.slide(pa.concat_tables(IN_TIME), **ASKED)
    assert max(answers["revision"].to_pylist()) > 1
    found = answers.drop_columns(["revision", "final"]).sort_by([("window_start", "ascending")])
    oracle.assert_agrees(oracle.rows_of(expected), found, KEY)


def test_an_append_sink_has_each_revision_once(streaming: "SparkSession", tmp_path: Path) -> None:
    """Of `over`, with windows that keep rows."""
    ids = iter(range(1000))
    batches = [
        batch.append_column("id", [[next(ids) for _ in range(batch.num_rows)]])
        for batch in (*IN_TIME, events(4, 1000, 1001, 1))
    ]
    write_batches(tmp_path / "events", batches)
    stream = read_stream(streaming, tmp_path / "events")
    asked: dict[str, Any] = {
        "key": KEY, "order": "ts", "windows": {"s": wr.time("20 seconds"), "r": wr.rows(4)},
        "aggs": [wr.sum("n"), wr.median("x"), wr.last("place")],
    }  # fmt: skip
    run_to_end(wr.over(stream, **asked, **LATENESS, emit="updates"), tmp_path / "answers")
    found = answers_in(streaming, tmp_path / "answers").sort_by([("revision", "ascending")])
    sink = Revisions(KEY)
    for row in found.to_pylist():
        sink.take([row])
    expected = wr.over(pa.concat_tables(batches), **asked).to_pylist()
    sink.check(expected)
    assert sum(not row["final"] for row in sink.rows.values()) == 1
    assert max(row["revision"] for row in sink.rows.values()) > 1
