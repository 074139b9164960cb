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
    return by_counting(codes, int(codes.max()) + 1)


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


def by_counting(codes: Array, most: int) -> tuple[Array, Array]:
    """The rows sorted by codes below `most`, stably, and where those of each code begin."""
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

    def place(piece: int) -> None:
        begin, stop = marks[piece]
        compiled_loop(_place)(codes[begin:stop], begin, places[piece], sorted_rows)

    in_threads(place, range(pieces))
    return sorted_rows, np.append(begins, NEVER)


def _count(codes: Array, counts: Array) -> None:
    for row in range(len(codes)):
        counts[codes[row]] += 1


def _place(codes: Array, begin: int, places: Array, sorted_rows: Array) -> None:
    for row in range(len(codes)):
        code = codes[row]
        place = places[code]
        places[code] = place + 1
        sorted_rows[np.uint64(place)] = begin + row


# Codes -------------------------------------------------------------------------------------------


def key_codes(keys: Sequence[pa.Array]) -> Array:
    """Small integers that are equal where all columns are."""
    codes, count = _codes_of(keys[0])
    for column in keys[1:]:
        further, more = _codes_of(column)
        codes, count = codes.astype(np.int64) * more + further, count * more
        if count > max(len(codes), _MOST_CODES):
            codes, count = _encoded(pa.array(codes))
    return codes.astype(row_type(len(codes)), copy=False)


def _codes_of(column: pa.Array) -> tuple[Array, int]:
    """Small integers that are equal where a column's values are, and a bound of them."""
    if pa.types.is_nested(column.type):
        seen: dict[str, int] = {}
        places = [seen.setdefault(written(value), len(seen)) for value in column.to_pylist()]
        return np.array(places, np.int32), len(seen)
    if pa.types.is_floating(column.type):
        column = pa.array(float_ranks(column))
    if pa.types.is_integer(column.type) and not column.null_count and len(column):
        lowest, highest = pc.min_max(column).as_py().values()
        if highest - lowest < max(len(column), _MOST_CODES) and highest < 2**63:
            values = arrays.values(column)
            codes: Array = np.empty(len(values), row_type(len(values)))

            def subtract(piece: tuple[int, int]) -> None:
                rows = slice(*piece)
                np.subtract(values[rows], lowest, out=codes[rows], casting="unsafe")

            in_threads(subtract, row_pieces(len(values)))
            return codes, highest - lowest + 1
    return _encoded(column)


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
