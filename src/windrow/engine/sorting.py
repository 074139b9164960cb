"""Rows of a table in the order that windows need: by key, then by order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.compiler.array_loops import compiled_loop
from windrow.windows.key_runs import NEVER, written
from windrow.work import sizes
from windrow.work.threads import cores, in_threads

Array = np.ndarray[Any, Any]

_BLOCK = 2**12


def arrange(keys: Sequence[pa.Array], order: Sequence[pa.Array], size: int) -> tuple[Any, Array]:
    """The permutation that sorts rows by key and order, and the rows at which a new key begins.

    The permutation is None if the rows are sorted. Keys come in any order, each in one run. Rows of
    equal order keep their order.
    """
    permutation = sorted_by([ranks(column) for column in order])
    if not keys:
        return permutation, np.array([0, NEVER] if size else [NEVER], np.int64)
    return grouped(permutation, key_codes(keys))


def sorted_by(order: Sequence[Array]) -> Array | None:
    """The permutation that sorts rows by columns of ranks, stably; None if they are sorted."""
    permutation = None
    for column in reversed(order):
        permutation = _refine(permutation, column)
    return permutation


def key_codes(keys: Sequence[pa.Array]) -> Array:
    """Small integers that are equal where the values of all key columns are."""
    codes = _codes(keys[0])
    for column in keys[1:]:
        further = _codes(column)
        codes = _dense(codes * (int(further.max(initial=0)) + 1) + further)
    return codes


def grouped(permutation: Array | None, codes: Array) -> tuple[Array | None, Array]:
    """Sort by small codes, stably, and find where each code begins."""
    placed = codes if permutation is None else codes[permutation]
    if compiled_loop(_is_sorted)(placed):
        starts = np.flatnonzero(np.diff(placed, prepend=-1))
        return permutation, np.append(starts, NEVER)
    step, begins = _by_counting(placed, int(placed.max()) + 1)
    # A code of no rows begins where the next one does.
    return (step if permutation is None else permutation[step]), np.append(np.unique(begins), NEVER)


def _is_sorted(ranks: Array) -> bool:
    # Compiled, because numpy would write an array to look at one. The inner loop has no early exit,
    # and the places of a slice are never negative, so the compiler uses wide instructions.
    for begin in range(0, len(ranks), _BLOCK):
        falls, part = 0, ranks[begin : begin + _BLOCK + 1]
        for row in range(len(part) - 1):
            falls += part[row + 1] < part[row]
        if falls:
            return False
    return True


def _by_counting(codes: Array, most: int) -> tuple[Array, Array]:
    """The rows sorted by codes below `most`, stably, and where the rows of each code begin."""
    size = len(codes)
    pieces = max(min(cores(), size // max(most, sizes.current().smallest_piece)), 1)
    marks = [size * piece // pieces for piece in range(pieces + 1)]
    counts = np.zeros((pieces, most), np.int64)
    in_threads(
        lambda n: compiled_loop(_count)(codes[marks[n] : marks[n + 1]], counts[n]), range(pieces)
    )
    # Where the rows of a code and a piece begin: by code, then by piece.
    ends = np.cumsum(counts.T).reshape(most, pieces)
    places = np.ascontiguousarray((ends - counts.T).T)
    begins = places[0].copy()
    # 32 bits where they hold every row's number: what follows reads and writes less.
    sorted_rows = np.empty(size, np.int32 if size < 2**31 else np.int64)

    def place(piece: int) -> None:
        compiled_loop(_place)(codes, marks[piece], marks[piece + 1], places[piece], sorted_rows)

    in_threads(place, range(pieces))
    return sorted_rows, begins


def _count(codes: Array, counts: Array) -> None:
    for row in range(len(codes)):
        counts[codes[row]] += 1


def _place(codes: Array, begin: int, stop: int, places: Array, sorted_rows: Array) -> None:
    for row in range(begin, stop):
        sorted_rows[places[codes[row]]] = row
        places[codes[row]] += 1


def _refine(permutation: Array | None, ranks: Array) -> Array | None:
    """Sort by one more column, stably."""
    placed = ranks if permutation is None else ranks[permutation]
    if compiled_loop(_is_sorted)(placed):
        return permutation
    lowest, highest = int(placed.min()), int(placed.max())
    if highest - lowest <= len(placed):
        # With no more values than rows, counting them sorts five times faster than comparing.
        step, _begins = _by_counting(placed - lowest, highest - lowest + 1)
    else:
        step = np.argsort(placed, kind="stable")
    return step if permutation is None else permutation[step]


def ranks(column: pa.Array) -> Array:
    """Integers in the order of the column's values: nulls first, NaN last, as Spark sorts."""
    data_type = column.type
    if pa.types.is_temporal(data_type) and not pa.types.is_interval(data_type):
        column = column.view(pa.int64() if data_type.bit_width == 64 else pa.int32())
    if pa.types.is_floating(column.type):
        return float_ranks(column)
    if pa.types.is_integer(column.type) and not column.null_count and column.type != pa.uint64():
        return column.cast(pa.int64()).to_numpy()  # type: ignore[no-any-return]
    if pa.types.is_null(column.type):
        return np.zeros(len(column), np.int64)
    found = pc.rank(column, "ascending", tiebreaker="dense").cast(pa.int64())
    if column.null_count:
        found = pc.if_else(column.is_null(), 0, found)  # ranks begin at 1
    return found.to_numpy()  # type: ignore[no-any-return]


def float_ranks(column: pa.Array) -> Array:
    """Integers in the order of floats: nulls first, NaN last, and -0.0 is 0.0."""
    numbers = column.cast(pa.float64()).to_numpy(zero_copy_only=False) + 0.0
    bits = np.where(np.isnan(numbers), np.float64("nan"), numbers).view(np.int64)
    ranks = bits ^ ((bits >> 63) & np.int64(2**63 - 1))
    if column.null_count:
        ranks[pc.is_null(column).to_numpy(zero_copy_only=False)] = np.iinfo(np.int64).min
    return ranks


def _codes(column: pa.Array) -> Array:
    """Small integers that are equal where a column's values are."""
    if pa.types.is_nested(column.type):
        seen: dict[str, int] = {}
        return np.array(
            [seen.setdefault(written(value), len(seen)) for value in column.to_pylist()], np.int64
        )
    if pa.types.is_floating(column.type):
        column = pa.array(float_ranks(column))
    if pa.types.is_integer(column.type) and not column.null_count and len(column):
        lowest, highest = pc.min_max(column).as_py().values()
        if highest - lowest < max(len(column), 2**16) and -(2**63) <= lowest <= highest < 2**63:
            codes = column.cast(pa.int64()).to_numpy()
            return codes - lowest if lowest else codes  # type: ignore[no-any-return]
    encoded = column.dictionary_encode(null_encoding="encode")
    return encoded.indices.cast(pa.int64()).to_numpy()  # type: ignore[no-any-return]


def _dense(codes: Array) -> Array:
    encoded = pa.array(codes).dictionary_encode()
    return encoded.indices.cast(pa.int64()).to_numpy()  # type: ignore[no-any-return]
