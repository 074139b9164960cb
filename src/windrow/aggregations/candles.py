"""Open, high, low and close: a window as one candle of a price chart.

high      |      the largest value
close    _|_     the newest, or below the body if values fell
        |   |
open    |___|    the oldest
low       |      the smallest
"""

from __future__ import annotations

from typing import Any

from windrow.aggregations.extremes import larger, larger_value, smaller, smaller_value
from windrow.algebra.aggregation import ORDERABLE, Aggregation, Input
from windrow.algebra.equality import same
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import (
    Defined,
    Member,
    Monoid,
    Traits,
    floats,
    integers,
    like_input,
    struct_of,
)
from windrow.algebra.ordering import ABOVE_ALL, BELOW_ALL, rank, unrank

#: places of a partial: the oldest and newest value, the smallest and largest (of floats, their
#: ranks), and whether there is one
OLDEST, NEWEST, SMALLEST, LARGEST, SEEN = range(5)


def lift_candle(value: Any) -> Any:
    """One value is all four."""
    return (value, value, value, value, 1)


def lift_candle_of_floats(value: Any) -> Any:
    """One float is all four; the extremes are compared by rank."""
    place = rank(value)
    return (value, value, place, place, 1)


def join_candles(older: Any, newer: Any) -> Any:
    """The older's oldest, the newer's newest, and the extremes of both."""
    if older[SEEN] == 0 or newer[SEEN] == 0:
        return newer if older[SEEN] == 0 else older
    return (
        older[OLDEST],
        newer[NEWEST],
        smaller(older[SMALLEST], newer[SMALLEST]),
        larger(older[LARGEST], newer[LARGEST]),
        1,
    )


def join_candles_of_values(older: Any, newer: Any) -> Any:
    """The same of Python values."""
    if older[SEEN] == 0 or newer[SEEN] == 0:
        return newer if older[SEEN] == 0 else older
    return (
        older[OLDEST],
        newer[NEWEST],
        smaller_value(older[SMALLEST], newer[SMALLEST]),
        larger_value(older[LARGEST], newer[LARGEST]),
        1,
    )


def has_candle(partial: Any) -> bool:
    """Whether there is a value."""
    return bool(partial[SEEN] > 0)


def candle(partial: Any) -> Any:
    """Open, high, low and close."""
    return (partial[OLDEST], partial[LARGEST], partial[SMALLEST], partial[NEWEST])


def candle_of_floats(partial: Any) -> Any:
    """The same of floats."""
    high, low = unrank(partial[LARGEST]), unrank(partial[SMALLEST])
    return (partial[OLDEST], high, low, partial[NEWEST])


def _ohlc_for(kinds: tuple[Kind, ...]) -> Monoid:
    compiled, is_float = kinds[0].is_compiled, kinds[0] is Kind.FLOAT
    lowered = "float64" if is_float else "int64"
    names = ("open", "high", "low", "close")
    members = tuple(Member(name, like_input(0), lowered) for name in names)
    nothing = (0.0 if is_float else 0) if compiled else None
    extremes = (ABOVE_ALL, BELOW_ALL) if compiled else (None, None)
    ends = floats("oldest", "newest") if is_float else integers("oldest", "newest")
    return Monoid(
        identity=(nothing, nothing, *extremes, 0),
        lift=lift_candle_of_floats if is_float else lift_candle,
        combine=join_candles if compiled else join_candles_of_values,
        lower=candle_of_floats if is_float else candle,
        defined=Defined(has_candle),
        traits=Traits(exact=True),
        fields=(*ends, *integers("min", "max", "has_ends")) if compiled else (),
        output=struct_of(members),
        members=members,
    )


ohlc = Aggregation(
    "ohlc",
    (Input("value", ORDERABLE),),
    _ohlc_for,
    same,
    "the oldest, largest, smallest and newest value as a struct of `open`, `high`, `low` and "
    "`close`",
)
