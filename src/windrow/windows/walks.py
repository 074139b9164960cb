"""Which rows each answer of a sliding window is about.

Rows are sorted by key and order; `starts` holds the rows at which a new key begins, closed by one
that never comes. A trigger says after which rows there is an answer: `stops`, the rows behind the
newest of each window. Eviction says which rows are still in it: `firsts`, the oldest of each.
Windows of one key follow each other, so both only grow.

These loops look at order and not at values: no aggregation is linked into them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from windrow.compiler.array_loops import compiled_loop

Array = np.ndarray[Any, Any]


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


def _counted(answers: Array) -> Array:
    """1, 2, ... up to each number."""
    total = int(answers.sum())
    numbers: Array = np.arange(1, total + 1) - np.repeat(np.cumsum(answers) - answers, answers)
    return numbers


# Eviction ----------------------------------------------------------------------------------------


def _newest(starts: Array, stops: Array, count: int, firsts: Array) -> None:
    run = -1
    for answer in range(len(stops)):
        while run + 1 < len(starts) and starts[run + 1] < stops[answer]:
            run += 1
        firsts[answer] = max(starts[run], stops[answer] - count)


def newest(starts: Array, stops: Array, count: int) -> Array:
    """The oldest of the newest rows of a run, as many as are counted; the stops only grow."""
    firsts = np.empty(len(stops), np.int64)
    compiled_loop(_newest)(starts, stops, count, firsts)
    return firsts


def _less_behind(
    starts: Array, stops: Array, measure: Array, amount: Any, firsts: Array, held: int
) -> int:
    run = 0
    first = 0
    row = held
    for answer in range(len(stops) + 1):
        stop = stops[answer] if answer < len(stops) else len(measure)
        while row < stop:
            if row == starts[run]:
                first = row
                run += 1
            while measure[row] - measure[first] >= amount:
                first += 1
            row += 1
        if answer < len(stops):
            firsts[answer] = first
    return first


def less_behind(
    starts: Array, stops: Array, measure: Array, amount: Any, held: int = 0
) -> tuple[Array, int]:
    """The rows whose measure lies less than an amount behind the newest row's.

    A row that has left does not come back, also where the measure does not only grow. The first
    `held` rows are in the window already. Also answers the oldest row that is in it at the end.
    """
    firsts = np.empty(len(stops), np.int64)
    first = compiled_loop(_less_behind)(starts, stops, measure, amount, firsts, held)
    return firsts, int(first)
