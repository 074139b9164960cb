"""Approximately the most frequent values: the counters of Misra and Gries, which can be joined.

A partial counts as many different values as it has counters. If there are more values, it subtracts
the largest count that would be left without a counter from all counts. A count is too small by at
most what was subtracted, and no value that came more often than that is missing (Agarwal et al.
2012).

The counters of numbers and times are a row of numbers (`frequency_rows`), those of other values a
dict.
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.aggregations.collections import HASHABLE, told_apart
from windrow.aggregations.frequency_rows import ITEMS, begin_counters, join_counters, write_best
from windrow.aggregations.largest import in_use
from windrow.aggregations.order_keys import numbers_of, read_numbers
from windrow.aggregations.parameters import (
    LONGEST_COUNTED_ROW,
    at_least_one,
    counters_for,
    fraction,
)
from windrow.algebra.aggregation import Aggregation, Input, parametrized
from windrow.algebra.counting import itself
from windrow.algebra.equality import same
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Field, InPlace, Lanes, Monoid, in_new_row
from windrow.algebra.ordering import rank

ERROR = 0.01

#: the count of each value, and how much was subtracted from all
Partial = tuple[dict[Any, int], int]


def lift_item(value: Any) -> Partial:
    """One value, seen once."""
    return ({told_apart(value): 1}, 0)


def _frequent_items(k: int, error: float = ERROR) -> Aggregation:
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

    def monoid_for(kinds: tuple[Kind, ...]) -> Monoid:
        if kinds[0].is_compiled and 3 * counters < LONGEST_COUNTED_ROW:
            return _in_rows(k, counters, kinds[0])
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


def _in_rows(k: int, counters: int, kind: Kind) -> Monoid:
    empty = np.zeros(ITEMS + 3 * counters, np.int64)
    key = rank if kind is Kind.FLOAT else itself

    def begin(value: Any, into: Any) -> None:
        begin_counters(key(value), into)

    def join(older: Any, newer: Any, into: Any) -> None:
        join_counters(older, newer, into, counters)

    def write(partial: Any, into: Any) -> None:
        write_best(partial, into, k)

    def finish(rows: Any, data_type: pa.DataType) -> pa.Array:
        flat, offsets = in_use(rows)
        items, counts, errors = flat.reshape(-1, 3).T
        member = data_type.value_type
        columns = [numbers_of(items.copy(), member.field("item").type), counts, errors]
        structs = pa.StructArray.from_arrays([*map(pa.array, columns)], fields=list(member))
        return pa.ListArray.from_arrays(offsets // 3, structs, type=data_type)

    def lower(partial: Any) -> Any:
        row = np.zeros((1, 1 + 3 * k), np.int64)
        write(partial, row[0])
        number = pa.float64() if kind is Kind.FLOAT else pa.int64()
        return finish(row, _output((number,)))[0].as_py()

    return Monoid(
        identity=empty,
        lift=in_new_row(empty, begin),
        combine=in_new_row(empty, join, counted=True),
        lower=lower,
        in_place=InPlace(begin, join),
        fields=(Field(f"frequent_{counters}", "int64", len(empty), counted=True),),
        lanes=Lanes("int64", 1 + 3 * k, write, finish, counted=True),
        output=_output,
    )


ITEM = (Input("value", HASHABLE, digest=read_numbers),)

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
