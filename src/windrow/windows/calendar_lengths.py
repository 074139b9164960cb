"""Lengths of the calendar as users write them: `"1 month"`, `"2 weeks"`, `"quarter"`, `"1y"`."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Literal, get_args

from windrow.errors import InvalidArgument
from windrow.slicing.calendar import Length

Weekday = Literal[
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"
]  # fmt: skip
WEEKDAYS: tuple[str, ...] = get_args(Weekday)

_UNITS = {
    "day": Length(0, 1),
    "week": Length(0, 7),
    "month": Length(1, 0),
    "quarter": Length(3, 0),
    "year": Length(12, 0),
}
_SHORT = {"d": "day", "w": "week", "mo": "month", "q": "quarter", "y": "year"}
_TERM = re.compile(r"\s*(\d*)\s*([a-zA-Z]+)\s*")
#: they are longer than any calendar
_MOST = 2**31


def calendar_length(written: str | timedelta, argument: str) -> Length:
    """A length of the calendar; `argument` is named if it is none.

    >>> calendar_length("2 years", "range"), calendar_length("1w", "range")
    (Length(months=24, days=0), Length(months=0, days=7))
    """
    if isinstance(written, timedelta):
        if written <= timedelta(0) or written % timedelta(days=1):
            raise InvalidArgument(f"{argument}: calendar windows are whole days, not {written!r}")
        return Length(0, written.days)
    text = written.strip() if isinstance(written, str) else ""
    months = days = position = 0
    while position < len(text) and (term := _TERM.match(text, position)) is not None:
        unit = _unit(term[2], written, argument)
        number = int(term[1] or 1)
        months += number * unit.months
        days += number * unit.days
        position = term.end()
    if not text or position < len(text) or (months == 0) == (days == 0):
        raise InvalidArgument(
            f"{argument}: {written!r} is no length of the calendar; write a number of days, weeks, "
            "months, quarters or years, as in '1 month', 'quarter' or '2w', and do not add months "
            "to days"
        )
    if months + days >= _MOST:
        raise InvalidArgument(f"{argument}: {written!r} is longer than any calendar")
    return Length(months, days)


def _unit(unit: str, written: str | timedelta, argument: str) -> Length:
    found = unit.lower()
    found = _SHORT.get(found, found if found in _UNITS else found.removesuffix("s"))
    if found not in _UNITS:
        hint = f"; '{unit.lower()}o' is a month" if unit.lower() == "m" else ""
        raise InvalidArgument(
            f"{argument}: {unit!r} in {written!r} is no unit of the calendar; there are days, "
            f"weeks, months, quarters and years, or short d, w, mo, q, y{hint}; use wr.time(...) "
            "for hours and less"
        )
    return _UNITS[found]


def length_words(length: Length) -> str:
    """A length in the largest unit that divides it, as in `1 quarter`."""
    for unit, one in reversed(_UNITS.items()):
        number, rest = divmod(length.months, one.months) if one.months else (0, 1)
        if one.days and not length.months:
            number, rest = divmod(length.days, one.days)
        if number and not rest:
            return f"{number} {unit}" if number == 1 else f"{number} {unit}s"
    raise AssertionError("every length is a number of months or days")


def weekday(name: str) -> int:
    """A weekday, counted from Monday."""
    if not isinstance(name, str) or name.lower() not in WEEKDAYS:
        raise InvalidArgument(f"week_start: a weekday such as 'sunday', not {name!r}")
    return WEEKDAYS.index(name.lower())
