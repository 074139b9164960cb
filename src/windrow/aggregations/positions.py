"""Values by their place in a window: the oldest, the newest, and those near them.

`nth` counts values. `lag` and `lead` count rows, also those without a value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from windrow.aggregations.parameters import LONGEST_ROW, at_least_one, is_whole, shown
from windrow.algebra.aggregation import Aggregation, Input, parametrized
from windrow.algebra.equality import same
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import (
    Defined,
    Field,
    InPlace,
    Monoid,
    Traits,
    in_new_row,
    integers,
    like_input,
)
from windrow.errors import InvalidArgument

VALUE = (Input("value", carried=True),)


def itself(value: Any) -> Any:
    """The value, or its position, is all there is."""
    return value


def older_position(older: Any, newer: Any) -> Any:
    """The first position; -1 is none."""
    return newer if older < 0 else older


def newer_position(older: Any, newer: Any) -> Any:
    """The last position; -1 is none."""
    return older if newer < 0 else newer


def older_value(older: Any, newer: Any) -> Any:
    """The first Python value; None is none."""
    return newer if older is None else older


def newer_value(older: Any, newer: Any) -> Any:
    """The last Python value; None is none."""
    return older if newer is None else newer


def is_position(partial: Any) -> bool:
    """Whether there is a value."""
    return bool(partial >= 0)


def _position(
    name: str,
    pick: Callable[[Any, Any], Any],
    pick_value: Callable[[Any, Any], Any],
    summary: str,
) -> Aggregation:
    traits = Traits(selective=True, exact=True)

    def monoid_for(kinds: tuple[Kind, ...]) -> Monoid:
        if kinds[0] is Kind.ANY:
            return Monoid(None, itself, pick_value, itself, like_input(0), traits)
        return Monoid(
            identity=-1,
            lift=itself,
            combine=pick,
            lower=itself,
            defined=Defined(is_position),
            traits=traits,
            fields=integers(name),
            lowered="int64",
            output=like_input(0),
        )

    return Aggregation(name, VALUE, monoid_for, same, summary)


first = _position("first", older_position, older_value, "the oldest value that is not null")
last = _position("last", newer_position, newer_value, "the newest value that is not null")


# The nth ----------------------------------------------------------------------------------------
# A partial holds the n positions that are nearest to its oldest end, or to its newest, nearest
# first; -1 is none. Of rows, -2 is a row without a value.

WITHOUT_VALUE = -2


def lift_position_into(position: Any, into: Any) -> None:
    """One position is the nearest to either end."""
    into[0] = position


def lift_absent_into(_position: Any, into: Any) -> None:
    """A row without a value is the nearest to either end."""
    into[0] = WITHOUT_VALUE


def copy_nearest(nearer: Any, farther: Any, into: Any) -> None:
    """The positions of one, and then of the other, as many as there is room for."""
    taken = 0
    for place in range(into.shape[0]):
        if nearer[place] == -1:
            break
        into[place] = nearer[place]
        taken += 1
    for place in range(taken, into.shape[0]):
        into[place] = farther[place - taken]


def nearest_to_oldest(older: Any, newer: Any, into: Any) -> None:
    """The positions of the older come first."""
    copy_nearest(older, newer, into)


def nearest_to_newest(older: Any, newer: Any, into: Any) -> None:
    """The positions of the newer come first."""
    copy_nearest(newer, older, into)


def farthest(partial: Any) -> Any:
    """The position that is nth from the end."""
    return partial[-1]


def has_farthest(partial: Any) -> bool:
    """Whether there are n."""
    return bool(partial[-1] >= 0)


def alone(value: Any) -> Any:
    """A tuple of one value."""
    return (value,)


def no_value(_value: Any) -> Any:
    """A row without a value, in a tuple."""
    return (None,)


@dataclass(frozen=True)
class Place:
    """A place in a window.

    Attributes:
        count: how many values from the end, or rows.
        from_oldest: from which end.
        of_rows: whether rows without a value count.
    """

    count: int
    from_oldest: bool
    of_rows: bool = False


def monoids_at(place: Place, field: str) -> tuple[Callable[..., Monoid], Input]:
    """The monoids of the value at a place, and their input; `field` is for products."""
    size, from_oldest = place.count, place.from_oldest
    in_rows = size < LONGEST_ROW
    identity = np.full(size if in_rows else 0, -1)
    in_place = InPlace(
        lift_position_into,
        nearest_to_oldest if from_oldest else nearest_to_newest,
        lift_absent_into if place.of_rows else None,
    )

    def joined(older: Any, newer: Any) -> Any:
        both = older + newer
        return both[:size] if from_oldest else both[-size:]

    def nth_value(partial: Any) -> Any:
        return partial[size - 1] if from_oldest else partial[-size]

    def monoid_for(kinds: tuple[Kind, ...]) -> Monoid:
        traits = Traits(exact=True)
        if kinds[0] is Kind.ANY or not in_rows:
            return Monoid(
                (), alone, joined, nth_value, like_input(0), traits,
                defined=Defined(lambda partial: len(partial) == size, one_value_is_enough=False),
                absent=no_value if place.of_rows else None,
            )  # fmt: skip
        return Monoid(
            identity=identity,
            lift=in_new_row(identity, in_place.lift),
            absent=in_new_row(identity, lift_absent_into) if place.of_rows else None,
            combine=in_new_row(identity, in_place.combine),
            lower=farthest,
            in_place=in_place,
            defined=Defined(has_farthest, one_value_is_enough=False),
            traits=traits,
            fields=(Field(field, "int64", size),),
            lowered="int64",
            output=like_input(0),
        )

    return monoid_for, Input("value", carried=in_rows, unknown=place.of_rows)


def _nth(n: int) -> Aggregation:
    if not is_whole(n) or n == 0:
        raise InvalidArgument(
            "n: 1 is the oldest value, 2 the next, -1 the newest, -2 the one before; not "
            f"{shown(n)}"
        )
    monoid_for, entry = monoids_at(Place(abs(n), from_oldest=n > 0), f"nth_{n}")
    return Aggregation(f"nth_{n}".replace("-", "last_"), (entry,), monoid_for, same, f"value {n}")


nth = parametrized(
    "nth",
    VALUE,
    _nth,
    "n=2",
    "the value that is `n`th from the oldest, or from the newest if `n` is negative; null if there "
    "are fewer",
)


# Lag and lead -----------------------------------------------------------------------------------


def _rows_away(
    name: str,
    n: int,
    current: str,
    summary: str,
    variant: Callable[..., Aggregation] | None = None,
) -> Aggregation:
    """The value `n` rows from the current one, which is the newest or the oldest."""
    place = Place(n + 1, from_oldest=current == "oldest", of_rows=True)
    monoid_for, entry = monoids_at(place, f"{name}_{n}")
    return Aggregation(
        name if n == 1 else f"{name}_{n}",
        (entry,),
        monoid_for,
        same,
        summary,
        variant=variant,
        current=current,
        least_rows=n + 1,
    )


def _lag(n: int = 1) -> Aggregation:
    if at_least_one("n", n) == 1:
        return lag
    return _rows_away("lag", n, "newest", f"the value {n} rows before")


lag = _rows_away(
    "lag",
    1,
    "newest",
    "the value `n` rows before the current one (in `slide`, the newest), 1 if you do not say; null "
    "if that row has none, or if the window does not reach it",
    _lag,
)


def _lead(n: int = 1) -> Aggregation:
    if at_least_one("n", n) == 1:
        return lead
    return _rows_away("lead", n, "oldest", f"the value {n} rows after")


lead = _rows_away(
    "lead",
    1,
    "oldest",
    "the value `n` rows after the current one, 1 if you do not say; null if that row has none, or "
    "if there is none; for windows that begin at the row, such as `wr.rows(before=0, after=3)`",
    _lead,
)

EXAMPLES = (nth(n=2), nth(n=-3), lag(n=3), lead(n=2))
