"""The largest and the smallest values.

For numbers and times, a partial is a row: the number of values, and their keys, the largest first.
A key is an integer in the order of the values, or in reverse order for the smallest values. Two
rows are merged like two sorted lists. A row of few values costs little however large `k` is: what
is not in use is neither written nor copied.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.aggregations.collections import alone
from windrow.aggregations.parameters import LONGEST_COUNTED_ROW, at_least_one
from windrow.aggregations.sketches import copied_in_use
from windrow.algebra.aggregation import ORDERABLE, Aggregation, Input, parametrized
from windrow.algebra.counting import itself
from windrow.algebra.equality import same
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import (
    Field,
    InPlace,
    Lanes,
    Monoid,
    Traits,
    in_new_row,
    list_like_input,
)
from windrow.algebra.ordering import rank, unrank
from windrow.errors import InvalidArgument

ORDERED = (Input("value", ORDERABLE),)


# Numbers, in rows --------------------------------------------------------------------------------


def key_of_smallest(value: Any) -> Any:
    """The smaller an integer, the larger its key."""
    return ~value


def rank_of_smallest(value: Any) -> Any:
    """The smaller a float, the larger its key."""
    return ~rank(value)


def merge_largest(older: Any, newer: Any, into: Any) -> None:
    """The largest keys of both, as many as there is room for."""
    held = min(older[0] + newer[0], len(into) - 1)
    into[0] = held
    left, right = 1, 1
    for place in range(1, 1 + held):
        if right > newer[0] or (left <= older[0] and older[left] >= newer[right]):
            into[place] = older[left]
            left += 1
        else:
            into[place] = newer[right]
            right += 1


def _in_rows(name: str, k: int, kind: Kind, smallest: bool) -> Monoid:
    floats = kind is Kind.FLOAT
    of_integer, of_float = (key_of_smallest, rank_of_smallest) if smallest else (itself, rank)
    key = of_float if floats else of_integer
    empty = np.zeros(1 + k, np.int64)

    def begin(value: Any, into: Any) -> None:
        into[0] = 1
        into[1] = key(value)

    def numbers(keys: Any) -> Any:
        ordered = ~keys if smallest else keys
        return unrank(ordered) if floats else ordered

    def lower(partial: Any) -> Any:
        return numbers(partial[1 : 1 + partial[0]]).tolist()

    def finish(rows: Any, data_type: pa.DataType) -> pa.Array:
        values, offsets = in_use(rows)
        column = _as_type(pa.array(numbers(values)), data_type.value_type)
        return pa.ListArray.from_arrays(offsets, column, type=data_type)

    return Monoid(
        identity=empty,
        lift=in_new_row(empty, begin),
        combine=in_new_row(empty, merge_largest),
        lower=lower,
        in_place=InPlace(begin, merge_largest),
        traits=Traits(commutative=True, exact=True),
        fields=(Field(f"{name}_{k}", "int64", 1 + k, counted=True),),
        lanes=Lanes("int64", 1 + k, copied_in_use, finish, counted=True),
        output=list_like_input(0),
    )


def in_use(rows: Any) -> tuple[Any, Any]:
    """What is in use of counted rows, one after the other, and where each begins."""
    held = rows[:, 0]
    offsets = np.concatenate([[0], np.cumsum(held)])
    if offsets[-1] >= 2**31:
        raise InvalidArgument(
            f"aggs: {len(rows)} lists hold {offsets[-1]} values together, more than a column of "
            "lists does; ask for fewer answers, as with wr.slide, or for a smaller k"
        )
    # The first value of a row is the second number of it.
    places = np.arange(offsets[-1]) + np.repeat(
        np.arange(len(rows)) * rows.shape[1] + 1 - offsets[:-1], held
    )
    return rows.reshape(-1)[places], offsets.astype(np.int32)


def _as_type(numbers: pa.Array, data_type: pa.DataType) -> pa.Array:
    if Kind.of(data_type).in_ticks:
        width = pa.int64() if data_type.bit_width == 64 else pa.int32()
        return numbers.cast(width).view(data_type)
    return numbers.cast(data_type)


# Python values -----------------------------------------------------------------------------------


def place(value: Any) -> Any:
    """By what values are sorted: NaN after everything."""
    return (value != value, 0 if value != value else value)


def _in_tuples(k: int, pick: Callable[..., list[Any]]) -> Monoid:
    def best(older: Any, newer: Any) -> Any:
        # Both are sorted, and older values come first among equals.
        return tuple(pick(k, older + newer, key=place))

    return Monoid((), alone, best, list, list_like_input(0), Traits(exact=True))


def _k_of(name: str, smallest: bool) -> Callable[[int], Aggregation]:
    pick = heapq.nsmallest if smallest else heapq.nlargest

    def variant(k: int) -> Aggregation:
        at_least_one("k", k)

        def monoid_for(kinds: tuple[Kind, ...]) -> Monoid:
            if kinds[0].is_compiled and k < LONGEST_COUNTED_ROW:
                return _in_rows(name, k, kinds[0], smallest)
            return _in_tuples(k, pick)

        summary = f"the list of the {k} {'smallest' if smallest else 'largest'} values"
        return Aggregation(f"{name}_{k}", ORDERED, monoid_for, same, summary)

    return variant


top_k = parametrized(
    "top_k", ORDERED, _k_of("top", smallest=False), "k=3",
    "the list of the `k` largest values, largest first",
)  # fmt: skip
bottom_k = parametrized(
    "bottom_k", ORDERED, _k_of("bottom", smallest=True), "k=3",
    "the list of the `k` smallest values, smallest first",
)  # fmt: skip

EXAMPLES = (top_k(k=3), bottom_k(k=2))
