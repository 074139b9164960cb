"""Change and rate, from the oldest value of a window to its newest."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa

from windrow.aggregations.extremes import width_output
from windrow.aggregations.regression import seconds_of
from windrow.algebra.aggregation import NUMBERS, TIMES, Aggregation, Input
from windrow.algebra.equality import same
from windrow.algebra.kinds import EXACT, Kind
from windrow.algebra.monoid import Defined, Monoid, Traits, always, floats, integers

SUBTRACTABLE = NUMBERS - {Kind.BOOLEAN}


def difference(oldest: Any, newest: Any) -> Any:
    """The distance from one Python value to another; of decimals, without rounding."""
    if isinstance(newest, Decimal):
        return EXACT.subtract(newest, oldest)
    return newest - oldest


def wraps(oldest: Any, newest: Any) -> bool:
    """Whether the distance of two integers is none of 64 bits."""
    change = newest - oldest
    return bool((change < 0) != (newest < oldest)) or change > 2**63 - 1 or change < -(2**63)


# Change -----------------------------------------------------------------------------------------


def lift_ends(value: Any) -> Any:
    """One value is oldest and newest."""
    return (value, value, 1)


def outermost(older: Any, newer: Any) -> Any:
    """The older's oldest and the newer's newest, of those that have any."""
    if older[2] == 0 or newer[2] == 0:
        return newer if older[2] == 0 else older
    return (older[0], newer[1], 1)


def has_ends(partial: Any) -> bool:
    """Whether there is a value."""
    return bool(partial[2] > 0)


def change_of_floats(partial: Any) -> Any:
    """The newest less the oldest."""
    return partial[1] - partial[0]


def change_of_integers(partial: Any) -> Any:
    """The newest less the oldest, if that is an integer of 64 bits."""
    if wraps(partial[0], partial[1]):
        raise OverflowError("a change left the range of 64-bit integers")
    return partial[1] - partial[0]


def change_of_values(partial: Any) -> Any:
    """The newest Python value less the oldest."""
    return difference(partial[0], partial[1])


def _change_for(kinds: tuple[Kind, ...]) -> Monoid:
    is_float, compiled = kinds[0] is Kind.FLOAT, kinds[0].is_compiled
    fields = floats if is_float else integers
    nothing = (0.0 if is_float else 0) if compiled else None
    if compiled:
        lower = change_of_floats if is_float else change_of_integers
    else:
        lower = change_of_values
    return Monoid(
        identity=(nothing, nothing, 0),
        lift=lift_ends,
        combine=outermost,
        lower=lower,
        defined=Defined(has_ends),
        traits=Traits(exact=True),
        fields=(*fields("oldest", "newest"), *integers("has_ends")) if compiled else (),
        lowered="float64" if is_float else "int64",
        output=width_output,
    )


change = Aggregation(
    "change",
    (Input("value", SUBTRACTABLE | TIMES),),
    _change_for,
    same,
    "the newest value less the oldest; exact for integers",
)


# Rate -------------------------------------------------------------------------------------------


def lift_timed_ends(value: Any, time: Any) -> Any:
    """One value and its time are oldest and newest."""
    return (value, value, time, time, 1)


def outermost_timed(older: Any, newer: Any) -> Any:
    """The older's oldest and the newer's newest, with their times."""
    if older[4] == 0 or newer[4] == 0:
        return newer if older[4] == 0 else older
    return (older[0], newer[1], older[2], newer[3], 1)


def takes_time(partial: Any) -> bool:
    """Whether time passes from the oldest to the newest value."""
    return bool(partial[4] > 0 and partial[2] != partial[3])


def rise_of_integers(partial: Any) -> Any:
    """The newest less the oldest as a float, rounded once where it is an integer of 64 bits."""
    if wraps(partial[0], partial[1]):
        return float(partial[1]) - float(partial[0])
    return float(partial[1] - partial[0])


def rise_of_values(partial: Any) -> Any:
    """The newest less the oldest of Python values, as a float."""
    return float(difference(partial[0], partial[1]))


def rate_of_values(partial: Any) -> Any:
    """The change of Python values per second."""
    elapsed = seconds_of(partial[3] - partial[2])
    return rise_of_values(partial) / float(elapsed)


def _rate_for(kinds: tuple[Kind, ...], seconds_per_tick: float = 1e-6) -> Monoid:
    is_float, python = kinds[0] is Kind.FLOAT, kinds[1] is Kind.ANY
    compiled = kinds[0].is_compiled and kinds[1].is_compiled
    rise = change_of_floats if is_float else rise_of_integers if compiled else rise_of_values
    unit = seconds_per_tick

    def rate_of(partial: Any) -> Any:
        """The change per second."""
        return rise(partial) / (float(partial[3] - partial[2]) * unit)

    fields = floats if is_float else integers
    nothing = 0.0 if is_float and compiled else 0
    return Monoid(
        identity=(nothing, nothing, 0, 0, 0),
        lift=lift_timed_ends,
        combine=outermost_timed,
        lower=rate_of_values if python else rate_of,
        defined=Defined(takes_time, one_value_is_enough=False),
        traits=Traits(exact=True),
        fields=(
            *fields("oldest", "newest"),
            *integers("oldest_time", "newest_time", "has_ends"),
        ) if compiled else (),
        output=always(pa.float64()),
    )  # fmt: skip


rate = Aggregation(
    "rate",
    (Input("value", SUBTRACTABLE), Input("time", TIMES)),
    _rate_for,
    same,
    "the newest value less the oldest, per second by the second column, a time; null if no time "
    "passes",
    measures_time=True,
)
