"""When a window answers: after so many rows, or by a clock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from numbers import Integral

from windrow.algebra.durations import nanoseconds
from windrow.errors import InvalidArgument


@dataclass(frozen=True)
class EveryRows:
    """An answer after every so many rows of a key."""

    rows: int


@dataclass(frozen=True)
class EveryTime:
    """An answer at every tick of a clock that runs from the epoch plus an offset; nanoseconds."""

    time: int
    offset: int = 0


Trigger = EveryRows | EveryTime
Every = int | str | timedelta | None


def row_count(count: int, argument: str) -> int:
    """A number of rows, of which there is at least one."""
    if isinstance(count, bool) or not isinstance(count, Integral):
        raise InvalidArgument(f"{argument}: a number of rows is an integer, not {count!r}")
    if count < 1:
        raise InvalidArgument(f"{argument}: a window holds at least 1 row, not {count}")
    return int(count)


def length(duration: str | timedelta, argument: str) -> int:
    """A duration in nanoseconds; it is more than zero."""
    found = nanoseconds(duration, argument)
    if found <= 0:
        raise InvalidArgument(
            f"{argument}: a window's {argument} is more than zero, not {duration!r}"
        )
    return found


def trigger(every: Every, offset: str | timedelta | None) -> Trigger | None:
    """The trigger that `every` names; None for an answer to every row."""
    if isinstance(every, str | timedelta):
        return EveryTime(
            length(every, "every"), 0 if offset is None else nanoseconds(offset, "offset")
        )
    if offset is not None:
        raise InvalidArgument("offset: it moves a clock; give every= a duration with it")
    return None if every is None else EveryRows(row_count(every, "every"))
