"""The windows of a clock that hold a row: where each begins, and its first and last row.

Windows are [begin, begin + extent), one slide apart. Rows are sorted by key and time. The loops see
no values: no aggregation is linked into them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from windrow.compiler.array_loops import compiled_loop
from windrow.windows.key_runs import NEVER
from windrow.windows.numbered import Walk
from windrow.work import sizes
from windrow.work.threads import cores, in_threads

Array = np.ndarray[Any, Any]

_NONE = np.empty(0, np.int64)


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


@dataclass(frozen=True)
class Periods:
    """The windows [begin, begin + extent), aligned to the epoch plus offset; in ticks."""

    extent: int
    slide: int
    offset: int

    def most(self, starts: Array, order: Array) -> float:
        """How many windows there are at most; keys begin at their starts."""
        lasts = np.append(starts[1:-1], len(order)) - 1
        # As unsigned integers, because two times may lie further apart than 63 bits can say.
        lengths = order[lasts].view(np.uint64) - order[starts[:-1]].view(np.uint64)
        return float((lengths / self.slide + (self.extent / self.slide + 2)).sum())


@dataclass(frozen=True)
class PeriodicWalk(Walk):
    """A walk along rows that finds the windows of a clock; their names are their begins.

    Attributes:
        periods: the windows.
        starts: the rows at which a new key begins (see `key_runs`).
        order: the times of the rows.
    """

    periods: Periods
    starts: Array
    order: Array

    def count(self, pending: int = 0, latest: int = 0) -> int:
        """How many windows there are, the pending among them."""
        return self._walk(False, _NONE, _NONE, _NONE, pending, latest)[0]

    def fill(
        self, names: Array, firsts: Array, stops: Array, pending: int = 0, latest: int = 0
    ) -> tuple[int, int, int]:
        """Write the windows behind the pending ones (see `Walk`)."""
        return self._walk(True, names, firsts, stops, pending, latest)

    def all(self, require: Callable[[int], None]) -> tuple[Array, Array, Array]:
        """All windows where all rows are there: threads share the keys.

        They fill parts of the same arrays, and gaps are closed: fresh memory is slow.
        """
        pieces = _pieces(self.starts, len(self.order))
        rooms = in_threads(lambda piece: self._part(piece)._room(require), pieces)
        marks = [0, *accumulate(rooms)]
        begins, firsts, stops = (np.empty(marks[-1], np.int64) for _ in range(3))

        def fill(place: int) -> int:
            first_row, stop_row, _runs = pieces[place]
            part = slice(marks[place], marks[place + 1])
            walk, held = self._part(pieces[place]), (firsts[part], stops[part])
            found, stopped, _latest = walk.fill(begins[part], *held)
            held[1][stopped:found] = stop_row - first_row
            for rows in held:
                rows[:found] += first_row
            return found

        counts = in_threads(fill, range(len(pieces)))
        for each in (begins, firsts, stops):
            end = 0
            for mark, count in zip(marks[:-1], counts, strict=True):
                if mark > end:
                    each[end : end + count] = each[mark : mark + count]
                end += count
        total = sum(counts)
        return begins[:total], firsts[:total], stops[:total]

    def _part(self, piece: tuple[int, int, Array]) -> PeriodicWalk:
        begin, stop, runs = piece
        return replace(self, starts=runs, order=self.order[begin:stop])

    def _room(self, require: Callable[[int], None]) -> int:
        """Room for the windows that there would be without gaps, if that is little.

        Counting them takes as long as all the rest.
        """
        most = self.periods.most(self.starts, self.order)
        if most <= len(self.order):
            return int(most)
        room = self.count()
        require(room)
        return room

    def _walk(self, *rest: Any) -> tuple[int, int, int]:
        walk, periods = compiled_loop(_periodic), self.periods
        extent, slide, offset = periods.extent, periods.slide, periods.offset
        return walk(self.starts, self.order, extent, slide, offset, *rest)  # type: ignore[no-any-return]


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
