"""The oldest and the newest value of a window."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from windrow.algebra.aggregation import Aggregation, Input
from windrow.algebra.equality import same
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Monoid, Traits, integers, like_input

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
            defined=is_position,
            traits=traits,
            fields=integers(name),
            lowered="int64",
            output=like_input(0),
        )

    return Aggregation(name, VALUE, monoid_for, same, summary)


first = _position("first", older_position, older_value, "the oldest value that is not null")
last = _position("last", newer_position, newer_value, "the newest value that is not null")
