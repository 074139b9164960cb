"""Whether a window probably holds a value: Bloom filters.

A value sets some bits of a row. The union of two filters has the bits of both. Hashes, bits and
bytes are those of Spark's `BloomFilter`. Spark opens a filter with `BloomFilter.readFrom`, windrow
with `wr.BloomFilter`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.aggregations.hashing import HASHABLE, column_of, plain, two_hashes
from windrow.aggregations.parameters import at_least_one, fraction, require_fitting
from windrow.aggregations.sketches import bytes_column, copied, of_digests, sketch_bytes
from windrow.algebra.aggregation import Aggregation, Input, parametrized
from windrow.algebra.equality import same
from windrow.algebra.monoid import Field, InPlace, Lanes, Monoid, Traits, always
from windrow.errors import InvalidArgument

#: numpy's own types lose track of what arithmetic gives
Array = Any

ERROR = 0.01
_MASK = 0xFFFFFFFF
#: version, number of hashes, number of words; then the words
_HEADER = np.dtype([("version", ">i4"), ("hashes", ">i4"), ("words", ">i4")])


def digest(column: pa.Array) -> Array:
    """Two hashes of 32 bits, side by side."""
    return two_hashes(column).view(np.int64)


def bit_of(hashed: Any, number: Any, bits: Any) -> Any:
    """The bit that the hash of a number sets; the first number is 1."""
    combined = ((hashed >> 32) + number * (hashed & _MASK)) & _MASK
    # Spark turns a negative hash over.
    return (combined ^ _MASK if combined > _MASK >> 1 else combined) % bits


def either_bits(older: Any, newer: Any, into: Any) -> None:
    """The bits of both."""
    for place in range(len(into)):
        into[place] = older[place] | newer[place]


def either_bits_of(older: Any, newer: Any) -> Any:
    """The same as a new row."""
    return older | newer


def _bloom(capacity: int, error: float = ERROR) -> Aggregation:
    at_least_one("capacity", capacity)
    bits_each = -math.log(fraction("error", error)) / math.log(2) ** 2
    wanted = capacity * bits_each
    require_fitting(
        "capacity", capacity, wanted / 8,
        "give the number of different values of one window, or a larger error",
    )  # fmt: skip
    hashes = max(1, round(int(wanted) / capacity * math.log(2)))
    words = max(1, math.ceil(int(wanted) / 64))
    bits = words * 64
    empty = np.zeros(words, np.int64)
    header = np.array((1, hashes, words), _HEADER).tobytes()

    def set_bits(hashed: Any, into: Any) -> None:
        """Into a filter that is empty."""
        for number in range(1, hashes + 1):
            bit = bit_of(hashed, number, bits)
            into[bit >> 6] |= np.int64(1) << np.int64(bit & 63)

    def filter_of(hashed: Any) -> Any:
        into = empty.copy()
        set_bits(hashed, into)
        return into

    def to_bytes(rows: Array, _type: pa.DataType) -> pa.Array:
        heads = np.tile(np.frombuffer(header, np.uint8), (len(rows), 1))
        return bytes_column(np.hstack([heads, rows.astype(">i8").view(np.uint8)]))

    def lower(partial: Any) -> Any:
        return header + partial.astype(">i8").tobytes()

    monoid = Monoid(
        identity=empty,
        lift=filter_of,
        combine=either_bits_of,
        lower=lower,
        in_place=InPlace(set_bits, either_bits),
        traits=Traits(commutative=True, exact=True),
        fields=(Field(f"bloom_{hashes}_{words}", "int64", words),),
        lanes=Lanes("int64", words, copied, to_bytes),
        output=always(pa.binary()),
    )
    summary = f"a Bloom filter of {capacity} different values, wrong of one in {1 / error:g} others"
    return Aggregation(f"bloom_{capacity}", INPUTS, of_digests(monoid, digest), same, summary)


INPUTS = (Input("value", HASHABLE, digest=digest),)

bloom = parametrized(
    "bloom",
    INPUTS,
    _bloom,
    "capacity=1000",
    "a Bloom filter of the values, in bytes that `wr.BloomFilter` and Spark read; with `capacity` "
    "different values in it, it mistakes a share of `error` (0.01 if not given) of others for its "
    "own",
)


class BloomFilter:
    """An answer of `wr.bloom`, or a Bloom filter of Spark (of its first version), to ask.

    >>> import windrow as wr
    >>> window = wr.Window(wr.bloom(capacity=1000))
    >>> window.insert_many(["ann", "bob"])
    >>> seen = wr.BloomFilter(window.query())
    >>> "ann" in seen, "eve" in seen
    (True, False)
    >>> seen.contains(["bob", "eve"]).tolist()
    [True, False]
    """

    def __init__(self, data: bytes) -> None:
        data, size = sketch_bytes(data, "wr.bloom"), _HEADER.itemsize
        head = np.frombuffer(data[:size].ljust(size, b"\0"), _HEADER)
        words, hashes = int(head["words"][0]), int(head["hashes"][0])
        if head["version"][0] != 1 or min(words, hashes) < 1 or len(data) != size + 8 * words:
            raise InvalidArgument(
                f"data: {len(data)} bytes that are no Bloom filter; give an answer of wr.bloom"
            )
        self.hashes = hashes
        self._words = np.frombuffer(data, ">u8", offset=size).astype(np.uint64)

    def __contains__(self, value: Any) -> bool:
        return bool(self.contains(column_of(value))[0])

    def contains(self, values: Any) -> Array:
        """For each value of a column, whether it is there, about; a null is not."""
        column = plain(values)
        hashed, bits = digest(column), len(self._words) * 64
        first, second = hashed >> 32 & _MASK, hashed & _MASK
        found = column.is_valid().to_numpy(zero_copy_only=False)
        for number in range(1, self.hashes + 1):
            combined = (first + number * second) & _MASK
            bit = np.where(combined > _MASK >> 1, combined ^ _MASK, combined) % bits
            word = self._words[bit >> 6] >> (bit & 63).astype(np.uint64)
            found &= (word & np.uint64(1)).astype(np.bool_)
        return found


EXAMPLES = (bloom(capacity=100),)
