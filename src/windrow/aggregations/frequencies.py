"""Approximately the most frequent values: the counters of Misra and Gries, which can be joined.

A partial counts as many different values as it has counters. If there are more values, it subtracts
the largest count that would be left without a counter from all counts. A count is too small by at
most what was subtracted, and no value that came more often than that is missing (Agarwal et al.
2012).
"""

from __future__ import annotations

import heapq
from typing import Any

import pyarrow as pa

from windrow.aggregations.collections import HASHABLE, told_apart
from windrow.aggregations.parameters import at_least_one, counters_for, fraction
from windrow.algebra.aggregation import Aggregation, Input, parametrized
from windrow.algebra.equality import same
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Monoid

ERROR = 0.01

#: the count of each value, and how much was subtracted from all
Partial = tuple[dict[Any, int], int]


def lift_item(value: Any) -> Partial:
    """One value, seen once."""
    return ({told_apart(value): 1}, 0)


def _frequent_items(k: Any, error: Any = ERROR) -> Aggregation:
    at_least_one("k", k)
    counters = max(k, counters_for(fraction("error", error)))

    def combine(older: Partial, newer: Partial) -> Partial:
        times, missed = dict(older[0]), older[1] + newer[1]
        for item, count in newer[0].items():
            times[item] = times.get(item, 0) + count
        if len(times) > counters:
            off = heapq.nlargest(counters + 1, times.values())[-1]
            times = {item: count - off for item, count in times.items() if count > off}
            missed += off
        return (times, missed)

    def lower(partial: Partial) -> Any:
        times, missed = partial
        # Sorting is stable, so the first of equal counts comes first.
        best = heapq.nlargest(k, times, key=times.__getitem__)
        return [{"item": item, "count": times[item] + missed, "error": missed} for item in best]

    def monoid_for(_kinds: tuple[Kind, ...]) -> Monoid:
        return Monoid(({}, 0), lift_item, combine, lower, _output)

    return Aggregation(
        f"frequent_items_{k}",
        ITEM,
        monoid_for,
        same,
        f"about the {k} most frequent values",
    )


def _output(types: tuple[pa.DataType, ...]) -> pa.DataType:
    members = [("item", types[0]), ("count", pa.int64()), ("error", pa.int64())]
    return pa.list_(pa.struct(members))


ITEM = (Input("value", HASHABLE),)

frequent_items = parametrized(
    "frequent_items",
    ITEM,
    _frequent_items,
    "k=10",
    "the `k` most frequent values, most frequent first: a list of structs of `item`, `count` and "
    "`error`; the item came `count` times or up to `error` fewer; no value is missing that makes "
    "up more than a share of `error` (0.01 if not given) of all",
)

EXAMPLES = (frequent_items(k=3),)
