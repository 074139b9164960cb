"""Windows of time: the rows of the last minutes or hours."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np

from windrow.algebra.durations import words
from windrow.errors import InvalidArgument
from windrow.windows.arguments import length
from windrow.windows.bounds import Bounding, Bounds, begun_anew, rows_before
from windrow.windows.calls import call_text
from windrow.windows.clock import ClockWindows
from windrow.windows.extents import Answering
from windrow.windows.reach import UNLIMITED, Younger
from windrow.windows.setting import Setting
from windrow.windows.sorted_rows import SortedRows
from windrow.windows.triggers import Every, Period, Trigger, trigger
from windrow.windows.window import Window

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class TimeWindow(Window):
    """The rows of the last `range` nanoseconds.

    Attributes:
        range: extent in nanoseconds.
        closed_both: whether the row exactly one range old still belongs.
        peers: whether rows of equal time see each other, or only those before them.
        every: when it answers; None for every row.
    """

    range: int
    closed_both: bool = False
    peers: bool = False
    every: Trigger | None = None

    reach = Younger
    needs_time = True

    @property
    def default_name(self) -> str:
        """The window's name if the user gives none."""
        return f"time_{words(self.range).replace(' ', '_')}"

    def call(self) -> str:
        """The call that makes it."""
        closed = ["closed='both'"] if self.closed_both else []
        ties = ["ties='peers'"] if self.peers else []
        return call_text("time", repr(words(self.range)), every=self.every, further=closed + ties)

    @property
    def lengths(self) -> tuple[int, ...]:
        """By a clock, answers begin and end at its ticks."""
        if self.every is None or not self.every.in_time:
            return ()
        return (*self.every.lengths, self.range)

    def bounding(self, setting: Setting) -> Bounding:
        """The rows that are less than a range older."""
        return _YoungerRows(self.behind(setting.tick))

    def answering(self, setting: Setting) -> Answering:
        """By a clock, windows begin and end at its ticks; else rows ask for it."""
        period = self.period
        return super().answering(setting) if period is None else ClockWindows(period, setting)

    def behind(self, tick: int) -> int:
        """How many ticks older a row is that has left.

        Times are whole ticks. So a range of a part of a tick rounds up, and keeping the row exactly
        one range old is one tick more.
        """
        ticks = self.range // tick + 1 if self.closed_both else -(-self.range // tick)
        return min(ticks, UNLIMITED)

    @property
    def period(self) -> Period | None:
        """It is periodic if a clock asks for it."""
        if self.every is None or not self.every.in_time:
            return None
        return self.every.period(self.range)


class _YoungerRows(Bounding):
    def __init__(self, extent: int) -> None:
        self._extent = extent
        self._timed = np.ones(1, np.bool_)

    def of(self, rows: SortedRows, held: Array | None = None) -> Bounds:
        """The bounds of the next rows.

        A key's null times are a run of their own: no distance leads from a null to a time.
        """
        reach = Younger(rows.times, self._extent)
        if rows.all_timed and self._timed.all():
            return Bounds(rows.runs, reach)
        timed, self._timed = rows_before(self._timed, rows.timed)
        return Bounds(begun_anew(rows.runs, timed != rows.timed), reach)


def time(
    range: str | timedelta,
    every: Every = None,
    *,
    offset: str | timedelta | None = None,
    closed: str = "right",
    ties: str = "rows",
) -> TimeWindow:
    """A window of time.

    In `wr.over`, and in `wr.slide` when it answers after rows, it holds the rows in (t - range, t],
    where t is the newest row's time. In `wr.slide` when it answers by a clock, it holds the rows in
    [start, start + range), for starts aligned to the epoch plus offset, as Spark's F.window does.
    In `wr.slide` a row without a time belongs to no window of time.

    Args:
        range: the extent, as in "10 minutes" or a timedelta.
        every: for `wr.slide`, when it answers: a duration, or a number of rows of its key.
        offset: moves the clock.
        closed: "right", or "both" to keep the row exactly one range old, as Spark's RANGE does.
        ties: with "rows", a row sees those of the same time that come before it; with "peers" it
            sees all of them, as Spark's RANGE does.

    >>> import windrow as wr
    >>> wr.time("90 seconds").default_name
    'time_90_seconds'
    """
    extent = length(range, "range")
    if closed not in ("right", "both"):
        raise InvalidArgument(f"closed: 'right' or 'both', not {closed!r}")
    if ties not in ("rows", "peers"):
        raise InvalidArgument(f"ties: 'rows' or 'peers', not {ties!r}")
    answers = trigger(every, offset)
    if answers is not None and (closed, ties) != ("right", "rows"):
        raise InvalidArgument("closed, ties: they are for wr.over, and every is for wr.slide")
    return TimeWindow(extent, closed == "both", ties == "peers", answers)
