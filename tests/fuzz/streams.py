"""A shard of a stream, without Spark: events in batches, out of order, some of them late."""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa

from tests.fuzz import model
from tests.fuzz.calls import Call
from tests.fuzz.inside import Asked, planned
from tests.support.stream.model import Memory
from windrow.stream.over_stream import StreamOver
from windrow.stream.slide_stream import StreamSlide

MILLISECOND = 10**6
#: behind every window of every event, in milliseconds
THE_END = 10**14


def splits(call: Call, random: Random) -> list[list[int]]:
    """The rows of batches as they come: by time, some earlier or later than their turn."""
    times = model.times(call)
    known = [time for time in times if time is not None]
    jitter = (max(known) - min(known)) // random.choice((1, 2, 4, 100)) if known else 0
    rows = [row for row in range(call.size) if times[row] is not None]
    rows.sort(key=lambda row: times[row] + random.randint(-jitter, jitter))
    found, begin = [], 0
    while begin < len(rows):
        size = random.randint(0, 7)
        found.append(rows[begin : begin + size])
        begin += size
    return found


def watermarks(call: Call, batches: list[list[int]], random: Random) -> list[int]:
    """For each batch the milliseconds by which no event of it or a later one is late."""
    times = model.times(call)
    found: list[int] = []
    for number in range(len(batches)):
        left = [times[row] for batch in batches[number:] for row in batch]
        # An event that the watermark has reached is late.
        latest = (min(left) - 1) // MILLISECOND if left else 0
        lag = random.choice((0, 0, 1, 5))
        found.append(max([0, *found[-1:], latest - lag]))
    return found


def shard(call: Call, random: Random) -> Asked:
    """All answers of one shard; nothing but its storage is carried from one batch to the next."""
    batches = splits(call, random)
    marks = watermarks(call, batches, random)
    times = model.times(call)
    kept = [row for batch in batches for row in batch]
    if call.function == "over" and "date" not in call.columns["o0"].type and random.random() < 0.4:
        marks = _hurried(marks, times, batches, random)
        kept = [
            row
            for batch, mark in zip(batches, marks, strict=True)
            for row in batch
            if mark == 0 or times[row] > mark * MILLISECOND
        ]
    table = call.table()
    plan = planned(call, table.schema)
    ask = StreamOver if call.function == "over" else StreamSlide
    storage, answers, timer = Memory(), [], None
    for rows, mark in zip([*batches, []], [*marks, THE_END], strict=True):
        if rows or (timer is not None and timer <= mark):
            step = ask(plan, set(table.schema.names), shards=1).advance(
                storage, [table.take(rows)] if rows else [], mark
            )
            answers += step.answers
            timer = step.timer
    return answered(call, kept, answers, plan)


def _hurried(
    marks: list[int], times: list[Any], batches: list[list[int]], random: Random
) -> list[int]:
    """Watermarks by which some events are late."""
    found: list[int] = []
    for mark, batch in zip(marks, batches, strict=True):
        some = [times[row] // MILLISECOND for row in batch]
        hurried = random.choice([mark, mark, *some])
        found.append(max([0, *found[-1:], hurried]))
    return found


def answered(call: Call, kept: list[int], answers: list[pa.Table], plan: Any) -> Asked:
    """The rows that were not late in their first order, and what was answered of them."""
    kept = sorted(kept)
    call = call.take(kept)
    if call.function == "slide":
        return call, pa.concat_tables([plan.output_schema.empty_table(), *answers])
    names = [*call.columns, *(field.name for field in plan.output_fields)]
    schema = pa.schema([*call.table().schema, *plan.output_fields])
    result = pa.concat_tables([schema.empty_table(), *(each.select(names) for each in answers)])
    return call, by_id(call, result)


def by_id(call: Call, result: pa.Table) -> pa.Table:
    """The rows of a result in the order of the call's."""
    places = {number: place for place, number in enumerate(result["id"].to_pylist())}
    wanted = [number for number in call.columns["id"].values if number in places]
    if len(wanted) != result.num_rows:
        return result
    return result.take(pa.array([places[number] for number in wanted], pa.int64()))
