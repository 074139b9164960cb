"""Which aggregations an algorithm serves."""

from collections.abc import Sequence

from windrow.aggregations import CATALOGUE
from windrow.algebra.kinds import Kind
from windrow.algorithms import ALGORITHMS

COMPILED = ("sum", "max", "min", "mean", "count", "variance")


def served_by(algorithm: str, names: Sequence[str] = COMPILED) -> list[str]:
    """The aggregations of integers that an algorithm can serve."""
    monoids = {name: CATALOGUE[name].monoid_for((Kind.INTEGER,)) for name in names}
    refuses = ALGORITHMS[algorithm].refuses
    return [
        name
        for name, monoid in monoids.items()
        if refuses(monoid.traits, monoid.inverse is not None) is None
    ]
