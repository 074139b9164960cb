"""Windows of time: the rows of the last minutes or hours, or those around the current one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

import numpy as np

from windrow.algebra.durations import words
from windrow.algebra.literals import require_one_of
from windrow.errors import InvalidArgument
from windrow.windows.ahead import HERE, Ahead
from windrow.windows.arguments import distance_in_time, length
from windrow.windows.bounds import Bounding, Bounds, begun_anew, rows_before
from windrow.windows.calls import call_text
from windrow.windows.clock import ClockWindows
from windrow.windows.edges import Edge, Edges
from windrow.windows.extents import Answering
from windrow.windows.min_rows import Counted
from windrow.windows.reach import UNLIMITED, Younger
from windrow.windows.setting import Setting
from windrow.windows.sorted_rows import SortedRows
from windrow.windows.triggers import Every, Period, Trigger, trigger
from windrow.windows.window import Window

Array = np.ndarray[Any, Any]

#: at which ends a window holds a row exactly there
Closed = Literal["right", "left", "both", "neither"]
#: which rows of its own time a row sees: those before it, or all
Ties = Literal["rows", "peers"]

#: where a window that ends at its row's time holds that row
_CLOSED_AT_ROW = ("right", "both")


@dataclass(frozen=True)
class TimeWindow(Window):
    """The rows of the last `range` nanoseconds, or those around the current row.

    Attributes:
        range: extent in nanoseconds; with `after`, how long before the row it begins.
        closed: at which ends it holds a row exactly there: "right", "left", "both" or "neither".
        ties: whether rows of equal time see each other ("peers"), or only those before them.
        every: when it answers; None for every row.
        after: how long after the row it ends, in nanoseconds; None if it ends at the row.
    """

    range: int
    closed: Closed = "right"
    ties: Ties = "rows"
    every: Trigger | None = None
    after: int | None = None

    reach = Younger
    needs_time = True

    @property
    def default_name(self) -> str:
        """The window's name if the user gives none."""
        if self.after is None:
            ends = "" if self._ends_at_row else f"_{self.closed}"
            return f"time_{_underscored(self.range)}{ends}"
        before = f"_{_underscored(self.range)}_before" if self.range else ""
        after = f"_{_underscored(self.after)}_after" if self.after else ""
        return f"time{before}{after}"

    def call(self) -> str:
        """The call that makes it."""
        closed = [f"closed={self.closed!r}"] if self.closed != "right" else []
        ties = [f"ties={self.ties!r}"] if self.ties != "rows" else []
        if self.after is None:
            extent = [repr(words(self.range))]
        else:
            given = {"before": self.range, "after": self.after}
            extent = [f"{name}={words(each)!r}" for name, each in given.items() if each]
        return call_text("time", *extent, every=self.every, further=closed + ties)

    @property
    def lengths(self) -> tuple[int, ...]:
        """By a clock, answers begin and end at its ticks."""
        if self.every is None or not self.every.in_time:
            return ()
        return (*self.every.lengths, self.range)

    def bounding(self, setting: Setting) -> Bounding:
        """The rows that are less than a range older, and as many after as there are to be."""
        return _YoungerRows(self.ticks_back(setting.tick), self.ahead(setting.tick))

    def edges(self, tick: int) -> Edges:
        """So long before the moment, and at it or so long after it; `ties` make no difference."""
        behind = _reached(self.after or 0, tick, self.closed in _CLOSED_AT_ROW)
        return Edge(ticks=-self.ticks_back(tick)), Edge(ticks=behind - 1)

    def answering(self, setting: Setting) -> Answering:
        """By a clock, windows begin and end at its ticks; else rows ask for it."""
        period = self.period
        return super().answering(setting) if period is None else ClockWindows(period, setting)

    @property
    def peers(self) -> bool:
        """Whether rows of equal time see each other, in a window that ends with them."""
        return self._ends_at_row and self.ties == "peers"

    @property
    def _ends_at_row(self) -> bool:
        return self.after is None and self.closed in _CLOSED_AT_ROW

    def behind(self, tick: int) -> int | None:
        """How many ticks older a row is that has left, if the window ends at its row's time."""
        return self.ticks_back(tick) if self._ends_at_row else None

    def ticks_back(self, tick: int) -> int:
        """How many ticks older a row is that is too old."""
        return _reached(self.range, tick, self.closed in ("both", "left"))

    def ahead(self, tick: int) -> Ahead:
        """Where it ends: at its row or before it, behind its peers or before them, or later."""
        if self.after is None and self.ties == "rows":
            return HERE if self._ends_at_row else Ahead(rows=-1)
        return Ahead(ticks=_reached(self.after or 0, tick, self.closed in _CLOSED_AT_ROW))

    @property
    def period(self) -> Period | None:
        """It is periodic if a clock asks for it."""
        if self.every is None or not self.every.in_time:
            return None
        return self.every.period(self.range)


def _reached(distance: int, tick: int, closed: bool) -> int:
    """How many ticks away the first row is that a window does not reach.

    Times are whole ticks. So a distance of a part of a tick rounds up, and holding the row exactly
    so far away is one tick more.
    """
    return min(distance // tick + 1 if closed else -(-distance // tick), UNLIMITED)


def _underscored(duration: int) -> str:
    return words(duration).replace(" ", "_")


class _YoungerRows(Bounding):
    def __init__(self, extent: int, ahead: Ahead) -> None:
        self._extent, self._ahead = extent, ahead
        self._timed = np.ones(1, np.bool_)

    def of(self, rows: SortedRows, held: Array | None = None) -> Bounds:
        """The bounds of the next rows.

        A key's null times are a run of their own: no distance leads from a null to a time.
        """
        reach = Younger(rows.times, self._extent)
        if rows.all_timed and self._timed.all():
            return Bounds(rows.runs, reach, ahead=self._ahead)
        timed, self._timed = rows_before(self._timed, rows.timed)
        runs = begun_anew(rows.runs, timed != rows.timed)
        return Bounds(runs, reach, ahead=self._ahead)


def time(
    range: str | timedelta | None = None,
    every: Every = None,
    *,
    offset: str | timedelta | None = None,
    closed: Closed = "right",
    ties: Ties = "rows",
    before: str | timedelta | None = None,
    after: str | timedelta | None = None,
    min_rows: int | None = None,
    of: Counted = "rows",
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
        closed: at which ends a row exactly there belongs. "right" is (t - range, t]; "both" is
            [t - range, t], as Spark's RANGE; "left" is [t - range, t) and "neither" is
            (t - range, t): both leave the row itself out.
        ties: with "rows", a row sees those of the same time that come before it; with "peers" it
            sees all of them, as Spark's RANGE does, or none of them where `closed` leaves t out.
        before, after: in place of `range`, the window from t - before to t + after. It holds all
            rows of these times, also later ones of time t.
        min_rows: answers are null until the window holds so many rows;
        of: with "values", until it holds so many that are not null.

    Raises:
        InvalidArgument: if an argument is not what it should be, or two do not go together.

    >>> import windrow as wr
    >>> wr.time("90 seconds").default_name
    'time_90_seconds'
    >>> wr.time(before="1 hour", after="10 minutes").default_name
    'time_1_hour_before_10_minutes_after'
    """
    require_one_of(Closed, "closed", closed)
    require_one_of(Ties, "ties", ties)
    answers = trigger(every, offset)
    around = before is not None or after is not None
    if answers is not None and (around or (closed, ties) != ("right", "rows")):
        raise InvalidArgument(
            "closed, ties, before, after: they are for wr.over, and every is for wr.slide"
        )
    if not around:
        if range is None:
            raise InvalidArgument("range: say how long it is, or give before= and after=")
        window = TimeWindow(length(range, "range"), closed, ties, answers)
        return window.with_min_rows(min_rows, of)
    if range is not None:
        raise InvalidArgument("range: it goes without before= and after=; give one or the other")
    if ties != "rows":
        raise InvalidArgument(
            "ties: with before= and after= a window holds all rows of its times; leave ties out"
        )
    back, ahead = distance_in_time(before, "before"), distance_in_time(after, "after")
    if not back and not ahead:
        raise InvalidArgument("before, after: at least one of them is more than zero")
    return TimeWindow(back, closed, after=ahead).with_min_rows(min_rows, of)
