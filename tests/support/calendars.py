"""The calendar, slow and plainly right: dates and clocks of the standard library, one at a time.

Times are nanoseconds since the epoch. A span is a number and a unit, as in (3, "month").
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa

from windrow.windows import CalendarWindow

SECOND = 10**9
EPOCH = date(1970, 1, 1)
MONTHS = {"month": 1, "quarter": 3, "year": 12}
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
Written = tuple[int, str]
#: clocks change there, or months end on other days
MOMENTS = ["1968-02-29", "2011-11-06", "2011-12-30", "2024-03-31", "2024-10-27", "2024-11-03"]


def written(span: Any) -> Written:
    """A span of windrow's."""
    return (span.months, "month") if span.months else (span.days, "day")


def in_zone(window: Any, zone: str | None) -> Any:
    """A window of any kind; one by the calendar with its zone, or else that of the order column."""
    if isinstance(window, CalendarWindow) and window.timezone is None:
        return replace(window, timezone=zone)
    return window


def clock(zone: str | None) -> tzinfo:
    """The clock of a zone; times without one are local already."""
    return UTC if zone is None else ZoneInfo(zone)


def local(time: int, zone: str | None) -> datetime:
    """What the clock shows at the second of a time."""
    return datetime.fromtimestamp(time // SECOND, clock(zone)).replace(tzinfo=None)


@lru_cache(maxsize=100_000)
def first_at(shown: datetime, zone: str | None) -> int:
    """The first time at which a clock has reached what it is to show."""
    # `fold=0` is the earlier of two; and a little late where the clock leaps over the time.
    found = int(shown.replace(tzinfo=clock(zone), fold=0).timestamp())
    while local((found - 1) * SECOND, zone) >= shown:
        found -= 1
    return found * SECOND


def later(day: date, number: int, unit: str) -> date:
    """A day that is some units later; the last of a month that has no such day."""
    if unit not in MONTHS:
        return day + timedelta(days=number * (7 if unit == "week" else 1))
    year, month = divmod(day.year * 12 + day.month - 1 + number * MONTHS[unit], 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def back(time: int, span: Written, zone: str | None) -> int:
    """The same time of day that many units ago."""
    number, unit = span
    shown = local(time, zone)
    then = datetime.combine(later(shown.date(), -number, unit), shown.time())
    found = first_at(then, zone)
    # Behind a leap there is no part of a second to add.
    return found + (time % SECOND if local(found, zone) == then else 0)


def begins(day: date, every: Written, week_start: int) -> bool:
    """Whether a window begins on a day."""
    number, unit = every
    if unit in MONTHS:
        return day.day == 1 and (day.year * 12 + day.month - 1) % (number * MONTHS[unit]) == 0
    days = number * (7 if unit == "week" else 1)
    first = EPOCH
    while days % 7 == 0 and first.weekday() != week_start:
        first += timedelta(days=1)
    return (day - first).days % days == 0


def windows(
    oldest: int, newest: int, span: Written, every: Written, zone: str | None, week_start: int = 0
) -> Iterator[tuple[int, int]]:
    """When the windows begin and end that may hold times from the oldest to the newest."""
    day = later(local(oldest, zone).date(), -span[0], span[1]) - timedelta(days=3)
    while day <= local(newest, zone).date() + timedelta(days=1):
        if begins(day, every, week_start):
            end = later(day, *span)
            yield tuple(
                first_at(datetime.combine(each, datetime.min.time()), zone) for each in (day, end)
            )  # type: ignore[misc]
        day += timedelta(days=1)


def events(zone: str | None, seed: int = 0, most: int = 400) -> pa.Table:
    """Some days and some minutes around moments, and months around them."""
    random = np.random.default_rng(seed)
    around = np.array([np.datetime64(each, "us").astype(np.int64) for each in MOMENTS])
    near, far = random.integers(-26, 27, most) * 1_800, random.integers(-60, 61, most) * 86_400
    seconds = random.choice(around, most) + random.choice([near, near + far]) * 1_000_000
    times = np.sort(seconds + random.integers(0, 3, most) * 500_000)
    unit = pa.timestamp("us", "UTC" if zone else None)
    return pa.table(
        {
            "k": random.integers(0, 2, most),
            "t": pa.array(times, unit),
            "id": np.arange(most),
            "x": random.integers(0, 10, most),
        }
    )
