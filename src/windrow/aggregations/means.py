"""Means: arithmetic, weighted, geometric, harmonic and quadratic."""

from __future__ import annotations

import datetime
import math
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.aggregations.sums import (
    ADDABLE,
    LOW_BITS,
    NUMBER,
    WHOLE,
    add_two,
    lift_square,
    subtract_two,
)
from windrow.algebra.aggregation import NUMBERS, Aggregation, Input
from windrow.algebra.equality import close
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import (
    Blockwise,
    Defined,
    Monoid,
    Traits,
    always,
    floats,
    integers,
    like_input,
)

_HALF = float(2**32)


def add_three(older: Any, newer: Any) -> Any:
    """Add field by field."""
    return (older[0] + newer[0], older[1] + newer[1], older[2] + newer[2])


def subtract_three(total: Any, oldest: Any) -> Any:
    """Subtract field by field."""
    return (total[0] - oldest[0], total[1] - oldest[1], total[2] - oldest[2])


# Arithmetic mean --------------------------------------------------------------------------------


def lift_halves_and_count(value: Any) -> Any:
    """An integer as high and low half, counted."""
    return (value >> 32, value & LOW_BITS, 1)


def mean_of_halves(partial: Any) -> Any:
    """The mean of integers.

    What the low halves carry goes to the high ones first: of many small negative numbers both are
    large, and nearly cancel.
    """
    high = partial[0] + (partial[1] >> 32)
    return (high * _HALF + (partial[1] & LOW_BITS)) / partial[2]


def whole_mean_of_halves(partial: Any) -> Any:
    """The mean of durations in whole ticks, exactly, with what is left of a tick cut off.

    It is a long division by halves: the sum may have more than 64 bits.
    """
    count = partial[2]
    high = partial[0] + (partial[1] >> 32)
    # What is left of the high half is less than the count, so this cannot overflow.
    rest = ((high % count) << 32) | (partial[1] & LOW_BITS)
    mean = ((high // count) << 32) + rest // count
    # Both divisions round down, also below zero.
    return mean + 1 if mean < 0 and rest % count != 0 else mean


def has_three(partial: Any) -> bool:
    """Whether the count in the third field is not zero."""
    return bool(partial[2] > 0)


def lift_and_count(value: Any) -> Any:
    """A number, counted."""
    return (value, 1)


def lift_float_and_count(value: Any) -> Any:
    """A number as a float, counted."""
    return (float(value), 1)


def mean_of_sum(partial: Any) -> Any:
    """The mean from sum and count."""
    return partial[0] / partial[1]


def mean_of_values(partial: Any) -> Any:
    """The mean of Python values; of durations, what is left of a tick is cut off."""
    total, count = partial
    if not isinstance(total, datetime.timedelta | np.timedelta64):
        return total / count
    size = abs(total) // count
    return size if total == abs(total) else -size


def has_two(partial: Any) -> bool:
    """Whether the count in the second field is not zero."""
    return bool(partial[1] > 0)


def _mean_for(kinds: tuple[Kind, ...]) -> Monoid:
    if kinds[0] in WHOLE:
        in_ticks = kinds[0] is Kind.DURATION
        return Monoid(
            identity=(0, 0, 0),
            lift=lift_halves_and_count,
            combine=add_three,
            lower=whole_mean_of_halves if in_ticks else mean_of_halves,
            inverse=subtract_three,
            defined=Defined(has_three),
            traits=Traits(commutative=True, exact=True),
            fields=integers("sum_high", "sum_low", "count"),
            lowered="int64" if in_ticks else "float64",
            output=like_input(0) if in_ticks else always(pa.float64()),
        )
    return Monoid(
        identity=(0.0 if kinds[0] is Kind.FLOAT else 0, 0),
        lift=lift_float_and_count if kinds[0] is Kind.DECIMAL else lift_and_count,
        combine=add_two,
        lower=mean_of_values if kinds[0] is Kind.ANY else mean_of_sum,
        inverse=subtract_two,
        defined=Defined(has_two),
        traits=Traits(commutative=True),
        fields=(*floats("sum"), *integers("count")) if kinds[0] is Kind.FLOAT else (),
        output=always(pa.float64()),
    )


mean = Aggregation(
    "mean",
    ADDABLE,
    _mean_for,
    close,
    "the arithmetic mean; of durations a duration, cut off toward zero",
)


# Weighted mean ----------------------------------------------------------------------------------


def lift_weighted(value: Any, weight: Any) -> Any:
    """A value times its weight, and the weight."""
    return (float(value) * float(weight), float(weight))


def has_weight(partial: Any) -> bool:
    """Whether the weights do not cancel; the mean of no weight is none."""
    return bool(partial[1] != 0)


WEIGHTED_MEAN = Monoid(
    identity=(0.0, 0.0),
    lift=lift_weighted,
    combine=add_two,
    lower=mean_of_sum,
    inverse=subtract_two,
    defined=Defined(has_weight, one_value_is_enough=False),
    traits=Traits(commutative=True),
    fields=floats("weighted_sum", "weight"),
    output=always(pa.float64()),
)


def _weighted_mean_for(_kinds: tuple[Kind, ...]) -> Monoid:
    return WEIGHTED_MEAN


weighted_mean = Aggregation(
    "weighted_mean",
    (Input("value", NUMBERS), Input("weight", NUMBERS)),
    _weighted_mean_for,
    close,
    "the mean of the first column weighted by the second, as in a volume-weighted price; null if "
    "the weights add up to zero",
)


# Geometric mean ---------------------------------------------------------------------------------


def lift_logarithm(value: Any) -> Any:
    """The logarithm, counted: minus infinity for zero, NaN for negative numbers."""
    if value > 0:
        return (math.log(value), 1)
    return (-math.inf if value == 0 else math.nan, 1)


def exponential_of_mean(partial: Any) -> Any:
    """From the sum of logarithms to the geometric mean."""
    return math.exp(partial[0] / partial[1])


GEOMETRIC_MEAN = Monoid(
    identity=(0.0, 0),
    lift=lift_logarithm,
    combine=add_two,
    lower=exponential_of_mean,
    inverse=subtract_two,
    defined=Defined(has_two),
    traits=Traits(commutative=True),
    blockwise=Blockwise(before=np.log, lift=lift_and_count, lower=mean_of_sum, after=np.exp),
    fields=(*floats("log_sum"), *integers("count")),
    output=always(pa.float64()),
)


def _geometric_mean_for(_kinds: tuple[Kind, ...]) -> Monoid:
    return GEOMETRIC_MEAN


geometric_mean = Aggregation(
    "geometric_mean",
    NUMBER,
    _geometric_mean_for,
    close,
    "the geometric mean; NaN if a value is negative",
)


# Harmonic mean ----------------------------------------------------------------------------------


def lift_reciprocal(value: Any) -> Any:
    """The reciprocal, counted: infinite for zero, NaN for negative numbers."""
    number = float(value)
    if number > 0:
        return (1.0 / number, 1)
    return (math.inf if number == 0 else math.nan, 1)


def reciprocal_of_mean(partial: Any) -> Any:
    """From the sum of reciprocals to the harmonic mean, which is infinite if all values are."""
    return partial[1] / partial[0] if partial[0] != 0 else math.inf


HARMONIC_MEAN = Monoid(
    identity=(0.0, 0),
    lift=lift_reciprocal,
    combine=add_two,
    lower=reciprocal_of_mean,
    inverse=subtract_two,
    defined=Defined(has_two),
    traits=Traits(commutative=True),
    fields=(*floats("sum_of_reciprocals"), *integers("count")),
    output=always(pa.float64()),
)


def _harmonic_mean_for(_kinds: tuple[Kind, ...]) -> Monoid:
    return HARMONIC_MEAN


harmonic_mean = Aggregation(
    "harmonic_mean",
    NUMBER,
    _harmonic_mean_for,
    close,
    "the harmonic mean; 0 if a value is zero, NaN if one is negative",
)


# Quadratic mean ---------------------------------------------------------------------------------


def lift_square_and_count(value: Any) -> Any:
    """The square as a float, counted."""
    return (lift_square(float(value)), 1)


def root_of_mean(partial: Any) -> Any:
    """From the sum of squares to the quadratic mean."""
    return math.sqrt(partial[0] / partial[1])


def _root_mean_square_for(kinds: tuple[Kind, ...]) -> Monoid:
    # The exact sum of squares of integers is another field.
    total = "sum_of_squares" if kinds[0] is Kind.FLOAT else "sum_of_float_squares"
    return Monoid(
        identity=(0.0, 0),
        lift=lift_square_and_count,
        combine=add_two,
        lower=root_of_mean,
        inverse=subtract_two,
        defined=Defined(has_two),
        traits=Traits(commutative=True),
        fields=(*floats(total), *integers("count")),
        output=always(pa.float64()),
    )


root_mean_square = Aggregation(
    "root_mean_square",
    NUMBER,
    _root_mean_square_for,
    close,
    "the root of the mean of the squares",
)
