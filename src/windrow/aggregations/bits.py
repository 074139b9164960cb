"""Bits and truth values, combined by and, or, and exclusive or."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from windrow.algebra.aggregation import Aggregation, Input
from windrow.algebra.counting import itself
from windrow.algebra.equality import same
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Monoid, OutputType, Traits, always, integers, like_input

INTEGER = (Input("value", frozenset({Kind.INTEGER, Kind.ANY})),)
TRUTH = (Input("condition", frozenset({Kind.BOOLEAN, Kind.ANY})),)


def both(older: Any, newer: Any) -> Any:
    """The bits that are set in both."""
    return older & newer


def either(older: Any, newer: Any) -> Any:
    """The bits that are set in at least one."""
    return older | newer


def one_of(older: Any, newer: Any) -> Any:
    """The bits that are set in one and not in the other; its own inverse."""
    return older ^ newer


def as_bit(value: Any) -> Any:
    """A truth value as 0 or 1."""
    return 1 if value else 0


def is_set(partial: Any) -> Any:
    """A bit as a truth value."""
    return bool(partial)


def _bitwise(
    name: str,
    inputs: tuple[Input, ...],
    identity: int,
    combine: Callable[[Any, Any], Any],
    summary: str,
) -> Aggregation:
    truth = inputs is TRUTH
    output: OutputType = always(pa.bool_()) if truth else like_input(0)

    def monoid_for(kinds: tuple[Kind, ...]) -> Monoid:
        python = kinds[0] is Kind.ANY
        return Monoid(
            identity=identity,
            lift=as_bit if truth else itself,
            combine=combine,
            lower=is_set if truth and python else itself,
            inverse=combine if combine is one_of else None,
            traits=Traits(commutative=True, exact=True),
            fields=() if python else integers(name),
            lowered="int64",
            output=output,
        )

    return Aggregation(name, inputs, monoid_for, same, summary)


bit_and = _bitwise("bit_and", INTEGER, -1, both, "the bits that all values have set")
bit_or = _bitwise("bit_or", INTEGER, 0, either, "the bits that some value has set")
bit_xor = _bitwise("bit_xor", INTEGER, 0, one_of, "the bits that an odd number of values have set")
all = _bitwise("all", TRUTH, 1, both, "whether every value is true")
any = _bitwise("any", TRUTH, 0, either, "whether some value is true")
