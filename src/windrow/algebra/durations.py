"""Durations as users write them: `"10 minutes"`, `"10min"`, or `datetime.timedelta`.

Units are words as in Spark, or short as in pandas and Polars. All units have a fixed length: a day
is 24 hours.
"""

from __future__ import annotations

import re
from datetime import timedelta
from fractions import Fraction

from windrow.errors import InvalidArgument

NANOSECONDS = {
    "nanosecond": 1,
    "microsecond": 1_000,
    "millisecond": 1_000_000,
    "second": 1_000_000_000,
    "minute": 60_000_000_000,
    "hour": 3_600_000_000_000,
    "day": 86_400_000_000_000,
    "week": 604_800_000_000_000,
}

#: other ways to write units; "m" is a minute, as in Polars and in pandas' Timedelta
_SHORT = {
    "ns": "nanosecond",
    "us": "microsecond",
    "µs": "microsecond",  # the sign for micro
    "μs": "microsecond",  # the Greek letter
    "ms": "millisecond",
    "s": "second",
    "sec": "second",
    "m": "minute",
    "min": "minute",
    "h": "hour",
    "hr": "hour",
    "d": "day",
    "w": "week",
}
#: units that differ in length, the short ones too
_CALENDAR = {"month", "year", "quarter", "mo", "q", "y"}

_PREFIX = re.compile(r"^interval\s+", re.IGNORECASE)
_TERM = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)\s*([a-zA-Zµμ]+)\s*")


def nanoseconds(duration: str | timedelta, argument: str) -> int:
    """A duration in nanoseconds; `argument` is named if it is none.

    >>> nanoseconds("1 hour 30 minutes", "range")
    5400000000000
    >>> nanoseconds("1h30min", "range")
    5400000000000
    """
    if isinstance(duration, timedelta):
        microseconds = (duration.days * 86_400 + duration.seconds) * 10**6 + duration.microseconds
        # pandas' Timedelta is a timedelta that also counts nanoseconds.
        return microseconds * 1_000 + int(getattr(duration, "nanoseconds", 0))
    if not isinstance(duration, str):
        raise InvalidArgument(
            f"{argument}: a duration is a string such as '10 minutes' or a timedelta, "
            f"not {duration!r}"
        )
    text = _PREFIX.sub("", duration.strip())
    total, position = 0, 0
    while position < len(text):
        term = _TERM.match(text, position)
        if term is None:
            break
        total += _term(term[1], term[2], duration, argument)
        position = term.end()
    if not text or position < len(text):
        raise InvalidArgument(
            f"{argument}: {duration!r} is no duration; write a number and a unit, "
            "as in '10 minutes', '10min' or '1 hour 30 minutes'"
        )
    return total


def _term(number: str, written: str, duration: str, argument: str) -> int:
    unit = _unit(written)
    if written == "M" or unit in _CALENDAR:
        window = "; wr.calendar goes by months" if argument in ("range", "every") else ""
        minutes = f", or {number}min if you mean minutes" if written == "M" else ""
        raise InvalidArgument(
            f"{argument}: {duration!r} has no fixed length, because months and years differ; "
            f"use days, as in '30 days'{minutes}{window}"
        )
    if unit not in NANOSECONDS:
        known = ", ".join(f"{name}s" for name in NANOSECONDS)
        raise InvalidArgument(
            f"{argument}: {written!r} in {duration!r} is no unit; there are {known}, "
            "or short ns, us, ms, s, min (also m), h, d, w"
        )
    # A fraction, because a float cannot tell the nanoseconds of 1000.1 days apart.
    return round(Fraction(number) * NANOSECONDS[unit])


def _unit(written: str) -> str:
    """The unit's full name, in the singular, if it is one."""
    unit = written.lower()
    if unit in _SHORT:  # first, because the s of "ms" is no plural
        return _SHORT[unit]
    singular = unit.removesuffix("s")
    # One letter has no plural.
    return _SHORT.get(singular, singular) if len(singular) > 1 else unit


def words(duration: int) -> str:
    """Nanoseconds in the largest unit that divides them, as in `1 hour`."""
    for unit, length in reversed(NANOSECONDS.items()):
        if duration % length == 0:
            number = duration // length
            return f"{number} {unit}" if number == 1 else f"{number} {unit}s"
    raise AssertionError("every duration is a number of nanoseconds")
