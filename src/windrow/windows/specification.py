"""Which events a window holds, as users say it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from numbers import Integral

from windrow.errors import InvalidArgument
from windrow.windows.durations import nanoseconds, words


@dataclass(frozen=True)
class RowsWindow:
    """The newest `range` rows."""

    range: int

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
    """

    range: int
    closed_both: bool = False
    peers: bool = False

    @property
    def default_name(self) -> str:
        """The window's name if the user gives none."""
        return f"time_{words(self.range).replace(' ', '_')}"


Window = RowsWindow | TimeWindow
Windows = Window | Sequence[Window] | Mapping[str, Window]


def rows(range: int) -> RowsWindow:
    """A window of the newest rows, the current one among them.

    >>> import windrow as wr
    >>> wr.rows(100)
    RowsWindow(range=100)
    """
    if isinstance(range, bool) or not isinstance(range, Integral):
        raise InvalidArgument(f"range: a number of rows is an integer, not {range!r}")
    if range < 1:
        raise InvalidArgument(f"range: a window holds at least 1 row, not {range}")
    return RowsWindow(int(range))


def time(range: str | timedelta, *, closed: str = "right", ties: str = "rows") -> TimeWindow:
    """A window of the rows in (t - range, t], where t is the current row's time.

    Args:
        range: the extent, as in "10 minutes" or a timedelta.
        closed: "right", or "both" to keep the row exactly one range old, as Spark's RANGE does.
        ties: with "rows", a row sees those of the same time that come before it; with "peers" it
            sees all of them, as Spark's RANGE does.

    >>> import windrow as wr
    >>> wr.time("90 seconds").default_name
    'time_90_seconds'
    """
    extent = nanoseconds(range, "range")
    if extent <= 0:
        raise InvalidArgument(f"range: a window's range is more than zero, not {range!r}")
    if closed not in ("right", "both"):
        raise InvalidArgument(f"closed: 'right' or 'both', not {closed!r}")
    if ties not in ("rows", "peers"):
        raise InvalidArgument(f"ties: 'rows' or 'peers', not {ties!r}")
    return TimeWindow(extent, closed == "both", ties == "peers")


def named(windows: Windows) -> dict[str, Window]:
    """The windows of a call by name."""
    if isinstance(windows, RowsWindow | TimeWindow):
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
        if not isinstance(window, RowsWindow | TimeWindow):
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
