"""Hashes of columns, equal to those of other systems, so that their sketches can be joined.

There are two hashes of the MurmurHash3 family: one of 128 bits, as in Apache DataSketches, and one
of 32 bits, as in Spark's Bloom filters and count-min sketches. numpy hashes whole columns at once.
Values are hashed like this:

- integers and truth values as 64-bit integers; unsigned ones by the same bits;
- floats by their bits, with one NaN and one zero, so 1 and 1.0 are different values;
- times, dates and durations as nanoseconds, whatever their unit, modulo 2^64;
- texts as UTF-8, and decimals as the text of their digits without trailing zeros.

The hash of a null has no meaning.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.algebra.aggregation import ANYTHING, Digest
from windrow.algebra.kinds import EXACT, Kind, plain_type, seconds_per_tick
from windrow.errors import InvalidArgument

#: numpy's own types lose track of what arithmetic gives
Array = Any

#: what can be hashed
HASHABLE = ANYTHING - {Kind.NESTED}

#: the seed of all sketches of DataSketches
DATASKETCHES_SEED = 9001

_NAN_BITS = 0x7FF8000000000000


# 128 bits, as DataSketches hashes ----------------------------------------------------------------

_LEFT, _RIGHT = np.uint64(0x87C37B91114253D5), np.uint64(0x4CF5AD432745937F)


def hash_128(column: pa.Array) -> tuple[Array, Array]:
    """The two halves of the 128-bit hash of each value."""
    hashed = [_hash_128(pieces) for pieces in _pieces(column)]
    return _joined([high for high, _low in hashed]), _joined([low for _high, low in hashed])


def _hash_128(pieces: _Pieces) -> tuple[Array, Array]:
    high = np.full(len(pieces.starts), DATASKETCHES_SEED, np.uint64)
    low = high.copy()
    for rows, places in pieces.blocks(16):
        first, second = high[rows], low[rows]
        first ^= _scrambled(pieces.words[places], _LEFT, 31, _RIGHT)
        first = (_rotated(first, 27) + second) * np.uint64(5) + np.uint64(0x52DCE729)
        second ^= _scrambled(pieces.words[places + 8], _RIGHT, 33, _LEFT)
        second = (_rotated(second, 31) + first) * np.uint64(5) + np.uint64(0x38495AB5)
        high[rows], low[rows] = first, second
    # The rest is shorter than a block. Missing bytes count as zeros.
    rest = pieces.lengths % 16
    places = pieces.starts + pieces.lengths - rest
    low ^= _scrambled(_cut(pieces.words[places + 8], rest - 8), _RIGHT, 33, _LEFT)
    high ^= _scrambled(_cut(pieces.words[places], rest), _LEFT, 31, _RIGHT)
    lengths = pieces.lengths.astype(np.uint64)
    high, low = high ^ lengths, low ^ lengths
    high += low
    low += high
    high, low = _finished_64(high), _finished_64(low)
    high += low
    return high, low + high


def _scrambled(words: Array, before: np.uint64, bits: int, after: np.uint64) -> Array:
    return _rotated(words * before, bits) * after


def _rotated(words: Array, bits: int) -> Array:
    width = words.dtype.itemsize * 8
    left, right = words.dtype.type(bits), words.dtype.type(width - bits)
    return (words << left) | (words >> right)


def _finished_64(words: Array) -> Array:
    shift = np.uint64(33)
    words = (words ^ (words >> shift)) * np.uint64(0xFF51AFD7ED558CCD)
    words = (words ^ (words >> shift)) * np.uint64(0xC4CEB9FE1A85EC53)
    return words ^ (words >> shift)


def _cut(words: Array, sizes: Array) -> Array:
    """The first bytes of 8-byte words, as many as `sizes` says, at least none and at most all."""
    missing = np.clip(8 - sizes, 0, 8).astype(np.uint64) * np.uint64(8)
    # A shift by all 64 bits is undefined.
    kept = np.where(missing < 64, ~np.uint64(0) >> np.minimum(missing, np.uint64(63)), 0)
    return words & kept


# 32 bits, as Spark hashes ------------------------------------------------------------------------


def two_hashes(column: pa.Array) -> Array:
    """Two hashes of each value, of which Spark makes as many as it needs: halves of 64 bits."""
    return _joined([_two_hashes(pieces) for pieces in _pieces(column)])


def _two_hashes(pieces: _Pieces) -> Array:
    first = _hash_32(pieces, np.zeros(len(pieces.starts), np.uint32))
    second = _hash_32(pieces, first)
    return first.astype(np.uint64) << np.uint64(32) | second


def _hash_32(pieces: _Pieces, seeds: Array) -> Array:
    hashed = seeds.copy()
    for rows, places in pieces.blocks(4):
        hashed[rows] = _mixed(hashed[rows], pieces.words[places].astype(np.uint32))
    # Spark takes each remaining byte as a signed number and mixes it in as a whole word.
    for rows, places in pieces.bytes_left(4):
        hashed[rows] = _mixed(hashed[rows], pieces.data[places].view(np.int8).astype(np.uint32))
    hashed ^= pieces.lengths.astype(np.uint32)
    hashed = (hashed ^ (hashed >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    hashed = (hashed ^ (hashed >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return hashed ^ (hashed >> np.uint32(16))


def _mixed(hashed: Array, words: Array) -> Array:
    words = _rotated(words * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)
    return _rotated(hashed ^ words, 13) * np.uint32(5) + np.uint32(0xE6546B64)


# Values as bytes ---------------------------------------------------------------------------------


#: rows that are hashed together, so that intermediate arrays stay in the cache
_CHUNK = 8192


@dataclass(frozen=True)
class _Pieces:
    """The bytes of some values.

    Attributes:
        starts, lengths: where the bytes of each value are.
        data: the bytes.
        words: the 8 bytes from each byte on, as a number.
    """

    starts: Array
    lengths: Array
    data: Array
    words: Array

    def blocks(self, size: int) -> Iterator[tuple[Array, Array]]:
        """The rows that still hold a whole block of bytes, and where it begins; block by block."""
        counts = self.lengths // size
        rows: Array = slice(None)  # for as long as all do, no row is looked for
        for number in range(int(counts.max())):
            if number >= counts.min():
                rows = np.flatnonzero(counts > number)
            yield rows, self.starts[rows] + number * size

    def bytes_left(self, size: int) -> Iterator[tuple[Array, Array]]:
        """The rows that still hold a byte behind their whole blocks, and where; byte by byte."""
        rest = self.lengths % size
        places = self.starts + self.lengths - rest
        for number in range(size - 1):
            rows = np.flatnonzero(rest > number)
            yield rows, places[rows] + number


def _pieces(column: pa.Array) -> Iterator[_Pieces]:
    """The bytes of the values of a column, chunk by chunk."""
    size = len(column)
    if Kind.of(column.type) in (Kind.TEXT, Kind.DECIMAL):
        text = _as_text(column).cast(pa.large_binary())
        offsets, held = text.buffers()[1:]
        ends = np.frombuffer(offsets, np.int64, size + 1, text.offset * 8)
        data = np.frombuffer(held or b"", np.uint8)
    else:
        ends = np.arange(size + 1) * 8
        data = numbers(column).view(np.uint8)
    # Zeros follow, so that whole words can be read wherever a value ends.
    data = np.concatenate([data, np.zeros(24, np.uint8)])
    words: Array = np.ndarray((len(data) - 7,), "<u8", data, strides=(1,))
    for first in range(0, size, _CHUNK):
        edges = ends[first : first + _CHUNK + 1]
        yield _Pieces(edges[:-1], np.diff(edges), data, words)


def _joined(chunks: list[Array]) -> Array:
    return np.concatenate(chunks) if chunks else np.empty(0, np.uint64)


def numbers(column: pa.Array) -> Array:
    """The values of a column that is no text as 64 bits each."""
    kind, size = Kind.of(column.type), len(column)
    if kind is Kind.NESTED:
        raise InvalidArgument(f"a value of type {column.type} cannot be hashed")
    if kind is Kind.FLOAT:
        floats = pc.fill_null(column.cast(pa.float64()), 0.0).to_numpy(zero_copy_only=False) + 0.0
        return np.where(np.isnan(floats), _NAN_BITS, floats.view(np.int64))
    if kind.in_ticks:
        nanoseconds = round(seconds_per_tick(column.type) * 1e9)
        ticks = column.view(pa.int64() if column.type.bit_width == 64 else pa.int32())
        return _integers(ticks, size) * nanoseconds
    return _integers(column, size)


def _integers(column: pa.Array, size: int) -> Array:
    if pa.types.is_uint64(column.type):
        column = column.view(pa.int64())
    column = pc.fill_null(column.cast(pa.int64()), 0)
    return column.to_numpy(zero_copy_only=False) if size else np.empty(0, np.int64)


def _as_text(column: pa.Array) -> pa.Array:
    if not pa.types.is_decimal(column.type):
        return column
    # Prices repeat: each different one is written once.
    encoded = column.dictionary_encode()
    written = [_digits(value) for value in encoded.dictionary.to_pylist()]
    return pa.array(written, pa.string()).take(encoded.indices)


def _digits(value: Decimal) -> str:
    return format(value.normalize(EXACT), "f") if value else "0"


# One value ---------------------------------------------------------------------------------------


def column_of(value: Any) -> pa.Array:
    """A column of one Python value."""
    if isinstance(value, int) and 2**63 <= value < 2**64:
        return pa.array([value], pa.uint64())
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        value = Decimal(value)
    if isinstance(value, Decimal) and value.is_finite():
        return pa.array([_digits(value)])
    try:
        column = pa.array([value], _of_nanoseconds(value))
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        column = None
    if column is None or Kind.of(column.type) not in HASHABLE or pa.types.is_null(column.type):
        raise InvalidArgument(
            f"{value!r} cannot be hashed: give a truth value, a number, a decimal, a text or a time"
        )
    return column


def _of_nanoseconds(value: Any) -> pa.DataType | None:
    """The type of pandas' times where they are finer than Python's, for which Arrow takes them."""
    if getattr(value, "nanosecond", 0):
        return pa.timestamp("ns", None if value.tzinfo is None else "UTC")
    return pa.duration("ns") if getattr(value, "nanoseconds", 0) else None


class OneByOne:
    """What lifts a Python value: its digest, lifted as a kernel does.

    A hash of one value takes as long as one of some hundred: values that come again are kept. They
    do not go to other processes.
    """

    def __init__(self, digest: Digest, lift: Callable[[Any], Any]) -> None:
        """`lift` takes what `digest` makes of a value."""
        self._functions = digest, lift
        self._kept = functools.lru_cache(maxsize=4096, typed=True)(self._lifted)

    def __call__(self, value: Any) -> Any:
        """The partial of a value."""
        return self._kept(value) if isinstance(value, Hashable) else self._lifted(value)

    def _lifted(self, value: Any) -> Any:
        digest, lift = self._functions
        return lift(digest(column_of(value))[0])

    def __reduce__(self) -> Any:
        return OneByOne, self._functions


def plain(column: Any) -> pa.Array:
    """A column in one piece and in its plain type, of whatever Arrow takes for one."""
    column = column if isinstance(column, pa.Array | pa.ChunkedArray) else pa.array(column)
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    wanted = plain_type(column.type)
    return column if column.type == wanted else column.cast(wanted)
