"""A stream in one process answers what a table of the same events would, each answer once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.examples import examples
from tests.support.over import oracle as over_oracle
from tests.support.slide import oracle as slide_oracle
from tests.support.stream.iterated import Iterated, iterated
from tests.support.stream.model import BINS_SMALL, WAITING_SMALL, accepted, arrived, length
from tests.support.stream.over_check import in_order
from tests.support.stream.strategies import (
    WITH_OBJECTS,
    any_around,
    any_sliding,
    any_trailing,
    clocks,
    has_others,
    streams,
    trailing,
)
from windrow.engine import live_slides
from windrow.stream import sizes
from windrow.stream.live import over_live
from windrow.windows import Window
from windrow.work import sizes as work_sizes

# Interpreted, numbers are numpy's, which warn where a kernel is silent.
pytestmark = [
    pytest.mark.usefixtures("interpreted"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]


def late_of(lateness: int) -> str:
    return f"{lateness} milliseconds"


def check_over(example: Iterated, shards: int | None, kept: bool = False) -> wr.Stream:
    """A stream answers as the oracle does, and counts what is late."""
    stream = example.watermarked(of_moments=True)
    found: wr.Stream = wr.over(
        iter(example.batches),
        **stream.arguments,
        lateness=late_of(example.lateness),
        shards=shards,
        checkpoint=wr.stores.MemoryStore() if kept else None,
    )
    rows = [row for batch in found for row in batch.to_pylist()]
    day = length(stream.batches[0][0].schema.field("o0").type)
    events, late = arrived(stream, lambda time: time + day)
    assert found.late == late
    assert found.untimed == sum(batch["o0"].null_count for batch in example.batches)
    assert sorted(row["id"] for row in rows) == sorted(events["id"].to_pylist())
    in_order(rows, stream)
    expected = over_oracle.over(events, **stream.arguments) if events.num_rows else {}
    places = {number: place for place, number in enumerate(events["id"].to_pylist())}
    for row in rows:
        for name, answers in expected.items():
            assert over_oracle.agree(answers[places[row["id"]]], row[name]), f"{name} of {row}"
    return found


def check_slide(example: Iterated, shards: int | None, kept: bool = False) -> wr.Stream:
    """The same for windows that slide; those that were open at the end are answered, too."""
    of_moments = has_others(example.stream)
    stream = example.watermarked(of_moments)
    found: wr.Stream = wr.slide(
        iter(example.batches),
        **stream.arguments,
        lateness=late_of(example.lateness),
        shards=shards,
        checkpoint=wr.stores.MemoryStore() if kept else None,
    )
    answers = pa.Table.from_batches(list(found), found.schema)
    day = length(stream.batches[0][0].schema.field("o0").type)
    events, late = arrived(stream, lambda time: time + day) if of_moments else accepted(stream)
    assert found.late == late
    slide_oracle.assert_agrees(slide_oracle.slide(events, **stream.arguments), answers, stream.key)
    return found


def shards_of(example: Iterated, several: bool) -> int | None:
    return 2 if several and example.stream.key else None


@given(
    iterated([streams(trailing), streams(any_trailing), streams(any_around, WITH_OBJECTS)]),
    st.booleans(),
)
@examples(40)
def test_over(example: Iterated, small: bool) -> None:
    """Rows, slices, totals, and windows that end behind their row: the last of them, too."""
    with sizes.using(**(BINS_SMALL | WAITING_SMALL if small else {})):
        check_over(example, shards_of(example, small), kept=small)


@given(iterated([streams(clocks), streams(any_sliding)]), st.booleans())
@examples(40)
def test_slide(example: Iterated, small: bool) -> None:
    """Slices, rows and totals."""
    with sizes.using(**(BINS_SMALL | WAITING_SMALL if small else {})):
        check_slide(example, shards_of(example, small), kept=small)


# Live windows ------------------------------------------------------------------------------------

#: their partials are numbers, and no answer is a value of another row
OF_NUMBERS = ("count", "sum", "max", "mean")


@st.composite
def at_their_row(draw: st.DrawFn, unit: int) -> Window:
    if draw(st.booleans()):
        return wr.rows(draw(st.integers(1, 12) | st.just(2**70)))
    halves = draw(st.integers(1, 60) | st.just(2 * 10**6))
    return wr.time(
        f"{halves * unit // 2} nanoseconds", closed=draw(st.sampled_from(["right", "both"]))
    )


def on_cores(several: bool) -> AbstractContextManager[None]:
    """Few keys are answered by several threads, or by one."""
    return work_sizes.using(cores=3, smallest_piece=2) if several else nullcontext()


def live(example: Iterated) -> Iterated:
    """The example with what live windows answer."""
    stream = example.stream
    aggs = [each for each in stream.aggs if each.aggregation.name != "arg_max"]
    return replace(example, stream=replace(stream, aggs=aggs))


def is_live(stream: wr.Stream) -> bool:
    assert stream._run is not None
    return all(each.way.startswith("live") for each in stream._run.query.describe())


@given(iterated([streams(at_their_row, OF_NUMBERS)]).map(live), st.booleans())
@examples(40)
def test_live_windows_that_end_at_their_row(example: Iterated, several: bool) -> None:
    """Of rows and of time; keys that are not needed are forgotten at once."""
    with patch.object(over_live, "_FEW_KEYS", 0), on_cores(several):
        assert is_live(check_over(example, shards_of(example, several)))


@given(iterated([streams(clocks, OF_NUMBERS)]).map(live), st.booleans())
@examples(40)
def test_live_windows_by_a_clock(example: Iterated, several: bool) -> None:
    """One window; keys that hold nothing are forgotten at once."""
    [name, window], *_others = example.stream.windows.items()
    example = replace(example, stream=replace(example.stream, windows={name: window}))
    with patch.object(live_slides, "_FEW_KEYS", 0), on_cores(several):
        assert is_live(check_slide(example, shards_of(example, several)))


@pytest.mark.parametrize("call", [wr.slide, wr.over])
def test_memory_of_keys_that_come_and_go(call: Any) -> None:
    """A thousand keys in each minute, each for a minute: as much as in the first minutes."""
    window = wr.time("1 minute", every="1 minute" if call is wr.slide else None)

    def batches() -> Iterator[pa.Table]:
        for number in range(16):
            times = pa.array([number * 60_000] * 1000).cast(pa.timestamp("ms"))
            keys = [f"{number}-{key}" for key in range(1000)]
            yield pa.table({"k": keys, "ts": times, "x": [1.0] * 1000})

    stream = call(
        batches(), key="k", order="ts", windows=window, aggs=wr.sum("x"), lateness="1 second"
    )
    rooms = []
    for answers in stream:
        assert set(answers["sum_x"].to_pylist()) == {1.0}
        [kept] = stream._run.shards[0]._objects.values()
        live = kept.slides.live if call is wr.slide else kept.windows["time_1_minute"].live
        rooms.append((len(kept.keys), len(live.ring[0])))
    assert max(rooms[6:]) <= max(rooms[:6])
    assert max(keys for keys, _room in rooms) <= 4_000
