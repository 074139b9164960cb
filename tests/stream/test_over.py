"""A shard of a stream gives every event once, in order, with the answers of a table."""

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings

from tests.over import oracle
from tests.stream.model import WAITING_SMALL, Memory, arrived, length
from tests.stream.strategies import Stream, streams, trailing
from tests.stream.test_slide import THE_END
from windrow.planning.choose import Wish
from windrow.planning.over_plan import resolve_over
from windrow.stream import sizes
from windrow.stream.over_stream import StreamOver
from windrow.stream.state import NODE, WAITING, kind_of

# Interpreted, numbers are numpy's, which warn where a kernel is silent.
pytestmark = [
    pytest.mark.usefixtures("interpreted"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]


def run(stream: Stream, storage: Memory) -> tuple[pa.Table, int]:
    """All that comes out, and how many events were late; shards are woken by their timers only."""
    schema = stream.batches[0][0].schema
    plan = resolve_over(schema, **stream.arguments, wish=Wish())
    tables, late, timer = [], 0, None
    for batch, watermark in [*stream.batches, (schema.empty_table(), THE_END)]:
        if batch.num_rows or (timer is not None and timer <= watermark):
            # Nothing but the storage is carried from one batch to the next.
            shard = StreamOver(plan, set(schema.names), shards=1)
            step = shard.advance(storage, [batch], watermark)
            assert step.timer is None or step.timer > watermark
            tables += step.answers
            late, timer = late + step.late, step.timer
    return pa.concat_tables(tables) if tables else pa.table({"id": pa.array([], pa.int64())}), late


def check(stream: Stream, storage: Memory) -> None:
    found, late = run(stream, storage)
    day = length(stream.batches[0][0].schema.field("o0").type)
    events, expected_late = arrived(stream, lambda time: time + day)
    assert late == expected_late
    assert sorted(found["id"].to_pylist()) == sorted(events["id"].to_pylist())
    in_order(found.to_pylist(), stream)
    if not events.num_rows:
        return
    expected = oracle.over(events, **stream.arguments)
    rows = {row["id"]: row for row in found.to_pylist()}
    for place, number in enumerate(events["id"].to_pylist()):
        for name, answers in expected.items():
            given = rows[number][name]
            assert oracle.agree(answers[place], given), f"{name} of {number}: {given}"


def in_order(rows: list[dict[str, Any]], stream: Stream) -> None:
    """The events of a key come out in the order of time."""
    newest: dict[Any, Any] = {}
    for row in rows:
        key = tuple(oracle.grouped(row[name]) for name in stream.key)
        assert newest.get(key, row["o0"]) <= row["o0"]
        newest[key] = row["o0"]


@given(streams(trailing))
@settings(max_examples=80)
def test_any_stream(stream: Stream) -> None:
    storage = Memory()
    check(stream, storage)
    # What no window of an event to come can hold is not kept.
    if max(each.range for each in stream.windows.values()) < 10**15:  # type: ignore[union-attr]
        assert not any(kind_of(number) in (NODE, WAITING) for number in storage)


@given(streams(trailing))
@settings(max_examples=40)
def test_blocks_of_few_events(stream: Stream) -> None:
    with sizes.using(events_in_a_block=2, **WAITING_SMALL):
        check(stream, Memory())
