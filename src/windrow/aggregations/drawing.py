"""M4 (Jugel et al. 2014): the four events of a window that a line chart needs.

They are the first, last, smallest and largest value, each with its time. One column of pixels is a
vertical stroke from the smallest value to the largest. It joins its neighbours at its first and
last value. So a chart of these four is the chart of all events.
"""

from __future__ import annotations

from typing import Any

from windrow.aggregations.extremes import precedes
from windrow.algebra.aggregation import ORDERABLE, Aggregation, Input
from windrow.algebra.equality import same
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Defined, Member, Monoid, Traits, integers, like_input, struct_of
from windrow.algebra.ordering import ABOVE_ALL, BELOW_ALL, rank

#: places of a compiled partial: the rows of the first and last value, then ranks and rows of the
#: smallest and largest
FIRST, LAST, SMALLEST, SMALLEST_AT, LARGEST, LARGEST_AT = range(6)


def lift_four(value: Any, at: Any) -> Any:
    """One value is first, last, smallest and largest."""
    return (at, at, value, at, value, at)


def lift_four_ranks(value: Any, at: Any) -> Any:
    """One float is first, last, smallest and largest."""
    place = rank(value)
    return (at, at, place, at, place, at)


def keep_four(older: Any, newer: Any) -> Any:
    """First of the older, last of the newer, and the extremes of both, the first of equals."""
    if older[FIRST] < 0 or newer[FIRST] < 0:
        return newer if older[FIRST] < 0 else older
    low = newer if newer[SMALLEST] < older[SMALLEST] else older
    high = newer if newer[LARGEST] > older[LARGEST] else older
    return (
        older[FIRST], newer[LAST],
        low[SMALLEST], low[SMALLEST_AT], high[LARGEST], high[LARGEST_AT],
    )  # fmt: skip


def has_four(partial: Any) -> bool:
    """Whether there is a value."""
    return bool(partial[FIRST] >= 0)


def rows_of_four(partial: Any) -> Any:
    """The row of each member: a value and its time stand in the same."""
    first, last = partial[FIRST], partial[LAST]
    low, high = partial[SMALLEST_AT], partial[LARGEST_AT]
    return (first, first, last, last, low, low, high, high)


# Python values: a partial is four pairs of value and time, or None.


def lift_pairs(value: Any, time: Any) -> Any:
    """One pair is all four."""
    return ((value, time),) * 4


def keep_pairs(older: Any, newer: Any) -> Any:
    """First of the older, last of the newer, and the extremes of both, the first of equals."""
    if older is None or newer is None:
        return newer if older is None else older
    return (
        older[0],
        newer[1],
        newer[2] if precedes(newer[2][0], older[2][0]) else older[2],
        newer[3] if precedes(older[3][0], newer[3][0]) else older[3],
    )


def values_of_four(partial: Any) -> Any:
    """Values and times in turn."""
    return tuple(member for pair in partial for member in pair)


_NAMES = ("first", "last", "min", "max")


def _members(positions: bool) -> tuple[Member, ...]:
    """Four values, each followed by its time; the values by position or as they are."""
    return tuple(
        member
        for name in _NAMES
        for member in (
            Member(name, like_input(0), carried=0 if positions else None),
            Member(f"{name}_time", like_input(1), carried=1),
        )
    )


def _m4_for(kinds: tuple[Kind, ...]) -> Monoid:
    compiled = kinds[0].is_compiled
    members = _members(positions=compiled)
    if not compiled:
        return Monoid(
            None,
            lift_pairs,
            keep_pairs,
            values_of_four,
            struct_of(members),
            Traits(exact=True),
            members=members,
        )
    return Monoid(
        identity=(-1, -1, ABOVE_ALL, -1, BELOW_ALL, -1),
        lift=lift_four_ranks if kinds[0] is Kind.FLOAT else lift_four,
        combine=keep_four,
        lower=rows_of_four,
        defined=Defined(has_four),
        traits=Traits(exact=True),
        fields=integers("first_at", "last_at", "min", "at_min", "max", "at_max"),
        output=struct_of(members),
        members=members,
    )


m4 = Aggregation(
    "m4",
    (Input("value", ORDERABLE), Input("time", carried=True)),
    _m4_for,
    same,
    "first, last, smallest and largest value, each with its time from the second column, as a "
    "struct: what a chart needs to draw the window",
)
