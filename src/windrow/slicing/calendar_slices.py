"""Slices by the calendar: the longest runs of local days that no window of some schedules cuts.

    every month, 3 months long     |-----------|-----------|          slices of 1 month
    every year                     |------------------------- ...
    every day, 1 month long        |-|-|-|-|-|-|-|-|-|-|-|-|          with it: slices of 1 day

They offer what `Slices` does, in ticks. A slice is as long as its months and days are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from windrow.slicing.calendar import CalendarSchedule, Length, LocalDays
from windrow.slicing.periodic import Integers
from windrow.slicing.slices import Slices

#: where slices that repeat have their period
_CALENDAR = 0


@dataclass(frozen=True)
class CalendarSlices:
    """Slices of one length each, on the clock of a zone.

    Attributes:
        schedule: the slices as windows, of which each begins where the one before ends.
        timezone: whose clock; None if times are local already.
        tick: what one step of time means, in nanoseconds.
    """

    schedule: CalendarSchedule
    timezone: str | None
    tick: int

    @cached_property
    def _days(self) -> LocalDays:
        return LocalDays(self.timezone, self.tick)

    def slice_of(self, times: Integers) -> Integers:
        """The number of the slice that holds each time."""
        return self.schedule.lasts(self._days.of(times))

    def slice_at(self, time: int) -> int:
        """The number of the slice that holds one time."""
        return int(self.slice_of(np.array([time]))[0])

    def starts(self, numbers: Integers) -> Integers:
        """When each slice begins."""
        return self._days.begins(self.schedule.begins(numbers))

    def ends(self, numbers: Integers) -> Integers:
        """When each slice ends, which is when the next begins."""
        return self.starts(numbers + 1)


def slices_for(schedules: Sequence[CalendarSchedule]) -> CalendarSchedule:
    """The slices that the windows of some schedules share.

    >>> year, quarter = Length(12, 0), Length(3, 0)
    >>> slices_for([CalendarSchedule(year, year), CalendarSchedule(year, quarter)]).slide
    Length(months=3, days=0)
    """
    lengths = [length for each in schedules for length in (each.range, each.slide)]
    if all(length.months for length in lengths):
        return _tumbling(Length(math.gcd(*(length.months for length in lengths)), 0))
    if any(length.months for length in lengths):
        return _tumbling(Length(0, 1))
    first, *others = schedules
    apart = [each.first_day - first.first_day for each in others]
    found = _tumbling(
        Length(0, math.gcd(*(length.days for length in lengths), *apart)), first.week_start
    )
    if (found.first_day - first.first_day) % found.slide.days:
        return _tumbling(Length(0, 1))
    return found


def _tumbling(length: Length, week_start: int = 0) -> CalendarSchedule:
    return CalendarSchedule(length, length, week_start)


# Slices as numbers -------------------------------------------------------------------------------


def numbers_of(slices: Slices | CalendarSlices, tick: int) -> list[int]:
    """Slices as a list of integers, to be stored; `tick` is theirs."""
    if isinstance(slices, Slices):
        return [tick, slices.period, *slices.edges]
    months, days = slices.schedule.slide
    zone = (slices.timezone or "").encode()
    return [tick, _CALENDAR, months, days, slices.schedule.week_start, *zone]


def slices_of(numbers: Sequence[int]) -> tuple[int, Slices | CalendarSlices]:
    """Their tick, and slices from a list of integers."""
    tick, period, *rest = numbers
    if period != _CALENDAR:
        return tick, Slices(period, tuple(rest))
    months, days, week_start, *zone = rest
    schedule = _tumbling(Length(months, days), week_start)
    return tick, CalendarSlices(schedule, bytes(zone).decode() or None, tick)
