"""Rows by key: the rows of a key together, in their order.

Keys that come in runs are compared with their neighbours, and only the first row of each run is
looked up. If no key comes back, the rows are grouped already. Keys that come in turns get small
integers as codes, and rows are counted and placed by code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.algebra import arrays
from windrow.algebra.arrays import column_of, read_only
from windrow.compiler.array_loops import compiled_loop
from windrow.engine.columns import whole
from windrow.engine.gathering import row_pieces, row_type
from windrow.engine.ranks import float_ranks
from windrow.windows.key_runs import NEVER, run_starts, written
from windrow.windows.walks import lengths_of_runs
from windrow.work import sizes
from windrow.work.threads import cores, even_pieces, in_threads

Array = np.ndarray[Any, Any]

#: in so many rows at a time one looks whether keys come in runs
_GLANCE = 2**10
#: codes are dense enough to be counted if there are no more than this many, or than rows
_MOST_CODES = 2**16


def grouped(keys: Sequence[pa.Array], size: int) -> tuple[Array | None, Array]:
    """The permutation that brings the rows of a key together, and where keys begin.

    The permutation is None if each key is in one run. Rows of a key keep their order.
    """
    keys = [_indices(each) if pa.types.is_dictionary(each.type) else each for each in keys]
    if _seem_in_runs(keys, size):
        starts = run_starts(keys, size)
        heads = column_of(starts[:-1])
        of_runs = key_codes([column.take(heads) for column in keys])
        if np.bincount(of_runs).max(initial=0) <= 1:  # no key comes back
            return None, starts
        codes = np.repeat(of_runs, lengths_of_runs(starts, size))
    else:
        codes = key_codes(keys)
    permutation, starts, _nothing = by_counting(codes, int(codes.max()) + 1)
    return permutation, starts


def _seem_in_runs(keys: Sequence[pa.Array], size: int) -> bool:
    """Whether a key mostly has the key before it, in a few places of the table."""
    if size <= 4 * _GLANCE:
        return True
    runs = 0
    for begin in (0, size // 2, size - _GLANCE):
        runs += len(run_starts([column.slice(begin, _GLANCE) for column in keys], _GLANCE)) - 1
        if 2 * runs > 3 * _GLANCE:
            return False
    return True


# Counting ----------------------------------------------------------------------------------------


def by_counting(
    codes: Array, most: int, numbers: Array | None = None
) -> tuple[Array, Array, Array | None]:
    """The rows sorted by codes below `most`, stably, and where those of each code begin.

    Numbers of the rows, if there are any, come along. To gather them afterwards takes longer: the
    rows of a code lie far apart, so it misses the processor's cache for each.
    """
    size = len(codes)
    # Of a number that may be negative, the compiler would look at each before it reads.
    codes = codes.astype(row_type(size), copy=False)
    codes = read_only(codes.view(f"u{codes.dtype.itemsize}"))
    pieces = max(min(cores(), size // max(most, sizes.current().smallest_piece)), 1)
    marks = even_pieces(size, pieces)
    counts = np.zeros((pieces, most), np.int64)
    in_threads(lambda n: compiled_loop(_count)(codes[slice(*marks[n])], counts[n]), range(pieces))
    # Where the rows of a code and a piece begin: by code, then by piece.
    ends = np.cumsum(counts.T).reshape(most, pieces)
    places = np.ascontiguousarray((ends - counts.T).T)
    begins = places[0][counts.any(axis=0)]
    sorted_rows = np.empty(size, row_type(size))
    sorted_numbers = None if numbers is None else np.empty_like(numbers)

    def place(piece: int) -> None:
        begin, stop = marks[piece]
        placed = codes[begin:stop], begin, places[piece], sorted_rows
        if numbers is None:
            compiled_loop(_place)(*placed)
        else:
            compiled_loop(_place_both)(*placed, read_only(numbers[begin:stop]), sorted_numbers)

    in_threads(place, range(pieces))
    return sorted_rows, np.append(begins, NEVER), sorted_numbers


def _count(codes: Array, counts: Array) -> None:
    for row in range(len(codes)):
        counts[codes[row]] += 1


def _place(codes: Array, begin: int, places: Array, sorted_rows: Array) -> None:
    for row in range(len(codes)):
        code = codes[row]
        place = places[code]
        places[code] = place + 1
        sorted_rows[np.uint64(place)] = begin + row


def _place_both(
    codes: Array,
    begin: int,
    places: Array,
    sorted_rows: Array,
    numbers: Array,
    sorted_numbers: Array,
) -> None:
    for row in range(len(codes)):
        code = codes[row]
        place = places[code]
        places[code] = place + 1
        sorted_rows[np.uint64(place)] = begin + row
        sorted_numbers[np.uint64(place)] = numbers[row]


# Codes -------------------------------------------------------------------------------------------


def key_codes(keys: Sequence[pa.Array | pa.ChunkedArray]) -> Array:
    """Small integers that are equal where all columns are; columns may be in several pieces."""
    codes, count = _codes_of(keys[0])
    for column in keys[1:]:
        further, more = _codes_of(column)
        codes, count = codes.astype(np.int64) * more + further, count * more
        if count > max(len(codes), _MOST_CODES):
            codes, count = _encoded(pa.array(codes))
    return codes.astype(row_type(len(codes)), copy=False)


def _codes_of(column: pa.Array | pa.ChunkedArray) -> tuple[Array, int]:
    """Small integers that are equal where a column's values are, and a bound of them."""
    if pa.types.is_integer(column.type) and not column.null_count and len(column):
        found = _heights(column)
        if found is not None:
            return found
    column = whole(column)
    if pa.types.is_nested(column.type):
        seen: dict[str, int] = {}
        places = [seen.setdefault(written(value), len(seen)) for value in column.to_pylist()]
        return np.array(places, np.int32), len(seen)
    if pa.types.is_floating(column.type):
        column = pa.array(float_ranks(column))
    return _encoded(column)


def _heights(column: pa.Array | pa.ChunkedArray) -> tuple[Array, int] | None:
    """Integers above the lowest, and a bound of them, if they are few."""
    size = len(column)

    def range_of(rows: tuple[int, int]) -> tuple[int, int]:
        found = pc.min_max(column.slice(rows[0], rows[1] - rows[0])).as_py()
        return found["min"], found["max"]

    lows, highs = zip(*in_threads(range_of, row_pieces(size)), strict=True)
    lowest, highest = min(lows), max(highs)
    if highest - lowest >= max(size, _MOST_CODES) or highest >= 2**63:
        return None
    codes: Array = np.empty(size, row_type(size))
    first = 0
    for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
        values, of_chunk = arrays.values(chunk), codes[first : first + len(chunk)]

        def subtract(rows: tuple[int, int], values: Array = values, into: Array = of_chunk) -> None:
            begin, stop = rows
            compiled_loop(_subtract)(values[begin:stop], lowest, into[begin:stop])

        in_threads(subtract, row_pieces(len(chunk)))
        first += len(chunk)
    return codes, highest - lowest + 1


def _subtract(values: Array, lowest: int, heights: Array) -> None:
    for row in range(len(values)):
        heights[row] = values[row] - lowest


def _indices(column: pa.DictionaryArray) -> pa.Array:
    """Integers that are equal where values are; a dictionary may hold a value twice, or null."""
    dictionary = whole(column.dictionary)
    codes, _count = _codes_of(pa.concat_arrays([dictionary, pa.nulls(1, dictionary.type)]))
    indices = column.indices.cast(pa.int64()).fill_null(len(dictionary))
    if np.array_equal(codes, np.arange(len(codes))):  # each once: nearly always
        return indices
    return pa.array(codes[indices.to_numpy()])


def _encoded(column: pa.Array) -> tuple[Array, int]:
    """The places of a column's values among its distinct values, found in threads."""
    wanted = max(min(cores(), len(column) // sizes.current().smallest_piece), 1)
    pieces = [column.slice(begin, stop - begin) for begin, stop in even_pieces(len(column), wanted)]
    found = in_threads(lambda piece: piece.dictionary_encode(null_encoding="encode"), pieces)
    codes = [each.indices.to_numpy() for each in found]
    if len(found) == 1:
        return codes[0], max(len(found[0].dictionary), 1)
    values = pa.concat_arrays([each.dictionary for each in found])
    distinct = values.dictionary_encode(null_encoding="encode")
    first = 0
    for place, each in enumerate(found):
        among = distinct.indices.to_numpy()[first : first + len(each.dictionary)]
        codes[place] = among[codes[place]]
        first += len(each.dictionary)
    return np.concatenate(codes), max(len(distinct.dictionary), 1)
