"""Quantiles of any ordered values, about: the KLL sketch (Karnin, Lang and Liberty, 2016).

A partial keeps values in levels; a value on level h stands for 2^h. When there are too many, the
lowest level that is too full is sorted, and every other of its values goes up one level for two.
Upper levels are larger, because a mistake there weighs more.

        level 2   ▪ ▪ ▪ ▪ ▪ ▪ ▪ ▪ ▪      each for 4 values
        level 1   ▪ ▪ ▪ ▪ ▪ ▪            each for 2
        level 0   ▪ ▪ ▪ ▪                as they came

Whether the odd or the even ones go up is drawn by a hash of what is there, so equal work gives
equal answers. DataSketches has the same sketch; it draws at random, and its objects can neither be
copied nor sent, see docs/decisions.md.
"""

from __future__ import annotations

import itertools
import math
import zlib
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from windrow.aggregations.largest import place
from windrow.aggregations.sketches import fraction, fractions
from windrow.algebra.aggregation import ORDERABLE, Aggregation, Input, parametrized
from windrow.algebra.equality import same
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Monoid, OutputType, like_input

ERROR = 0.01
#: how much smaller a level is than the one above it, and the least that it holds
_SHRINKS, _LEAST = 2 / 3, 8

Levels = tuple[tuple[Any, ...], ...]
#: how many values, the smallest, the largest, and the levels
Partial = tuple[int, Any, Any, Levels]


def width_for(error: float) -> int:
    """The size of the top level, for an error of ranks that 99 of 100 answers keep.

    The error of 2.296 / width^0.9723 is that of DataSketches, measured there; it holds here as well
    (see test_quantiles.py).
    """
    return math.ceil(math.pow(2.296 / error, 1 / 0.9723))


def compacted(levels: list[tuple[Any, ...]], count: int, width: int, key: Any) -> Levels:
    """The levels, none of them too full."""

    def room(level: int) -> int:
        return max(_LEAST, math.ceil(width * _SHRINKS ** (len(levels) - 1 - level)))

    while sum(map(len, levels)) > sum(map(room, range(len(levels)))):
        full = next(level for level in range(len(levels)) if len(levels[level]) > room(level))
        if full + 1 == len(levels):
            levels.append(())
        ordered = sorted(levels[full], key=key)
        even = len(ordered) // 2 * 2
        drawn = zlib.crc32(f"{count} {full} {ordered[even // 2]!r}".encode()) & 1
        levels[full] = tuple(ordered[even:])
        levels[full + 1] += tuple(ordered[drawn:even:2])
    return tuple(levels)


def ranked(partial: Partial, key: Any) -> tuple[list[Any], list[int]]:
    """The values that are kept, in order, and for how many values they and all before stand."""
    weighted = [(value, 1 << level) for level, kept in enumerate(partial[3]) for value in kept]
    weighted.sort(key=_by_value if key is None else lambda each: key(each[0]))
    return [value for value, _ in weighted], list(
        itertools.accumulate(weight for _, weight in weighted)
    )


def _by_value(weighted: tuple[Any, int]) -> Any:
    return weighted[0]


def quantile(partial: Partial, share: float, key: Any) -> Any:
    """The smallest value that at least this share of all does not exceed, about."""
    count, smallest, largest, _levels = partial
    if share == 0 or share == 1:
        return largest if share else smallest
    values, ranks = ranked(partial, key)
    wanted = math.ceil(round(share * count, 6))  # 0.07 of 100 is 7, and not a little more
    return next(value for value, rank in zip(values, ranks, strict=True) if rank >= wanted)


def _approx_quantile(q: Any, error: Any = ERROR) -> Aggregation:
    shares = fractions("q", q)
    width = width_for(fraction("error", error))
    several = isinstance(q, tuple)
    output: OutputType = _list_of if several else like_input(0)

    def monoid_for(kinds: tuple[Kind, ...]) -> Monoid:
        # Only among floats there may be some that are not in order.
        key: Callable[[Any], Any] | None = place if kinds[0] in (Kind.FLOAT, Kind.ANY) else None

        def lift(value: Any) -> Partial:
            return (1, value, value, ((value,),))

        def combine(older: Partial, newer: Partial) -> Partial:
            if not older[0] or not newer[0]:
                return newer if newer[0] else older
            count = older[0] + newer[0]
            levels = [
                (*kept, *more)
                for kept, more in itertools.zip_longest(older[3], newer[3], fillvalue=())
            ]
            smallest = min(older[1], newer[1], key=key)
            largest = max(older[2], newer[2], key=key)
            return (count, smallest, largest, compacted(levels, count, width, key))

        def lower(partial: Partial) -> Any:
            found = [quantile(partial, share, key) for share in shares]
            return found if several else found[0]

        return Monoid((0, None, None, ()), lift, combine, lower, output)

    named = "_".join(f"{share:g}".replace(".", "_") for share in shares)
    return Aggregation(
        f"approx_quantile{'s' * several}_{named}",
        VALUE,
        monoid_for,
        same,
        f"the values that a share of {', '.join(map(str, shares))} of all does not exceed, about",
    )


def _list_of(types: tuple[pa.DataType, ...]) -> pa.DataType:
    return pa.list_(types[0])


VALUE = (Input("value", ORDERABLE),)

approx_quantile = parametrized(
    "approx_quantile",
    VALUE,
    _approx_quantile,
    "0.95",
    "the smallest value that a share of `q` of all does not exceed, about: its rank is wrong by at "
    "most `error` of all (0.01 if not given) in 99 of 100 answers; a list for a list of `q`",
)
