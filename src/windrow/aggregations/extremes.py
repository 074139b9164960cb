"""Minimum and maximum, and what goes with them.

Numbers are compared by rank (see `windrow.algebra.ordering`): NaN is larger than any number, and
the identities lie below and above every rank. Values of unknown type, as in `wr.Window`, and text
and decimals are compared as they are, with None as identity.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa

from windrow.algebra.aggregation import NUMBERS, ORDERABLE, Aggregation, Input
from windrow.algebra.equality import same
from windrow.algebra.kinds import EXACT, Kind, widest_decimal
from windrow.algebra.monoid import Monoid, OutputType, Traits, always, integers, like_input
from windrow.algebra.ordering import ABOVE_ALL, BELOW_ALL, rank, unrank

VALUE = (Input("value", ORDERABLE),)
VALUE_AND_CARRIED = (Input("value", ORDERABLE), Input("at", carried=True))


def itself(value: Any) -> Any:
    """Integers are their own ranks."""
    return value


def precedes(left: Any, right: Any) -> bool:
    """Whether one Python value comes before another, NaN after everything."""
    if right != right:
        return bool(left == left)
    return bool(left < right)


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
    # Any integer may be a value, so only floats can tell by the identity that there is none.
    nullable_integers = Monoid(
        identity=(identity, 0),
        lift=lift_seen,
        combine=pick_seen,
        lower=the_seen,
        defined=was_seen,
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
            defined=seen if is_float else None,
            for_nulls=None if is_float else nullable_integers,
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


def _width_output(types: tuple[pa.DataType, ...]) -> pa.DataType:
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
        return Monoid((None, None), lift_both, widen_values, width_of_values, _width_output, traits)
    is_float = kinds[0] is Kind.FLOAT
    return Monoid(
        identity=(ABOVE_ALL, BELOW_ALL),
        lift=lift_both_ranks if is_float else lift_both,
        combine=widen,
        lower=width_of_ranks if is_float else width_of_integers,
        defined=has_range if is_float else None,
        traits=traits,
        fields=integers("min", "max"),
        lowered="float64" if is_float else "int64",
        output=_width_output,
    )


value_range = Aggregation(
    "value_range",
    (Input("value", (NUMBERS | {Kind.TEMPORAL}) - {Kind.BOOLEAN}),),
    _value_range_for,
    same,
    "the distance from the smallest to the largest value",
)


# An extreme with something beside it ------------------------------------------------------------


def lift_counted(value: Any) -> Any:
    """One value, seen once."""
    return (value, 1)


def lift_counted_rank(value: Any) -> Any:
    """One rank, seen once."""
    return (rank(value), 1)


def count_smallest(older: Any, newer: Any) -> Any:
    """The smaller minimum, or how often both had it."""
    if older[0] == newer[0]:
        return (older[0], older[1] + newer[1])
    return older if older[0] < newer[0] else newer


def count_largest(older: Any, newer: Any) -> Any:
    """The larger maximum, or how often both had it."""
    if older[0] == newer[0]:
        return (older[0], older[1] + newer[1])
    return older if older[0] > newer[0] else newer


def count_smallest_value(older: Any, newer: Any) -> Any:
    """The smaller minimum of Python values, or how often both had it."""
    return _counted(older, newer, precedes)


def count_largest_value(older: Any, newer: Any) -> Any:
    """The larger maximum of Python values, or how often both had it."""
    return _counted(older, newer, lambda left, right: precedes(right, left))


def _counted(older: Any, newer: Any, comes_first: Callable[[Any, Any], bool]) -> Any:
    if older[1] == 0 or newer[1] == 0:
        return newer if older[1] == 0 else older
    if comes_first(older[0], newer[0]):
        return older
    if comes_first(newer[0], older[0]):
        return newer
    return (older[0], older[1] + newer[1])


def second(partial: Any) -> Any:
    """What stands beside the extreme."""
    return partial[1]


def counted_any(partial: Any) -> bool:
    """Whether the extreme was seen at all."""
    return bool(partial[1] > 0)


def _counted_extreme(
    name: str,
    extreme: str,
    identity: int,
    pick: Callable[[Any, Any], Any],
    pick_value: Callable[[Any, Any], Any],
    summary: str,
) -> Aggregation:
    traits = Traits(commutative=True, exact=True)

    def monoid_for(kinds: tuple[Kind, ...]) -> Monoid:
        compiled = kinds[0].is_compiled
        return Monoid(
            identity=(identity, 0) if compiled else (None, 0),
            lift=lift_counted_rank if kinds[0] is Kind.FLOAT else lift_counted,
            combine=pick if compiled else pick_value,
            lower=second,
            defined=counted_any,
            traits=traits,
            fields=integers(extreme, f"count_of_{extreme}") if compiled else (),
            lowered="int64",
            output=always(pa.int64()),
        )

    return Aggregation(name, VALUE, monoid_for, same, summary)


min_count = _counted_extreme(
    "min_count", "min", ABOVE_ALL, count_smallest, count_smallest_value,
    "how often the smallest value occurs",
)  # fmt: skip
max_count = _counted_extreme(
    "max_count", "max", BELOW_ALL, count_largest, count_largest_value,
    "how often the largest value occurs",
)  # fmt: skip


def lift_pair(value: Any, at: Any) -> Any:
    """A value and what it carries."""
    return (value, at)


def lift_ranked_pair(value: Any, at: Any) -> Any:
    """The rank of a value and what it carries."""
    return (rank(value), at)


def first_smallest(older: Any, newer: Any) -> Any:
    """The pair with the smaller value, the first of equals; -1 carries nothing."""
    if newer[1] < 0:
        return older
    return newer if older[1] < 0 or newer[0] < older[0] else older


def first_largest(older: Any, newer: Any) -> Any:
    """The pair with the larger value, the first of equals; -1 carries nothing."""
    if newer[1] < 0:
        return older
    return newer if older[1] < 0 or newer[0] > older[0] else older


def first_smallest_value(older: Any, newer: Any) -> Any:
    """The pair with the smaller Python value, the first of equals."""
    if older is None or newer is None:
        return newer if older is None else older
    return newer if precedes(newer[0], older[0]) else older


def first_largest_value(older: Any, newer: Any) -> Any:
    """The pair with the larger Python value, the first of equals."""
    if older is None or newer is None:
        return newer if older is None else older
    return newer if precedes(older[0], newer[0]) else older


def carries_any(partial: Any) -> bool:
    """Whether the extreme was seen at all."""
    return bool(partial[1] >= 0)


def carries_any_value(partial: Any) -> bool:
    """Whether the extreme of Python values was seen at all."""
    return partial is not None


def _carrying_extreme(
    name: str,
    extreme: str,
    identity: int,
    pick: Callable[[Any, Any], Any],
    pick_value: Callable[[Any, Any], Any],
    summary: str,
) -> Aggregation:
    traits = Traits(selective=True, exact=True)
    carried: OutputType = like_input(1)

    def monoid_for(kinds: tuple[Kind, ...]) -> Monoid:
        if not kinds[0].is_compiled:
            return Monoid(
                None, lift_pair, pick_value, second, carried, traits, defined=carries_any_value
            )
        return Monoid(
            identity=(identity, -1),
            lift=lift_ranked_pair if kinds[0] is Kind.FLOAT else lift_pair,
            combine=pick,
            lower=second,
            defined=carries_any,
            traits=traits,
            fields=integers(extreme, f"at_{extreme}"),
            lowered="int64",
            output=carried,
        )

    return Aggregation(name, VALUE_AND_CARRIED, monoid_for, same, summary)


arg_min = _carrying_extreme(
    "arg_min", "min", ABOVE_ALL, first_smallest, first_smallest_value,
    "the second column's value where the first is smallest, the first of equals",
)  # fmt: skip
arg_max = _carrying_extreme(
    "arg_max", "max", BELOW_ALL, first_largest, first_largest_value,
    "the second column's value where the first is largest, the first of equals",
)  # fmt: skip
