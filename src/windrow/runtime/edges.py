"""Which rows each answer of a sliding window is about.

Rows are sorted by key and order; `starts` holds the rows at which a new key begins, closed by one
that never comes. A trigger says after which rows there is an answer: `stops`, the rows behind the
newest of each window. Eviction says which rows are still in it: `firsts`, the oldest of each.
Windows of one key follow each other, so both only grow.

These loops look at order and not at values: no aggregation is linked into them.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from windrow.algebra.compiler import compiled_loop
from windrow.runtime.runs import NEVER
from windrow.runtime.threads import cores, in_threads

Array = np.ndarray[Any, Any]

#: fewer rows than this are not worth a thread
_SMALLEST_PIECE = 2**15


def lengths_of_runs(starts: Array, size: int) -> Array:
    """How many rows each key has."""
    return np.diff(np.append(starts[:-1], size))


def _runs_of(starts: Array, rows: Array, runs: Array) -> None:
    run = -1
    for index in range(len(rows)):
        while run + 1 < len(starts) and starts[run + 1] <= rows[index]:
            run += 1
        runs[index] = run


def runs_of(starts: Array, rows: Array) -> Array:
    """The number of the run that each row is in; the rows only grow.

    One walk along both, because a binary search for each of millions of rows takes ten times as
    long.
    """
    runs = np.empty(len(rows), np.int64)
    compiled_loop(_runs_of)(starts, rows, runs)
    return runs


def _mark(marked: Array, rows: Array) -> None:
    for index in range(len(rows)):
        marked[rows[index]] = True


def cuts(extents: Iterable[Array], size: int) -> Array:
    """The rows at which some answer begins or ends, each once."""
    marked = np.zeros(size + 1, np.bool_)
    for rows in extents:
        compiled_loop(_mark)(marked, rows)
    return np.flatnonzero(marked)


# Triggers ----------------------------------------------------------------------------------------


def after_rows(starts: Array, size: int, every: int) -> Array:
    """An answer after every so many rows of a key."""
    runs = lengths_of_runs(starts, size)
    answers = runs // every
    stops: Array = np.repeat(starts[:-1], answers) + every * _counted(answers)
    return stops


def after_ticks(starts: Array, order: Array, every: int, offset: int) -> Array:
    """An answer at every tick of a clock that has seen a row since the one before."""
    if not len(order):
        return np.empty(0, np.int64)
    ticks = (order - offset) // every
    last = np.append(ticks[1:] != ticks[:-1], True)
    last[starts[1:-1] - 1] = True
    return np.flatnonzero(last) + 1


def after_marks(marks: Array) -> Array:
    """An answer after every row that is marked."""
    return np.flatnonzero(marks) + 1


def after_gaps(starts: Array, order: Array, gap: int) -> Array:
    """An answer after the last row before a longer gap, or of a key."""
    if not len(order):
        return np.empty(0, np.int64)
    last = np.append(np.diff(order) > gap, True)
    last[starts[1:-1] - 1] = True
    return np.flatnonzero(last) + 1


def _counted(answers: Array) -> Array:
    """1, 2, ... up to each number."""
    total = int(answers.sum())
    numbers: Array = np.arange(1, total + 1) - np.repeat(np.cumsum(answers) - answers, answers)
    return numbers


# Eviction ----------------------------------------------------------------------------------------


def newest_rows(starts: Array, stops: Array, count: int) -> Array:
    """The newest rows of the key."""
    run_starts = starts[runs_of(starts, stops - 1)]
    firsts: Array = np.maximum(run_starts, stops - count)
    return firsts


def since_last(starts: Array, stops: Array) -> Array:
    """The rows since the answer before, or since the key began."""
    run_starts = starts[runs_of(starts, stops - 1)]
    before = np.concatenate([np.zeros(min(len(stops), 1), np.int64), stops[:-1]])
    firsts: Array = np.maximum(run_starts, before)
    return firsts


def _less_behind(starts: Array, stops: Array, measure: Array, amount: Any, firsts: Array) -> None:
    run = 0
    first = 0
    row = 0
    for answer in range(len(stops)):
        while row < stops[answer]:
            if row == starts[run]:
                first = row
                run += 1
            while measure[row] - measure[first] >= amount:
                first += 1
            row += 1
        firsts[answer] = first


def less_behind(starts: Array, stops: Array, measure: Array, amount: Any) -> Array:
    """The rows whose measure lies less than an amount behind the newest row's.

    A row that has left does not come back, also where the measure does not only grow.
    """
    firsts = np.empty(len(stops), np.int64)
    compiled_loop(_less_behind)(starts, stops, measure, amount, firsts)
    return firsts


# Periodic windows --------------------------------------------------------------------------------


def _periodic(
    starts: Array,
    order: Array,
    extent: int,
    slide: int,
    offset: int,
    fill: bool,
    begins: Array,
    firsts: Array,
    stops: Array,
) -> int:
    answer = 0
    pending = 0
    run = 0
    latest = 0
    newest = 0
    for row in range(len(order)):
        time = order[row]
        newest = latest
        begins_run = row == starts[run]
        if begins_run:
            run += 1
        # Most rows are at most one slide after the one before, and a division costs as much as all
        # the rest of the loop.
        if begins_run or time - latest >= 2 * slide:
            latest = time - (time - offset) % slide
        elif time - latest >= slide:
            latest += slide
        # The windows after those of the rows before, and late enough to hold the row.
        if begins_run or newest <= time - extent - slide:
            newest = latest
            if time - latest < extent:
                newest -= ((extent - 1 - (time - latest)) // slide + 1) * slide
        if fill:
            while pending < answer and (begins_run or time - begins[pending] >= extent):
                stops[pending] = row
                pending += 1
        while newest < latest:
            newest += slide
            if fill:
                begins[answer] = newest
                firsts[answer] = row
            answer += 1
    if fill:
        while pending < answer:
            stops[pending] = len(order)
            pending += 1
    return answer


def periodic(
    starts: Array, order: Array, extent: int, slide: int, offset: int
) -> tuple[Array, Array, Array]:
    """The windows [begin, begin + extent) that hold a row: their begins, firsts and stops.

    Begins are aligned to the epoch plus offset. A row brings the windows that hold it and begin
    after those of the rows before it in its key; it is the first row of each of them.
    """
    walk = compiled_loop(_periodic)
    pieces = _pieces(starts, len(order))
    none = np.empty(0, np.int64)

    def count(piece: tuple[int, int, Array]) -> int:
        begin, stop, runs = piece
        return int(walk(runs, order[begin:stop], extent, slide, offset, False, none, none, none))

    counts = in_threads(count, pieces)
    marks = np.cumsum([0, *counts])
    begins, firsts, stops = (np.empty(int(marks[-1]), np.int64) for _ in range(3))

    def fill(number: int) -> None:
        begin, stop, runs = pieces[number]
        found = slice(marks[number], marks[number + 1])
        written = begins[found], firsts[found], stops[found]
        walk(runs, order[begin:stop], extent, slide, offset, True, *written)
        firsts[found] += begin
        stops[found] += begin

    in_threads(fill, range(len(pieces)))
    return begins, firsts, stops


def _pieces(starts: Array, size: int) -> list[tuple[int, int, Array]]:
    """The rows in pieces of whole runs, one for each thread; each with its own starts."""
    wanted = max(min(cores(), size // _SMALLEST_PIECE), 1)
    marks = np.searchsorted(starts[:-1], [size * piece // wanted for piece in range(wanted)])
    pieces = []
    for run, next_run in pairwise([*np.unique(marks).tolist(), len(starts) - 1]):
        if run < next_run:
            begin = int(starts[run])
            stop = min(int(starts[next_run]), size)
            pieces.append((begin, stop, np.append(starts[run:next_run] - begin, NEVER)))
    return pieces
