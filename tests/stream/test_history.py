"""A stream that goes on from a table answers what one run over both would, less the table's part.

The table is cut off a stream: its first batches, with some watermark that they have reached.
"""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import given

import windrow as wr
from tests.support.examples import examples
from tests.support.over import oracle as over_oracle
from tests.support.over.oracle import ticks
from tests.support.slide import oracle
from tests.support.stream.events import SECOND, events
from tests.support.stream.files import answers_in, counted, read_stream, run_to_end, write_batches
from tests.support.stream.history import cut, effective, run
from tests.support.stream.model import (
    MILLISECOND,
    THE_END,
    arrived,
    expected,
    length,
    next_edge,
    plan_of,
)
from tests.support.stream.strategies import Stream, streams, trailing
from windrow.planning.choose import Wish
from windrow.planning.over_plan import resolve_over
from windrow.stream.over_stream import StreamOver
from windrow.stream.slide_stream import StreamSlide

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

interpreted = pytest.mark.usefixtures("interpreted")
# Interpreted, numbers are numpy's, which warn where a kernel is silent.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


@interpreted
@given(cut(streams()))
@examples(20)
def test_slide(example: tuple[Stream, int]) -> None:
    stream, table = example
    plan = plan_of(stream)
    shard = StreamSlide(plan, set(stream.batches[0][0].schema.names), shards=1)
    tables, late = run(shard, stream, table)
    accepted, expected_late = arrived(
        effective(stream, table), lambda time: next_edge(stream.windows, time)
    )
    assert late == expected_late
    final = stream.batches[table][1] * MILLISECOND
    wanted = [
        answer
        for answer in expected(stream, accepted, THE_END)
        if not table or final <= 0 or answer["window_end"] > final
    ]
    found = pa.concat_tables([plan.output_schema.empty_table(), *tables])
    oracle.assert_agrees(wanted, found, stream.key)


@interpreted
@given(cut(streams(trailing)))
@examples(20)
def test_over(example: tuple[Stream, int]) -> None:
    stream, table = example
    schema = stream.batches[0][0].schema
    plan = resolve_over(schema, **stream.arguments, wish=Wish())
    tables, late = run(StreamOver(plan, set(schema.names), shards=1), stream, table)
    day = length(schema.field("o0").type)
    accepted, expected_late = arrived(effective(stream, table), lambda time: time + day)
    assert late == expected_late
    final = stream.batches[table][1] * MILLISECOND
    answered = over_oracle.over(accepted, **stream.arguments) if accepted.num_rows else {}
    wanted = {
        number: place
        for place, (number, time) in enumerate(
            zip(accepted["id"].to_pylist(), ticks(accepted["o0"]), strict=True)
        )
        if not table or final <= 0 or time + day > final
    }
    rows = [row for each in tables for row in each.to_pylist()]
    assert sorted(row["id"] for row in rows) == sorted(wanted)
    for row in rows:
        for name, answers in answered.items():
            assert over_oracle.agree(answers[wanted[row["id"]]], row[name]), name


# On Spark -----------------------------------------------------------------------------------------

ASKED: dict[str, Any] = {
    "key": ["user", "zone"], "order": ["ts", "place"],
    "aggs": [wr.max("x"), wr.sum("n"), wr.arg_max("x", "place")],
}  # fmt: skip


@pytest.mark.spark
@pytest.mark.parametrize("call", ["slide", "over"])
def test_on_spark(streaming: "SparkSession", tmp_path: Path, call: str) -> None:
    """The table reaches to 200 s and is final up to 190, by a lateness of 10 s."""
    old = events(20, 100, 200, 400)
    times = [*old["ts"].to_pylist()[1:], datetime.fromtimestamp(200, UTC)]
    before = old.set_column(0, old.field("ts"), pa.array(times, old["ts"].type))
    early, later = events(22, 150, 160, 5), events(23, 191, 260, 200)
    write_batches(tmp_path / "events", [pa.concat_tables([early, later]), events(24, 999, 1000, 1)])
    window = wr.time("1 minute", every="15 seconds") if call == "slide" else wr.time("1 minute")
    ask = getattr(wr, call)
    answers = ask(
        read_stream(streaming, tmp_path / "events"),
        windows=window,
        lateness="10 seconds",
        history=streaming.createDataFrame(before),
        **ASKED,
    )
    query = run_to_end(answers, tmp_path / "answers")
    found = answers_in(streaming, tmp_path / "answers")
    both = ask(pa.concat_tables([before, later]), windows=window, **ASKED)
    when = both["window_end" if call == "slide" else "ts"]
    final = pa.scalar(190 * SECOND, pa.timestamp("us", "UTC"))
    is_new = pa.compute.greater(when, final) if call == "slide" else (
        pa.compute.greater_equal(when, final)
    )  # fmt: skip
    wanted = both.filter(is_new)
    assert counted(query)["late"] == early.num_rows
    assert found.column_names == wanted.column_names
    by = [(name, "ascending") for name in wanted.column_names]
    assert found.sort_by(by).to_pylist() == wanted.sort_by(by).to_pylist()
