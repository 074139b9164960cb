"""Windows of all rows of a key, also of those that follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from windrow.windows.ahead import Ahead
from windrow.windows.bounds import Bounding, Bounds
from windrow.windows.calls import call_text
from windrow.windows.edges import KEY_BEGIN, KEY_END, Edges
from windrow.windows.extents import Asking, ends_of_runs
from windrow.windows.min_rows import Counted
from windrow.windows.reach import UNLIMITED, Growing
from windrow.windows.setting import Setting
from windrow.windows.sorted_rows import SortedRows
from windrow.windows.window import Window

Array = np.ndarray[Any, Any]

#: to the end of the key
_TO_THE_END = Ahead(UNLIMITED)


@dataclass(frozen=True)
class WholeWindow(Window):
    """All rows of a key."""

    reach = Growing
    answers_by_itself = True
    why_not_streamed = (
        "holds all rows of its key, and on a stream they are never all there; "
        "use wr.expanding(), which holds those so far"
    )

    @property
    def default_name(self) -> str:
        """The window's name if the user gives none."""
        return "whole"

    def call(self) -> str:
        """The call that makes it."""
        return call_text("whole")

    def bounding(self, setting: Setting) -> Bounding:
        """All rows of the key."""
        return _WholeKey()

    def edges(self, tick: int) -> Edges:
        """All events of the key, whatever the moment."""
        return KEY_BEGIN, KEY_END

    def ahead(self, tick: int) -> Ahead:
        """To the end of the key."""
        return _TO_THE_END

    def asking(self, setting: Setting) -> Asking:
        """The ends of keys ask."""
        return _AtEnds()


class _WholeKey(Bounding):
    def of(self, rows: SortedRows, held: Array | None = None) -> Bounds:
        """The bounds of the next rows."""
        return Bounds(rows.runs, Growing(), ahead=_TO_THE_END)


class _AtEnds(Asking):
    def stops(self, rows: SortedRows, bounds: Bounds) -> Array:
        """An answer behind the last row of each key."""
        return ends_of_runs(rows, np.zeros(rows.size, np.bool_))


def whole(*, min_rows: int | None = None, of: Counted = "rows") -> WholeWindow:
    """A window of all rows of the key, those that follow the current one among them.

    In `wr.over` every row gets the answer of its whole key. In `wr.slide` there is one answer for
    each key. Streams refuse it: a key's rows are never all there. Use `wr.expanding()` instead.

    Args:
        min_rows: answers are null until the window holds so many rows;
        of: with "values", until it holds so many that are not null.

    Raises:
        InvalidArgument: if an argument is not what it should be, or two do not go together.

    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"t": [1, 2, 3], "x": [5.0, 1.0, 6.0]})
    >>> wr.over(table, order="t", windows=wr.whole(), aggs=wr.mean("x"))["mean_x"].to_pylist()
    [4.0, 4.0, 4.0]
    """
    return WholeWindow().with_min_rows(min_rows, of)
