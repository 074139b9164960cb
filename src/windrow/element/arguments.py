"""What the arguments of `wr.Window` and of its operations may be."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from windrow.algebra.aggregation import Aggregation, Measure
from windrow.errors import EmptyWindow, InvalidArgument


def one_measure(aggregation: Any) -> Measure:
    """What a compiled window computes."""
    if isinstance(aggregation, Measure):
        aggregation.require_no_condition("aggregation")
        return aggregation
    if isinstance(aggregation, Aggregation):
        return aggregation()
    raise InvalidArgument(
        f"aggregation: with types=, give one aggregation such as wr.max(), not {aggregation!r}"
    )


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
