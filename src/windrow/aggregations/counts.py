"""Counting."""

from __future__ import annotations

from windrow.algebra.aggregation import ANYTHING, Aggregation, Input
from windrow.algebra.counting import COUNT
from windrow.algebra.equality import same
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Monoid


def _count_for(_kinds: tuple[Kind, ...]) -> Monoid:
    return COUNT


count = Aggregation(
    "count",
    (Input("value", ANYTHING, optional=True),),
    _count_for,
    same,
    "the number of values, or of rows if no column is named",
)
