"""Approximate counts of each value: count-min sketches.

A sketch is a table of counters. Each row of the table counts a value in one of its places. Another
value in the same place makes the count too large, so the smallest count of all rows is the closest.
Hashes, counters and bytes are those of Spark's `CountMinSketch` (and of `count_min_sketch` in SQL).
Spark opens an answer with `CountMinSketch.readFrom`, windrow with `wr.CountMin`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.aggregations.hashing import (
    HASHABLE,
    column_of,
    numbers,
    plain,
    two_hashes,
)
from windrow.aggregations.parameters import fraction, require_fitting
from windrow.aggregations.sketches import bytes_column, copied, of_digests, sketch_bytes
from windrow.algebra.aggregation import Aggregation, Digest, Input
from windrow.algebra.equality import same
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Field, InPlace, Lanes, Monoid, Traits, always, in_new_row
from windrow.errors import InvalidArgument

#: numpy's own types lose track of what arithmetic gives
Array = Any

ERROR, CONFIDENCE = 0.05, 0.95
#: what Spark's random numbers start from
_SEED = 42
_HEADER = np.dtype([("version", ">i4"), ("total", ">i8"), ("depth", ">i4"), ("width", ">i4")])


# Where a value is counted ------------------------------------------------------------------------


def places(column: pa.Array, factors: Array, width: int) -> Array:
    """For each value its place in each row of the table; there is a row for each factor."""
    if Kind.of(column.type) in (Kind.TEXT, Kind.DECIMAL):
        hashed = two_hashes(column)
        first, second = (hashed >> np.uint64(32)).astype(np.int32), hashed.astype(np.int32)
        several = first[:, np.newaxis] + np.outer(second, np.arange(len(factors), dtype=np.int32))
        return np.abs(np.fmod(several, np.int32(width))).astype(np.int64)
    products = numbers(column)[:, np.newaxis] * factors
    products += products >> 32
    return (products & 0x7FFFFFFF) % width


def factors_of(depth: int) -> Array:
    """The numbers that Spark multiplies integers by, one for each row."""
    return np.fromiter(_java_integers(_SEED, 2**31 - 1), np.int64, depth)


def _java_integers(seed: int, bound: int) -> Iterator[int]:
    """What `java.util.Random` gives: a linear congruence of 48 bits, of which it takes the top."""
    state = (seed ^ 0x5DEECE66D) % 2**48
    while True:
        state = (state * 0x5DEECE66D + 0xB) % 2**48
        drawn = state >> 17
        if drawn < bound:  # it draws again where a remainder would not be as likely as others
            yield drawn


# Counting ----------------------------------------------------------------------------------------
# A row holds the number of events and then the counters, row by row.


def count_at(counters: Any, into: Any) -> None:
    """Count an event, where all is zero."""
    into[0] = 1
    for number in range(len(counters)):
        into[counters[number]] = 1


def add_counts(older: Any, newer: Any, into: Any) -> None:
    """The counts of both."""
    for place in range(len(into)):
        into[place] = older[place] + newer[place]


def sum_of_counts(older: Any, newer: Any) -> Any:
    """The same as a new row."""
    return older + newer


def _count_min(error: float = ERROR, confidence: float = CONFIDENCE) -> Aggregation:
    wanted = 2 / fraction("error", error)
    depth = max(1, math.ceil(-math.log1p(-fraction("confidence", confidence)) / math.log(2)))
    require_fitting("error", error, 8 * depth * wanted, "give a larger error")
    width = math.ceil(wanted)
    factors, empty = factors_of(depth), np.zeros(1 + depth * width, np.int64)
    first_places = 1 + np.arange(depth) * width

    def digest(column: pa.Array) -> Array:
        return first_places + places(column, factors, width)

    def to_bytes(rows: Array, _type: pa.DataType) -> pa.Array:
        heads = np.zeros(len(rows), _HEADER)
        heads["version"], heads["depth"], heads["width"] = 1, depth, width
        heads["total"] = rows[:, 0]
        shared = np.tile(factors, (len(rows), 1))
        held = np.hstack([shared, rows[:, 1:]]).astype(">i8").view(np.uint8)
        return bytes_column(
            np.hstack([heads.view(np.uint8).reshape(len(rows), _HEADER.itemsize), held])
        )

    def lower(partial: Any) -> Any:
        return to_bytes(partial[np.newaxis], pa.binary())[0].as_py()

    monoid = Monoid(
        identity=empty,
        lift=in_new_row(empty, count_at),
        combine=sum_of_counts,
        lower=lower,
        in_place=InPlace(count_at, add_counts),
        traits=Traits(commutative=True, exact=True),
        fields=(Field(f"count_min_{depth}_{width}", "int64", len(empty)),),
        lanes=Lanes("int64", len(empty), copied, to_bytes),
        output=always(pa.binary()),
    )
    return Aggregation(
        "count_min",
        _inputs(digest),
        of_digests(monoid, digest),
        same,
        "a count-min sketch of the values, in bytes that `wr.CountMin` and Spark read: counts too "
        "large by at most a share of `error` (0.05 if not given) of the window's events, with a "
        "probability of `confidence` (0.95)",
        variant=_count_min,
    )


def _inputs(digest: Digest) -> tuple[Input, ...]:
    return (Input("value", HASHABLE, digest=digest),)


count_min = _count_min()


class CountMin:
    """An answer of `wr.count_min` to ask.

    >>> import windrow as wr
    >>> window = wr.Window(wr.count_min())
    >>> window.insert_many(["ann", "bob", "ann"])
    >>> counts = wr.CountMin(window.query())
    >>> counts.count("ann"), counts.count("eve"), counts.total
    (2, 0, 3)
    >>> counts.counts(["bob", "ann"]).tolist()
    [1, 2]
    """

    def __init__(self, data: bytes) -> None:
        data, size = sketch_bytes(data, "wr.count_min"), _HEADER.itemsize
        head = np.frombuffer(data[:size].ljust(size, b"\0"), _HEADER)
        depth, width = int(head["depth"][0]), int(head["width"][0])
        held = size + 8 * depth * (1 + width)
        if head["version"][0] != 1 or min(depth, width) < 1 or len(data) != held:
            raise InvalidArgument(
                f"data: {len(data)} bytes that are no count-min sketch; give an answer of "
                "wr.count_min"
            )
        numbers = np.frombuffer(data, ">i8", offset=size).astype(np.int64)
        #: how many values were counted
        self.total = int(head["total"][0])
        self._factors, self._table = numbers[:depth], numbers[depth:].reshape(depth, width)

    def count(self, value: Any) -> int:
        """How often a value comes, or a little more."""
        return int(self.counts(column_of(value))[0])

    def counts(self, values: Any) -> Array:
        """The same for each value of a column; what stands for a null means nothing."""
        depth, width = self._table.shape
        found = places(plain(values), self._factors, width)
        return self._table[np.arange(depth), found].min(axis=1)
