"""An aggregation over the different values of a window.

Whatever is combined by adding takes a value as often as it comes; over different values it must
not be combined before it is known which they are. So a partial is the different values, in the
order of their first arrival, and the aggregation is computed when an answer is asked for.
"""

from __future__ import annotations

import functools
import math
from typing import Any

from windrow.algebra.aggregation import Aggregation
from windrow.algebra.equality import same
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Monoid, Traits
from windrow.algebra.nullable import skipping_nulls
from windrow.errors import InvalidArgument

#: kinds whose monoids take Python values as they take a kernel's
_NUMBERS = (Kind.BOOLEAN, Kind.INTEGER, Kind.FLOAT, Kind.DECIMAL)


def lift_distinct(value: Any) -> Any:
    """One value as a key: any NaN is the same."""
    return {math.nan if value != value else value: None}


def join_distinct(older: Any, newer: Any) -> Any:
    """The different values of both."""
    return older | newer


@functools.cache
def over_distinct(aggregation: Aggregation) -> Aggregation:
    """The aggregation of the different values of one column."""
    entry, *others = aggregation.inputs
    if others or entry.carried:
        raise InvalidArgument(
            f"over_distinct: it is for aggregations of the values of one column, such as count and "
            f"sum, and {aggregation.name} is none"
        )

    def monoid_for(kinds: tuple[Kind, ...]) -> Monoid:
        computed = aggregation.monoid_for(kinds if kinds[0] in _NUMBERS else (Kind.ANY,))
        one_by_one = skipping_nulls(computed, ())

        def lower(partial: Any) -> Any:
            total = one_by_one.identity()
            for value in partial:
                total = one_by_one.combine(total, one_by_one.lift(value))
            return one_by_one.lower(total)

        counts = computed.defined is not None and computed.defined(computed.identity)
        return Monoid(
            identity={},
            lift=lift_distinct,
            combine=join_distinct,
            lower=lower,
            output=aggregation.monoid_for(kinds).output,
            traits=Traits(exact=True),
            # A count answers for no values.
            defined=(lambda _partial: True) if counts else None,
        )

    return Aggregation(
        f"{aggregation.name}_distinct",
        (type(entry)(entry.name, entry.accepts - {Kind.NESTED}),),
        monoid_for,
        same,
        f"{aggregation.summary}, over different values",
        called=aggregation.called,
        parameters=aggregation.parameters,
    )
