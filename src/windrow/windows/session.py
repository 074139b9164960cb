"""Sessions: windows that a gap closes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np

from windrow.algebra.durations import words
from windrow.windows.arguments import length
from windrow.windows.bounds import Bounding, Bounds, begun_anew, rows_before
from windrow.windows.calls import call_text
from windrow.windows.extents import Asking, FinalStops, Span
from windrow.windows.key_rows import KeyRows, later
from windrow.windows.key_runs import NEVER
from windrow.windows.min_rows import Counted
from windrow.windows.reach import UNLIMITED, Growing
from windrow.windows.setting import Setting
from windrow.windows.sorted_rows import SortedRows
from windrow.windows.window import Window

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class SessionWindow(Window):
    """The rows since the last gap of more than so many nanoseconds without one."""

    gap: int

    reach = Growing
    needs_time = True
    answers_by_itself = True

    @property
    def default_name(self) -> str:
        """The window's name if the user gives none."""
        return f"session_{words(self.gap).replace(' ', '_')}"

    def call(self) -> str:
        """The call that makes it."""
        return call_text("session", repr(words(self.gap)))

    @property
    def lengths(self) -> tuple[int, ...]:
        """It ends one gap after its last row."""
        return (self.gap,)

    def bounding(self, setting: Setting) -> Bounding:
        """All rows since the last gap."""
        return _SinceGap(min(self.gap // setting.tick, UNLIMITED))

    def asking(self, setting: Setting) -> Asking:
        """The gaps ask."""
        return _AtGaps(self.gap // setting.tick, setting)


class _SinceGap(Bounding):
    """The row after a gap begins anew.

    A row without a time is in no session. It is driven through a window of its own, because a run
    of such rows could overflow where nobody asks for its answer.
    """

    def __init__(self, gap: int) -> None:
        self._gap = gap
        self._time = np.zeros(1, np.int64)
        self._timed = np.ones(1, np.bool_)

    def of(self, rows: SortedRows, held: Array | None = None) -> Bounds:
        """The bounds of the next rows."""
        times, self._time = rows_before(self._time, rows.times)
        anew = rows.times - times > self._gap
        present = None
        if not (rows.all_timed and self._timed.all()):
            timed, self._timed = rows_before(self._timed, rows.timed)
            anew = anew | ~rows.timed | ~timed
            present = None if rows.all_timed else rows.timed
        runs = begun_anew(rows.runs, anew)
        return Bounds(runs, Growing(), present, lasting=min(self._gap + 1, UNLIMITED))


class _AtGaps(Asking):
    """A session ends one gap after its last row. Its answer is final a tick later."""

    def __init__(self, gap: int, setting: Setting) -> None:
        self._gap, self._setting = gap, setting
        #: the first and the last time of the open session
        self._first = self._last = 0

    def stops(self, rows: SortedRows, bounds: Bounds) -> Array:
        """The rows before which a session begins, and the end of all rows."""
        self._setting.require_times(rows.times, 0, self._gap)
        begins = bounds.runs[:-1] if rows.since is not None else bounds.runs[1:-1]
        last = rows.ends and (rows.size > 0 or rows.since is not None)
        return np.append(begins, rows.size) if last else begins

    def final(
        self, rows: KeyRows, bounds: Bounds, span: Span, numbers: Mapping[str, Array]
    ) -> FinalStops:
        """The sessions whose gap passed between two frontiers."""
        stops = np.append(bounds.runs[1:-1], rows.size)
        final = later(rows.times[stops - 1], self._gap + 1)
        is_open, due = final > span.frontier, np.full(rows.count, NEVER)
        due[rows.key_of[stops[is_open] - 1]] = final[is_open]
        return FinalStops(stops[span.makes_final(final)], due)

    def times(
        self, rows: SortedRows, firsts: Array, stops: Array, front: int
    ) -> tuple[Array | None, Array | None]:
        """From the first row's time to one gap after the last row's."""
        begins = _times_at(firsts, rows.times, self._first)
        ends = _times_at(stops - 1, rows.times, self._last) + self._gap
        if 0 <= front < rows.size:
            self._first = int(rows.times[front])
        if rows.size:
            self._last = int(rows.times[-1])
        return begins, ends


def _times_at(places: Array, times: Array, before: int) -> Array:
    """The times of rows; those before these rows have the one time that is known of them."""
    if not len(places) or places[0] >= 0:  # they only grow
        return times[places]
    found = np.full(len(places), before)
    known = places >= 0
    found[known] = times[places[known]]
    return found


def session(
    gap: str | timedelta, *, min_rows: int | None = None, of: Counted = "rows"
) -> SessionWindow:
    """A window that a gap closes: more than so long a time without a row of its key.

    In `wr.slide` there is one answer for each session, as of Spark's session_window, to which a row
    exactly one gap after the last still belongs. It ends one gap after its last row. In `wr.over`
    there is one for every row, over its session so far. A row without a time belongs to no session,
    and `wr.over` answers it as of no values.

    Args:
        gap: the longest time between two rows of a session.
        min_rows: answers are null until the window holds so many rows;
        of: with "values", until it holds so many that are not null.

    Raises:
        InvalidArgument: if an argument is not what it should be, or two do not go together.

    >>> import pyarrow as pa, windrow as wr
    >>> clicks = pa.table({"t": pa.array([0, 20, 90, 100], pa.timestamp("s"))})
    >>> found = wr.slide(clicks, order="t", windows=wr.session("30 seconds"), aggs=wr.count())
    >>> found["count"].to_pylist()
    [2, 2]
    """
    return SessionWindow(length(gap, "gap")).with_min_rows(min_rows, of)
