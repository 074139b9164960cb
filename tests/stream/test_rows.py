"""A shard that keeps the rows of its keys answers what a table would, windows of every kind."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.examples import examples
from tests.support.slide import oracle
from tests.support.stream.history import cut, effective, run
from tests.support.stream.model import (
    BINS_SMALL,
    MILLISECOND,
    THE_END,
    Memory,
    arrived,
    final_at,
    length,
    plan_of,
    sorted_rows,
)
from tests.support.stream.over_check import check
from tests.support.stream.strategies import (
    COUNTED,
    WITH_OBJECTS,
    Stream,
    any_sliding,
    any_trailing,
    has_others,
    streams,
)
from windrow.planning.choose import Wish
from windrow.planning.over_plan import resolve_over
from windrow.planning.slide_plan import resolve_slide
from windrow.stream import sizes
from windrow.stream.over_stream import StreamOver
from windrow.stream.slide_stream import StreamSlide
from windrow.stream.state import ROWS, WAITING, kind_of
from windrow.windows import SessionWindow
from windrow.windows.triggers import trigger

# Interpreted, numbers are numpy's, which warn where a kernel is silent.
pytestmark = [
    pytest.mark.usefixtures("interpreted"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]


@given(streams(any_trailing), st.booleans())
@examples(40)
def test_over(stream: Stream, small: bool) -> None:
    storage = Memory()
    with sizes.using(**(BINS_SMALL if small else {})):
        check(stream, storage)
    if all(isinstance(window, SessionWindow) for window in stream.windows.values()):
        assert not any(kind_of(number) in (ROWS, WAITING) for number in storage)


@given(streams(any_trailing, WITH_OBJECTS) | streams(any_trailing, COUNTED))
@examples(30)
def test_over_of_large_partials(stream: Stream) -> None:
    check(stream, Memory())


def slid(stream: Stream, storage: Memory, changes_only: bool) -> pa.Table:
    """All answers; that those and no others are given that are final is seen batch by batch."""
    schema = stream.batches[0][0].schema
    plan = resolve_slide(schema, **stream.arguments, wish=Wish(), changes_only=changes_only)
    day = length(plan.order_type)
    events, expected_late = arrived(stream, lambda time: time + day)
    expected = oracle.slide(events, **stream.arguments, changes_only=changes_only)
    final = [final_at(stream.windows[answer["window"]], answer, day) for answer in expected]
    tables, late, untimed, timer = [plan.output_schema.empty_table()], 0, 0, None
    for batch, watermark in [*stream.batches, (schema.empty_table(), THE_END)]:
        if batch.num_rows or (timer is not None and timer <= watermark):
            # Nothing but the storage is carried from one batch to the next.
            shard = StreamSlide(plan, set(schema.names), shards=1)
            step = shard.advance(storage, [batch], watermark)
            assert step.timer is None or step.timer > watermark
            tables += step.answers
            late, untimed, timer = late + step.late, untimed + step.untimed, step.timer
        ripe = sum(time <= watermark * MILLISECOND for time in final) if watermark else 0
        assert sum(table.num_rows for table in tables) == ripe, watermark
    assert late == expected_late
    assert untimed == sum(batch["o0"].null_count for batch, _watermark in stream.batches)
    found = pa.concat_tables(tables)
    oracle.assert_agrees(expected, found, stream.key)
    return found


@given(streams(any_sliding).filter(has_others), st.booleans())
@examples(50)
def test_slide(stream: Stream, small: bool) -> None:
    with sizes.using(**(BINS_SMALL if small else {})):
        slid(stream, Memory(), changes_only=False)


@given(cut(streams(any_sliding).filter(has_others)))
@examples(20)
def test_slide_goes_on_from_a_table(example: tuple[Stream, int]) -> None:
    stream, table = example
    plan = plan_of(stream)
    day = length(plan.order_type)
    shard = StreamSlide(plan, set(stream.batches[0][0].schema.names), shards=1)
    tables, late = run(shard, stream, table)
    events, expected_late = arrived(effective(stream, table), lambda time: time + day)
    assert late == expected_late
    final = stream.batches[table][1] * MILLISECOND if table else 0
    wanted = [
        answer
        for answer in oracle.slide(events, **stream.arguments)
        if final <= 0 or final_at(stream.windows[answer["window"]], answer, day) > final
    ]
    found = pa.concat_tables([plan.output_schema.empty_table(), *tables])
    oracle.assert_agrees(wanted, found, stream.key)


@given(streams(any_sliding, ("collect", "last")) | streams(any_sliding, COUNTED))
@examples(30)
def test_slide_of_large_partials(stream: Stream) -> None:
    if any(measure.aggregation.name in ("collect", *COUNTED[:-1]) for measure in stream.aggs):
        slid(stream, Memory(), changes_only=False)


@given(streams(any_sliding, ("count", "max", "first", "arg_max")))
@examples(30)
def test_changes_only(stream: Stream) -> None:
    slid(stream, Memory(), changes_only=True)


def test_no_event_of_a_batch_has_a_measure() -> None:
    times = pa.array([1000, 1001, 1002, 1003]).cast(pa.timestamp("ms"))
    events = pa.table({"ts": times, "d": pa.array([None, None, 1.0, 3.0])})
    windows = {"d": wr.delta("d", 9, every="1 millisecond"), "n": wr.delta("d", 9, every=2)}
    asked: dict[str, Any] = {"key": None, "order": "ts", "windows": windows, "aggs": wr.sum("d")}
    plan = resolve_slide(events.schema, **asked, wish=Wish(), changes_only=False)
    shard, storage, answers = StreamSlide(plan, {"d"}, 1), Memory(), []
    for begin, watermark in ((0, 1), (2, 1001), (4, THE_END)):
        answers += shard.advance(storage, [events.slice(begin, 2)], watermark).answers
    found = pa.concat_tables(answers).sort_by([("window", "ascending")])
    assert found.to_pylist() == wr.slide(events, **asked).to_pylist()


POLICIES = (
    wr.policies.at_most_events(4),
    wr.policies.at_most_sum(10, "x"),
    wr.policies.since_max("x"),
    wr.policies.since_longest_run("x"),
    wr.policies.since_max("x") | wr.policies.at_most_events(3),
    wr.policies.adaptive("x", risk=0.5),
    # All leave, or none: what has stayed is not asked about again, with less behind it.
    wr.policy(lambda total, oldest: total < 3, of=wr.sum("x")),
)


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: str(policy.default_name))
def test_policies(policy: Any) -> None:
    """Beside a window of rows, which keeps more; batches of few events of each key."""
    random = np.random.default_rng(1)
    count = 240
    events = pa.table(
        {
            "k": pa.array(random.integers(0, 4, count)),
            "ts": pa.array(np.arange(1000, 1000 + count) * 1000).view(pa.timestamp("us", "UTC")),
            "x": pa.array(random.integers(0, 6, count), mask=random.random(count) < 0.1),
        }
    )
    for every in (None, 3, "7 milliseconds"):
        window = replace(policy, every=trigger(every, None))
        rows = wr.rows(9, every=every)
        asked: dict[str, Any] = {"key": "k", "order": "ts", "windows": {"p": window, "r": rows}}
        asked["aggs"] = [wr.sum("x"), wr.count()]
        by = [("k", "ascending"), ("window_end" if every else "ts", "ascending")]
        call = wr.slide if every else wr.over
        expected = call(events, **asked)
        found = streamed(events, asked, every is not None)
        assert sorted_rows(found, by) == sorted_rows(expected, by)


def streamed(events: pa.Table, asked: dict[str, Any], slides: bool) -> pa.Table:
    """Events, a few in each batch, through one shard."""
    if slides:
        plan: Any = resolve_slide(events.schema, **asked, wish=Wish(), changes_only=False)
    else:
        plan = resolve_over(events.schema, **asked, wish=Wish())
    storage, answers = Memory(), []
    for begin in range(0, events.num_rows, 10):
        shard = StreamSlide(plan, {"x"}, 1) if slides else StreamOver(plan, {"x"}, 1)
        came = events.slice(begin, 10)
        answers += shard.advance(storage, [came], 998 + begin).answers
    shard = StreamSlide(plan, {"x"}, 1) if slides else StreamOver(plan, {"x"}, 1)
    answers += shard.advance(storage, [], THE_END).answers
    return pa.concat_tables(answers)
