"""Windows that only grow: all rows of a key so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from windrow.windows.bounds import Bounding, Bounds
from windrow.windows.calls import call_text
from windrow.windows.edges import AT_MOMENT, KEY_BEGIN, Edges
from windrow.windows.min_rows import Counted
from windrow.windows.reach import Growing
from windrow.windows.setting import Setting
from windrow.windows.sorted_rows import SortedRows
from windrow.windows.triggers import Every, Trigger, trigger
from windrow.windows.window import Window

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class ExpandingWindow(Window):
    """All rows of a key so far."""

    every: Trigger | None = None

    reach = Growing
    holds_all = True

    @property
    def default_name(self) -> str:
        """The window's name if the user gives none."""
        return "expanding"

    def call(self) -> str:
        """The call that makes it."""
        return call_text("expanding", every=self.every)

    def bounding(self, setting: Setting) -> Bounding:
        """All rows since the key began."""
        return SinceKey()

    def edges(self, tick: int) -> Edges:
        """All events of the key up to the moment."""
        return KEY_BEGIN, AT_MOMENT


class SinceKey(Bounding):
    """The window begins anew with each key."""

    def of(self, rows: SortedRows, held: Array | None = None) -> Bounds:
        """The bounds of the next rows."""
        return Bounds(rows.runs, Growing())


def expanding(
    every: Every = None, *, min_rows: int | None = None, of: Counted = "rows"
) -> ExpandingWindow:
    """A window of all rows of the key so far, the current one among them.

    Nothing leaves it, so it costs one partial for each key, however many rows the key has. On a
    stream, state is that partial.

    Args:
        every: for `wr.slide`, when it answers: after so many rows of its key, or, given a duration,
            at every tick of a clock that has seen a row since the one before.
        min_rows: answers are null until the window holds so many rows;
        of: with "values", until it holds so many that are not null.

    Raises:
        InvalidArgument: if an argument is not what it should be, or two do not go together.

    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"t": [1, 2, 3, 4], "x": [5.0, 1.0, 7.0, 2.0]})
    >>> wr.over(table, order="t", windows=wr.expanding(), aggs=wr.max("x"))["max_x"].to_pylist()
    [5.0, 5.0, 7.0, 7.0]
    """
    return ExpandingWindow(trigger(every, None)).with_min_rows(min_rows, of)
