"""Behind another operator, events are late by the watermark of the batch before."""

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given

from tests.support.examples import examples
from tests.support.over import oracle as over_oracle
from tests.support.over.oracle import ticks
from tests.support.slide import oracle
from tests.support.stream.model import (
    MILLISECOND,
    THE_END,
    Memory,
    accepted,
    arrived,
    length,
    plan_of,
)
from tests.support.stream.strategies import (
    Stream,
    any_sliding,
    any_trailing,
    clocks,
    has_others,
    streams,
    trailing,
)
from windrow.planning.choose import Wish
from windrow.planning.over_plan import resolve_over
from windrow.stream.over_stream import StreamOver
from windrow.stream.query import StreamQuery
from windrow.stream.slide_stream import StreamSlide
from windrow.windows import EveryTime, TimeWindow

# Interpreted, numbers are numpy's, which warn where a kernel is silent.
pytestmark = [
    pytest.mark.usefixtures("interpreted"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]


def judged(stream: Stream) -> Stream:
    """The same batches, each with the watermark that its events are late by."""
    before = [0, *(watermark for _batch, watermark in stream.batches)]
    batches = [
        (batch, watermark) for (batch, _now), watermark in zip(stream.batches, before, strict=False)
    ]
    return replace(stream, batches=batches)


def run(query: StreamQuery, stream: Stream, marked: str | None) -> tuple[list[pa.Table], int]:
    """All answers, and how many events were late; a shard is called if there is cause to.

    The column `marked`, if any, is to be newer than the watermark before, so that what stands
    behind the query does not take answers for late.
    """
    storage = Memory()
    timer = query.begin(storage, [], is_behind=True).timer
    tables, late, before = [], 0, 0
    end = (stream.batches[0][0].slice(0, 0), THE_END)
    for batch, watermark in [*stream.batches, end]:
        if batch.num_rows or (timer is not None and timer <= watermark):
            step = query.advance(storage, [batch], watermark, is_behind=True)
            assert step.timer == watermark + 1
            timer, late = step.timer, late + step.late
            for table in step.answers:
                times = ticks(table[marked]) if marked else []
                assert not before or all(time > before * MILLISECOND for time in times)
                assert all(time < (watermark + 1) * MILLISECOND for time in times)
            tables += step.answers
        before = watermark
    return tables, late


def check_over(stream: Stream) -> None:
    schema = stream.batches[0][0].schema
    plan = resolve_over(schema, **stream.arguments, wish=Wish())
    day = length(schema.field("o0").type)
    query = StreamOver(plan, set(schema.names), shards=1)
    tables, late = run(query, stream, None if day else "o0")
    events, expected_late = arrived(judged(stream), lambda time: time + day)
    assert late == expected_late
    rows = {row["id"]: row for table in tables for row in table.to_pylist()}
    assert sum(table.num_rows for table in tables) == len(rows) == events.num_rows
    answered = over_oracle.over(events, **stream.arguments) if events.num_rows else {}
    for name, answers in answered.items():
        for number, answer in zip(events["id"].to_pylist(), answers, strict=True):
            assert over_oracle.agree(answer, rows[number][name]), name


def check_slide(stream: Stream, events: pa.Table, expected_late: int, marked: str | None) -> None:
    plan = plan_of(stream)
    query = StreamSlide(plan, set(stream.batches[0][0].schema.names), shards=1)
    tables, late = run(query, stream, marked)
    assert late == expected_late
    found = pa.concat_tables([plan.output_schema.empty_table(), *tables])
    oracle.assert_agrees(oracle.slide(events, **stream.arguments), found, stream.key)


@given(streams(trailing))
@examples(15)
def test_over(stream: Stream) -> None:
    check_over(stream)


@given(streams(any_trailing))
@examples(15)
def test_over_from_rows(stream: Stream) -> None:
    check_over(stream)


@given(streams(clocks))
@examples(15)
def test_slide(stream: Stream) -> None:
    check_slide(stream, *accepted(judged(stream)), "window_end")


@given(streams(any_sliding).filter(has_others))
@examples(15)
def test_slide_from_rows(stream: Stream) -> None:
    day = length(plan_of(stream).order_type)
    by_clock: list[Any] = [
        window
        for window in stream.windows.values()
        if isinstance(getattr(window, "every", None), EveryTime)
        and not isinstance(window, TimeWindow)
    ]
    events, late = arrived(judged(stream), lambda time: time + day)
    check_slide(stream, events, late, None if day or by_clock else "window_end")
