"""Windows that end behind their event, on streams: an event is answered when its windows are final.

Windows that end before their event are in test_over.py (slices), test_counted.py and test_rows.py.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.examples import examples
from tests.support.over import oracle
from tests.support.over.strategies import tick
from tests.support.stream import history
from tests.support.stream.model import BINS_SMALL, MILLISECOND, THE_END, Memory, arrived, length
from tests.support.stream.over_check import in_order
from tests.support.stream.strategies import WITH_OBJECTS, Stream, any_around, streams
from windrow.planning.choose import Wish
from windrow.planning.over_plan import resolve_over
from windrow.stream import sizes
from windrow.stream.inspection import summary
from windrow.stream.over_stream import StreamOver
from windrow.windows import RowsWindow, TimeWindow, Window

# Interpreted, numbers are numpy's, which warn where a kernel is silent.
pytestmark = [
    pytest.mark.usefixtures("interpreted"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]


def last_held(window: Window, time: int, step: int) -> int:
    """The last time that a window of an event may hold, in nanoseconds; times are whole steps."""
    if not isinstance(window, TimeWindow) or window.after is None:
        return time
    end = time + window.after
    if window.closed in ("right", "both"):
        return max(end - end % step, time)
    return max(end - end % -step - step, time) if end > time else time


def answered_by(stream: Stream, events: pa.Table, watermark: int) -> list[int]:
    """The events whose windows are final by a watermark."""
    data_type = events.schema.field("o0").type
    times, day = oracle.ticks(events["o0"]), length(data_type)
    columns = {name: events[name].to_pylist() for name in events.column_names}
    found = []
    for group in oracle.groups(columns, stream.key, stream.order, events.num_rows):
        final = [row for row in group if times[row] + day <= watermark * MILLISECOND]
        for place, row in enumerate(final):
            ripe = all(
                last_held(window, times[row], tick(data_type)) + day <= watermark * MILLISECOND
                and place + (window.later if isinstance(window, RowsWindow) else 0) < len(final)
                for window in stream.windows.values()
            )
            if ripe:
                found.append(columns["id"][row])
    return found


def agrees(stream: Stream, events: pa.Table, found: list[dict[str, Any]]) -> None:
    expected = oracle.over(events, **stream.arguments)
    places = {number: place for place, number in enumerate(events["id"].to_pylist())}
    for row in found:
        for name, answers in expected.items():
            answer = answers[places[row["id"]]]
            assert oracle.agree(answer, row[name]), f"{name} of {row['id']}: {row[name]}"
    in_order(found, stream)


def check(stream: Stream) -> None:
    """An event is answered with the first batch by which its windows are final, and only then."""
    schema = stream.batches[0][0].schema
    plan = resolve_over(schema, **stream.arguments, wish=Wish())
    day = length(schema.field("o0").type)
    events, expected_late = arrived(stream, lambda time: time + day)
    storage, found, late, timer = Memory(), [], 0, None
    for batch, watermark in [*stream.batches, (schema.empty_table(), THE_END)]:
        if batch.num_rows or (timer is not None and timer <= watermark):
            # Nothing but the storage is carried from one batch to the next.
            step = StreamOver(plan, set(schema.names), shards=1).advance(
                storage, [batch], watermark
            )
            assert step.timer is None or step.timer > watermark
            found += [row for table in step.answers for row in table.to_pylist()]
            late, timer = late + step.late, step.timer
        ripe = answered_by(stream, events, watermark) if watermark > 0 else []
        assert sorted(row["id"] for row in found) == sorted(ripe), watermark
    assert late == expected_late
    agrees(stream, events, found)
    if storage:
        summary(storage)


@given(streams(any_around), st.booleans())
@examples(30)
def test_an_event_is_answered_when_its_windows_are_final(stream: Stream, small: bool) -> None:
    with sizes.using(**(BINS_SMALL if small else {})):
        check(stream)


@given(streams(any_around, WITH_OBJECTS))
@examples(10)
def test_of_objects(stream: Stream) -> None:
    check(stream)


@given(history.cut(streams(any_around)))
@examples(15)
def test_a_stream_goes_on_from_a_table(example: tuple[Stream, int]) -> None:
    stream, table = example
    schema = stream.batches[0][0].schema
    plan = resolve_over(schema, **stream.arguments, wish=Wish())
    tables, late = history.run(StreamOver(plan, set(schema.names), shards=1), stream, table)
    day = length(schema.field("o0").type)
    events, expected_late = arrived(history.effective(stream, table), lambda time: time + day)
    assert late == expected_late
    final = stream.batches[table][1] if table else 0
    before = answered_by(stream, events, final) if final > 0 else []
    wanted = set(answered_by(stream, events, THE_END)) - set(before)
    found = [row for each in tables for row in each.to_pylist()]
    assert sorted(row["id"] for row in found) == sorted(wanted)
    agrees(stream, events, found)


def test_the_plan_says_when_answers_are_final() -> None:
    windows = {"hour": wr.time(before="1h", after="5min"), "day": wr.time("1 day")}
    plan = wr.plan(key="k", order="ts", windows=windows, aggs=wr.sum("v"), lateness="1s")
    assert plan.stream is not None
    finals = {tuple(group.windows): group.final for group in plan.stream.groups}
    assert finals["day",] == "for each event, when the watermark reaches its time"
    assert "when the watermark has passed the end of its windows" in finals["hour",]
