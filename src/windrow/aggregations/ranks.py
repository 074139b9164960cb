"""The rank of the newest event's value among all values of a window.

`wr.over` asks for the current row's; see `algorithms/value_counts.py`. A partial is the sorted
values of its events, and the value of the newest in a tuple: `()` for no event, `(None,)` for null.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from windrow.aggregations.order_statistics import merged
from windrow.aggregations.parameters import truth
from windrow.aggregations.quantiles import sorted_as
from windrow.algebra.aggregation import ORDERABLE, Aggregation, Input
from windrow.algebra.equality import same
from windrow.algebra.kinds import Kind
from windrow.algebra.literals import require_one_of
from windrow.algebra.monoid import Defined, Monoid, OutputType, Traits, always
from windrow.algebra.value_counts import PercentRank, Question, Rank, RankMethod

#: the sorted values, and that of the newest event
Partial = tuple[tuple[Any, ...], tuple[Any, ...]]


def merge_ranked(older: Partial, newer: Partial) -> Partial:
    """The values of both, and the newest value."""
    return (merged(older[0], newer[0]), newer[1] or older[1])


def unranked(_value: Any) -> Partial:
    """The newest event, which has no value."""
    return ((), (None,))


def is_ranked(partial: Partial) -> bool:
    """Whether the newest event has a value."""
    return partial[1] not in ((), (None,))


def _aggregation(
    name: str,
    asks: Question,
    lower: Callable[[Partial], Any],
    output: OutputType,
    summary: str,
    variant: Callable[..., Aggregation] | None = None,
) -> Aggregation:
    def monoid_for(kinds: tuple[Kind, ...]) -> Monoid:
        sortable, _value_of = sorted_as(kinds[0])

        def lift(value: Any) -> Partial:
            own = (sortable(value),)
            return (own, own)

        return Monoid(
            identity=((), ()),
            lift=lift,
            absent=unranked,
            combine=merge_ranked,
            lower=lower,
            output=output,
            traits=Traits(exact=True),
            defined=Defined(is_ranked, one_value_is_enough=False),
            asks=asks,
        )

    inputs = (Input("value", ORDERABLE, unknown=True),)
    return Aggregation(name, inputs, monoid_for, same, summary, variant=variant)


def rank_among(run: Any, own: Any, asks: Rank) -> Any:
    """The rank of a value in a sorted run that holds it."""
    before, through = bisect_left(run, own), bisect_right(run, own)
    ahead = run[:before]
    if asks.descending:
        ahead = run[through:]
        before, through = len(run) - through, len(run) - before
    if asks.method == "dense":
        return len(set(ahead)) + 1
    if asks.method == "average":
        return (before + 1 + through) / 2
    return before + 1 if asks.method == "min" else through


def _ranked(asks: Rank, variant: Callable[..., Aggregation] | None = None) -> Aggregation:
    def lower(partial: Partial) -> Any:
        return rank_among(partial[0], partial[1][0], asks)

    method = "" if asks.method == "min" else f"_{asks.method}"
    order = "largest" if asks.descending else "smallest"
    output = always(pa.float64() if asks.method == "average" else pa.int64())
    summary = f"the {asks.method} rank of the current row's value, from the {order}"
    if variant is not None:
        summary = (
            "the rank of the current row's value among all, from 1 for the smallest, or the "
            "largest with `descending`; equal values have the smallest of their ranks, or with "
            "`method` the largest (`max`), the mean (`average`), or one of ranks without gaps "
            "(`dense`); null if the current row's value is null"
        )
    name = f"rank{method}{'_descending' * asks.descending}"
    return _aggregation(name, asks, lower, output, summary, variant)


def _rank(method: RankMethod = "min", descending: bool = False) -> Aggregation:
    require_one_of(RankMethod, "method", method)
    asks = Rank(method, truth("descending", descending))
    return rank if asks == SMALLEST_FIRST else _ranked(asks)


SMALLEST_FIRST = Rank("min", descending=False)
rank = _ranked(SMALLEST_FIRST, _rank)


def lower_percent(partial: Partial) -> float:
    """The share of the other values that are smaller."""
    run, (own,) = partial
    return bisect_left(run, own) / max(len(run) - 1, 1)


percent_rank = _aggregation(
    "percent_rank",
    PercentRank(),
    lower_percent,
    always(pa.float64()),
    "the share of the other values that are smaller than the current row's: (rank - 1) / (n - 1), "
    "0 if there are no others",
)

EXAMPLES = (rank(method="average"), rank(method="dense", descending=True))
