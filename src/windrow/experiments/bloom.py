"""A simple Bloom filter as an aggregation whose partial is a row of an array."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from windrow.algebra.aggregation import NUMBERS, Aggregation, Input
from windrow.algebra.equality import same
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Field, InPlace, Monoid, Traits, always

WORDS = 16
HASHES = 3
_BITS = WORDS * 64


def lift_into(value: Any, into: Any) -> None:
    """Set the value's bits."""
    hashed = np.int64(value * 1_000_003.0) * 0x1E3779B97F4A7C15
    for number in range(HASHES):
        bit = (hashed >> (13 * number + 3)) & (_BITS - 1)
        into[bit >> 6] |= 1 << (bit & 63)


def combine_into(older: Any, newer: Any, into: Any) -> None:
    """The union of two filters."""
    for word in range(WORDS):
        into[word] = older[word] | newer[word]


def lift(value: Any) -> Any:
    """A filter of one value."""
    into = np.zeros(WORDS, np.int64)
    lift_into(value, into)
    return into


def combine(older: Any, newer: Any) -> Any:
    """The union of two filters, as a new one."""
    return older | newer


def first_word(partial: Any) -> Any:
    """Something of the filter to write down."""
    return partial[0]


BLOOM = Monoid(
    identity=np.zeros(WORDS, np.int64),
    lift=lift,
    combine=combine,
    lower=first_word,
    in_place=InPlace(lift_into, combine_into),
    traits=Traits(commutative=True, exact=True),
    fields=(Field("bloom", "int64", WORDS),),
    lowered="int64",
    output=always(pa.int64()),
)


def _bloom_for(_kinds: tuple[Kind, ...]) -> Monoid:
    return BLOOM


bloom = Aggregation("bloom", (Input("value", NUMBERS),), _bloom_for, same, "a Bloom filter")
