"""An aggregation over the different values of a window.

Whatever is combined by adding takes a value as often as it comes; over different values it must
not be combined before it is known which they are. So a partial is the different values, in the
order of their first arrival, and the aggregation is computed when an answer is asked for.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import pyarrow as pa

from windrow.algebra.aggregation import NUMBERS, Aggregation
from windrow.algebra.counting import COUNT
from windrow.algebra.equality import same
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Defined, Monoid, Traits
from windrow.algebra.nullable import skipping_nulls
from windrow.algebra.value_counts import CountDistinct, Distinct
from windrow.errors import InvalidArgument

#: kinds of which plain Python has what kernels have: numbers, and times in ticks
_NUMBERS = (*NUMBERS - {Kind.ANY}, Kind.TEMPORAL, Kind.DURATION)

#: what reads better than the aggregation's own words
_SUMMARIES = {"count": "the number of different values", "sum": "the sum of the different values"}


def lift_distinct(value: Any) -> Any:
    """One value as a key: any NaN is the same."""
    return {math.nan if value != value else value: None}


def join_distinct(older: Any, newer: Any) -> Any:
    """The different values of both."""
    return older | newer


def truth_values(found: Any, data_type: pa.DataType) -> Any:
    """What a kernel's functions, which know no truth values, answer in the place of some."""
    if pa.types.is_boolean(data_type) and found is not None:
        return bool(found)
    if pa.types.is_list(data_type) and found is not None:
        return [truth_values(each, data_type.value_type) for each in found]
    if pa.types.is_struct(data_type) and found is not None:
        return tuple(map(truth_values, found, [member.type for member in data_type]))
    return found


@functools.cache
def over_distinct(aggregation: Aggregation) -> Aggregation:
    """The aggregation of the different values of one column."""
    entry, *others = aggregation.inputs
    if others or entry.carried or entry.unknown:
        raise InvalidArgument(
            f"over_distinct: it is for aggregations of the values of one column, such as count and "
            f"sum, and {aggregation.name} is none"
        )

    # Digests are made of whole columns, or of Python's values one by one.
    as_python = entry.as_python or entry.digest is not None

    def monoid_for(kinds: tuple[Kind, ...]) -> Monoid:
        in_numbers = kinds[0] in _NUMBERS and not as_python
        computed = aggregation.monoid_for(kinds if in_numbers else (Kind.ANY,))
        one_by_one = skipping_nulls(computed, (), aggregation.name)
        of_truth = kinds[0] is Kind.BOOLEAN and computed.is_numeric

        def lower(partial: Any) -> Any:
            total = one_by_one.identity()
            for value in map(int, partial) if of_truth else partial:
                total = one_by_one.combine(total, one_by_one.lift(value))
            found = one_by_one.lower(total)
            return truth_values(found, computed.output((pa.bool_(),))) if of_truth else found

        return Monoid(
            identity={},
            lift=lift_distinct,
            combine=join_distinct,
            lower=lower,
            output=aggregation.monoid_for(kinds).output,
            traits=Traits(exact=True),
            members=computed.members,
            # A count answers for no values.
            defined=Defined(lambda _partial: True) if computed.answers_nothing else Defined(),
            asks=CountDistinct() if computed is COUNT else Distinct(aggregation),
        )

    return Aggregation(
        f"{aggregation.name}_distinct",
        (type(entry)(entry.name, entry.accepts - {Kind.NESTED}, as_python=as_python),),
        monoid_for,
        same,
        _SUMMARIES.get(aggregation.name, f"{aggregation.summary}, over different values"),
        called=aggregation.called,
        parameters=aggregation.parameters,
        recipe=(over_distinct, (aggregation,)),
    )
