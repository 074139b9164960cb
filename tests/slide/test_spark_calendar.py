"""`wr.calendar` on Spark: tables and streams give the answers of a table in this process."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import windrow as wr
from tests.support.calendars import events
from tests.support.stream.files import answers_in, read_stream, run_to_end, write_batches
from windrow.cli.main import main
from windrow.work import sizes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

WINDOWS: dict[str, Any] = {
    "month": wr.calendar("1 month", timezone="Europe/Berlin"),
    "week": wr.calendar("1 week", every="1 day", timezone="America/New_York"),
    "days": wr.calendar("1 day"),
    "clock": wr.time("12 hours", every="6 hours"),
}
AGGS = [wr.sum("x"), wr.count()]
TRAILING = {"1mo": wr.calendar("1 month", timezone="Europe/Berlin"), "3": wr.rows(3)}


def sliding(table: Any, **further: Any) -> Any:
    return wr.slide(table, key="k", order="t", windows=WINDOWS, aggs=AGGS, **further)


def rows(table: pa.Table) -> list[tuple[Any, ...]]:
    return sorted(tuple(map(str, each.values())) for each in table.to_pylist())


@pytest.fixture(scope="module")
def table() -> pa.Table:
    # Sorted by time, so that a stream drops none of them as late. Not before 1970: a watermark is
    # never before.
    return events("UTC").filter(pa.compute.field("t") > pa.scalar(0, pa.timestamp("us", "UTC")))


@pytest.fixture(scope="module")
def frame(spark: "SparkSession", table: pa.Table) -> "DataFrame":
    return spark.createDataFrame(table)


def test_tables(frame: "DataFrame", table: pa.Table) -> None:
    from pyspark.sql import functions as F

    assert rows(sliding(frame).toArrow()) == rows(sliding(table))
    # Not by slices first: a list of values is no number.
    asked: dict[str, Any] = {"key": "k", "order": ["t", "id"]}
    lists = {"windows": WINDOWS["month"], "aggs": wr.collect("x")}
    assert rows(wr.slide(frame, **asked, **lists).toArrow()) == rows(
        wr.slide(table, **asked, **lists)
    )
    trailing = {"windows": TRAILING, "aggs": AGGS}
    assert rows(wr.over(frame, **asked, **trailing).toArrow()) == rows(
        wr.over(table, **asked, **trailing)
    )
    # Without a key, in chunks.
    alone = {"windows": wr.calendar("1 day", timezone="Europe/Berlin"), "aggs": AGGS}
    with sizes.using(smallest_chunk=20, key_sample=0.5, small_data=0):
        answer = wr.over(frame, order=["t", "id"], **alone)
        found = rows(answer.toArrow())
        assert answer.select(F.spark_partition_id()).distinct().count() > 1
    assert found == rows(wr.over(table, order=["t", "id"], **alone))
    assert "slices" in str(wr.plan(frame, key="k", order="t", windows=WINDOWS, aggs=AGGS))


def test_streams(streaming: "SparkSession", table: pa.Table, tmp_path: Path, capsys: Any) -> None:
    later = table.slice(0, 1).set_column(1, "t", pa.array([2 * 10**15], table.schema.field(1).type))
    batches = [table.slice(begin, 150) for begin in range(0, table.num_rows, 150)]
    write_batches(tmp_path / "events", [*batches, later])
    stream = read_stream(streaming, tmp_path / "events")
    run_to_end(sliding(stream, lateness="1 day"), tmp_path / "slid")
    # The last event of all makes the others final, and waits.
    assert rows(answers_in(streaming, tmp_path / "slid")) == rows(sliding(table))
    assert main(["state", f"{tmp_path / 'slid'}-checkpoint"]) == 0
    assert "timezone=Europe/Berlin" in capsys.readouterr().out
    asked: dict[str, Any] = {"key": "k", "order": ["t", "id"], "windows": TRAILING, "aggs": AGGS}
    run_to_end(wr.over(stream, lateness="1 day", **asked), tmp_path / "over")
    assert rows(answers_in(streaming, tmp_path / "over")) == rows(wr.over(table, **asked))
