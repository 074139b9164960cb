"""Values by row number, on all cores: rows into order, and answers back into their places.

    values   a b c d        gather: index 2 0 3 1  ->  c a d b

Columns of numbers are gathered by a loop of ours, piece by piece of rows, so that one column keeps
all cores busy. It takes half the time of Arrow's `take` where the rows of few keys come in turns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.algebra import arrays
from windrow.algebra.arrays import read_only, validity
from windrow.compiler.array_loops import compiled_loop
from windrow.work import memory, sizes
from windrow.work.threads import cores, even_pieces, in_threads

Array = np.ndarray[Any, Any]
Gathered = Callable[[Sequence[Array], Array], list[Array]]

#: numbers in a line of the processor's cache
LINE = 8
#: in so many rows at a time one looks how far apart places lie: of as many keys, the ends of all
#: runs stay in the cache
_GLANCE = 2**14
#: with this share of places in lines of their own, gathers are slow
_MANY = 0.25


def row_type(size: int) -> type[np.signedinteger[Any]]:
    """32 bits where they hold every row's number: what follows reads and writes less."""
    return np.int32 if size < 2**31 else np.int64


def row_numbers(size: int) -> Array:
    """0, 1, 2 and so on."""
    return np.arange(size, dtype=row_type(size))


def inverse(permutation: Array) -> Array:
    """For each row, its place in the permutation."""
    places = np.empty_like(permutation)
    in_threads(
        lambda piece: compiled_loop(_invert)(read_only(permutation), *piece, places),
        row_pieces(len(permutation)),
    )
    return places


def share_apart(places: Array, rows: int) -> float:
    """How many places of so many neighbouring rows lie in lines of the cache of their own."""
    size = len(places)
    begins = (0, size // 2, max(size - rows, 0))
    glances = [np.sort(places[begin : begin + rows]) for begin in begins]
    apart = sum(int(np.count_nonzero(np.diff(each) >= LINE)) for each in glances)
    return apart / sum(map(len, glances))


def into_runs(permutation: Array) -> Gathered | None:
    """A faster way than `gathered` to sort columns of numbers, if there is one.

    Where keys come in turns, the rows of a key lie apart: to gather them reads a line for each. But
    neighbouring rows go to few places, the ends of the keys' runs. So rows are read in order, and
    written there.
    """
    smallest = sizes.current().smallest_scattered
    if len(permutation) < smallest:
        return None
    read = share_apart(permutation, _GLANCE)
    if read < _MANY:
        return None
    places = inverse(permutation)
    if 2 * share_apart(places, _GLANCE) > read:
        return None
    return lambda columns, _index: _scattered(columns, places)


def gather_numbers(values: Array, index: Array) -> Array:
    """The values at the places of an index."""
    bits = f"u{values.dtype.itemsize}"
    return gathered([values.view(bits)], index)[0].view(values.dtype)


def gather(
    columns: Sequence[pa.Array], index: Array, numbers: Gathered | None = None
) -> list[pa.Array]:
    """The rows of columns at the places of an index; all are there.

    `numbers` gathers columns of numbers in another way than `gathered`.
    """
    flat = [place for place, column in enumerate(columns) if _is_flat(column)]
    partly = [place for place in flat if columns[place].null_count]
    values = [_values(columns[place]) for place in flat]
    validities = in_threads(lambda place: validity(columns[place]).view(np.uint8), partly)
    moved = (numbers or gathered)([*values, *validities], index)
    found = dict(zip(flat, moved, strict=False))
    valid = dict(zip(partly, moved[len(flat) :], strict=True))
    indices = arrays.column_of(index)

    def column_of(place: int) -> pa.Array:
        column, bitmap = columns[place], None
        if place not in found:
            return pc.take(column, indices, boundscheck=False)
        if place in valid:
            bitmap = pa.py_buffer(np.packbits(valid[place], bitorder="little"))
        return pa.Array.from_buffers(column.type, len(index), [bitmap, pa.py_buffer(found[place])])

    return in_threads(column_of, range(len(columns)))


def gathered(columns: Sequence[Array], index: Array) -> list[Array]:
    """The numbers of columns at the places of an index."""
    found = [memory.empty(len(index), column.dtype) for column in columns]
    # Piece by piece of rows: the part of the index stays in the processor's cache.
    pieces = [(place, *piece) for piece in row_pieces(len(index)) for place in range(len(columns))]
    index = read_only(index)

    def gather_piece(piece: tuple[int, int, int]) -> None:
        place, begin, stop = piece
        part = index[begin:stop], found[place][begin:stop]
        compiled_loop(_gather)(read_only(columns[place]), *part)

    in_threads(gather_piece, pieces)
    return found


def _scattered(columns: Sequence[Array], places: Array) -> list[Array]:
    """The numbers of columns, each row's at its place."""
    found = [memory.empty(len(places), column.dtype) for column in columns]
    pieces = [(place, *piece) for piece in row_pieces(len(places)) for place in range(len(columns))]
    places = read_only(places)

    def scatter_piece(piece: tuple[int, int, int]) -> None:
        place, begin, stop = piece
        part = read_only(columns[place][begin:stop]), places[begin:stop]
        compiled_loop(_scatter)(*part, found[place])

    in_threads(scatter_piece, pieces)
    return found


def _scatter(values: Array, places: Array, found: Array) -> None:
    for row in range(len(values)):
        found[np.uintp(places[row])] = values[row]


def _gather(values: Array, index: Array, found: Array) -> None:
    # From 0 on: of rows that may be negative, the compiler would look at each before it reads.
    for row in range(len(index)):
        found[row] = values[index[row]]


def _invert(permutation: Array, begin: int, stop: int, places: Array) -> None:
    for place in range(begin, stop):
        places[permutation[place]] = place


def _is_flat(column: pa.Array) -> bool:
    """Whether a column is an array of numbers of whole bytes."""
    data_type = column.type
    numbers = pa.types.is_integer(data_type) or pa.types.is_floating(data_type)
    ticks = pa.types.is_temporal(data_type) and not pa.types.is_interval(data_type)
    return bool(len(column) and (numbers or ticks))


def _values(column: pa.Array) -> Array:
    """The values of a column as numbers of as many bytes, whatever they mean."""
    width = column.type.bit_width // 8
    return np.frombuffer(column.buffers()[1], f"u{width}", len(column), column.offset * width)


def row_pieces(size: int) -> list[tuple[int, int]]:
    """Rows in pieces for threads, each with its begin and its end."""
    return even_pieces(size, max(min(cores(), size // sizes.current().smallest_piece), 1))
