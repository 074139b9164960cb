"""Durations as users write them: strings as in Spark, or `datetime.timedelta`."""

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

_PREFIX = re.compile(r"^interval\s+", re.IGNORECASE)
_TERM = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)\s*([a-zA-Z]+)\s*")


def nanoseconds(duration: str | timedelta, argument: str) -> int:
    """A duration in nanoseconds; `argument` is named if it is none.

    >>> nanoseconds("1 hour 30 minutes", "range")
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
            "as in '10 minutes' or '1 hour 30 minutes'"
        )
    return total


def _term(number: str, written: str, duration: str, argument: str) -> int:
    unit = written.lower().removesuffix("s")
    if unit in ("month", "year", "quarter"):
        raise InvalidArgument(
            f"{argument}: {duration!r} has no fixed length, because months and years differ; "
            "use days, as in '30 days'"
        )
    if unit not in NANOSECONDS:
        known = ", ".join(f"{name}s" for name in NANOSECONDS)
        raise InvalidArgument(
            f"{argument}: {written!r} in {duration!r} is no unit; there are {known}"
        )
    # A fraction, because a float cannot tell the nanoseconds of 1000.1 days apart.
    return round(Fraction(number) * NANOSECONDS[unit])


def words(duration: int) -> str:
    """Nanoseconds in the largest unit that divides them, as in `1 hour`."""
    for unit, length in reversed(NANOSECONDS.items()):
        if duration % length == 0:
            number = duration // length
            return f"{number} {unit}" if number == 1 else f"{number} {unit}s"
    raise AssertionError("every duration is a number of nanoseconds")
