"""Which algorithm serves a window: one chain, in one place."""

from __future__ import annotations

from windrow import algorithms
from windrow.algebra.monoid import Monoid


def choose(aggregation: str, monoid: Monoid, wanted: str | None = None) -> algorithms.Algorithm:
    """The algorithm that the user named, if it can serve, or the best that there is."""
    algorithm = algorithms.find("two_stacks_lite" if wanted is None else wanted)
    algorithms.require_applicable(algorithm, aggregation, monoid)
    return algorithm
