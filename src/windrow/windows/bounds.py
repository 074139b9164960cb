"""Bounds: which rows the windows of sorted rows hold, as a kind of window says it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from windrow.windows.ahead import HERE, Ahead
from windrow.windows.key_rows import KeyRows, later
from windrow.windows.reach import Firsts, Past, Reach, Younger
from windrow.windows.sorted_rows import SortedRows
from windrow.windows.spans import Spanning, Spans, spans_in_table

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Bounds:
    """Which rows the windows of some rows hold.

    Attributes:
        runs: the rows at which the window begins anew (see `key_runs`).
        reach: how far back it reaches in its run.
        present: which rows are in windows at all, None for all; `wr.over` answers the others as of
            no values.
        closed: which rows close their window, None for none; the row after one begins anew.
        lasting: how many ticks after its newest row a window closes by itself, if it does.
        ahead: how far ahead of its row a window ends; only `wr.over` has windows that do not end
            at their row.
    """

    runs: Array
    reach: Reach
    present: Array | None = None
    closed: Array | None = None
    lasting: int | None = None
    ahead: Ahead = HERE

    def spans(self, size: int, begin: int = 0, stop: int | None = None) -> Spans:
        """From which row to which the windows go, of the rows from `begin` to `stop` of a table.

        So many rows are there, and none follow. A row that is not `present` has a place but no
        value in the windows of others.
        """
        stop = size if stop is None else stop
        return spans_in_table(self.reach, self.ahead, self.runs, size, begin, stop)

    def next_spans(self, spanning: Spanning, rows: SortedRows) -> Spans:
        """From which row to which the windows go that are complete with a batch of rows."""
        return spanning.of(self.reach, self.ahead, self.runs, rows)

    @property
    def may_be_empty(self) -> bool:
        """Whether a window may hold no row, because it leaves its own out."""
        before = self.ahead.rows < 0 or self.ahead.ticks == 0
        return before or (isinstance(self.reach, Younger) and self.reach.amount == 0)

    def oldest(self, row: int) -> int:
        """The oldest row in the window of one row."""
        return self.reach.oldest(self.runs, row)

    def follow(
        self, past: Past, rows: SortedRows, stops: Array, stride: int, waits: bool
    ) -> Firsts:
        """The oldest row of each answer (see `Reach.follow`)."""
        found = self.reach.follow(past, rows, self.runs, stops, stride)
        if self.closed is not None and rows.size and self.closed[-1] and not waits:
            past.begun = 0
            return Firsts(found.firsts, rows.size)
        return found

    def fronts(self, rows: KeyRows, frontier: int, waits: bool = False) -> tuple[Array, Array]:
        """What answers to come may hold of each key (see `Reach.fronts`)."""
        fronts, expiry = self.reach.fronts(self.runs, rows, frontier, waits)
        if self.closed is not None and not waits:
            fronts = np.where(self.closed[rows.stops - 1], rows.stops, fronts)
        if self.lasting is not None and not waits:
            expiry = later(rows.last_times, self.lasting)
            fronts = np.where(expiry <= frontier, rows.stops, fronts)
        return fronts, expiry


class Bounding(ABC):
    """Bounds one window along one stream of rows: a table, or batch after batch."""

    @abstractmethod
    def of(self, rows: SortedRows, held: Array | None = None) -> Bounds:
        """The bounds of the next rows.

        `held` is for windows that `remember`: of each key, how many of its old rows they hold.
        """


def rows_before(last: Array, values: Array) -> tuple[Array, Array]:
    """For each row the value in the row before; and the last value, for the rows to come."""
    joined = np.concatenate([last, values])
    return joined[:-1], joined[-1:]


def begun_anew(runs: Array, anew: Array) -> Array:
    """The runs, cut also where `anew` is true; it is written to.

    By marks: with numpy 2.4, `union1d` of a third of 2 million rows took a hundred times as long.
    """
    anew[runs[:-1]] = True
    return np.append(np.flatnonzero(anew), runs[-1])
