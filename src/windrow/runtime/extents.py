"""The answers of a window over sorted rows: which rows each is about, where it begins and ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.errors import InvalidArgument
from windrow.runtime import columns as arrow
from windrow.runtime import edges
from windrow.runtime.deltas import Measure
from windrow.windows import (
    EveryRows,
    EveryTime,
    PunctuatedWindow,
    RowsWindow,
    SessionWindow,
    TimeWindow,
    Window,
)

Array = np.ndarray[Any, Any]

_LARGEST = 2**63 - 1


@dataclass(frozen=True)
class Extents:
    """The answers of one window, in the order of keys and time.

    Without `begins` and `ends`, an answer is named after the order values of its oldest and newest
    row; with them, after times.
    """

    firsts: Array
    stops: Array
    begins: Array | None = None
    ends: Array | None = None


class Finder:
    """Sorted rows, in which the answers of any window are found."""

    def __init__(
        self, columns: dict[str, pa.Array], order: str, starts: Array, size: int, timed: bool
    ) -> None:
        """With `timed`, windows may measure time, and no row is without one."""
        self._columns = columns
        self._starts = starts
        self._size = size
        self._order_name, self._order_type = order, columns[order].type
        if timed:
            self._tick = arrow.nanoseconds_per_tick(self._order_type)
            self._times = arrow.times(columns[order])

    def find(self, name: str, window: Window) -> Extents:
        """The answers of a window; the name is for messages."""
        starts = self._starts
        if isinstance(window, PunctuatedWindow):
            marks = pc.fill_null(self._columns[window.column], False)
            stops = edges.after_marks(marks.to_numpy(zero_copy_only=False))
            return Extents(edges.since_last(starts, stops), stops)
        if isinstance(window, SessionWindow):
            gap = window.gap // self._tick
            self._require_reach(name, 0, gap)
            stops = edges.after_gaps(starts, self._times, gap)
            firsts = edges.since_last(starts, stops)
            return Extents(firsts, stops, self._times[firsts], self._times[stops - 1] + gap)
        if isinstance(window, TimeWindow) and isinstance(window.every, EveryTime):
            extent, (slide, offset) = window.range // self._tick, self._clock(name, window.every)
            self._require_reach(name, extent + slide, extent)
            begins, firsts, stops = edges.periodic(starts, self._times, extent, slide, offset)
            return Extents(firsts, stops, begins, begins + extent)
        if isinstance(window.every, EveryTime):
            stops = edges.after_ticks(starts, self._times, *self._clock(name, window.every))
        else:
            assert isinstance(window.every, EveryRows)
            stops = edges.after_rows(starts, self._size, min(window.every.rows, _LARGEST))
        if isinstance(window, RowsWindow):
            return Extents(edges.newest_rows(starts, stops, min(window.range, _LARGEST)), stops)
        if isinstance(window, TimeWindow):
            # Times are whole ticks: less than a part of a tick older is less than the whole.
            extent = min(-(-window.range // self._tick), _LARGEST)
            return Extents(edges.less_behind(starts, stops, self._times, extent), stops)
        measure = Measure(window).read(self._columns[window.column])
        return Extents(edges.less_behind(starts, stops, *measure), stops)

    def _clock(self, name: str, every: EveryTime) -> tuple[int, int]:
        """A slide and an offset in ticks; the plan's order type has no parts of a tick."""
        slide = every.time // self._tick
        self._require_reach(name, slide, slide)
        return slide, every.offset // self._tick % slide

    def _require_reach(self, name: str, behind: int, ahead: int) -> None:
        """Refuse a window that would begin or end where the order column's type has no times."""
        if not len(self._times):
            return
        limit = 2 ** (self._order_type.bit_width - 1)
        if int(self._times.min()) - behind < -limit or int(self._times.max()) + ahead >= limit:
            raise InvalidArgument(
                f"windows: {name!r} begins or ends at times that {self._order_name!r}, which is "
                f"{self._order_type}, cannot hold; give a shorter window, or cast the column to a "
                "coarser unit"
            )
