"""Which kinds of input an aggregation is to be checked with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from windrow.algebra.aggregation import Aggregation
from windrow.algebra.kinds import Kind

Kinds = tuple[Kind, ...]

#: of kinds that are treated alike, the one whose values go furthest comes first
_TELLING_FIRST = (
    Kind.FLOAT,
    Kind.INTEGER,
    Kind.ANY,
    Kind.DECIMAL,
    Kind.TEXT,
    Kind.TEMPORAL,
    Kind.BOOLEAN,
    Kind.NESTED,
)


def kinds_accepted(aggregation: Aggregation) -> Iterator[Kinds]:
    """Every kind that an aggregation takes as its first input, with others that go with it.

    Further inputs are carried or of the same kind: what is done to them does not depend on theirs.
    """
    for kind in _TELLING_FIRST:
        if all(kind in entry.accepts or entry.carried for entry in aggregation.inputs):
            yield (kind,) * len(aggregation.inputs)


def kinds_apart(aggregation: Aggregation) -> Iterator[Kinds]:
    """The kinds for which an aggregation has different functions, one of each."""
    seen: list[Any] = []
    for kinds in kinds_accepted(aggregation):
        monoid = aggregation.monoid_for(kinds)
        functions = (monoid.lift, monoid.combine, monoid.lower, monoid.fields)
        if functions not in seen:
            seen.append(functions)
            yield kinds
