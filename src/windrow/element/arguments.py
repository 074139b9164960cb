"""What the arguments of `wr.Window` and of its operations may be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from numbers import Integral
from typing import Any

from windrow.errors import EmptyWindow, InvalidArgument


def event_range(extent: int) -> int:
    """A number of newest events that a window is to answer for."""
    if not isinstance(extent, Integral) or extent < 1:
        raise InvalidArgument(f"ranges: a range is a number of events, 1 or more, not {extent!r}")
    return int(extent)


def natural(argument: str, number: int) -> int:
    """A number of events, or a position."""
    if not isinstance(number, Integral) or number < 0:
        raise InvalidArgument(f"{argument}: a number of events is 0, 1, 2, ..., not {number!r}")
    return int(number)


def going(count: Any, held: int) -> int:
    """How many of so many events are to leave at once."""
    events = natural("count", count)
    if events > held:
        raise EmptyWindow(f"evict_many: {events} events are to leave, but the window holds {held}")
    return events


def count_of(events: Any) -> int:
    """How many events there are in a list, an array, a table, or a mapping from columns."""
    if isinstance(events, Mapping):
        return len(next(iter(events.values()), ()))
    if not hasattr(events, "__len__"):
        raise InvalidArgument(f"events: give an array or a list of events, not {events!r}")
    return len(events)


def iterated(argument: str, given: Any, of: str = "events") -> Iterator[Any]:
    """What is given, one after the other; refuses what cannot be iterated over."""
    try:
        return iter(given)
    except TypeError:
        raise InvalidArgument(
            f"{argument}: give an array or a list of {of}, not {given!r}"
        ) from None
