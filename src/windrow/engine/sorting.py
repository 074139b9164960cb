"""Rows of a table in the order that windows need: by key, then by order.

    grouped?    keys in runs, each in one: no row moves          engine/key_codes.py
                else rows are counted by key, and placed
    in order?   no value falls within a key: no row moves
                else the keys in which one falls are sorted, on all cores

So rows that are in order are looked at once, and rows whose keys come in turns, in the order of
time, are only counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.algebra.arrays import read_only
from windrow.compiler.array_loops import compiled_loop
from windrow.engine import run_sort
from windrow.engine.gathering import gather_numbers, row_numbers
from windrow.engine.key_codes import by_counting, grouped
from windrow.engine.ranks import ranks
from windrow.windows.key_runs import NEVER
from windrow.windows.walks import lengths_of_runs
from windrow.work import sizes
from windrow.work.threads import cores, in_threads

Array = np.ndarray[Any, Any]

_BLOCK = 2**12
#: fewer numbers than this are compared by numpy
_SMALL = 2**16
#: into how many parts a single run is cut before threads sort them, as a power of two
_PARTS = 10


def arrange(
    keys: Sequence[pa.Array], order: Sequence[pa.Array], size: int
) -> tuple[Array | None, Array]:
    """The permutation that sorts rows by key and order, and the rows at which a new key begins.

    The permutation is None if the rows are sorted. Keys come in any order, each in one run. Rows of
    equal order keep their order.
    """
    permutation, starts = None, np.array([0, NEVER] if size else [NEVER], np.int64)
    if keys:
        permutation, starts = grouped(keys, size)
    permutation, _first = _in_order(permutation, starts, [ranks(column) for column in order])
    return permutation, starts


def arrange_codes(codes: Array, order: Sequence[Array]) -> tuple[Array | None, Array, Array]:
    """As `arrange`, for keys that are small integers, which come in their order, and for ranks.

    Also the first column of ranks, sorted.
    """
    permutation: Array | None = None
    placed: Array | None = order[0]
    if _rises(codes, np.array([0, NEVER])):
        begins = np.flatnonzero(np.diff(codes, prepend=-1))
        starts = np.append(begins, NEVER)
    else:
        permutation, starts, placed = by_counting(codes, int(codes.max()) + 1, order[0])
    permutation, first = _in_order(permutation, starts, order, placed)
    assert first is not None
    return permutation, starts, first


def _in_order(
    permutation: Array | None, starts: Array, order: Sequence[Array], first: Array | None = None
) -> tuple[Array | None, Array | None]:
    """The permutation, and within runs by columns of ranks; and the first of these columns, sorted.

    `first` is that column by the permutation so far; without it, it is perhaps not looked for.
    """
    runs, placed = starts, first
    for place, column in enumerate(order):
        is_last = place == len(order) - 1
        # Until now rows of a run keep their order: what rises in all rows, rises in each run.
        if is_last and _rises(column, np.array([0, NEVER])):
            break
        if place or placed is None:
            placed = column if permutation is None else gather_numbers(column, permutation)
        if not _rises(placed, runs):
            placed, permutation = _sorted_within(placed, permutation, runs)
        if not place:
            first = placed
        if not is_last:
            runs = _runs_of_equals(placed, runs)
    return permutation, first


def _rises(numbers: Array, starts: Array) -> bool:
    """Whether numbers never fall but where a run begins."""
    if len(numbers) < _SMALL:  # numpy is as fast there, and needs nothing compiled
        falls = numbers[1:] < numbers[:-1]
        falls[starts[1:-1] - 1] = False
        return not falls.any()
    return bool(compiled_loop(_never_fall)(read_only(numbers), starts))


def _never_fall(numbers: Array, starts: Array) -> bool:
    # Compiled, because numpy would write an array to look at one. The inner loop has no early exit,
    # and the places of a slice are never negative, so the compiler uses wide instructions.
    for run in range(len(starts) - 1):
        stop = min(starts[run + 1], len(numbers))
        for begin in range(starts[run], stop, _BLOCK):
            falls, part = 0, numbers[begin : min(begin + _BLOCK + 1, stop)]
            for row in range(len(part) - 1):
                falls += part[row + 1] < part[row]
            if falls:
                return False
    return True


def _runs_of_equals(numbers: Array, starts: Array) -> Array:
    """The runs, cut also where a number differs from the one before."""
    begins = np.ones(len(numbers), np.bool_)
    np.not_equal(numbers[1:], numbers[:-1], out=begins[1:])
    begins[starts[:-1]] = True
    return np.append(np.flatnonzero(begins), NEVER)


# Sorting -----------------------------------------------------------------------------------------


def _sorted_within(numbers: Array, permutation: Array | None, starts: Array) -> tuple[Array, Array]:
    """Sort the rows of each run by a number, stably: the numbers, and the permutation."""
    size = len(numbers)
    # Above the lowest, so that they are not negative; an array's difference wraps around.
    lowest = numbers.min().astype(np.uint64)
    heights = numbers.view(np.uint64) - lowest
    rows = row_numbers(size) if permutation is None else permutation.copy()
    if len(starts) == 2 and cores() > 1 and size >= 2 * sizes.current().smallest_piece:
        heights, rows, starts = _in_parts(heights, rows)

    def sort(piece: tuple[int, int]) -> None:
        first, last = piece
        longest = int(lengths_of_runs(starts, size)[first:last].max(initial=0))
        spare = np.empty(longest, heights.dtype), np.empty(longest, rows.dtype)
        counts = np.empty(run_sort.DIGITS, np.int64)
        compiled_loop(run_sort.sort_runs)(heights, rows, starts, first, last, *spare, counts)
        heights[starts[first] : starts[last]] += lowest

    in_threads(sort, _pieces(starts, size))
    return heights.view(np.int64), rows


def _in_parts(heights: Array, rows: Array) -> tuple[Array, Array, Array]:
    """One run by the highest bits of its ranks, so that threads can share the rest."""
    shift = np.uint64(max(int(heights.max()).bit_length() - _PARTS, 0))
    parts = (heights >> shift).astype(np.int32)
    step, starts, placed = by_counting(parts, 2**_PARTS, heights)
    assert placed is not None
    return placed, gather_numbers(rows, step), starts


def _pieces(starts: Array, size: int) -> list[tuple[int, int]]:
    """The runs in pieces of about equal numbers of rows, some for each thread."""
    wanted = max(min(4 * cores(), size // sizes.current().smallest_piece), 1)
    marks = np.searchsorted(starts[:-1], [size * piece // wanted for piece in range(wanted)])
    ends = np.append(marks[1:], len(starts) - 1)
    return [
        (int(first), int(last)) for first, last in zip(marks, ends, strict=True) if first < last
    ]
