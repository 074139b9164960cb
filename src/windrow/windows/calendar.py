"""Windows by the calendar: days, weeks, months, quarters and years on the clock of a time zone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa

from windrow.algebra.durations import NANOSECONDS
from windrow.errors import InvalidArgument
from windrow.slicing.calendar import CalendarSchedule, Length, LocalDays
from windrow.slicing.zones import is_utc, zone
from windrow.windows import extents
from windrow.windows.bounds import Bounding
from windrow.windows.calendar_lengths import (
    WEEKDAYS,
    Weekday,
    calendar_length,
    length_words,
    weekday,
)
from windrow.windows.calls import call_text
from windrow.windows.clock import ScheduledWindows
from windrow.windows.edges import AT_MOMENT, Edge, Edges
from windrow.windows.key_rows import KeyRows
from windrow.windows.key_runs import NEVER
from windrow.windows.min_rows import Counted
from windrow.windows.numbered import NumberedWalk, Walk
from windrow.windows.reach import UNLIMITED
from windrow.windows.returning import Returning, RowsSince, Since
from windrow.windows.schedules import Calendar, CalendarTimes
from windrow.windows.setting import Setting
from windrow.windows.sorted_rows import SortedRows
from windrow.windows.time import TimeWindow
from windrow.windows.triggers import EveryTime
from windrow.windows.window import Window

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class CalendarWindow(Window):
    """Whole days, weeks, months, quarters or years.

    Attributes:
        range: how long it is.
        slide: how far apart windows begin in `wr.slide`; None for one range.
        timezone: by whose clock; None for that of the order column.
        week_start: the weekday on which weeks begin, counted from Monday.
    """

    range: Length
    slide: Length | None = None
    timezone: str | None = None
    week_start: int = 0

    reach = Returning
    needs_time = True
    answers_by_itself = True

    @property
    def default_name(self) -> str:
        """The window's name if the user gives none."""
        return f"calendar_{length_words(self.range).replace(' ', '_')}"

    def call(self) -> str:
        """The call that makes it."""
        arguments = [repr(length_words(self.range))]
        if self.slide is not None:
            arguments.append(f"every={length_words(self.slide)!r}")
        if self.timezone is not None:
            arguments.append(f"timezone={self.timezone!r}")
        if self.week_start and self.schedule.has_weeks:
            arguments.append(f"week_start={WEEKDAYS[self.week_start]!r}")
        return call_text("calendar", *arguments)

    @property
    def only_slides(self) -> bool:
        """Whether it says every=."""
        return self.slide is not None

    @cached_property
    def schedule(self) -> CalendarSchedule:
        """Its windows in `wr.slide`."""
        return CalendarSchedule(self.range, self.slide or self.range, self.week_start)

    def laid_over(self, order_type: pa.DataType, *, slides: bool) -> Window:
        """With the zone of the order column if it names none.

        Where all days have 24 hours, windows of days are windows of time.
        """
        own = order_type.tz if pa.types.is_timestamp(order_type) else None
        if own is None and self.timezone is not None:
            raise InvalidArgument(
                f"timezone: the order column is {order_type}, whose times are local already: leave "
                "timezone out; or say in which zone they are, as in "
                "pyarrow.compute.assume_timezone(column, 'UTC')"
            )
        clock = self.timezone or own
        if clock is not None and not is_utc(clock):
            zone(clock)
            return replace(self, timezone=clock)
        if self.range.months or (slides and self.schedule.slide.months):
            return replace(self, timezone=None)
        day, schedule = NANOSECONDS["day"], self.schedule
        every = EveryTime(schedule.slide.days * day, schedule.first_day * day) if slides else None
        return TimeWindow(self.range.days * day, every=every, min_rows=self.min_rows)

    def most_ticks_back(self, tick: int) -> int:
        """No event that is so many ticks older is in it, or comes back to it."""
        # One day for clocks, which differ by less, and one because rows come back.
        return min((self.range.most_days + 2) * NANOSECONDS["day"] // tick + 1, UNLIMITED)

    def bounding(self, setting: Setting) -> Bounding:
        """The rows that are less than a range older, by the clock."""
        return RowsSince(self._since(setting.tick), self.most_ticks_back(setting.tick))

    def edges(self, tick: int) -> Edges:
        """One range before the moment by the clock, and at the moment."""
        since = self._since(tick)
        return Edge(since=lambda moments: since(moments)[0]), AT_MOMENT

    def _since(self, tick: int) -> Since:
        """From times to those behind which windows hold rows, and keep them."""
        days = LocalDays(self.timezone, tick)

        def since(times: Array) -> tuple[Array, Array]:
            # A clock may leap over the time one day ago, but a row is in its own window.
            asked, kept = days.back(times, self.range)
            return np.minimum(asked, times - 1), np.minimum(kept, times - 1)

        return since

    def answering(self, setting: Setting) -> extents.Answering:
        """Its windows begin and end with local days."""
        return _CalendarWindows(self.calendar, setting)

    @property
    def calendar(self) -> Calendar:
        """Its windows in `wr.slide`, and the time zone of their days."""
        return Calendar(self.schedule, self.timezone)


class _CalendarWindows(ScheduledWindows):
    """The windows of a calendar that hold a row; their names are their numbers."""

    def __init__(self, calendar: Calendar, setting: Setting) -> None:
        super().__init__(setting)
        self._windows = CalendarTimes(calendar, setting.tick)

    def _require(self, rows: SortedRows) -> None:
        assert self._setting.time_type is not None
        if rows.size:
            fits = self._windows.fits(rows.times, self._setting.time_type.bit_width)
            self._setting.require_fit(fits)

    def _walk(self, rows: SortedRows) -> Walk:
        return NumberedWalk(rows.runs, *self._windows.numbers(rows.times))

    def _times(self, names: Array) -> tuple[Array, Array]:
        return self._windows.bounds(names)

    def final(
        self, rows: KeyRows, span: extents.Span, numbers: Mapping[str, Array]
    ) -> extents.FinalAnswers:
        """The windows that ended between two frontiers."""
        names, firsts, stops = self._walk(rows).all(self._setting.require)
        begins, ends = self._times(names)
        made = span.makes_final(ends)
        found = extents.Extents(
            firsts[made], stops[made], begins[made], ends[made], names=names[made]
        )
        following = self._windows.first_open(span.frontier)
        fronts = rows.first_not_before(self._windows.begin(following))
        due = np.where(fronts < rows.stops, self._windows.end(following), NEVER)
        return extents.FinalAnswers(found, fronts, due, due)


def calendar(
    range: str | timedelta,
    every: str | timedelta | None = None,
    *,
    timezone: str | ZoneInfo | None = None,
    week_start: Weekday = "monday",
    min_rows: int | None = None,
    of: Counted = "rows",
) -> CalendarWindow:
    """A window of days, weeks, months, quarters or years by the calendar of a time zone.

    In `wr.slide` it holds whole days: from the day on which it begins, at midnight, to the day that
    is one range later. Windows begin every so many days, weeks or months. Months count from January
    of the year 0, so 3 months are quarters; weeks count from the first Monday of 1970; other
    numbers of days count from 1970-01-01. In `wr.over` it holds the rows in (t - range, t], where t
    is the row's time and t - range is the same time of day that many days or months ago.

    A day has 23 or 25 hours where clocks change. If midnight comes twice, the day begins with the
    first; if it is missing, with the first instant behind it. One month before March 31 is February
    28 or 29.

    Args:
        range: the extent, as in "1 day", "2 weeks", "1 month", "quarter" or "1y".
        every: for `wr.slide`, how far apart windows begin; one range if you leave it out.
        timezone: the zone, as in "Europe/Berlin" or a `ZoneInfo`; by default that of the order
            column's type. Dates and timestamps without a zone are local already, and Spark's
            TIMESTAMP is in UTC.
        week_start: the weekday on which weeks begin.
        min_rows: answers are null until the window holds so many rows;
        of: with "values", until it holds so many that are not null.

    Raises:
        InvalidArgument: if an argument is not what it should be, or two do not go together.

    >>> import windrow as wr
    >>> wr.calendar("3 months", timezone="Europe/Berlin").call()
    "calendar('1 quarter', timezone='Europe/Berlin')"
    """
    name = timezone.key if isinstance(timezone, ZoneInfo) else timezone
    if name is not None:
        zone(name)
    slide = None if every is None else calendar_length(every, "every")
    window = CalendarWindow(calendar_length(range, "range"), slide, name, weekday(week_start))
    return window.with_min_rows(min_rows, of)
