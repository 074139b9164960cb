"""Windows of rows: the newest rows of a key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from windrow.windows.arguments import row_count
from windrow.windows.bounds import Bounding, Bounds
from windrow.windows.calls import call_text
from windrow.windows.reach import UNLIMITED, Newest
from windrow.windows.setting import Setting
from windrow.windows.sorted_rows import SortedRows
from windrow.windows.triggers import Every, Period, Trigger, trigger
from windrow.windows.window import Window

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class RowsWindow(Window):
    """The newest `range` rows."""

    range: int
    every: Trigger | None = None

    @property
    def default_name(self) -> str:
        """The window's name if the user gives none."""
        return f"rows_{self.range}"

    def call(self) -> str:
        """The call that makes it."""
        return call_text("rows", str(self.range), every=self.every)

    def bounding(self, setting: Setting) -> Bounding:
        """The newest rows of a key."""
        return _NewestRows(Newest(min(self.range, UNLIMITED)))

    @property
    def newest(self) -> int:
        """How many rows it holds."""
        return self.range

    @property
    def period(self) -> Period | None:
        """It is periodic if it answers after rows too."""
        if self.every is None or self.every.in_time:
            return None
        return self.every.period(self.range)


@dataclass(frozen=True)
class _NewestRows(Bounding):
    reach: Newest

    def of(self, rows: SortedRows, held: Array | None = None) -> Bounds:
        """The bounds of the next rows."""
        return Bounds(rows.runs, self.reach)


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
