"""Sums, means and products.

Integers are exact. A sum of integers is kept as two halves, high and low 32 bits, each a 64-bit
integer that cannot overflow before 2^31 events; the answer is checked when it is put together. A
product is kept modulo 2^64 beside a float that tells whether that is the true value.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.algebra.aggregation import NUMBERS, Aggregation, Input
from windrow.algebra.counting import add, itself, subtract
from windrow.algebra.equality import close
from windrow.algebra.kinds import EXACT, Kind, widest_decimal
from windrow.algebra.monoid import Blockwise, Monoid, Traits, always, floats, integers

NUMBER = (Input("value", NUMBERS),)

_HALF = 2**32
_LOW_BITS = 2**32 - 1


def add_two(older: Any, newer: Any) -> Any:
    """Add field by field."""
    return (older[0] + newer[0], older[1] + newer[1])


def subtract_two(total: Any, oldest: Any) -> Any:
    """Subtract field by field."""
    return (total[0] - oldest[0], total[1] - oldest[1])


def add_three(older: Any, newer: Any) -> Any:
    """Add field by field."""
    return (older[0] + newer[0], older[1] + newer[1], older[2] + newer[2])


def subtract_three(total: Any, oldest: Any) -> Any:
    """Subtract field by field."""
    return (total[0] - oldest[0], total[1] - oldest[1], total[2] - oldest[2])


# Sum --------------------------------------------------------------------------------------------


def lift_halves(value: Any) -> Any:
    """An integer as high and low half."""
    return (value >> 32, value & _LOW_BITS)


def lower_halves(partial: Any) -> Any:
    """The integer, if it is one of 64 bits."""
    high = partial[0] + (partial[1] >> 32)
    if high >= 2**31 or high < -(2**31):
        raise OverflowError("a sum left the range of 64-bit integers")
    return (high << 32) | (partial[1] & _LOW_BITS)


def add_decimals(older: Any, newer: Any) -> Any:
    """Add without rounding, whatever the precision of Python's current context is."""
    return EXACT.add(older, newer)


def subtract_decimals(total: Any, oldest: Any) -> Any:
    """Subtract without rounding."""
    return EXACT.subtract(total, oldest)


def _sum_output(types: tuple[pa.DataType, ...]) -> pa.DataType:
    if pa.types.is_decimal(types[0]):
        return widest_decimal(types[0])
    return pa.float64() if pa.types.is_floating(types[0]) else pa.int64()


def _sum_for(kinds: tuple[Kind, ...]) -> Monoid:
    if kinds[0] is Kind.DECIMAL:
        return Monoid(
            identity=Decimal(0),
            lift=itself,
            combine=add_decimals,
            lower=itself,
            inverse=subtract_decimals,
            traits=Traits(commutative=True, exact=True),
            output=_sum_output,
        )
    if kinds[0] in (Kind.INTEGER, Kind.BOOLEAN):
        return Monoid(
            identity=(0, 0),
            lift=lift_halves,
            combine=add_two,
            lower=lower_halves,
            inverse=subtract_two,
            traits=Traits(commutative=True, exact=True),
            fields=integers("sum_high", "sum_low"),
            lowered="int64",
            output=_sum_output,
        )
    return Monoid(
        identity=0.0 if kinds[0] is Kind.FLOAT else 0,
        lift=itself,
        combine=add,
        lower=itself,
        inverse=subtract,
        traits=Traits(commutative=True),
        fields=floats("sum") if kinds[0] is Kind.FLOAT else (),
        output=_sum_output,
    )


sum = Aggregation("sum", NUMBER, _sum_for, close, "the sum; exact for integers")


# Mean -------------------------------------------------------------------------------------------


def lift_halves_and_count(value: Any) -> Any:
    """An integer as high and low half, counted."""
    return (value >> 32, value & _LOW_BITS, 1)


def mean_of_halves(partial: Any) -> Any:
    """The mean of integers.

    What the low halves carry goes to the high ones first: of many small negative numbers both are
    large, and nearly cancel.
    """
    high = partial[0] + (partial[1] >> 32)
    return (high * float(_HALF) + (partial[1] & _LOW_BITS)) / partial[2]


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


def has_two(partial: Any) -> bool:
    """Whether the count in the second field is not zero."""
    return bool(partial[1] > 0)


def _mean_for(kinds: tuple[Kind, ...]) -> Monoid:
    if kinds[0] in (Kind.INTEGER, Kind.BOOLEAN):
        return Monoid(
            identity=(0, 0, 0),
            lift=lift_halves_and_count,
            combine=add_three,
            lower=mean_of_halves,
            inverse=subtract_three,
            defined=has_three,
            traits=Traits(commutative=True, exact=True),
            fields=integers("sum_high", "sum_low", "count"),
            output=always(pa.float64()),
        )
    return Monoid(
        identity=(0.0 if kinds[0] is Kind.FLOAT else 0, 0),
        lift=lift_float_and_count if kinds[0] is Kind.DECIMAL else lift_and_count,
        combine=add_two,
        lower=mean_of_sum,
        inverse=subtract_two,
        defined=has_two,
        traits=Traits(commutative=True),
        fields=(*floats("sum"), *integers("count")) if kinds[0] is Kind.FLOAT else (),
        output=always(pa.float64()),
    )


mean = Aggregation("mean", NUMBER, _mean_for, close, "the arithmetic mean")


# Products ---------------------------------------------------------------------------------------


def lift_product(value: Any) -> Any:
    """An integer factor, and the same as a float."""
    return (value, float(value))


def multiply(older: Any, newer: Any) -> Any:
    """The product of two factors."""
    return older * newer


def multiply_two(older: Any, newer: Any) -> Any:
    """Multiply field by field."""
    return (older[0] * newer[0], older[1] * newer[1])


def lower_product(partial: Any) -> Any:
    """The integer product, if it is one of 64 bits.

    Two integers that are equal modulo 2^64 lie at least 2^64 apart, and the float is far closer to
    the true product than that. It is NaN only for infinity times zero, where the product is zero.
    """
    if abs(partial[0] - partial[1]) > 2.0**62:
        raise OverflowError("a product left the range of 64-bit integers")
    return partial[0]


def _product_for(kinds: tuple[Kind, ...]) -> Monoid:
    if kinds[0] in (Kind.INTEGER, Kind.BOOLEAN):
        return Monoid(
            identity=(1, 1.0),
            lift=lift_product,
            combine=multiply_two,
            lower=lower_product,
            # Not exact: the answer is, but the size beside it is rounded.
            traits=Traits(commutative=True),
            fields=(*integers("product"), *floats("product_size")),
            lowered="int64",
            output=always(pa.int64()),
        )
    return Monoid(
        identity=1.0 if kinds[0] is Kind.FLOAT else 1,
        lift=float if kinds[0] is Kind.DECIMAL else itself,
        combine=multiply,
        lower=itself,
        traits=Traits(commutative=True),
        fields=floats("product") if kinds[0] is Kind.FLOAT else (),
        output=always(pa.float64()),
    )


product = Aggregation("product", NUMBER, _product_for, close, "the product; exact for integers")


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
    defined=has_two,
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
