"""Windows of rows: the newest rows of a key, or those around the current one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from windrow.errors import InvalidArgument
from windrow.windows.ahead import Ahead
from windrow.windows.arguments import distance_in_rows, row_count
from windrow.windows.bounds import Bounding, Bounds
from windrow.windows.calls import call_text
from windrow.windows.edges import AT_MOMENT, BEFORE_MOMENT, Edges
from windrow.windows.min_rows import Counted
from windrow.windows.reach import UNLIMITED, Newest
from windrow.windows.setting import Setting
from windrow.windows.sorted_rows import SortedRows
from windrow.windows.triggers import Every, Period, Trigger, trigger
from windrow.windows.window import Window

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class RowsWindow(Window):
    """The `range` rows that end `later` rows behind the current one.

    Attributes:
        range: how many rows.
        every: when it answers; None for every row.
        later: how many of them follow the current row; -1 if it is not among them.
    """

    range: int
    every: Trigger | None = None
    later: int = 0

    @property
    def default_name(self) -> str:
        """The window's name if the user gives none."""
        if self.later < 0:
            return f"rows_{self.range}_before"
        if self.later == 0:
            return f"rows_{self.range}"
        return "rows" + (f"_{self._before}_before" if self._before else "") + f"_{self.later}_after"

    def call(self) -> str:
        """The call that makes it."""
        if self.later > 0:
            before = [f"before={self._before}"] if self._before else []
            return call_text("rows", *before, f"after={self.later}")
        without = ["current=False"] if self.later < 0 else []
        return call_text("rows", str(self.range), every=self.every, further=without)

    @property
    def _before(self) -> int:
        return self.range - 1 - self.later

    def bounding(self, setting: Setting) -> Bounding:
        """The rows of a key around a row."""
        reach = Newest(min(self._before + 1, UNLIMITED))
        return _RowsAround(reach, self.ahead(1))

    def edges(self, tick: int) -> Edges:
        """Rows counted from the moment; without the current row, those before the moment."""
        place = BEFORE_MOMENT if self.later < 0 else AT_MOMENT
        later = max(self.later, 0)
        back = min(self.range - later, UNLIMITED)
        return replace(place, rows=-back), replace(place, rows=min(later, UNLIMITED))

    @property
    def newest(self) -> int | None:
        """How many rows it holds, if the current one is the last."""
        return None if self.later else self.range

    def ahead(self, tick: int) -> Ahead:
        """So many rows later."""
        return Ahead(min(self.later, UNLIMITED))

    @property
    def rows_back(self) -> int:
        """How many rows before its own it reaches back to."""
        return self._before

    @property
    def period(self) -> Period | None:
        """It is periodic if it answers after rows too."""
        if self.every is None or self.every.in_time:
            return None
        return self.every.period(self.range)


@dataclass(frozen=True)
class _RowsAround(Bounding):
    reach: Newest
    ahead: Ahead

    def of(self, rows: SortedRows, held: Array | None = None) -> Bounds:
        """The bounds of the next rows."""
        return Bounds(rows.runs, self.reach, ahead=self.ahead)


def rows(
    range: int | None = None,
    every: Every = None,
    *,
    current: bool = True,
    before: int | None = None,
    after: int | None = None,
    min_rows: int | None = None,
    of: Counted = "rows",
) -> RowsWindow:
    """A window of rows: the newest, or with `before` and `after` those around the current one.

    Args:
        range: how many rows, the current one among them.
        every: for `wr.slide`, when it answers: after so many rows of its key, or, given a duration,
            at every tick of a clock that has seen a row since the one before.
        current: False for so many rows before the current one, which is then not among them.
        before, after: in place of `range`, how many rows there are before the current one and
            after it; it is among them.
        min_rows: answers are null until the window holds so many rows;
        of: with "values", until it holds so many that are not null.

    Raises:
        InvalidArgument: if an argument is not what it should be, or two do not go together.

    >>> import windrow as wr
    >>> wr.rows(100).default_name
    'rows_100'
    >>> wr.rows(before=5, after=5).range
    11
    """
    if not isinstance(current, bool):
        raise InvalidArgument(f"current: True or False, not {current!r}")
    if before is None and after is None:
        if range is None:
            raise InvalidArgument("range: say how many rows, or give before= and after=")
        extent, later = row_count(range, "range"), 0 if current else -1
    else:
        if range is not None:
            raise InvalidArgument(
                "range: it goes without before= and after=; give one or the other"
            )
        if not current:
            raise InvalidArgument(
                "current: with before= and after= the current row is in the window; for rows "
                "before it alone give range, as in wr.rows(5, current=False)"
            )
        later = distance_in_rows(after, "after")
        extent = distance_in_rows(before, "before") + 1 + later
    if every is not None and (later or before is not None):
        raise InvalidArgument(
            "current, before, after: they are for wr.over, and every is for wr.slide"
        )
    window = RowsWindow(extent, trigger(every, None), later)
    return window.with_min_rows(min_rows, of)
