"""Which rows each answer of a sliding window is about.

Rows are sorted by key and order; `starts` holds the rows at which a new key begins, closed by one
that never comes. A trigger says after which rows there is an answer: `stops`, the rows behind the
newest of each window. Eviction says which rows are still in it: `firsts`, the oldest of each.
Windows of one key follow each other, so both only grow.

These loops look at order and not at values: no aggregation is linked into them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from windrow.compiler.kernel import compiled_loop
from windrow.engine.key_runs import NEVER
from windrow.work import sizes
from windrow.work.threads import cores, in_threads

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


def after_marks(marks: Array) -> Array:
    """An answer after every row that is marked."""
    return np.flatnonzero(marks) + 1


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


def since_last(starts: Array, stops: Array, since: int) -> Array:
    """The rows since the answer before, the first answer's `since`, or since the key began."""
    run_starts = starts[runs_of(starts, stops - 1)]
    before = np.append([since], stops)[:-1]
    firsts: Array = np.maximum(run_starts, before)
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
    answer: int,
    latest: int,
) -> tuple[int, int, int]:
    pending = 0
    run = 0
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
        if not fill and newest < latest:
            answer += (latest - newest) // slide
        while fill and newest < latest:
            newest += slide
            begins[answer] = newest
            firsts[answer] = row
            answer += 1
    return answer, pending, latest


_NONE = np.empty(0, np.int64)


@dataclass(frozen=True)
class Periods:
    """The windows [begin, begin + extent), aligned to the epoch plus offset; in ticks.

    Walks know the windows that earlier rows of the same key have begun, `pending`, and the begin of
    the latest of them. A row brings the windows that hold it and begin after the latest; it is the
    first row of each of them. A row that is too late for a pending window stops it.
    """

    extent: int
    slide: int
    offset: int

    def count(self, starts: Array, order: Array, pending: int = 0, latest: int = 0) -> int:
        """How many windows there are, the pending among them."""
        found = self._walk(starts, order, False, _NONE, _NONE, _NONE, pending, latest)
        return found[0]

    def fill(
        self, starts: Array, order: Array, begins: Array, firsts: Array, stops: Array,
        pending: int = 0, latest: int = 0,
    ) -> tuple[int, int, int]:  # fmt: skip
        """Write the windows behind the pending ones.

        Returns how many windows there are, the pending among them; how many of them were stopped,
        while the others have no stop yet; and the latest begin.
        """
        return self._walk(starts, order, True, begins, firsts, stops, pending, latest)

    def most(self, starts: Array, order: Array) -> float:
        """How many windows there are at most; keys begin at their starts."""
        lasts = np.append(starts[1:-1], len(order)) - 1
        # As unsigned integers, because two times may lie further apart than 63 bits can say.
        lengths = order[lasts].view(np.uint64) - order[starts[:-1]].view(np.uint64)
        return float((lengths / self.slide + (self.extent / self.slide + 2)).sum())

    def _walk(self, starts: Array, order: Array, *rest: Any) -> tuple[int, int, int]:
        walk = compiled_loop(_periodic)
        return walk(starts, order, self.extent, self.slide, self.offset, *rest)  # type: ignore[no-any-return]


def periodic(
    starts: Array, order: Array, periods: Periods, require: Callable[[int], None]
) -> tuple[Array, Array, Array]:
    """The periodic windows that hold a row: their begins, firsts and stops.

    `require` refuses so many windows before there is room for them.
    """

    def fill(piece: tuple[int, int, Array]) -> tuple[Array, Array, Array]:
        begin, stop, runs = piece
        rows = order[begin:stop]
        # Room for the windows that there would be without gaps, if that is little: counting them
        # takes as long as all the rest.
        most = periods.most(runs, rows)
        room = int(most)
        if most > len(rows):
            room = periods.count(runs, rows)
            require(room)
        begins, firsts, stops = (np.empty(room, np.int64) for _ in range(3))
        found, stopped, _latest = periods.fill(runs, rows, begins, firsts, stops)
        stops[stopped:] = len(rows)
        return begins[:found], firsts[:found] + begin, stops[:found] + begin

    nothing = (_NONE, _NONE, _NONE)
    filled = [nothing, *in_threads(fill, _pieces(starts, len(order)))]
    begins, firsts, stops = (np.concatenate(each) for each in zip(*filled, strict=True))
    return begins, firsts, stops


def _held_between(
    starts: Array,
    order: Array,
    extent: int,
    slide: int,
    low: int,
    high: int,
    fill: bool,
    begins: Array,
    firsts: Array,
    stops: Array,
) -> int:
    answer = 0
    for run in range(len(starts) - 1):
        row = starts[run]
        end = min(starts[run + 1], len(order))
        stop = row
        begin = low
        while begin <= high and row < end:
            if order[row] < begin:
                row += 1
            elif order[row] - begin >= extent:
                # To the first window that ends behind the row.
                begin += ((order[row] - begin - extent) // slide + 1) * slide
            else:
                while stop < end and order[stop] - begin < extent:
                    stop += 1
                if fill:
                    begins[answer] = begin
                    firsts[answer] = row
                    stops[answer] = stop
                answer += 1
                begin += slide
    return answer


def held_between(
    starts: Array, order: Array, extent: int, slide: int, low: int, high: int
) -> tuple[Array, Array, Array]:
    """The windows [begin, begin + extent) that hold a row: their begins, firsts and stops.

    Begins are those from `low` to `high`, one slide apart, for every key. Of the rows, those in no
    such window are passed over.
    """
    walk = compiled_loop(_held_between)
    asked = starts, order, extent, slide, low, high
    count = int(walk(*asked, False, _NONE, _NONE, _NONE))
    begins, firsts, stops = (np.empty(count, np.int64) for _ in range(3))
    walk(*asked, True, begins, firsts, stops)
    return begins, firsts, stops


def _pieces(starts: Array, size: int) -> list[tuple[int, int, Array]]:
    """The rows in pieces of whole runs, one for each thread; each with its own starts."""
    wanted = max(min(cores(), size // sizes.current().smallest_piece), 1)
    marks = np.searchsorted(starts[:-1], [size * piece // wanted for piece in range(wanted)])
    pieces = []
    for run, next_run in pairwise([*np.unique(marks).tolist(), len(starts) - 1]):
        if run < next_run:
            begin = int(starts[run])
            stop = min(int(starts[next_run]), size)
            pieces.append((begin, stop, np.append(starts[run:next_run] - begin, NEVER)))
    return pieces
