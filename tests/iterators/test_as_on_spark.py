"""One job both ways: on a Spark stream, and on a list of the same batches."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import windrow as wr
from tests.support.stream.events import events
from tests.support.stream.files import answers_in, counted, read_stream, run_to_end, write_batches

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

#: out of order, late ones among them, and times that jump
BATCHES = [
    events(0, 100, 140, 200), events(1, 120, 170, 200), events(2, 100, 300, 200),
    events(3, 280, 310, 100), events(4, 1000, 1001, 1),
]  # fmt: skip


def spending(data: Any) -> Any:
    return wr.slide(
        data, key="user", order="ts", windows=wr.time("10 seconds", every="2 seconds"),
        aggs=[wr.sum("n"), wr.count("x")], lateness="10 seconds",
    )  # fmt: skip


def habits(data: Any) -> Any:
    return wr.over(
        data, key="user", order=["ts", "n"], windows=wr.rows(70), aggs=[wr.sum("n"), wr.count("x")],
        lateness="10 seconds",
    )  # fmt: skip


@pytest.mark.parametrize(("job", "time"), [(spending, "window_end"), (habits, "ts")])
def test_a_job_answers_as_on_spark(
    job: Any, time: str, streaming: SparkSession, tmp_path: Path
) -> None:
    write_batches(tmp_path / "events", BATCHES)
    query = run_to_end(job(read_stream(streaming, tmp_path / "events")), tmp_path / "answers")
    stream = job(iter(BATCHES))
    rows = [row for batch in stream for row in batch.to_pylist()]
    counts = counted(query)
    assert (stream.events, stream.late, stream.untimed) == (
        counts["events"], counts["late"], counts["untimed"]
    )  # fmt: skip
    assert stream.late > 0
    # Spark's stream has not ended: what its watermark has not reached is not answered.
    assert stream.watermark is not None
    final = [row for row in rows if row[time] <= stream.watermark]
    assert len(final) < len(rows)
    found = answers_in(streaming, tmp_path / "answers").to_pylist()
    assert sorted(map(_text, found)) == sorted(map(_text, final))


def _text(row: dict[str, Any]) -> str:
    return str({name: row[name] for name in ("user", "sum_n", "count_x")}) + str(
        row.get("window_end", row.get("ts"))
    )
