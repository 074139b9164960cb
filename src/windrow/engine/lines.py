"""Answers back into places that lie far apart: eight columns at a time, as lines of the cache.

    columns of sorted rows   a b c d e f g h      each row's answers are put together, and written
    lines, a row each        abcdefgh abcdefgh    past the cache to the place of the row;
    columns of rows          a b c d e f g h      then lines are read in order, and taken apart

A gather from all over a column misses the processor's cache for every value, and reads a line of
eight for each. Here every line is written once, as a whole, so nothing is read before. Twenty
columns of 4 million shuffled rows take a quarter of the time of such gathers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from windrow.algebra.arrays import read_only
from windrow.compiler.array_loops import compiled_loop
from windrow.compiler.past_cache import copy_past_cache, settle_copies, write_line
from windrow.engine.gathering import LINE, gathered, row_pieces, share_apart
from windrow.work import memory, sizes
from windrow.work.threads import in_threads

Array = np.ndarray[Any, Any]

#: in so many rows at a time one looks how far apart places lie
_GLANCE = 2**10
#: fewer columns are not worth a line
_FEWEST = 4
#: lines that are taken apart together: they stay in the cache while that is done column by column
_TILE = 2**8


def pays(places: Array, columns: int) -> bool:
    """Whether so many columns go to their places faster as lines."""
    few = len(places) < sizes.current().smallest_scattered or columns < _FEWEST
    return not few and share_apart(places, _GLANCE) > 0.5


class Lines:
    """The way of sorted rows into their places."""

    def __init__(self, permutation: Array) -> None:
        """`permutation` has the row of the table of each sorted row."""
        self._rows = read_only(permutation)

    def gathered(self, columns: Sequence[Array], places: Array) -> list[Array]:
        """The numbers of columns at their places; as `gathering.gathered`."""
        wide = [place for place, column in enumerate(columns) if column.itemsize == 8]
        found: dict[int, Array] = {}
        for first in range(0, len(wide), LINE):
            group = wide[first : first + LINE]
            if len(group) >= _FEWEST:
                found |= zip(group, self._moved([columns[place] for place in group]), strict=True)
        # Of narrow numbers, such as validities, enough lie in the cache.
        rest = [place for place in range(len(columns)) if place not in found]
        found |= zip(rest, gathered([columns[place] for place in rest], places), strict=True)
        return [found[place] for place in range(len(columns))]

    def _moved(self, columns: Sequence[Array]) -> list[Array]:
        """Up to eight columns of wide numbers at their places."""
        size = len(self._rows)
        found = [memory.empty(size, column.dtype) for column in columns]
        # A kernel takes eight columns; it reads and writes the first in place of what is missing.
        missing = LINE - len(columns)
        read = [read_only(column) for column in [*columns, *[columns[0]] * missing]]
        written = [*found, *[found[0]] * missing]
        step = sizes.current().most_lines
        lines = _lines(min(step, size))
        for first in range(0, size, step):
            count = min(step, size - first)

            def put(piece: tuple[int, int], first: int = first, count: int = count) -> None:
                compiled_loop(_put)(*read, self._rows, *piece, first, count, lines)

            def take(piece: tuple[int, int], first: int = first) -> None:
                draft = np.empty(_TILE, read[0].dtype)
                compiled_loop(_take)(lines, *piece, first, draft, len(columns), *written)

            in_threads(put, row_pieces(size))
            in_threads(take, row_pieces(count))
        return found


def _lines(count: int) -> Array:
    """Room for so many lines, which begin where the cache's do."""
    numbers = memory.empty(LINE * (count + 1), np.uint64)
    ahead = -numbers.ctypes.data // numbers.itemsize % LINE
    return numbers[ahead : ahead + LINE * count]


def _put(
    a: Array, b: Array, c: Array, d: Array, e: Array, f: Array, g: Array, h: Array,
    rows: Array, begin: int, stop: int, first: int, count: int, lines: Array,
) -> None:  # fmt: skip
    """Write sorted rows to the lines of table rows from `first` on."""
    for row in range(begin, stop):
        line = rows[row] - first
        if 0 <= line < count:
            at = np.uintp(row)
            write_line(lines, line, a[at], b[at], c[at], d[at], e[at], f[at], g[at], h[at])
    settle_copies()


def _take(
    lines: Array, begin: int, stop: int, first: int, draft: Array, columns: int,
    a: Array, b: Array, c: Array, d: Array, e: Array, f: Array, g: Array, h: Array,
) -> None:  # fmt: skip
    """Write lines to columns, whose rows begin at `first`."""
    for row in range(begin, stop, len(draft)):
        count = min(len(draft), stop - row)
        for column in range(columns):
            for place in range(count):
                draft[place] = lines[np.uintp(LINE * (row + place) + column)]
            into = first + row
            if column == 0:
                copy_past_cache(a, into, draft, 0, count)
            elif column == 1:
                copy_past_cache(b, into, draft, 0, count)
            elif column == 2:
                copy_past_cache(c, into, draft, 0, count)
            elif column == 3:
                copy_past_cache(d, into, draft, 0, count)
            elif column == 4:
                copy_past_cache(e, into, draft, 0, count)
            elif column == 5:
                copy_past_cache(f, into, draft, 0, count)
            elif column == 6:
                copy_past_cache(g, into, draft, 0, count)
            else:
                copy_past_cache(h, into, draft, 0, count)
    settle_copies()
