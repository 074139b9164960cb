"""Answers back into places that lie far apart, in two steps that both stay in cache.

    sorted rows   a b c d e f        each answer goes to the part of the table that its row is in,
    parts         c a e | f b d      and from there to its row
    rows          a c e | b d f

A gather from all over a column misses the processor's cache for every value. Here the first step
reads in order and writes to the ends of some 200 parts; the second reads within one part. Both
together take two thirds of the time of that gather (4 million rows).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from windrow.algebra.arrays import read_only
from windrow.compiler.array_loops import compiled_loop
from windrow.engine.gathering import gather_numbers, gathered, row_pieces
from windrow.work import scratch, sizes
from windrow.work.threads import in_threads

Array = np.ndarray[Any, Any]

#: in so many rows at a time one looks how far apart places lie
_GLANCE = 2**10
#: values in a line of the processor's cache
_LINE = 8
#: into how many parts rows are cut, at most
_MOST_PARTS = 200


def pays(places: Array, columns: int) -> bool:
    """Whether so many columns go to their places faster in two steps."""
    size, smallest = len(places), sizes.current().smallest_scattered
    if size < smallest or columns < 4:  # finding the steps takes as long as two columns
        return False
    begins = (0, size // 2, max(size - _GLANCE, 0))
    glances = [np.sort(places[begin : begin + _GLANCE]) for begin in begins]
    far = sum(int(np.count_nonzero(np.diff(each) >= _LINE)) for each in glances)
    return 2 * far > sum(map(len, glances))


class TwoSteps:
    """The way of sorted rows into their places.

    Attributes:
        _first: for each sorted row, its place among the rows by part.
        _second: for each row of the table, its place there.
    """

    def __init__(self, permutation: Array, places: Array) -> None:
        """`permutation` has the row of the table of each sorted row, `places` is its inverse."""
        size = len(permutation)
        # Not a power of two: the ends of all parts would share few lines of the cache.
        part = max(size // _MOST_PARTS, sizes.current().smallest_scattered // 100) // 16 * 16 + 11
        rows, pieces = read_only(permutation), row_pieces(size)
        counts = np.zeros((len(pieces), size // part + 1), np.int64)
        in_threads(
            lambda n: compiled_loop(_count)(rows, *pieces[n], part, counts[n]), range(len(pieces))
        )
        # Where the rows of a part and a piece begin: by part, then by piece.
        ends = np.cumsum(counts.T).reshape(counts.T.shape)
        begins = np.ascontiguousarray((ends - counts.T).T)
        first = np.empty_like(permutation)
        in_threads(
            lambda n: compiled_loop(_place)(rows, *pieces[n], part, begins[n], first),
            range(len(pieces)),
        )
        self._first, self._second = read_only(first), gather_numbers(first, places)

    def gathered(self, columns: Sequence[Array], places: Array) -> list[Array]:
        """The numbers of columns at their places; as `gathering.gathered`."""
        # Of narrow numbers, such as validities, enough lie in the cache.
        return [
            self._moved(column) if column.itemsize == 8 else gathered([column], places)[0]
            for column in columns
        ]

    def _moved(self, column: Array) -> Array:
        pieces, numbers = row_pieces(len(column)), read_only(column)
        # The same memory for every column, also of later calls.
        with scratch.integers(len(column)) as words:
            parts = words.view(column.dtype)[: len(column)]

            def scatter(piece: tuple[int, int]) -> None:
                begin, stop = piece
                rows = numbers[begin:stop], self._first[begin:stop]
                compiled_loop(_scatter)(*rows, parts)

            in_threads(scatter, pieces)
            return gathered([parts], self._second)[0]


def _scatter(values: Array, index: Array, found: Array) -> None:
    for row in range(len(index)):
        found[index[row]] = values[row]


def _count(rows: Array, begin: int, stop: int, part: int, counts: Array) -> None:
    for row in range(begin, stop):
        counts[rows[row] // part] += 1


def _place(rows: Array, begin: int, stop: int, part: int, ends: Array, first: Array) -> None:
    for row in range(begin, stop):
        of_row = rows[row] // part
        first[row] = ends[of_row]
        ends[of_row] += 1
