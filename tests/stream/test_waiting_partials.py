"""Where no aggregation asks for the order of events, many events of a slice wait as one cell."""

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
from tests.support.stream.combines import counted_combines
from tests.support.stream.history import cut, effective
from tests.support.stream.history import run as run_behind
from tests.support.stream.model import (
    MILLISECOND,
    THE_END,
    WAITING_SMALL,
    Memory,
    accepted,
    arrived,
    expected,
    next_edge,
    plan_of,
)
from tests.support.stream.strategies import Stream, streams
from windrow.planning.choose import Wish
from windrow.planning.slide_plan import resolve_slide
from windrow.stream import sizes
from windrow.stream.inspection import summary
from windrow.stream.slide_stream import StreamSlide
from windrow.stream.state import OPEN_CELLS, WAITING, kind_of

# Interpreted, numbers are numpy's, which warn where a kernel is silent.
pytestmark = [
    pytest.mark.usefixtures("interpreted"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]

MEASURES = ("count", "sum", "min", "max", "mean", "value_range")


def in_any_order(stream: Stream) -> Stream:
    """The stream without aggregations that ask for the order of events."""
    kept = [each for each in stream.aggs if each.aggregation.name != "arg_max"]
    return replace(stream, aggs=kept)


STREAMS = streams(measures=MEASURES).map(in_any_order)
#: how much fewer numbers cells have to be: always cells, whatever is smaller, and never cells
GAINS = st.sampled_from([0, 1, 10**6])


# Answers ------------------------------------------------------------------------------------------


@given(STREAMS, st.lists(GAINS, min_size=1, max_size=4), st.booleans())
@examples(60)
def test_any_stream(stream: Stream, gains: list[int], small: bool) -> None:
    """Blocks of events and of cells, in any mixture, answer what a table would."""
    plan, storage = plan_of(stream), Memory()
    tables, late, kinds = [plan.output_schema.empty_table()], 0, set()
    end = (stream.batches[0][0].slice(0, 0), THE_END)
    for number, (batch, watermark) in enumerate([*stream.batches, end]):
        gain = {"cells_gain": gains[number % len(gains)]}
        with sizes.using(**(WAITING_SMALL if small else {}) | gain):
            shard = StreamSlide(plan, set(batch.schema.names), shards=1)
            step = shard.advance(storage, [batch], watermark)
        kinds |= set(map(kind_of, storage))
        tables += step.answers
        late += step.late
    events, expected_late = accepted(stream)
    assert late == expected_late
    oracle.assert_agrees(expected(stream, events, THE_END), pa.concat_tables(tables), stream.key)
    assert not {OPEN_CELLS, WAITING} & set(map(kind_of, storage))


@given(cut(STREAMS))
@examples(20)
def test_behind_a_table(example: tuple[Stream, int]) -> None:
    stream, table = example
    plan = plan_of(stream)
    with sizes.using(**WAITING_SMALL):
        shard = StreamSlide(plan, set(stream.batches[0][0].schema.names), shards=1)
        tables, late = run_behind(shard, stream, table)
    events, expected_late = arrived(
        effective(stream, table), lambda time: next_edge(stream.windows, time)
    )
    assert late == expected_late
    final = stream.batches[table][1] * MILLISECOND
    wanted = [
        answer
        for answer in expected(stream, events, THE_END)
        if not table or final <= 0 or answer["window_end"] > final
    ]
    found = pa.concat_tables([plan.output_schema.empty_table(), *tables])
    oracle.assert_agrees(wanted, found, stream.key)


# What it costs ------------------------------------------------------------------------------------

SECOND = 10**6
SCHEMA = pa.schema([("k", pa.int64()), ("ts", pa.timestamp("us")), ("v", pa.float64())])
ASKED: dict[str, Any] = {
    "key": "k", "order": "ts", "windows": wr.time("1 minute", every="10 seconds"),
    "aggs": [wr.sum("v"), wr.count("v"), wr.max("v")],
}  # fmt: skip
KEYS = 20


def slide(**changed: Any) -> StreamSlide:
    plan = resolve_slide(SCHEMA, **{**ASKED, **changed}, changes_only=False, wish=Wish())
    return StreamSlide(plan, set(), shards=1)


def batch_of(begin: float, seconds: float, events: int, seed: int) -> pa.Table:
    """Events of every key in some seconds, so many of each, in any order."""
    random = np.random.default_rng(seed)
    times = (begin + random.random(events * KEYS) * seconds) * SECOND
    return pa.table(
        [
            random.permutation(np.repeat(np.arange(KEYS), events)),
            pa.array(times.astype(np.int64)).view(pa.timestamp("us")),
            random.random(events * KEYS),
        ],
        schema=SCHEMA,
    )


def state_of(events: int, batches: int, seconds: float, **changed: Any) -> tuple[int, int, int]:
    """Events of a minute that all wait: bytes of state, bytes written and read for them."""
    stream, storage, read, written = slide(**changed), Memory(), 0, 0
    for number in range(batches):
        batch = batch_of(1000 + number * seconds, seconds, events, number)
        step = stream.advance(storage, [batch], 0)
        read, written = read + step.bytes_read, written + step.bytes_written
    return sum(map(len, storage.values())), written, read


def test_a_dense_slice_takes_no_more_state_than_a_sparse_one() -> None:
    few, few_written, _read = state_of(events=20, batches=6, seconds=10)
    many, many_written, _read = state_of(events=1000, batches=6, seconds=10)
    # Floats that were added up are as long as those that were not, and maxima of more of them.
    assert many <= 1.1 * few
    assert many_written <= 1.1 * few_written
    in_order, in_order_written, _read = state_of(
        events=1000, batches=6, seconds=10, aggs=[*ASKED["aggs"], wr.last("v")]
    )
    assert many * 50 < in_order
    assert many_written * 50 < in_order_written


def test_events_of_a_slice_that_come_a_few_at_a_time_become_cells_as_they_are_merged() -> None:
    """An event of each key in a batch, 400 batches in a slice."""
    asked: dict[str, Any] = {"windows": wr.time("1 hour", every="10 minutes")}
    late = {**asked, "aggs": [*ASKED["aggs"], wr.last("v")]}
    held, written, read = state_of(events=1, batches=400, seconds=1, **asked)
    held_in_order, written_in_order, read_in_order = state_of(
        events=1, batches=400, seconds=1, **late
    )
    assert held * 5 < held_in_order
    assert written < written_in_order
    assert read < read_in_order


def test_an_event_of_each_key_and_slice_waits_as_it_is() -> None:
    stream, storage = slide(), Memory()
    stream.advance(storage, [batch_of(1000, 10, 1, 0)], 0)
    assert OPEN_CELLS not in map(kind_of, storage)
    assert summary(storage).waiting == KEYS


def test_events_are_combined_once_before_their_slice_is_final() -> None:
    """The combines of a query whose events wait as cells, beside one whose events wait."""
    counts = {}
    for gain in (2, 10**6):
        stream, storage = slide(), Memory()
        with sizes.using(cells_gain=gain), counted_combines() as combines:
            for number in range(6):
                stream.advance(storage, [batch_of(1005 + number * 10, 10, 50, number)], 0)
            answers = stream.advance(storage, [], THE_END).answers
        counts[gain] = combines.number
        assert sum(table.num_rows for table in answers) == KEYS * (7 + 5)
    # A batch has parts of two slices, so a slice has parts in two batches.
    assert counts[2] <= counts[10**6] + 5 * KEYS


def test_what_waits_can_be_looked_at() -> None:
    stream, storage = slide(), Memory()
    stream.advance(storage, [batch_of(1000, 20, 100, 0)], 0)
    found = summary(storage)
    assert found.keys == KEYS
    # Two slices of ten seconds.
    assert found.waiting == 2 * KEYS
    assert (found.oldest, found.newest) == (1000, 1020)
    assert "events wait in any order" in found.query


# Which queries ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changed",
    [
        {"aggs": [wr.sum("v"), wr.first("v")]},
        {"windows": {"a": ASKED["windows"], "b": wr.session("5 seconds")}},
        {"windows": {"a": ASKED["windows"], "b": wr.expanding(every="10 seconds")}},
    ],
    ids=["order matters", "rows beside", "totals beside"],
)
def test_who_needs_events_has_them(changed: dict[str, Any]) -> None:
    stream, storage = slide(**changed), Memory()
    stream.advance(storage, [batch_of(1000, 10, 100, 0)], 0)
    assert OPEN_CELLS not in map(kind_of, storage)
    assert summary(storage).waiting == 100 * KEYS
    assert "partials of them" not in str([each.writes for each in stream.describe()])


def test_a_plan_says_what_waits() -> None:
    assert "or partials of them where a slice has several" in slide().describe()[0].writes
