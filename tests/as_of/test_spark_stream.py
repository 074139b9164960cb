"""`wr.as_of` on streaming DataFrames: each query once, with the answers of tables."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import windrow as wr
from tests.support.as_of.tables import events, queries
from tests.support.over.oracle import assert_agrees
from tests.support.stream.files import answers_in, counted, read_stream, run_to_end, write_batches

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

AGGS = [wr.sum("n"), wr.last("s"), wr.count("x")]
WINDOWS = {"time": wr.time("40 seconds", closed="left"), "rows": wr.rows(3)}
#: a stream is at most 30 seconds behind
LATENESS = "30 seconds"
TIMES = [(0, 50), (30, 110), (85, 200)]


def timed(table: pa.Table) -> pa.Table:
    return table.filter(table["ts"].is_valid())


def test_queries_of_a_second_stream(streaming: "SparkSession", tmp_path: Path) -> None:
    """In disorder, with late rows, started again from its checkpoint; a changed one is refused."""
    asked = [timed(queries(seed, 40, *each)) for seed, each in enumerate(TIMES)]
    told = [timed(events(seed + 20, 80, *each)) for seed, each in enumerate(TIMES)]
    late = [timed(queries(8, 3, 0, 10)), timed(events(28, 5, 0, 10))]
    end = [timed(queries(9, 1, 1000, 1001)), timed(events(29, 1, 1000, 1001))]
    write_batches(tmp_path / "asked", asked)
    write_batches(tmp_path / "told", told)

    def answers(**changed: Any) -> Any:
        arguments: dict[str, Any] = {"windows": WINDOWS, "aggs": AGGS, "lateness": LATENESS}
        return wr.as_of(
            read_stream(streaming, tmp_path / "asked"),
            read_stream(streaming, tmp_path / "told"),
            key="user",
            order=["ts", "place"],
            **(arguments | changed),
        )

    before = counted(run_to_end(answers(), tmp_path / "answers"))
    assert before["late"] == 0
    write_batches(tmp_path / "asked", [late[0], end[0], end[0].slice(0, 0)], first=3)
    write_batches(tmp_path / "told", [late[1], end[1], end[1].slice(0, 0)], first=3)
    after = counted(run_to_end(answers(), tmp_path / "answers"))
    assert after["late"] == late[0].num_rows + late[1].num_rows
    found = answers_in(streaming, tmp_path / "answers").sort_by("id")
    on_time = pa.concat_tables(asked)
    expected = wr.as_of(
        on_time, pa.concat_tables(told), key="user", order=["ts", "place"], windows=WINDOWS,
        aggs=AGGS,
    ).sort_by("id")  # fmt: skip
    assert found.column_names == expected.column_names
    assert_agrees(expected.to_pydict(), found)
    write_batches(tmp_path / "told", [end[1]], first=6)
    with pytest.raises(Exception, match="is now window rows=rows"):
        run_to_end(answers(windows=WINDOWS | {"rows": wr.rows(4)}), tmp_path / "answers")


def test_sources_one_after_the_other(streaming: "SparkSession", tmp_path: Path) -> None:
    """Streams with watermarks of their own, and one that the call's lateness gives one."""
    arguments: dict[str, Any] = {
        "key": {"clicks": "user", "paid": ["user", "zone"]}, "order": "ts",
        "windows": wr.time("40 seconds"), "aggs": [wr.sum("n"), wr.count("x")],
    }  # fmt: skip
    asked = timed(queries(1, 40, 0, 100))
    told = {"clicks": timed(events(2, 60, 0, 100)), "paid": timed(events(3, 60, 0, 100))}
    ends = timed(queries(9, 1, 1000, 1001)), timed(events(29, 1, 1000, 1001))
    write_batches(tmp_path / "asked", [asked, ends[0], ends[0]])
    streams = {}
    for name, table in told.items():
        write_batches(tmp_path / name, [table, ends[1], ends[1]])
        streams[name] = read_stream(streaming, tmp_path / name)
    marked = read_stream(streaming, tmp_path / "asked").withWatermark("ts", LATENESS)
    streams["clicks"] = streams["clicks"].withWatermark("ts", LATENESS)
    answers = wr.as_of(marked, streams, **arguments, lateness=LATENESS)
    run_to_end(answers, tmp_path / "answers")
    found = answers_in(streaming, tmp_path / "answers").sort_by("id")
    assert_agrees(wr.as_of(asked, told, **arguments).sort_by("id").to_pydict(), found)
    with pytest.raises(wr.InvalidArgument, match="lateness: queries and events have watermarks"):
        wr.as_of(marked, streams["clicks"], key="user", order="ts", windows=wr.rows(1),
                 aggs=wr.count(), lateness=LATENESS)  # fmt: skip
