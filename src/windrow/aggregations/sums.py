"""Sums and products.

Integers are exact. A sum of integers has two halves, for the high and the low 32 bits. Each is a
64-bit integer that cannot overflow before 2^31 events; `lower` checks the answer. Products and sums
of squares are kept modulo 2^64. A float beside them says whether that is the true value.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pyarrow as pa

from windrow.algebra.aggregation import NUMBERS, Aggregation, Input
from windrow.algebra.counting import add, itself, subtract
from windrow.algebra.equality import close
from windrow.algebra.kinds import EXACT, Kind, widest_decimal
from windrow.algebra.monoid import Monoid, Traits, always, floats, integers

NUMBER = (Input("value", NUMBERS),)
#: durations are whole ticks, and added up as integers
ADDABLE = (Input("value", NUMBERS | {Kind.DURATION}),)
WHOLE = (Kind.INTEGER, Kind.BOOLEAN, Kind.DURATION)

LOW_BITS = 2**32 - 1


def add_two(older: Any, newer: Any) -> Any:
    """Add field by field."""
    return (older[0] + newer[0], older[1] + newer[1])


def subtract_two(total: Any, oldest: Any) -> Any:
    """Subtract field by field."""
    return (total[0] - oldest[0], total[1] - oldest[1])


# Sum --------------------------------------------------------------------------------------------


def lift_halves(value: Any) -> Any:
    """An integer as high and low half."""
    return (value >> 32, value & LOW_BITS)


def lower_halves(partial: Any) -> Any:
    """The integer, if it is one of 64 bits."""
    high = partial[0] + (partial[1] >> 32)
    if high >= 2**31 or high < -(2**31):
        raise OverflowError("a sum left the range of 64-bit integers")
    return (high << 32) | (partial[1] & LOW_BITS)


def add_decimals(older: Any, newer: Any) -> Any:
    """Add without rounding, whatever the precision of Python's current context is."""
    return EXACT.add(older, newer)


def subtract_decimals(total: Any, oldest: Any) -> Any:
    """Subtract without rounding."""
    return EXACT.subtract(total, oldest)


def _sum_output(types: tuple[pa.DataType, ...]) -> pa.DataType:
    if pa.types.is_decimal(types[0]):
        return widest_decimal(types[0])
    if pa.types.is_duration(types[0]):
        return types[0]
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
    if kinds[0] in WHOLE:
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


sum = Aggregation("sum", ADDABLE, _sum_for, close, "the sum; exact for integers and durations")


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


def is_whole(partial: Any) -> bool:
    """Whether an integer modulo 2^64 is the true one, whose float stands beside it.

    Two integers that are equal modulo 2^64 lie at least 2^64 apart, and the float is far closer to
    the true one than that. It is NaN only for infinity times zero, where the product is zero.
    """
    return not abs(partial[0] - partial[1]) > 2.0**62


def lower_product(partial: Any) -> Any:
    """The integer product, if it is one of 64 bits."""
    if not is_whole(partial):
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


def lift_factor(value: Any) -> Any:
    """A factor; a zero is counted, and only its sign is a factor."""
    number = float(value)
    return (math.copysign(1.0, number), 1) if number == 0.0 else (number, 0)


def multiply_factors(older: Any, newer: Any) -> Any:
    """The product of the factors, and how many zeros there are."""
    return (older[0] * newer[0], older[1] + newer[1])


def divide_factors(total: Any, oldest: Any) -> Any:
    """Take out the oldest factors and zeros."""
    return (total[0] / oldest[0], total[1] - oldest[1])


def lower_factors(partial: Any) -> Any:
    """The product; zeros make it zero."""
    return partial[0] * 0.0 if partial[1] > 0 else partial[0]


def lift_python_factor(value: Any) -> Any:
    """The same of a Python number, which may be an integer of any length."""
    return (value, 0) if value != 0 else (value * 0 + 1, 1)


def divide_python_factors(total: Any, oldest: Any) -> Any:
    """The same of Python numbers: integers divide exactly."""
    zeros = total[1] - oldest[1]
    if isinstance(total[0], int) and isinstance(oldest[0], int):
        return (total[0] // oldest[0], zeros)
    return (total[0] / oldest[0], zeros)


def lower_python_factors(partial: Any) -> Any:
    """The product, an integer if all are."""
    return partial[0] * 0 if partial[1] > 0 else partial[0]


def _divisible_product_for(kinds: tuple[Kind, ...]) -> Monoid:
    if kinds[0] in (Kind.INTEGER, Kind.BOOLEAN):
        return _product_for(kinds)  # modulo 2^64, nothing divides by an even number
    python = kinds[0] is Kind.ANY
    return Monoid(
        identity=(1, 0) if python else (1.0, 0),
        lift=lift_python_factor if python else lift_factor,
        combine=multiply_factors,
        lower=lower_python_factors if python else lower_factors,
        inverse=divide_python_factors if python else divide_factors,
        traits=Traits(commutative=True),
        fields=(*floats("factors"), *integers("zeros")) if kinds[0] is Kind.FLOAT else (),
        output=always(pa.float64()),
    )


def _divisible_product() -> Aggregation:
    return DIVISIBLE_PRODUCT


_SUMMARY = "the product; exact for integers"
#: with `exact=False`: a zero would stay in a product for ever, and no factor leaves it exactly
DIVISIBLE_PRODUCT = Aggregation(
    "product", NUMBER, _divisible_product_for, close, _SUMMARY, recipe=(_divisible_product, ())
)
product = Aggregation("product", NUMBER, _product_for, close, _SUMMARY, rounding=DIVISIBLE_PRODUCT)


# Sum of squares ---------------------------------------------------------------------------------


def lift_square(value: Any) -> Any:
    """A number times itself."""
    return value * value


def lift_square_of_decimal(value: Any) -> Any:
    """The square of a decimal, as a float: it has twice as many digits as the column's type."""
    return float(value) * float(value)


def lift_square_and_size(value: Any) -> Any:
    """The square of an integer, and the same as a float."""
    return (value * value, float(value) * float(value))


def lower_squares(partial: Any) -> Any:
    """The integer sum of squares, if it is one of 64 bits."""
    if not is_whole(partial):
        raise OverflowError("a sum of squares left the range of 64-bit integers")
    return partial[0]


def _sum_of_squares_for(kinds: tuple[Kind, ...]) -> Monoid:
    if kinds[0] in (Kind.INTEGER, Kind.BOOLEAN):
        return Monoid(
            identity=(0, 0.0),
            lift=lift_square_and_size,
            combine=add_two,
            lower=lower_squares,
            inverse=subtract_two,
            traits=Traits(commutative=True),
            fields=(*integers("squares"), *floats("squares_size")),
            lowered="int64",
            output=always(pa.int64()),
        )
    is_float = kinds[0] is Kind.FLOAT
    return Monoid(
        identity=0.0 if is_float else 0,
        lift=lift_square_of_decimal if kinds[0] is Kind.DECIMAL else lift_square,
        combine=add,
        lower=itself,
        inverse=subtract,
        traits=Traits(commutative=True),
        fields=floats("sum_of_squares") if is_float else (),
        output=always(pa.float64()),
    )


sum_of_squares = Aggregation(
    "sum_of_squares", NUMBER, _sum_of_squares_for, close, "the sum of squares; exact for integers"
)
