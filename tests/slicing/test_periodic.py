"""Periodic windows: where they start and end, before 1970 and at the ends of 64 bits."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.slicing.enumeration import enumerated, intervals, periodic_windows
from windrow.errors import InvalidArgument
from windrow.slicing import LIMIT, PeriodicWindow
from windrow.slicing.periodic import progression

EXTREMES = np.iinfo(np.int64)
extents = st.integers(1, LIMIT - 1)
times_of_62_bits = st.integers(-LIMIT, LIMIT)


@given(periodic_windows(), intervals())
def test_starts_and_ends_are_those_of_all_windows(
    window: PeriodicWindow, interval: tuple[int, int]
) -> None:
    low, high = interval
    windows = list(enumerated(window, low, high))
    assert window.starts_between(low, high).tolist() == [
        start for start, _ in windows if low <= start < high
    ]
    assert window.ends_between(low, high).tolist() == [
        end for _, end in windows if low <= end < high
    ]
    assert window.windows_ending_in(low, high).tolist() == [
        start for start, end in windows if low <= end < high
    ]
    assert window.windows_meeting(low, high).tolist() == [
        start for start, end in windows if low < high and start < high and end > low
    ]


@given(periodic_windows(), intervals())
def test_windows_of_each_time(window: PeriodicWindow, interval: tuple[int, int]) -> None:
    low, high = interval
    times = np.arange(low, high)
    first, last, held = window.first_starts(times), window.last_starts(times), window.holds(times)
    for index, time in enumerate(range(low, high)):
        starts = [start for start, end in enumerated(window, low, high) if start <= time < end]
        assert window.window_starts_of(time).tolist() == starts
        assert list(range(first[index], last[index] + 1, window.slide)) == starts
        assert held[index] == bool(starts)


def sparks_window_starts(time: int, window: PeriodicWindow) -> list[int]:
    """The expression that Spark rewrites F.window to, TimeWindowing in its analyzer."""
    remainder = abs(time - window.offset) % window.slide
    if time - window.offset < 0:
        remainder = -remainder
    last = time - (remainder + window.slide if remainder < 0 else remainder)
    candidates = [last - i * window.slide for i in range(-(-window.range // window.slide))]
    return sorted(start for start in candidates if start <= time < start + window.range)


@given(periodic_windows(), st.integers(-1000, 1000))
def test_time_windows_are_those_of_spark(window: PeriodicWindow, time: int) -> None:
    assert window.window_starts_of(time).tolist() == sparks_window_starts(time, window)


@given(st.integers(1, 30), st.integers(1, 30), st.integers(1, 10))
def test_row_windows_answer_after_every_slide(extent: int, slide: int, answers: int) -> None:
    window = PeriodicWindow.of_rows(extent, slide)
    ends = window.ends_between(1, answers * slide + 1)
    assert ends.tolist() == [slide * answer for answer in range(1, answers + 1)]


@given(extents, extents, times_of_62_bits, times_of_62_bits)
def test_nothing_overflows_up_to_62_bits(extent: int, slide: int, offset: int, time: int) -> None:
    window = PeriodicWindow(extent, slide, offset)
    phase = (time - offset) % slide
    last = time - phase
    first = last - (extent - 1 - phase) // slide * slide
    times = np.array([time])
    assert window.last_starts(times).tolist() == [last]
    assert window.first_starts(times).tolist() == [first]
    assert window.holds(times).tolist() == [phase < extent]
    if extent // slide < 1000:
        assert window.window_starts_of(time).tolist() == list(range(first, last + 1, slide))


@pytest.mark.parametrize("time", [EXTREMES.max, 0, -1, EXTREMES.min + LIMIT])
def test_the_last_start_of_any_64_bit_time(time: int) -> None:
    window = PeriodicWindow(7, LIMIT - 1, LIMIT - 2)
    expected = time - (time - window.offset) % window.slide
    assert window.last_starts(np.array([time])).tolist() == [expected]


def test_a_progression_counts_in_integers() -> None:
    step, count = 2**40, 2**20
    # One more than a multiple of the step: as floats, the quotient rounds to the multiple.
    assert len(np.arange(0, step * count + 1, step)) == count
    found = progression(0, step, 0, step * count + 1)
    assert (len(found), found[-1]) == (count + 1, step * count)
    assert progression(5, 7, -LIMIT, -LIMIT + 7).dtype == np.int64


def test_equal_windows_compare_equal() -> None:
    assert PeriodicWindow(10, 4, -1) == PeriodicWindow(10, 4, 3) == PeriodicWindow(10, 4, 7)
    assert PeriodicWindow(np.int64(10), np.int64(4)) == PeriodicWindow(10, 4)  # type: ignore[arg-type]
    assert type(PeriodicWindow(np.int64(10), 4).range) is int  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 1), "range: at least 1 and less than 2^62, not 0"),
        ((1, -1), "slide: at least 1 and less than 2^62, not -1"),
        ((2**62, 1), "range: at least 1 and less than 2^62, not 4611686018427387904"),
        ((1.5, 1), "range: a number of rows or ticks, not 1.5"),
        ((1, True), "slide: a number of rows or ticks, not True"),
        ((1, 1, "1"), "offset: a number of rows or ticks, not '1'"),
    ],
)
def test_what_is_no_window(arguments: Any, message: str) -> None:
    with pytest.raises(InvalidArgument) as raised:
        PeriodicWindow(*arguments)
    assert str(raised.value) == message
