"""Approximate quantiles of any ordered values: the KLL sketch (Karnin et al. 2016).

A partial keeps values in levels. A value on level h stands for 2^h values. If there are too many,
the lowest level that is too full is sorted, and every second of its values moves up one level.
Upper levels are larger, because an error there weighs more.

        level 2   ▪ ▪ ▪ ▪ ▪ ▪ ▪ ▪ ▪      each for 4 values
        level 1   ▪ ▪ ▪ ▪ ▪ ▪            each for 2
        level 0   ▪ ▪ ▪ ▪                as they came

A hash decides whether the odd or the even values move up, so the same work gives the same answer.
DataSketches has the same sketch, but it decides at random, and its objects can be neither copied
nor sent (see docs/decisions.md).

The sketch of numbers and times is a row of numbers (`quantile_rows`). The one here keeps values of
any other type, and its partials are tuples.
"""

from __future__ import annotations

import functools
import itertools
import math
import zlib
from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.aggregations.largest import place
from windrow.aggregations.order_keys import numbers_of, read_numbers
from windrow.aggregations.parameters import (
    LONGEST_COUNTED_ROW,
    Shares,
    counters_for,
    fraction,
    fractions,
)
from windrow.aggregations.quantile_rows import (
    LEAST,
    SHRINKS,
    begin_sketch,
    key_at,
    length_for,
    merge_sketches,
)
from windrow.algebra.aggregation import ORDERABLE, Aggregation, Input, parametrized
from windrow.algebra.counting import itself
from windrow.algebra.equality import same
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import (
    Field,
    InPlace,
    Lanes,
    Monoid,
    OutputType,
    Traits,
    in_new_row,
    like_input,
    list_like_input,
)
from windrow.algebra.ordering import rank, unrank

ERROR = 0.01

Levels = tuple[tuple[Any, ...], ...]
#: the number of values, the smallest, the largest, and the levels
Partial = tuple[int, Any, Any, Levels]


# Values as they are sorted -----------------------------------------------------------------------
# NaN has a place in the order here, but not in Python.


def ranked(number: Any) -> int:
    """A float as an integer that sorts as it should, and fast."""
    return int(rank(number))


def unranked(number: int) -> float:
    """The float again."""
    return float(unrank(number))


def unplaced(placed: Any) -> Any:
    """The value that `place` made sortable."""
    return math.nan if placed[0] else placed[1]


_ORDERS: dict[Kind, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    Kind.FLOAT: (ranked, unranked),
    Kind.ANY: (place, unplaced),
}


def sorted_as(kind: Kind) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """From values of a kind to what sorts as they should, and back."""
    return _ORDERS.get(kind, (itself, itself))


# Levels ------------------------------------------------------------------------------------------


def width_for(error: float) -> int:
    """The size of the top level, for an error of ranks that 99 of 100 answers keep.

    The error of 2.296 / width^0.9723 is that of DataSketches, measured there; it holds here as well
    (see test_quantiles.py).
    """
    return math.ceil(math.pow(2.296 * counters_for(error), 1 / 0.9723))


@functools.cache
def rooms(width: int, levels: int) -> tuple[int, ...]:
    """How many values each level has room for, the lowest first."""
    return tuple(max(LEAST, math.ceil(width * SHRINKS**above)) for above in reversed(range(levels)))


def compacted(levels: list[tuple[Any, ...]], count: int, width: int) -> Levels:
    """The levels, none of them too full."""
    while sum(map(len, levels)) > sum(rooms(width, len(levels))):
        room = rooms(width, len(levels))
        full = next(level for level, kept in enumerate(levels) if len(kept) > room[level])
        if full + 1 == len(levels):
            levels.append(())
        ordered = sorted(levels[full])
        even = len(ordered) // 2 * 2
        drawn = zlib.crc32(f"{count} {full} {ordered[even // 2]!r}".encode()) & 1
        levels[full] = tuple(ordered[even:])
        levels[full + 1] += tuple(ordered[drawn:even:2])
    return tuple(levels)


def quantiles(partial: Partial, shares: tuple[float, ...]) -> Iterator[Any]:
    """For each share the smallest value that at least so many do not exceed, about."""
    count, smallest, largest, levels = partial
    weighted = sorted((value, 1 << level) for level, kept in enumerate(levels) for value in kept)
    ranks = list(itertools.accumulate(weight for _value, weight in weighted))
    for share in shares:
        wanted = math.ceil(round(share * count, 6))  # 0.07 of 100 is 7, and not a little more
        if wanted in (0, count):
            yield largest if wanted else smallest
        else:
            yield weighted[bisect_left(ranks, wanted)][0]


def _approx_quantile(q: Shares, error: float = ERROR) -> Aggregation:
    shares = fractions("q", q)
    width = width_for(fraction("error", error))
    several = isinstance(q, tuple)
    output: OutputType = list_like_input(0) if several else like_input(0)

    def monoid_for(kinds: tuple[Kind, ...]) -> Monoid:
        if kinds[0].is_compiled and width < LONGEST_COUNTED_ROW // 8:
            return _in_rows(shares, several, width, kinds[0], output)
        sortable, value_of = sorted_as(kinds[0])

        def lift(value: Any) -> Partial:
            own = sortable(value)
            return (1, own, own, ((own,),))

        def combine(older: Partial, newer: Partial) -> Partial:
            if not older[0] or not newer[0]:
                return newer if newer[0] else older
            count = older[0] + newer[0]
            levels = [
                kept + more
                for kept, more in itertools.zip_longest(older[3], newer[3], fillvalue=())
            ]
            smallest, largest = min(older[1], newer[1]), max(older[2], newer[2])
            return (count, smallest, largest, compacted(levels, count, width))

        def lower(partial: Partial) -> Any:
            found = [value_of(each) for each in quantiles(partial, shares)]
            return found if several else found[0]

        return Monoid((0, None, None, ()), lift, combine, lower, output)

    named = "_".join(f"{share:g}".replace(".", "_") for share in shares)
    return Aggregation(
        f"approx_quantile{'s' * several}_{named}",
        VALUE,
        monoid_for,
        same,
        f"about the values that a share of {', '.join(map(str, shares))} of all does not exceed",
    )


# Numbers, in rows --------------------------------------------------------------------------------


def _in_rows(
    shares: tuple[float, ...], several: bool, width: int, kind: Kind, output: OutputType
) -> Monoid:
    empty = np.zeros(length_for(width), np.int64)
    key = rank if kind is Kind.FLOAT else itself

    def begin(value: Any, into: Any) -> None:
        begin_sketch(key(value), into)

    def merge(older: Any, newer: Any, into: Any) -> None:
        merge_sketches(older, newer, into, width)

    def write(partial: Any, into: Any) -> None:
        for number, share in enumerate(shares):
            into[number] = key_at(partial, share)

    def finish(rows: Any, data_type: pa.DataType) -> pa.Array:
        own = data_type.value_type if several else data_type
        column = numbers_of(rows.reshape(-1), own)
        if not several:
            return column
        return pa.FixedSizeListArray.from_arrays(column, len(shares)).cast(data_type)

    def lower(partial: Any) -> Any:
        keys: Any = np.array([key_at(partial, share) for share in shares])
        found = (unrank(keys) if kind is Kind.FLOAT else keys).tolist()
        return found if several else found[0]

    return Monoid(
        identity=empty,
        lift=in_new_row(empty, begin),
        combine=in_new_row(empty, merge, counted=True),
        lower=lower,
        in_place=InPlace(begin, merge),
        traits=Traits(commutative=True),
        fields=(Field(f"quantiles_{width}", "int64", len(empty), counted=True),),
        lanes=Lanes("int64", len(shares), write, finish),
        output=output,
    )


VALUE = (Input("value", ORDERABLE, digest=read_numbers),)

approx_quantile = parametrized(
    "approx_quantile",
    VALUE,
    _approx_quantile,
    "0.95",
    "about the smallest value that a share of `q` of all does not exceed; its rank is wrong by at "
    "most `error` of all (0.01 if not given) in 99 of 100 answers; a list for a list of `q`",
)

EXAMPLES = (approx_quantile(q=0.95), approx_quantile(q=[0.25, 0.5]))
