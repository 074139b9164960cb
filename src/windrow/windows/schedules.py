"""Windows whose begins and ends are known before any event: by a clock, or by a calendar.

A schedule names its windows by numbers that grow from window to window, one `step` apart. Streams
ask it which windows ended, and which of them hold cells (`stream/slices/`). Times are in ticks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from windrow.slicing import PeriodicWindow
from windrow.slicing.calendar import CalendarSchedule, LocalDays
from windrow.windows.numbered import NumberedWalk
from windrow.windows.periods import held_between

Array = np.ndarray[Any, Any]


class Calendar(NamedTuple):
    """Windows by a calendar, on the clock of a zone; None if times are local already."""

    schedule: CalendarSchedule
    timezone: str | None


class Schedule(ABC):
    """The windows of a schedule."""

    #: how far apart names are
    step: int

    @abstractmethod
    def first_open(self, frontier: int) -> int:
        """The name of the first window that ends behind a time."""

    @abstractmethod
    def first_of(self, time: int) -> int:
        """The name of the oldest window that holds a time; in a gap, of the next."""

    @abstractmethod
    def holds(self, times: Array) -> Array:
        """For each time, whether some window holds it: false only in gaps."""

    @abstractmethod
    def bounds(self, names: Array) -> tuple[Array, Array]:
        """When windows begin and end."""

    @abstractmethod
    def held(self, starts: Array, times: Array, low: int, high: int) -> tuple[Array, Array, Array]:
        """The windows from `low` to `high` that hold a row: their names, firsts and stops.

        Rows are sorted by key and time; `starts` are where keys begin (see `key_runs`).
        """

    def begin(self, name: int) -> int:
        """When one window begins."""
        return int(self.bounds(np.array([name]))[0][0])

    def end(self, name: int) -> int:
        """When one window ends."""
        return int(self.bounds(np.array([name]))[1][0])


@dataclass(frozen=True)
class ClockSchedule(Schedule):
    """Windows one slide apart; their names are their begins."""

    window: PeriodicWindow

    @property
    def step(self) -> int:  # type: ignore[override]
        """One slide."""
        return self.window.slide

    def first_open(self, frontier: int) -> int:
        """The first window that ends behind a time."""
        return self.window.first_open(frontier)

    def first_of(self, time: int) -> int:
        """The oldest window that holds a time."""
        return int(self.window.first_starts(np.array([time]))[0])

    def holds(self, times: Array) -> Array:
        """For each time, whether some window holds it."""
        return self.window.holds(times)

    def bounds(self, names: Array) -> tuple[Array, Array]:
        """When windows begin and end."""
        return names, names + self.window.range

    def held(self, starts: Array, times: Array, low: int, high: int) -> tuple[Array, Array, Array]:
        """The windows from `low` to `high` that hold a row."""
        return held_between(starts, times, self.window.range, self.window.slide, low, high)


@dataclass(frozen=True)
class CalendarTimes(Schedule):
    """Windows by a calendar; their names are their numbers."""

    calendar: Calendar
    tick: int

    step = 1

    @cached_property
    def _days(self) -> LocalDays:
        return LocalDays(self.calendar.timezone, self.tick)

    def first_open(self, frontier: int) -> int:
        """The first window that ends behind a time."""
        return self.first_of(frontier)

    def first_of(self, time: int) -> int:
        """The oldest window that holds a time."""
        return int(self.calendar.schedule.firsts(self._days.of(np.array([time])))[0])

    def holds(self, times: Array) -> Array:
        """For each time, whether some window holds it."""
        first, last = self.numbers(times)
        return first <= last

    def numbers(self, times: Array) -> tuple[Array, Array]:
        """For each time, the first and the last window that hold it."""
        days, schedule = self._days.of(times), self.calendar.schedule
        return schedule.firsts(days), schedule.lasts(days)

    def bounds(self, names: Array) -> tuple[Array, Array]:
        """When windows begin and end."""
        schedule, days = self.calendar.schedule, self._days
        return days.begins(schedule.begins(names)), days.begins(schedule.ends(names))

    def held(self, starts: Array, times: Array, low: int, high: int) -> tuple[Array, Array, Array]:
        """The windows from `low` to `high` that hold a row."""
        first, last = self.numbers(times)
        walk = NumberedWalk(starts, np.maximum(first, low), np.minimum(last, high))
        return walk.all(lambda _answers: None)

    def fits(self, times: Array, bits: int) -> bool:
        """Whether a type of so many bits holds the begins and ends of windows that hold times."""
        days = self._days.of(np.array([times.min(), times.max()]))
        reach = self.calendar.schedule.range.most_days + self.calendar.schedule.slide.most_days + 1
        return self._days.fits(days + np.array([-reach, reach]), bits)
