"""What stands in another column where a value is smallest or largest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from windrow.aggregations.extremes import precedes
from windrow.algebra.aggregation import ORDERABLE, Aggregation, Input
from windrow.algebra.equality import same
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Monoid, OutputType, Traits, integers, like_input
from windrow.algebra.ordering import ABOVE_ALL, BELOW_ALL, rank

VALUE_AND_CARRIED = (Input("value", ORDERABLE), Input("at", carried=True))


def lift_pair(value: Any, at: Any) -> Any:
    """A value and what it carries."""
    return (value, at)


def lift_ranked_pair(value: Any, at: Any) -> Any:
    """The rank of a value and what it carries."""
    return (rank(value), at)


def first_smallest(older: Any, newer: Any) -> Any:
    """The pair with the smaller value, the first of equals; -1 carries nothing."""
    if newer[1] < 0:
        return older
    return newer if older[1] < 0 or newer[0] < older[0] else older


def first_largest(older: Any, newer: Any) -> Any:
    """The pair with the larger value, the first of equals; -1 carries nothing."""
    if newer[1] < 0:
        return older
    return newer if older[1] < 0 or newer[0] > older[0] else older


def first_smallest_value(older: Any, newer: Any) -> Any:
    """The pair with the smaller Python value, the first of equals."""
    if older is None or newer is None:
        return newer if older is None else older
    return newer if precedes(newer[0], older[0]) else older


def first_largest_value(older: Any, newer: Any) -> Any:
    """The pair with the larger Python value, the first of equals."""
    if older is None or newer is None:
        return newer if older is None else older
    return newer if precedes(older[0], newer[0]) else older


def second(partial: Any) -> Any:
    """What stands beside the extreme."""
    return partial[1]


def carries_any(partial: Any) -> bool:
    """Whether the extreme was seen at all."""
    return bool(partial[1] >= 0)


def carries_any_value(partial: Any) -> bool:
    """Whether the extreme of Python values was seen at all."""
    return partial is not None


def _carrying_extreme(
    name: str,
    extreme: str,
    identity: int,
    pick: Callable[[Any, Any], Any],
    pick_value: Callable[[Any, Any], Any],
    summary: str,
) -> Aggregation:
    traits = Traits(selective=True, exact=True)
    carried: OutputType = like_input(1)

    def monoid_for(kinds: tuple[Kind, ...]) -> Monoid:
        if not kinds[0].is_compiled:
            return Monoid(
                None, lift_pair, pick_value, second, carried, traits, defined=carries_any_value
            )
        return Monoid(
            identity=(identity, -1),
            lift=lift_ranked_pair if kinds[0] is Kind.FLOAT else lift_pair,
            combine=pick,
            lower=second,
            defined=carries_any,
            traits=traits,
            fields=integers(extreme, f"at_{extreme}"),
            lowered="int64",
            output=carried,
        )

    return Aggregation(name, VALUE_AND_CARRIED, monoid_for, same, summary)


arg_min = _carrying_extreme(
    "arg_min", "min", ABOVE_ALL, first_smallest, first_smallest_value,
    "the second column's value where the first is smallest, the first of equals",
)  # fmt: skip
arg_max = _carrying_extreme(
    "arg_max", "max", BELOW_ALL, first_largest, first_largest_value,
    "the second column's value where the first is largest, the first of equals",
)  # fmt: skip
