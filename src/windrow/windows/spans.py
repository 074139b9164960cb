"""Spans: from which row to which the window of each row goes.

    row        0   1   2   3   4 | 5   6          runs begin at 0 and 5
    first      0   0   1   2   3   5   5          wr.rows(before=1, after=1)
    stop       2   3   4   5   5   7   7          the row behind the newest

A table's rows are all there (`Bounds.spans`). Batches follow each other: rows are numbered through,
and a row waits until all rows of its window are there (`Spanning`).

1. Along a run neither `firsts` nor `stops` falls.
2. A window without rows ends where it begins.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from windrow.algebra.arrays import read_only
from windrow.windows import walks
from windrow.windows.ahead import HERE, Ahead
from windrow.windows.key_runs import NEVER
from windrow.windows.reach import EARLIEST, Growing, Newest, Past, Reach, Younger
from windrow.windows.sorted_rows import SortedRows
from windrow.windows.span_walks import first_near
from windrow.windows.tail import Tail
from windrow.work.lazily import lazily

Array = np.ndarray[Any, Any]
#: the oldest row of each window, and the row behind its newest
FirstsAndStops = tuple[Array, Array]


@dataclass(frozen=True)
class Times:
    """The times of the rows from `base` on."""

    ticks: Array
    base: int = 0

    def first_behind(self, time: int, begin: int, end: int) -> int:
        """The first row from `begin` to `end` that is later than a time."""
        begin = max(begin, self.base)
        part = self.ticks[begin - self.base : end - self.base]
        return begin + int(np.searchsorted(part, max(time, EARLIEST), "right"))


@dataclass(frozen=True)
class Spans:
    """The spans of the rows from `begin` to `stop`.

    Attributes:
        begin, stop: the rows.
        starts: where runs begin, that of the first row among them; closed by one that never comes.
        end: the row behind the last that is there.
        reach, ahead: how far the windows reach.
        times: of the rows, for windows of time.
        leads_on: whether rows up to `end` have to enter the window of the row at `stop` already,
            because they do not come again.
        known: the spans, if they follow from what came in earlier batches.
        kept_from: the oldest row that windows to come may hold, if it does not follow.
    """

    begin: int
    stop: int
    starts: Array
    end: int
    reach: Reach
    ahead: Ahead = HERE
    times: Times | None = field(default=None, repr=False)
    leads_on: bool = False
    known: FirstsAndStops | None = field(default=None, repr=False)
    kept_from: int | None = None

    @property
    def front(self) -> int | None:
        """The oldest row that the windows of rows to come look at; None if nothing is known yet."""
        if self.kept_from is not None:
            return self.kept_from
        if self.times is not None:
            return min(self.oldest(self.stop), self.stop)
        run = int(np.searchsorted(self.starts, self.stop, "right")) - 1
        if run < 0:
            return None
        assert isinstance(self.reach, Newest)
        return max(int(self.starts[run]), self.stop - self.reach.count + 1)

    @lazily
    def arrays(self) -> FirstsAndStops:
        """The oldest row of each window, and the row behind its newest."""
        if self.known is not None:
            return self.known
        if self.times is None:
            here = self._ending(0)
            firsts = self.reach.firsts(self.starts, here)
            if self.ahead.rows > 0:
                ends = np.append(self.starts[1:-1], self.end)[walks.runs_of(self.starts, here - 1)]
                return firsts, np.minimum(here + min(self.ahead.rows, self.end), ends)
            return firsts, here + self.ahead.rows
        assert isinstance(self.reach, Younger)
        oldest = self.oldest(self.begin)
        firsts = self._near(self.reach.amount, oldest)
        if self.ahead.ticks is None:
            return firsts, self._ending(self.ahead.rows)
        # The first row that is too far ahead is the first that is not too far behind, negatively.
        return firsts, self._near(1 - self.ahead.ticks, oldest)

    def _ending(self, rows: int) -> Array:
        """Where windows stop that end so many rows behind their own."""
        return np.arange(self.begin + 1 + rows, self.stop + 1 + rows)

    def _near(self, amount: int, oldest: int) -> Array:
        """For each row, the first of its run that lies less than some ticks behind it."""
        assert self.times is not None
        return first_near(
            self.starts, self.times.ticks, self.times.base, self.end, amount,
            self.begin, self.stop, oldest,
        )  # fmt: skip

    def oldest(self, row: int) -> int:
        """A row that the window of a row does not reach behind, and the windows before it do.

        For windows of time. The row behind the last that is there has the window of the last.
        """
        assert self.times is not None
        assert isinstance(self.reach, Younger)
        row = min(row, self.end - 1)
        if row < self.times.base:  # there are no rows
            return self.end
        run = int(np.searchsorted(self.starts, row, "right")) - 1
        begin, stop = int(self.starts[run]), min(int(self.starts[run + 1]), self.end)
        now = int(self.times.ticks[row - self.times.base])
        return self.times.first_behind(now - self.reach.amount, begin, stop)

    @property
    def filled(self) -> Array:
        """Which windows hold a row."""
        if self.times is not None:
            firsts, stops = self.arrays
            return firsts < stops
        found = np.ones(self.stop - self.begin, np.bool_)
        if self.ahead.rows < 0:
            begins = self.starts[(self.starts >= self.begin) & (self.starts < self.stop)]
            found[begins - self.begin] = False
        return found

    @property
    def with_next(self) -> FirstsAndStops:
        """The spans, and the part that is there of the next one if rows have to enter it."""
        firsts, stops = self.arrays
        if not self.leads_on:
            return firsts, stops
        return np.append(firsts, self.oldest(self.stop)), np.append(stops, self.end)


def spans_in_table(
    reach: Reach, ahead: Ahead, starts: Array, size: int, begin: int, stop: int
) -> Spans:
    """The spans of some rows of a table; so many rows are there, and none follow."""
    times = Times(reach.measure) if isinstance(reach, Younger) else None
    return Spans(begin, stop, starts, size, reach, ahead, times)


def known_spans(begin: int, firsts: Array, stops: Array) -> Spans:
    """Spans that are known, of the rows from `begin` on."""
    return Spans(begin, begin + len(firsts), np.array([NEVER]), 0, Growing(), known=(firsts, stops))


class Spanning:
    """Finds the spans of one window, batch after batch.

    Kept are the times of rows as far as windows to come hold them, and where runs began.
    """

    def __init__(self) -> None:
        self._begin = self._end = 0
        self._starts = np.array([NEVER])
        self._times, self._base = Tail(), 0
        self._past = Past()

    def of(self, reach: Reach, ahead: Ahead, runs: Array, rows: SortedRows) -> Spans:
        """The spans of the rows whose windows are complete with these; of all if none follow."""
        begin, position = self._begin, self._end
        self._end += rows.size
        starts = np.concatenate([self._starts[:-1], runs[:-1] + position, [NEVER]])
        times = known = kept_from = None
        if isinstance(reach, Younger):
            self._times.extend(reach.measure)
            times = Times(read_only(self._times.values), self._base)
        elif not isinstance(reach, Newest):
            stops = np.arange(1, rows.size + 1)
            followed = reach.follow(self._past, rows, runs, stops, 1)
            known = followed.firsts + position, stops + position
            kept_from = followed.front + position
        stop = self._end
        if ahead.waits and not rows.ends and len(starts) > 1:
            stop = max(begin, self._complete(ahead, times, int(starts[-2])))
        leads_on = ahead != HERE and not rows.ends
        found = Spans(
            begin, stop, starts, self._end, reach, ahead, times, leads_on, known, kept_from
        )
        self._begin = stop
        # Runs that end before the next row are forgotten, and times before its window.
        self._starts = starts[max(int(np.searchsorted(starts, stop, "right")) - 1, 0) :]
        if times is not None:
            needed = min(found.oldest(stop), stop)
            self._times.drop(needed - self._base)
            self._base = needed
        return found

    def _complete(self, ahead: Ahead, times: Times | None, run: int) -> int:
        """The row behind the last whose window is complete; only rows of the last run wait."""
        if ahead.ticks is None:
            return max(run, self._end - ahead.rows)
        assert times is not None
        return times.first_behind(int(times.ticks[-1]) - ahead.ticks, run, self._end)
