"""A shard of `wr.over`, batch by batch, compared with a table of the same events."""

from typing import Any

import pyarrow as pa

from tests.support.over import oracle
from tests.support.stream.model import THE_END, Memory, arrived, length
from tests.support.stream.strategies import Stream
from windrow.planning.choose import Wish
from windrow.planning.over_plan import resolve_over
from windrow.stream.over_stream import StreamOver


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
