"""Events of a stream come out in order, and late ones not at all."""

import datetime as dt
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr


def oracle(times: list[int], lateness: int) -> tuple[list[tuple[int, int]], int]:
    """The events that are not late, by time and then by arrival, and the number of the others."""
    kept = [
        (time, place)
        for place, time in enumerate(times)
        if all(time >= before - lateness for before in times[:place])
    ]
    return sorted(kept), len(times) - len(kept)


@given(st.lists(st.integers(-20, 20)), st.integers(0, 25))
def test_what_is_not_late_comes_out_in_order(times: list[int], lateness: int) -> None:
    events = [(time, place) for place, time in enumerate(times)]
    stream = wr.in_order(events, order=lambda event: event[0], lateness=lateness)
    assert (list(stream), stream.late) == oracle(times, lateness)


@given(st.lists(st.integers(-20, 20), min_size=1), st.integers(0, 25))
def test_an_event_is_released_as_soon_as_it_is_final(times: list[int], lateness: int) -> None:
    read: list[int] = []

    def source() -> Iterator[int]:
        for time in times:
            read.append(time)
            yield time

    stream = wr.in_order(source(), order=lambda time: time, lateness=lateness)
    for released in stream:
        if len(read) < len(times):
            assert released <= max(read) - lateness
            # Before the newest was read it was not final, or it is the newest itself.
            assert len(read) == 1 or released >= max(read[:-1]) - lateness
        assert all(released <= time or time < max(read) - lateness for time in times[len(read) :])


def test_ties_keep_the_order_of_arrival_and_are_not_compared() -> None:
    events = [{"t": 1, "n": 0}, {"t": 0, "n": 1}, {"t": 1, "n": 2}, {"t": 1, "n": 3}]
    stream = wr.in_order(events, order="t", lateness=1)
    assert [event["n"] for event in stream] == [1, 0, 2, 3]


def test_an_event_exactly_as_late_as_allowed_is_not_late() -> None:
    stream = wr.in_order([5, 3, 2], order=lambda time: time, lateness=2)
    assert (list(stream), stream.late) == ([3, 5], 1)


@pytest.mark.parametrize(
    "lateness", ["2 seconds", dt.timedelta(seconds=2), "1999999999 nanoseconds"]
)
def test_times_and_durations(lateness: Any) -> None:
    start = dt.datetime(2012, 2, 22, tzinfo=dt.UTC)
    events = [SimpleNamespace(at=start + dt.timedelta(seconds=s)) for s in (4, 2, 1, 3, 9)]
    stream = wr.in_order(events, order="at", lateness=lateness)
    assert [(event.at - start).seconds for event in stream] == [2, 3, 4, 9]
    assert stream.late == 1


def test_an_endless_stream_is_read_only_as_far_as_needed() -> None:
    def endless() -> Iterator[int]:
        time = 0
        while True:
            yield time ^ 1
            time += 1

    stream = wr.in_order(endless(), order=lambda time: time, lateness=1)
    assert [next(stream) for _ in range(100)] == list(range(100))
    assert len(stream) <= 3


def test_no_events() -> None:
    stream = wr.in_order([], order="t", lateness=0)
    assert (list(stream), list(stream), stream.late) == ([], [], 0)


def test_windows_take_a_stream_in_order() -> None:
    stream = wr.in_order([2, 1, 4, 3, 1], order=lambda time: time, lateness=1)
    window = wr.Window(wr.sum())
    answers = []
    for time in stream:
        window.insert(time)
        if len(window) > 2:
            window.evict()
        answers.append(window.query())
    assert (answers, stream.late) == ([1, 3, 5, 7], 1)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"events": 5}, "events: something to iterate over is needed, not 5"),
        ({"order": 5}, "order: a function of an event or the name of its field is needed, not 5"),
        ({"order": "time"}, "order: {'t': 1} has no 'time'"),
        ({"events": [{"t": None}]}, "order: None of {'t': None} is no time to order it by"),
        ({"events": [{"t": float("nan")}]}, "order: nan of {'t': nan} is no time to order it by"),
        ({"lateness": -1}, "lateness: it is at least zero, not -1"),
        ({"lateness": float("nan")}, "lateness: it is at least zero, not nan"),
        ({"lateness": "1 month"}, "lateness: '1 month' has no fixed length"),
        (
            {"lateness": "1 minute"},
            "lateness: a duration cannot be taken from 1, by which an event",
        ),
        (
            {"events": [{"t": dt.datetime(2024, 1, 1)}]},
            "lateness: a number cannot be taken from datetime.datetime(2024, 1, 1, 0, 0), by which",
        ),
        ({"events": [{"t": "noon"}]}, "lateness: a number cannot be taken from 'noon', by which"),
        (
            {
                "events": [{"t": dt.datetime(2024, 1, 1, tzinfo=zone)} for zone in (dt.UTC, None)],
                "lateness": "1 minute",
            },
            "order: datetime.datetime(2024, 1, 1, 0, 0) of {'t': datetime.datetime(2024, 1, 1, 0, "
            "0)} cannot be compared with those before",
        ),
        ({"lateness": None}, "lateness: a number, a duration such as '10 seconds' or a timedelta"),
    ],
)
def test_bad_arguments_are_named(changed: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {"events": [{"t": 1}], "order": "t", "lateness": 1}
    arguments = {**good, **changed}
    with pytest.raises(wr.InvalidArgument) as raised:
        list(wr.in_order(arguments.pop("events"), **arguments))
    assert str(raised.value).startswith(message)
