"""Which kinds of input an aggregation is to be checked with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from windrow.algebra.aggregation import Aggregation, Input
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
    Kind.DURATION,
    Kind.BOOLEAN,
    Kind.NESTED,
)


def kinds_accepted(aggregation: Aggregation) -> Iterator[Kinds]:
    """Every kind that an aggregation takes as its first input, with others that go with it.

    Further inputs are of the same kind if they may be, else of the most telling kind they take.

    Args:
        aggregation: of the catalogue, or of your own.

    >>> import windrow as wr
    >>> [kind.name for (kind,) in kinds_accepted(wr.mean)]
    ['FLOAT', 'INTEGER', 'ANY', 'DECIMAL', 'DURATION', 'BOOLEAN']
    """
    first, *others = aggregation.inputs
    for kind in _TELLING_FIRST:
        if kind in first.accepts:
            yield (kind, *(_beside(kind, entry) for entry in others))


def _beside(kind: Kind, entry: Input) -> Kind:
    """The kind of a further input, where the first is of a kind."""
    # Python values of a type not known in advance come all together or not at all.
    if kind in entry.accepts:
        return kind
    return next(each for each in _TELLING_FIRST if each in entry.accepts and each is not Kind.ANY)


def kinds_apart(aggregation: Aggregation) -> Iterator[Kinds]:
    """The kinds for which an aggregation has different functions, one of each.

    Args:
        aggregation: of the catalogue, or of your own.

    >>> import windrow as wr
    >>> [kind.name for (kind,) in kinds_apart(wr.max)]
    ['FLOAT', 'INTEGER', 'ANY']
    """
    seen: list[Any] = []
    for kinds in kinds_accepted(aggregation):
        monoid = aggregation.monoid_for(kinds)
        functions = (monoid.lift, monoid.combine, monoid.lower, monoid.fields)
        if functions not in seen:
            seen.append(functions)
            yield kinds
