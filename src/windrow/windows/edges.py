"""Edges: where a window begins and ends as of a moment, among the events of its key.

    events        a   b   c     d   e
    moment                   ^                  3 events lie up to it
    wr.rows(2)        [b   c]                   from 2 rows before that place to it
    wr.time(...)    [ b   c ]                   from the place of an earlier limit to it

A moment lies between events, and so do edges. That of a window of rows is counted from the moment's
place, that of a window of time is the place of another limit. So the events of a window are a span,
for every kind alike (`moments.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from windrow.windows.reach import EARLIEST, UNLIMITED

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Edge:
    """A place between events: behind those up to a limit, and then so many rows further.

    Attributes:
        ticks: how long after the moment the limit is; with -1, events of the moment lie behind it.
        rows: how many rows further; the edge stays among the events of its key.
        since: from moments to limits, where they are not a fixed distance apart.
    """

    ticks: int = 0
    rows: int = 0
    since: Callable[[Array], Array] | None = None

    def limits(self, moments: Array) -> Array:
        """The limits of some moments; one that no time can be is the earliest or the latest."""
        if self.since is not None:
            return self.since(moments)
        # Bounded before they move, because sums would overflow.
        if self.ticks < 0:
            return np.maximum(moments, EARLIEST - self.ticks) + self.ticks
        return np.minimum(moments, UNLIMITED - self.ticks) + self.ticks if self.ticks else moments

    @property
    def is_at_end(self) -> bool:
        """Whether it lies where its key begins or ends, whatever the moment."""
        return abs(self.rows) == UNLIMITED


#: behind all events up to the moment
AT_MOMENT = Edge()
#: before the events of the moment
BEFORE_MOMENT = Edge(ticks=-1)
#: where the key begins, and where it ends
KEY_BEGIN, KEY_END = Edge(rows=-UNLIMITED), Edge(rows=UNLIMITED)

#: where a window begins and ends
Edges = tuple[Edge, Edge]


def reached(edges: Iterable[Edges], moments: Array) -> tuple[int, int]:
    """Between which times all events lie that windows of some moments hold.

    They are later than the first time, and not later than the second.
    """
    oldest, newest = UNLIMITED, EARLIEST
    for begin, end in edges:
        counted = begin.rows or begin.since
        first = EARLIEST if counted else int(begin.limits(moments.min()))
        last = UNLIMITED if end.rows else int(end.limits(moments.max()))
        oldest, newest = min(oldest, first), max(newest, last)
    return oldest, newest
