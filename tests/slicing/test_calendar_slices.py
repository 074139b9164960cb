"""Slices by the calendar: no window begins or ends inside one, and they are as long as can be."""

from itertools import product

import numpy as np
import pytest

from windrow.slicing import Slices
from windrow.slicing.calendar import CalendarSchedule, Length
from windrow.slicing.calendar_slices import CalendarSlices, numbers_of, slices_for, slices_of

DAY = 86_400
LENGTHS = [
    Length(1, 0),
    Length(3, 0),
    Length(12, 0),
    Length(0, 1),
    Length(0, 7),
    Length(0, 10),
    Length(0, 70),
]
SCHEDULES = [CalendarSchedule(*lengths) for lengths in product(LENGTHS, LENGTHS)]
SCHEDULES += [
    CalendarSchedule(Length(0, 7), Length(0, 14), 6),
    CalendarSchedule(*[Length(7, 0)] * 2),
]


def edges(schedule: CalendarSchedule) -> set[int]:
    numbers = np.arange(schedule.firsts(np.array([-900]))[0], schedule.lasts(np.array([900]))[0])
    return {*schedule.begins(numbers).tolist(), *schedule.ends(numbers).tolist()}


@pytest.mark.parametrize("step", [1, 2, 3])
def test_windows_begin_and_end_with_slices(step: int) -> None:
    """Of one schedule, and of two that share slices."""
    for one, other in zip(SCHEDULES, SCHEDULES[step:], strict=False):
        shared = slices_for([one] if step == 1 else [one, other])
        for day in edges(one):
            number = shared.lasts(np.array([day]))
            assert shared.begins(number).tolist() == [day]


@pytest.mark.parametrize(
    ("schedules", "expected"),
    [
        ([("year", "year"), ("year", "quarter")], Length(3, 0)),
        ([("month", "month")], Length(1, 0)),
        ([("month", "day")], Length(0, 1)),
        ([("month", "month"), ("week", "week")], Length(0, 1)),
        ([("week", "week")], Length(0, 7)),
        ([("week", "week"), ("day", "day")], Length(0, 1)),
    ],
)
def test_slices_are_long(schedules: list[tuple[str, str]], expected: Length) -> None:
    units = {
        "year": Length(12, 0), "quarter": Length(3, 0), "month": Length(1, 0),
        "week": Length(0, 7), "day": Length(0, 1),
    }  # fmt: skip
    asked = [CalendarSchedule(units[length], units[every]) for length, every in schedules]
    assert slices_for(asked).slide == expected


def test_weeks_that_begin_on_other_days_share_days() -> None:
    weeks = [CalendarSchedule(Length(0, 7), Length(0, 7), start) for start in (0, 6)]
    assert slices_for(weeks[:1]).slide == Length(0, 7)
    assert slices_for(weeks).slide == Length(0, 1)


def test_slices_are_stored_as_numbers() -> None:
    month = slices_for([CalendarSchedule(Length(1, 0), Length(1, 0))])
    for slices in (
        CalendarSlices(month, "Europe/Berlin", 1_000),
        CalendarSlices(month, None, 86_400 * 10**9),
        Slices(5, (1, 3)),
    ):
        assert slices_of(numbers_of(slices, 1_000))[1] == (
            slices if isinstance(slices, Slices) else CalendarSlices(month, slices.timezone, 1_000)
        )
