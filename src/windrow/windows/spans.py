"""Spans: from which row to which the window of each row goes.

    row        0   1   2   3   4 | 5   6          runs begin at 0 and 5
    first      0   0   1   2   3   5   5          wr.rows(before=1, after=1)
    stop       2   3   4   5   5   7   7          the row behind the newest

A table's rows are all there (`spans_in_table`, by `Bounds.spans`). Batches follow each other: rows
are numbered through, and a row waits until all rows of its window are there (`Spanning`).

1. Along a run neither `firsts` nor `stops` falls.
2. A window without rows ends where it begins.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from windrow.algebra.arrays import read_only
from windrow.windows import walks
from windrow.windows.ahead import HERE, Ahead
from windrow.windows.key_runs import NEVER
from windrow.windows.reach import Newest, Past, Reach, Younger
from windrow.windows.sorted_rows import SortedRows
from windrow.windows.tail import Tail
from windrow.windows.walks import Walk

Array = np.ndarray[Any, Any]
#: the oldest row of each window, and the row behind its newest
FirstsAndStops = tuple[Array, Array]


@dataclass(frozen=True)
class Spans:
    """The spans of the rows from `begin` to `stop`.

    Attributes:
        begin, stop: the rows.
        starts: where runs begin, that of the first row among them; closed by one that never comes.
        end: the row behind the last that is there.
        reach, ahead: how far the windows reach.
        known: the spans, if they do not follow from these numbers alone.
        following: the oldest row that the window of the row at `stop` may hold, if it holds rows
            that no window before it does. They have to enter it now: the batch ends with them.
        kept_from: the oldest row that windows to come may hold, if `firsts` do not say it.
    """

    begin: int
    stop: int
    starts: Array
    end: int
    reach: Reach
    ahead: Ahead = HERE
    known: FirstsAndStops | None = field(default=None, repr=False)
    following: int | None = None
    kept_from: int | None = None

    @property
    def front(self) -> int | None:
        """The oldest row that the windows of rows to come look at; None if nothing is known yet."""
        if self.kept_from is not None or self.begin == self.stop:
            return self.kept_from
        return min(int(self.arrays[0][-1]), self.stop)

    @property
    def leads_on(self) -> bool:
        """Whether rows have to enter the window of the row at `stop`."""
        return self.following is not None

    @property
    def with_next(self) -> FirstsAndStops:
        """The spans, and the part that is there of the next one if rows have to enter it."""
        firsts, stops = self.arrays
        if self.following is None:
            return firsts, stops
        return np.append(firsts, self.following), np.append(stops, self.end)

    @cached_property
    def arrays(self) -> FirstsAndStops:
        """The oldest row of each window, and the row behind its newest."""
        if self.known is not None:
            return self.known
        return _by_rows(self.reach, self.ahead, self.starts, self.end, self.begin, self.stop)

    @property
    def filled(self) -> Array:
        """Which windows hold a row."""
        if self.ahead.ticks is None and isinstance(self.reach, Newest):
            found = np.ones(self.stop - self.begin, np.bool_)
            if self.ahead.rows < 0:
                starts = self.starts[(self.starts >= self.begin) & (self.starts < self.stop)]
                found[starts - self.begin] = False
            return found
        firsts, stops = self.arrays
        return firsts < stops


def spans_in_table(
    reach: Reach, ahead: Ahead, starts: Array, size: int, begin: int, stop: int
) -> Spans:
    """The spans of some rows of a table; so many rows are there, and none follow."""
    known = None
    if isinstance(reach, Younger):
        oldest = reach.oldest(starts, begin) if begin < stop else begin
        walk = Walk(begin, oldest, oldest, end=size)
        known = _by_time(reach, ahead, starts, reach.measure, walk, stop)
    return Spans(begin, stop, starts, size, reach, ahead, known)


def _by_rows(
    reach: Reach, ahead: Ahead, starts: Array, end: int, begin: int, stop: int
) -> FirstsAndStops:
    """Spans that end some rows behind their own."""
    assert ahead.ticks is None
    stops = np.arange(begin + 1, stop + 1)
    firsts = reach.firsts(starts, stops)
    if ahead.rows <= 0:
        return firsts, stops + ahead.rows if ahead.rows else stops
    ends = np.append(starts[1:-1], end)[walks.runs_of(starts, stops - 1)]
    return firsts, np.minimum(stops + min(ahead.rows, end), ends)


def _by_time(
    reach: Younger, ahead: Ahead, starts: Array, measure: Array, walk: Walk, stop: int
) -> FirstsAndStops:
    """Spans that begin some time before their row; the walk moves on."""
    begin, ticks = walk.row, -1 if ahead.ticks is None else ahead.ticks
    firsts, stops = walks.spans_of_time(starts, measure, reach.amount, ticks, walk, stop)
    if ahead.ticks is None:
        stops = np.arange(begin + 1, walk.row + 1) + ahead.rows
    return firsts, stops


class Spanning:
    """Finds the spans of one window, batch after batch.

    Kept are the rows' times as far as windows to come hold them, and where runs began.
    """

    def __init__(self) -> None:
        self._starts = np.empty(0, np.int64)
        self._walk = Walk(ended=False)
        self._times = Tail()
        self._past = Past()
        self._reach: Reach = Newest()
        self._ahead = HERE

    def of(self, reach: Reach, ahead: Ahead, runs: Array, rows: SortedRows) -> Spans:
        """The spans of the rows whose windows are complete with these; of all if none follow."""
        position, size = self._walk.end, rows.size
        self._walk.end, self._walk.ended = position + size, rows.ends
        self._reach, self._ahead = reach, ahead
        self._starts = np.concatenate([self._starts[:-1], runs[:-1] + position, [NEVER]])
        if isinstance(reach, Younger):
            self._times.extend(reach.measure)
        elif not isinstance(reach, Newest):
            assert ahead == HERE
            stops = np.arange(1, size + 1)
            found = reach.follow(self._past, rows, runs, stops, 1)
            spans = self._next(position + size, (found.firsts + position, stops + position))
            return replace(spans, kept_from=found.front + position)
        return self._complete()

    def _complete(self) -> Spans:
        walk = self._walk
        if isinstance(self._reach, Younger):
            begin, starts = walk.row, self._starts
            times = read_only(self._times.values)
            known = _by_time(self._reach, self._ahead, starts, times, walk, walk.end)
            stop, walk.row = walk.row, begin
            found = self._next(stop, known)
            needed = min(walk.first, walk.row)
            self._times.drop(needed - walk.base)
            walk.base = needed
            return found
        stop = walk.end
        if self._ahead.rows > 0 and not walk.ended:
            last_run = int(self._starts[-2]) if len(self._starts) > 1 else 0
            stop = max(walk.row, last_run, walk.end - self._ahead.rows)
        return self._next(stop)

    def _next(self, stop: int, known: FirstsAndStops | None = None) -> Spans:
        """The spans up to a row; runs that end before it are forgotten."""
        walk, starts = self._walk, self._starts
        begin, walk.row = walk.row, stop
        self._starts = starts[max(int(np.searchsorted(starts, stop, "right")) - 1, 0) :]
        following = None if self._ahead == HERE or walk.ended else walk.first
        return Spans(begin, stop, starts, walk.end, self._reach, self._ahead, known, following)
