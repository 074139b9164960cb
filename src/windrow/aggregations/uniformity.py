"""Whether a window's values are all equal.

Numbers are all equal if the smallest is the largest, by rank: NaN equals NaN.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from windrow.aggregations.extremes import has_range, lift_both, lift_both_ranks, widen
from windrow.algebra.aggregation import ANYTHING, Aggregation, Input
from windrow.algebra.equality import same
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Defined, Monoid, Traits, always, integers
from windrow.algebra.ordering import ABOVE_ALL, BELOW_ALL


def is_one(partial: Any) -> Any:
    """Whether the smallest number is the largest."""
    return bool(partial[0] == partial[1])


# Python values: one of them, and whether all others equal it.


def lift_equal(value: Any) -> Any:
    """One value is equal to all."""
    return (value, True)


def join_equal(older: Any, newer: Any) -> Any:
    """Whether all values of both are equal."""
    if older is None or newer is None:
        return newer if older is None else older
    return (older[0], older[1] and newer[1] and same(older[0], newer[0]))


def are_equal(partial: Any) -> Any:
    """Whether all are."""
    return partial[1]


def _all_equal_for(kinds: tuple[Kind, ...]) -> Monoid:
    output = always(pa.bool_())
    if not kinds[0].is_compiled:
        return Monoid(None, lift_equal, join_equal, are_equal, output, Traits(exact=True))
    is_float = kinds[0] is Kind.FLOAT
    return Monoid(
        identity=(ABOVE_ALL, BELOW_ALL),
        lift=lift_both_ranks if is_float else lift_both,
        combine=widen,
        lower=is_one,
        defined=Defined(has_range if is_float else None),
        traits=Traits(commutative=True, exact=True),
        fields=integers("min", "max"),
        lowered="int64",
        output=output,
    )


all_equal = Aggregation(
    "all_equal",
    (Input("value", ANYTHING),),
    _all_equal_for,
    same,
    "whether all values are equal; true of one value, and NaN equals NaN",
)
