"""Windows of time that a clock asks for: they begin and end at its ticks."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from windrow.windows.extents import Answering, Extents, FinalAnswers, Span
from windrow.windows.key_rows import KeyRows
from windrow.windows.key_runs import NEVER
from windrow.windows.numbered import Walk
from windrow.windows.periods import PeriodicWalk, Periods, held_between
from windrow.windows.reach import EARLIEST
from windrow.windows.setting import Setting
from windrow.windows.sorted_rows import SortedRows
from windrow.windows.triggers import Period

Array = np.ndarray[Any, Any]

_NO_ROWS = np.empty(0, np.int64)


class ScheduledWindows(Answering):
    """Windows that begin and end at times known before any row; those that hold a row answer.

    A walk along the rows finds them (see `numbered`). It names a window by a number that grows from
    window to window, such as the time at which it begins.
    """

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        #: of the windows that rows to come may be in: their names, and their first rows
        self._names, self._firsts = _NO_ROWS, _NO_ROWS
        self._latest = 0

    @abstractmethod
    def _require(self, rows: SortedRows) -> None:
        """Refuse windows that begin or end where the order column's type has no times."""

    @abstractmethod
    def _walk(self, rows: SortedRows) -> Walk:
        """The walk along some rows."""

    @abstractmethod
    def _times(self, names: Array) -> tuple[Array, Array]:
        """When windows begin and end."""

    def find(self, rows: SortedRows) -> Extents:
        """The windows that are complete with a table, or with the next batch."""
        self._require(rows)
        walk, pending = self._walk(rows), len(self._names)
        if rows.is_whole:
            names, firsts, stops = walk.all(self._setting.require)
            return Extents(firsts, stops, *self._times(names), names=names)
        total = walk.count(pending, self._latest)
        names, firsts, stops = (np.empty(total, np.int64) for _ in range(3))
        names[:pending], firsts[:pending] = self._names, self._firsts
        _found, stopped, self._latest = walk.fill(names, firsts, stops, pending, self._latest)
        if rows.ends:
            stops[stopped:] = rows.size
            stopped = total
        openings = firsts[stopped:]
        front = int(openings[0]) if len(openings) else rows.size
        self._names, self._firsts = names[stopped:], openings - rows.size
        return Extents(
            firsts[:stopped], stops[:stopped], *self._times(names[:stopped]),
            front, openings[openings >= 0], names[:stopped],
        )  # fmt: skip

    def count(self, rows: SortedRows) -> int:
        """How many windows there are, those that earlier rows have begun among them."""
        return self._walk(rows).count(len(self._names), self._latest)


class ClockWindows(ScheduledWindows):
    """The windows of a clock that hold a row; their names are their begins."""

    def __init__(self, period: Period, setting: Setting) -> None:
        super().__init__(setting)
        self._period = period
        tick = setting.tick
        slide = period.slide // tick
        self._periods = Periods(period.range // tick, slide, period.offset // tick % slide)

    def _require(self, rows: SortedRows) -> None:
        extent, slide = self._periods.extent, self._periods.slide
        self._setting.require_times(rows.times, extent + slide, extent)

    def _walk(self, rows: SortedRows) -> Walk:
        return PeriodicWalk(self._periods, rows.runs, rows.times)

    def _times(self, names: Array) -> tuple[Array, Array]:
        return names, names + self._periods.extent

    def final(self, rows: KeyRows, span: Span, numbers: Mapping[str, Array]) -> FinalAnswers:
        """The windows that ended between two frontiers."""
        window = self._period.in_ticks(self._setting.name, self._setting.tick)
        following = window.first_open(span.frontier)
        if span.before == EARLIEST:
            low = int(window.first_starts(rows.times.min(keepdims=True))[0])
        else:
            low = window.first_open(span.before)
        begins, firsts, stops = held_between(
            rows.runs, rows.times, window.range, window.slide, low, following - window.slide
        )
        fronts = rows.first_not_before(following)
        due = np.where(fronts < rows.stops, following + window.range, NEVER)
        found = Extents(firsts, stops, begins, begins + window.range, names=begins)
        return FinalAnswers(found, fronts, due, due)
