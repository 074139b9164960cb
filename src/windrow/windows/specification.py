"""Which events a window holds and when it answers, as users say it.

Eviction and trigger are two ideas (Tangwongsan et al. 2015, §2.2 and §2.3). The range says which
events are still in the window; `every` says after which of them there is an answer. Either may be
in rows or in time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from numbers import Real

from windrow.algebra.durations import words
from windrow.errors import InvalidArgument
from windrow.windows.policy import PolicyWindow
from windrow.windows.triggers import Every, Trigger, length, row_count, trigger


@dataclass(frozen=True)
class RowsWindow:
    """The newest `range` rows."""

    range: int
    every: Trigger | None = None

    @property
    def default_name(self) -> str:
        """The window's name if the user gives none."""
        return f"rows_{self.range}"


@dataclass(frozen=True)
class TimeWindow:
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

    @property
    def default_name(self) -> str:
        """The window's name if the user gives none."""
        return f"time_{words(self.range).replace(' ', '_')}"


@dataclass(frozen=True)
class DeltaWindow:
    """The rows whose value in a column lies less than an amount behind the newest row's."""

    column: str
    amount: float
    every: Trigger | None = None

    @property
    def default_name(self) -> str:
        """The window's name if the user gives none."""
        return f"delta_{self.column}_{self.amount}"


@dataclass(frozen=True)
class PunctuatedWindow:
    """The rows since the last one whose boolean was true; such a row closes its window."""

    column: str

    @property
    def default_name(self) -> str:
        """The window's name if the user gives none."""
        return f"punctuated_{self.column}"


@dataclass(frozen=True)
class SessionWindow:
    """The rows since the last gap of more than so many nanoseconds without one."""

    gap: int

    @property
    def default_name(self) -> str:
        """The window's name if the user gives none."""
        return f"session_{words(self.gap).replace(' ', '_')}"


Window = RowsWindow | TimeWindow | DeltaWindow | PunctuatedWindow | SessionWindow | PolicyWindow
Windows = Window | Sequence[Window] | Mapping[str, Window]


def rows(range: int, every: Every = None) -> RowsWindow:
    """A window of the newest rows, the current one among them.

    Args:
        range: how many rows.
        every: for `wr.slide`, when it answers: after so many rows of its key, or, given a duration,
            at every tick of a clock that has seen a row since the one before.

    >>> import windrow as wr
    >>> wr.rows(100).default_name
    'rows_100'
    """
    return RowsWindow(row_count(range, "range"), trigger(every, None))


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


def delta(column: str, amount: float, every: Every = None) -> DeltaWindow:
    """A window of the rows whose value lies less than an amount behind the newest row's.

    Rows leave oldest first, so a row that has left does not come back if the value falls again. A
    row whose value is null or NaN has no distance to others: for this window it does not exist, and
    `wr.over` answers it as of no values.

    Args:
        column: a column of numbers.
        amount: how far behind is too far.
        every: for `wr.slide`, when it answers.
    """
    _column(column)
    if isinstance(amount, bool) or not isinstance(amount, Real):
        raise InvalidArgument(f"amount: a number is needed, not {amount!r}")
    if not amount > 0:
        raise InvalidArgument(f"amount: it is more than zero, not {amount!r}")
    if amount == math.inf:
        raise InvalidArgument(f"amount: a finite number is needed, not {amount!r}")
    return DeltaWindow(column, float(amount) if amount % 1 else int(amount), trigger(every, None))


def punctuated(column: str) -> PunctuatedWindow:
    """A window that a row closes whose value in a boolean column is true.

    In `wr.slide` there is one answer for each such row, over the rows since the one before; in
    `wr.over` there is one for every row, over those since the last such row before it. Null is
    false.
    """
    _column(column)
    return PunctuatedWindow(column)


def session(gap: str | timedelta) -> SessionWindow:
    """A window that a gap closes: more than so long a time without a row of its key.

    In `wr.slide` there is one answer for each session, as of Spark's session_window, to which a row
    exactly one gap after the last still belongs. It ends one gap after its last row. In `wr.over`
    there is one for every row, over its session so far. A row without a time belongs to no session,
    and `wr.over` answers it as of no values.
    """
    return SessionWindow(length(gap, "gap"))


def named(windows: Windows) -> dict[str, Window]:
    """The windows of a call by name."""
    if isinstance(windows, Window):
        return {windows.default_name: windows}
    if isinstance(windows, Mapping):
        entries = list(windows.items())
    elif isinstance(windows, Sequence) and not isinstance(windows, str):
        entries = [(getattr(entry, "default_name", ""), entry) for entry in windows]
    else:
        raise InvalidArgument(
            "windows: give a window such as wr.rows(100) or wr.time('1 hour'), a list of them, or "
            f"a dict that names them, not {windows!r}"
        )
    if not entries:
        raise InvalidArgument("windows: at least one window is needed")
    found: dict[str, Window] = {}
    for name, window in entries:
        if not isinstance(window, Window):
            raise InvalidArgument(
                f"windows: {window!r} is no window; use wr.rows(...) or wr.time(...)"
            )
        if not isinstance(name, str) or not name:
            raise InvalidArgument(f"windows: a window's name is a non-empty string, not {name!r}")
        if name in found:
            raise InvalidArgument(
                f"windows: two windows are called {name!r}; name them in a dict, "
                "as in {'fast': wr.rows(10), 'slow': wr.rows(100)}"
            )
        found[name] = window
    return found


def _column(column: str) -> None:
    if not isinstance(column, str) or not column:
        raise InvalidArgument(f"column: the name of a column is needed, not {column!r}")
