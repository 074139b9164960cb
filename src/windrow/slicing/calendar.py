"""Windows by the calendar: lengths of months or days, counted on a zone's clock.

Local days have numbers: 1970-01-01 is day 0. A window holds whole days, from the day on which it
begins to the day before which it ends, and windows have numbers too, in the order of their begins:

    every month    number 23640 begins on 1970-01-01; 12 windows a year
    every 2 weeks  number 0 begins on 1970-01-05, the first Monday of 1970

So all questions about windows are questions about days, and `LocalDays` is the only place where
days become instants. Months have no fixed length. Where a month has no such day, its last day
stands for it: one month after January 31 is February 28 or 29.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from windrow.slicing.periodic import Integers
from windrow.slicing.zones import DAY, zone

#: months from the beginning of the year 0 to 1970
_MONTHS_BEFORE_EPOCH = 1970 * 12
#: the weekday of day 0, counted from Monday
_WEEKDAY_OF_EPOCH = 3
_Found = TypeVar("_Found", bound=NDArray[Any])
_NANOSECONDS_PER_DAY = DAY * 10**9
#: seconds from the epoch to where no calendar is needed
_FAR = 2**60


class Length(NamedTuple):
    """So many months, or so many days; one of them is 0."""

    months: int
    days: int

    def after(self, days: Integers) -> Integers:
        """The day that is one length after each day."""
        return _months_later(days, self.months) if self.months else days + self.days

    def back(self, days: Integers) -> Integers:
        """The day that is one length before each day."""
        return _months_later(days, -self.months) if self.months else days - self.days

    def last_over(self, days: Integers) -> Integers:
        """The last day of which one length later is at or before each day."""
        if not self.months:
            return days - self.days
        month, place = _in_month(days)
        last = _length(month - self.months) - 1
        # On the last day of a month, all days that stand back behind it have their length over.
        place = np.where(place == _length(month) - 1, last, np.minimum(place, last))
        return _first_day(month - self.months) + place

    @property
    def most_days(self) -> int:
        """No length has more days than this."""
        return self.months * 31 + self.days


class LocalDays:
    """Between the ticks of a column and local days; without a zone, times are local already."""

    def __init__(self, timezone: str | None, tick: int) -> None:
        """`tick` is what one step of time means, in nanoseconds."""
        self._zone = None if timezone is None else zone(timezone)
        self._per_day = _NANOSECONDS_PER_DAY // tick
        self._per_second = max(10**9 // tick, 1)

    def of(self, times: Integers) -> Integers:
        """The local day of each time."""
        if self._zone is None:
            return times // self._per_day
        return self._zone.days(np.clip(times // self._per_second, -_FAR, _FAR))

    def begins(self, days: Integers) -> Integers:
        """When each day begins; beyond 64 bits, at their end."""
        most = self._most_days(64)
        days = np.clip(days, -most, most)
        if self._zone is None:
            return days * self._per_day
        return self._zone.begins(days) * self._per_second

    def fits(self, days: Integers, bits: int) -> bool:
        """Whether a type of so many bits holds the begins of days."""
        most = self._most_days(bits)
        return not len(days) or (-most <= int(days.min()) and int(days.max()) <= most)

    def _most_days(self, bits: int) -> int:
        return min((1 << (bits - 1)) // self._per_day, _FAR // (2 * DAY)) - 2

    def back(self, times: Integers, length: Length) -> tuple[Integers, Integers]:
        """One length before each time, by the clock; and the earliest that is so then or later.

        Time before may go back: March 28 and 29 are both one month after February 28. The second
        may be somewhat earlier than need be, and never goes back.
        """
        local, returns = self._locals(times)
        day = local // self._per_day
        found = self._from_local(by_day(length.back, day), local)
        earliest = found.copy()
        redone = np.flatnonzero((returns < local) | by_day(partial(_stays, length), day))
        local = returns[redone]
        day = local // self._per_day
        # If the day after stands for the same day, its midnight is yet to come.
        local = np.where(by_day(partial(_stays, length), day), day * self._per_day, local)
        earliest[redone] = self._from_local(by_day(length.back, day), local)
        return found, earliest

    def _locals(self, times: Integers) -> tuple[Integers, Integers]:
        """The local time at each time; and the earliest then or later."""
        if self._zone is None:
            return times, times
        seconds, rest = np.divmod(times, self._per_second)
        local, returns = self._zone.locals_and_returns(seconds)
        earliest = returns * self._per_second + np.where(returns < local, 0, rest)
        return local * self._per_second + rest, earliest

    def _from_local(self, days: Integers, local: Integers) -> Integers:
        """When some days begin to have the time of day that local times have."""
        most = self._most_days(64)
        moved = np.clip(days, -most, most) * self._per_day + local % self._per_day
        if self._zone is None:
            return moved
        seconds, rest = np.divmod(moved, self._per_second)
        found, leapt = self._zone.instants(seconds)
        # Where the clock leaps over a time, the first instant behind the leap stands for it.
        return found * self._per_second + np.where(leapt, 0, rest)


@dataclass(frozen=True)
class CalendarSchedule:
    """The windows of one range that begin one slide apart, by number.

    Attributes:
        range: how long each is.
        slide: how far apart they begin.
        week_start: the weekday on which weeks begin, counted from Monday.
    """

    range: Length
    slide: Length
    week_start: int = 0

    def begins(self, numbers: Integers) -> Integers:
        """The days on which windows begin."""
        if self.slide.months:
            return _first_day(numbers * self.slide.months - _MONTHS_BEFORE_EPOCH)
        return self.first_day + numbers * self.slide.days

    def ends(self, numbers: Integers) -> Integers:
        """The days before which windows end."""
        return self.range.after(self.begins(numbers))

    def firsts(self, days: Integers) -> Integers:
        """The number of the first window that ends behind each day."""
        return by_day(lambda each: self._lasts(self.range.last_over(each)) + 1, days)

    def lasts(self, days: Integers) -> Integers:
        """The number of the last window that begins at or before each day.

        The windows that hold a day are those from its first to its last; in a gap there are none.
        """
        return by_day(self._lasts, days)

    @property
    def has_weeks(self) -> bool:
        """Whether windows begin with weeks."""
        return not self.slide.months and self.slide.days % 7 == 0

    @property
    def first_day(self) -> int:
        """If windows begin days apart, one on which one does: of weeks, their first in 1970."""
        return (self.week_start - _WEEKDAY_OF_EPOCH) % 7 if self.has_weeks else 0

    def _lasts(self, days: Integers) -> Integers:
        if self.slide.months:
            return (_in_month(days)[0] + _MONTHS_BEFORE_EPOCH) // self.slide.months
        return (days - self.first_day) // self.slide.days


def by_day(function: Callable[[Integers], _Found], days: Integers) -> _Found:
    """What a function says of each day, asked once for each where days are few."""
    if not len(days):
        return function(days)
    low, high = int(days.min()), int(days.max())
    if high - low >= len(days):
        return function(days)
    found: Any = function(np.arange(low, high + 1))
    return found[days - low]  # type: ignore[no-any-return]


def _stays(length: Length, days: Integers) -> NDArray[np.bool_]:
    """Of which days the day after is one length after the same day."""
    stays: NDArray[np.bool_] = length.back(days + 1) == length.back(days)
    return stays


# Months ------------------------------------------------------------------------------------------


def _in_month(days: Integers) -> tuple[Integers, Integers]:
    """The month of each day, counted from January 1970, and its place there, from 0."""
    month = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    return month, days - _first_day(month)


def _first_day(months: Integers) -> Integers:
    return months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)


def _length(months: Integers) -> Integers:
    return _first_day(months + 1) - _first_day(months)


def _months_later(days: Integers, months: int) -> Integers:
    month, place = _in_month(days)
    return _first_day(month + months) + np.minimum(place, _length(month + months) - 1)
