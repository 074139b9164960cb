"""Exact quantiles, of which the median is one.

A partial is the sorted values of its events. Two are merged. `wr.over` answers them from counts of
values instead (`algorithms/value_counts.py`).
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from windrow.aggregations.parameters import Shares, fractions
from windrow.aggregations.quantiles import sorted_as
from windrow.algebra.aggregation import NUMBERS, ORDERABLE, Aggregation, Input, parametrized
from windrow.algebra.equality import same
from windrow.algebra.kinds import Kind
from windrow.algebra.literals import require_one_of
from windrow.algebra.monoid import Monoid, OutputType, Traits, always, like_input, list_like_input
from windrow.algebra.value_counts import Interpolation, Quantiles, between, place_of


def merged(older: Any, newer: Any) -> Any:
    """The values of two sorted runs, sorted."""
    return tuple(sorted(older + newer))  # which finds both runs and merges them


def _output(asks: Quantiles) -> OutputType:
    if asks.is_interpolated:
        return always(pa.list_(pa.float64()) if asks.several else pa.float64())
    return list_like_input(0) if asks.several else like_input(0)


def _aggregation(name: str, asks: Quantiles, summary: str) -> Aggregation:
    def monoid_for(kinds: tuple[Kind, ...]) -> Monoid:
        sortable, value_of = sorted_as(kinds[0])

        def lift(value: Any) -> Any:
            return (sortable(value),)

        def one(run: Any, share: float) -> Any:
            place, beyond = place_of(share, len(run), asks.interpolation)
            value = value_of(run[place])
            if not asks.is_interpolated:
                return value
            return between(value, value_of(run[place + 1]) if beyond else value, beyond)

        def lower(run: Any) -> Any:
            found = [one(run, share) for share in asks.shares]
            return found if asks.several else found[0]

        return Monoid(
            identity=(),
            lift=lift,
            combine=merged,
            lower=lower,
            output=_output(asks),
            traits=Traits(commutative=True, exact=True),
            asks=asks,
        )

    accepts = NUMBERS if asks.is_interpolated else ORDERABLE
    return Aggregation(name, (Input("value", accepts),), monoid_for, same, summary)


median = _aggregation(
    "median",
    Quantiles((0.5,), "linear", several=False),
    "the value in the middle once all are sorted, or the mean of the two in the middle",
)


def _quantile(q: Shares, interpolation: Interpolation = "linear") -> Aggregation:
    shares, several = fractions("q", q), isinstance(q, tuple)
    require_one_of(Interpolation, "interpolation", interpolation)
    named = "_".join(f"{share:g}".replace(".", "_") for share in shares)
    suffix = "" if interpolation == "linear" else f"_{interpolation}"
    return _aggregation(
        f"quantile{'s' * several}_{named}{suffix}",
        Quantiles(shares, interpolation, several),
        f"the values below which a share of {', '.join(map(str, shares))} of all lies",
    )


quantile = parametrized(
    "quantile",
    (Input("value", ORDERABLE),),
    _quantile,
    "0.95",
    "the value below which a share of `q` of all lies; `interpolation` says what it is between two "
    "values: `linear` (as if not given) and `midpoint` give floats, of numbers; `lower`, `higher` "
    "and `nearest` give a value of the column, of any type; a list for a list of `q`",
)

EXAMPLES = (
    quantile(q=0.9),
    quantile(q=0.25, interpolation="lower"),
    quantile(q=[0.1, 0.5], interpolation="midpoint"),
)
