"""Minimum, maximum, and the distance between them.

Numbers are compared by rank (see `windrow.algebra.ordering`). NaN is larger than any number, and
the identities lie below and above every rank. Text, decimals and values of unknown type, as in
`wr.Window`, are compared as they are, with None as identity.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa

from windrow.algebra.aggregation import NUMBERS, ORDERABLE, TIMES, Aggregation, Input
from windrow.algebra.equality import same
from windrow.algebra.kinds import EXACT, Kind, widest_decimal
from windrow.algebra.monoid import Defined, Monoid, Traits, always, integers, like_input
from windrow.algebra.ordering import ABOVE_ALL, BELOW_ALL, rank, unrank

VALUE = (Input("value", ORDERABLE),)


def itself(value: Any) -> Any:
    """Integers are their own ranks."""
    return value


def precedes(left: Any, right: Any) -> bool:
    """Whether one Python value comes before another, NaN after everything."""
    # One expression, so that it is written where it is called.
    return left < right if right == right else left == left  # type: ignore[no-any-return]


# Min and max ------------------------------------------------------------------------------------


def smaller(older: Any, newer: Any) -> Any:
    """The smaller rank."""
    return newer if newer < older else older


def larger(older: Any, newer: Any) -> Any:
    """The larger rank."""
    return newer if newer > older else older


def smaller_value(older: Any, newer: Any) -> Any:
    """The smaller of two Python values, the first of equals."""
    if older is None:
        return newer
    return newer if newer is not None and precedes(newer, older) else older


def larger_value(older: Any, newer: Any) -> Any:
    """The larger of two Python values, the first of equals."""
    if older is None:
        return newer
    return newer if newer is not None and precedes(older, newer) else older


def below_identity(partial: Any) -> bool:
    """Whether a minimum has seen a float."""
    return bool(partial != ABOVE_ALL)


def above_identity(partial: Any) -> bool:
    """Whether a maximum has seen a float."""
    return bool(partial != BELOW_ALL)


def lift_seen(value: Any) -> Any:
    """An integer, and that it was seen."""
    return (value, 1)


def smaller_seen(older: Any, newer: Any) -> Any:
    """The smaller integer of those that were seen."""
    if older[1] == 0 or newer[1] == 0:
        return newer if older[1] == 0 else older
    return newer if newer[0] < older[0] else older


def larger_seen(older: Any, newer: Any) -> Any:
    """The larger integer of those that were seen."""
    if older[1] == 0 or newer[1] == 0:
        return newer if older[1] == 0 else older
    return newer if newer[0] > older[0] else older


def was_seen(partial: Any) -> bool:
    """Whether an integer was seen at all."""
    return bool(partial[1] > 0)


def the_seen(partial: Any) -> Any:
    """The integer that was seen."""
    return partial[0]


def _extreme(
    name: str,
    identity: int,
    pick_rank: Callable[[Any, Any], Any],
    pick_value: Callable[[Any, Any], Any],
    pick_seen: Callable[[Any, Any], Any],
    seen: Callable[[Any], bool],
    summary: str,
) -> Aggregation:
    traits = Traits(commutative=True, selective=True, exact=True)
    # Any integer may be a value, so the identity says only for floats that there is no value.
    nullable_integers = Monoid(
        identity=(identity, 0),
        lift=lift_seen,
        combine=pick_seen,
        lower=the_seen,
        defined=Defined(was_seen),
        traits=traits,
        fields=integers(name, f"{name}_seen"),
        lowered="int64",
        output=like_input(0),
    )

    def monoid_for(kinds: tuple[Kind, ...]) -> Monoid:
        if not kinds[0].is_compiled:
            return Monoid(None, itself, pick_value, itself, like_input(0), traits)
        is_float = kinds[0] is Kind.FLOAT
        return Monoid(
            identity=identity,
            lift=rank if is_float else itself,
            combine=pick_rank,
            lower=unrank if is_float else itself,
            defined=Defined(seen) if is_float else Defined(with_nulls=nullable_integers),
            traits=traits,
            fields=integers(name),
            lowered="float64" if is_float else "int64",
            output=like_input(0),
        )

    return Aggregation(name, VALUE, monoid_for, same, summary)


min = _extreme(
    "min", ABOVE_ALL, smaller, smaller_value, smaller_seen, below_identity, "the smallest value"
)
max = _extreme(
    "max", BELOW_ALL, larger, larger_value, larger_seen, above_identity, "the largest value"
)


# Range of values --------------------------------------------------------------------------------


def lift_both(value: Any) -> Any:
    """One value is smallest and largest."""
    return (value, value)


def lift_both_ranks(value: Any) -> Any:
    """One rank is smallest and largest."""
    place = rank(value)
    return (place, place)


def widen(older: Any, newer: Any) -> Any:
    """The smaller minimum and the larger maximum."""
    return (smaller(older[0], newer[0]), larger(older[1], newer[1]))


def widen_values(older: Any, newer: Any) -> Any:
    """The smaller minimum and the larger maximum of Python values."""
    return (smaller_value(older[0], newer[0]), larger_value(older[1], newer[1]))


def width_of_ranks(partial: Any) -> Any:
    """The distance of two floats given by rank."""
    return unrank(partial[1]) - unrank(partial[0])


def width_of_integers(partial: Any) -> Any:
    """The distance of two integers, if it is one of 64 bits."""
    width = partial[1] - partial[0]
    if width < 0 or width > 2**63 - 1:
        raise OverflowError("a range of values left the range of 64-bit integers")
    return width


def width_of_values(partial: Any) -> Any:
    """The distance of two Python values; of decimals, without rounding."""
    smallest, largest = partial
    if isinstance(largest, Decimal):
        return EXACT.subtract(largest, smallest)
    return largest - smallest


def has_range(partial: Any) -> bool:
    """Whether a range has seen a float."""
    return bool(partial[0] != ABOVE_ALL)


def width_output(types: tuple[pa.DataType, ...]) -> pa.DataType:
    """The type of the distance between two values."""
    if pa.types.is_timestamp(types[0]) or pa.types.is_time(types[0]):
        return pa.duration(types[0].unit)
    if pa.types.is_date64(types[0]):
        return pa.duration("ms")
    if pa.types.is_integer(types[0]) or pa.types.is_date32(types[0]):
        return pa.int64()
    if pa.types.is_decimal(types[0]):
        return widest_decimal(types[0])
    return types[0]


def _value_range_for(kinds: tuple[Kind, ...]) -> Monoid:
    traits = Traits(commutative=True, exact=True)
    if not kinds[0].is_compiled:
        return Monoid((None, None), lift_both, widen_values, width_of_values, width_output, traits)
    is_float = kinds[0] is Kind.FLOAT
    return Monoid(
        identity=(ABOVE_ALL, BELOW_ALL),
        lift=lift_both_ranks if is_float else lift_both,
        combine=widen,
        lower=width_of_ranks if is_float else width_of_integers,
        defined=Defined(has_range if is_float else None),
        traits=traits,
        fields=integers("min", "max"),
        lowered="float64" if is_float else "int64",
        output=width_output,
    )


value_range = Aggregation(
    "value_range",
    (Input("value", (NUMBERS | TIMES) - {Kind.BOOLEAN}),),
    _value_range_for,
    same,
    "the distance from the smallest to the largest value",
)


def variation_of_ranks(partial: Any) -> Any:
    """The distance of two floats given by rank, as a share of the larger."""
    smallest, largest = unrank(partial[0]), unrank(partial[1])
    distance = largest - smallest
    if distance == math.inf and largest != math.inf:  # further apart than floats can say
        return 1.0 - smallest / largest
    return distance / largest


def variation(partial: Any) -> Any:
    """The distance of two numbers as a share of the larger."""
    largest = float(partial[1])
    return (largest - float(partial[0])) / largest


def has_variation_of_ranks(partial: Any) -> bool:
    """Whether there is a largest float, and not zero."""
    return bool(has_range(partial) and unrank(partial[1]) != 0)


def has_variation(partial: Any) -> bool:
    """Whether there is a largest integer, and not zero."""
    return bool(partial[0] <= partial[1] and partial[1] != 0)


def has_variation_of_values(partial: Any) -> bool:
    """Whether there is a largest Python value, and not zero."""
    return partial[1] is not None and bool(partial[1] != 0)


def _relative_variation_for(kinds: tuple[Kind, ...]) -> Monoid:
    compiled, is_float = kinds[0].is_compiled, kinds[0] is Kind.FLOAT
    defined = has_variation_of_ranks if is_float else has_variation
    return Monoid(
        identity=(ABOVE_ALL, BELOW_ALL) if compiled else (None, None),
        lift=lift_both_ranks if is_float else lift_both,
        combine=widen if compiled else widen_values,
        lower=variation_of_ranks if is_float else variation,
        defined=Defined(
            defined if compiled else has_variation_of_values, one_value_is_enough=False
        ),
        traits=Traits(commutative=True, exact=True),
        fields=integers("min", "max") if compiled else (),
        output=always(pa.float64()),
    )


relative_variation = Aggregation(
    "relative_variation",
    (Input("value", NUMBERS - {Kind.BOOLEAN}),),
    _relative_variation_for,
    same,
    "the distance from the smallest to the largest value as a share of the largest; null if that "
    "is zero",
)
