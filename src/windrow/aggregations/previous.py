"""The last value before the current row.

The current row is the newest of its window. A partial holds two positions: of the last value before
its newest row, and of that row's value. -1 is none; a newest row without a value is -2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from windrow.algebra.aggregation import Aggregation, Input
from windrow.algebra.equality import same
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Defined, Field, InPlace, Monoid, Traits, like_input

EXACT = Traits(exact=True)

BEFORE, NEWEST = range(2)
NOTHING, WITHOUT_VALUE = -1, -2


def lift_newest_into(position: Any, into: Any) -> None:
    """One row, nothing before it."""
    into[NEWEST] = position


def lift_valueless_into(_position: Any, into: Any) -> None:
    """One row without a value, nothing before it."""
    into[NEWEST] = WITHOUT_VALUE


def follow_into(older: Any, newer: Any, into: Any) -> None:
    """The newer's newest row, and the last value before it."""
    if newer[NEWEST] == NOTHING:
        into[BEFORE], into[NEWEST] = older[BEFORE], older[NEWEST]
        return
    before = newer[BEFORE]
    if before < 0:
        before = older[NEWEST] if older[NEWEST] >= 0 else older[BEFORE]
    into[BEFORE], into[NEWEST] = before, newer[NEWEST]


def value_before(partial: Any) -> Any:
    """The position of the last value before the newest row."""
    return partial[BEFORE]


def has_value_before(partial: Any) -> bool:
    """Whether there is one."""
    return bool(partial[BEFORE] >= 0)


NO_ROW = np.full(2, NOTHING)
PREVIOUS_IN_PLACE = InPlace(lift_newest_into, follow_into, lift_valueless_into)


def lift_newest(position: Any) -> Any:
    """One row, nothing before it."""
    row = NO_ROW.copy()
    lift_newest_into(position, row)
    return row


def lift_valueless(position: Any) -> Any:
    """One row without a value, nothing before it."""
    row = NO_ROW.copy()
    lift_valueless_into(position, row)
    return row


def follow(older: Any, newer: Any) -> Any:
    """The newer's newest row, and the last value before it."""
    row = NO_ROW.copy()
    follow_into(older, newer, row)
    return row


# Python values: the last value before the newest row, and that row's in a tuple: `()` for no row.


def lift_newest_value(value: Any) -> Any:
    """One row, nothing before it."""
    return (None, (value,))


def follow_values(older: Any, newer: Any) -> Any:
    """The newer's newest row, and the last value before it."""
    if not newer[1]:
        return older
    before = newer[0]
    if before is None and older[1]:
        before = older[0] if older[1][0] is None else older[1][0]
    return (before, newer[1])


def first_of_two(partial: Any) -> Any:
    """The last value before the newest row."""
    return partial[0]


def has_first(partial: Any) -> bool:
    """Whether there is one."""
    return partial[0] is not None


def _previous_for(kinds: tuple[Kind, ...]) -> Monoid:
    if kinds[0] is Kind.ANY:
        return Monoid(
            (None, ()), lift_newest_value, follow_values, first_of_two, like_input(0), EXACT,
            defined=Defined(has_first, one_value_is_enough=False), absent=lift_newest_value,
        )  # fmt: skip
    return Monoid(
        identity=NO_ROW,
        lift=lift_newest,
        absent=lift_valueless,
        combine=follow,
        in_place=PREVIOUS_IN_PLACE,
        lower=value_before,
        defined=Defined(has_value_before, one_value_is_enough=False),
        traits=EXACT,
        fields=(Field("previous", "int64", 2),),
        lowered="int64",
        output=like_input(0),
    )


previous = Aggregation(
    "previous",
    (Input("value", carried=True, unknown=True),),
    _previous_for,
    same,
    "the last value before the current row (in `slide`, before the newest), whether or not that "
    "row has one",
    current="newest",
)
