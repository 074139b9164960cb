"""Windows of time that a clock asks for: they begin and end at its ticks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from windrow.windows.extents import Answering, Extents, FinalAnswers, Span
from windrow.windows.key_rows import KeyRows
from windrow.windows.key_runs import NEVER
from windrow.windows.periods import Periods, clock_windows, held_between
from windrow.windows.reach import EARLIEST
from windrow.windows.setting import Setting
from windrow.windows.sorted_rows import SortedRows
from windrow.windows.triggers import Period

Array = np.ndarray[Any, Any]

_NO_ROWS = np.empty(0, np.int64)


class ClockWindows(Answering):
    """The windows of a clock that hold a row."""

    def __init__(self, period: Period, setting: Setting) -> None:
        self._period, self._setting = period, setting
        tick = setting.tick
        slide = period.slide // tick
        self._periods = Periods(period.range // tick, slide, period.offset // tick % slide)
        #: of the windows that rows to come may be in: where they begin, and their first rows
        self._begins, self._firsts = _NO_ROWS, _NO_ROWS
        self._latest = 0

    def find(self, rows: SortedRows) -> Extents:
        """The windows that are complete with a table, or with the next batch."""
        periods, pending = self._periods, len(self._begins)
        self._setting.require_times(rows.times, periods.extent + periods.slide, periods.extent)
        if rows.is_whole:
            begins, firsts, stops = clock_windows(
                rows.runs, rows.times, periods, self._setting.require
            )
            return Extents(firsts, stops, begins, begins + periods.extent)
        total = self.count(rows)
        begins, firsts, stops = (np.empty(total, np.int64) for _ in range(3))
        begins[:pending], firsts[:pending] = self._begins, self._firsts
        _found, stopped, self._latest = periods.fill(
            rows.runs, rows.times, begins, firsts, stops, pending, self._latest
        )
        if rows.ends:
            stops[stopped:] = rows.size
            stopped = total
        openings = firsts[stopped:]
        front = int(openings[0]) if len(openings) else rows.size
        self._begins, self._firsts = begins[stopped:], openings - rows.size
        return Extents(
            firsts[:stopped], stops[:stopped], begins[:stopped], begins[:stopped] + periods.extent,
            front, openings[openings >= 0],
        )  # fmt: skip

    def count(self, rows: SortedRows) -> int:
        """How many windows there are, those that earlier rows have begun among them."""
        return self._periods.count(rows.runs, rows.times, len(self._begins), self._latest)

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
        return FinalAnswers(Extents(firsts, stops, begins, begins + window.range), fronts, due, due)
