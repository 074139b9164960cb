"""Counting."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from windrow.algebra.aggregation import ANYTHING, Aggregation, Input
from windrow.algebra.counting import COUNT
from windrow.algebra.equality import same
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Monoid, integers


def _count_for(_kinds: tuple[Kind, ...]) -> Monoid:
    return COUNT


count = Aggregation(
    "count",
    (Input("value", ANYTHING, optional=True),),
    _count_for,
    same,
    "the number of values, or of rows if no column is named",
    expected=len,
)


def one_if_true(value: Any) -> int:
    """An event counts if it is true."""
    return 1 if value else 0


COUNT_IF = replace(COUNT, lift=one_if_true, fields=integers("count_of_true"))


def _count_if_for(_kinds: tuple[Kind, ...]) -> Monoid:
    return COUNT_IF


count_if = Aggregation(
    "count_if",
    (Input("condition", frozenset({Kind.BOOLEAN, Kind.ANY})),),
    _count_if_for,
    same,
    "the number of true values; 0 if there are none",
    expected=lambda values: len([value for value in values if value]),
)
