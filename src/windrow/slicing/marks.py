"""The edges of many windows between two bounds, marked directly.

A shared plan tabulates the edges of all windows within their composite slide. That is the least
common multiple of the slides, and may be astronomically long. Between two given bounds, as in a
table at rest or in one block of a stream, no such table is needed. There the edges of each window
are two arithmetic progressions, and their union costs one sort, whatever the slides have in common.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from windrow.slicing import pairs
from windrow.slicing.periodic import Integers, PeriodicWindow


def edges_between(windows: Iterable[PeriodicWindow], low: int, high: int) -> Integers:
    """All starts and ends of all windows in [low, high), in order, each once.

    >>> edges_between([PeriodicWindow(6, 4), PeriodicWindow(5, 5)], 0, 13)
    array([ 0,  2,  4,  5,  6,  8, 10, 12])
    """
    # Windows that differ only in how many whole slides they hold have the same edges.
    distinct = dict.fromkeys(pairs.slices(window) for window in windows)
    marked = [slices.edges_between(low, high) for slices in distinct]
    edges = np.sort(np.concatenate([np.empty(0, np.int64), *marked]))
    # Not `np.unique`: it hashes integers, which took 20 times as long for 64 windows.
    first_of_equals = np.ones(edges.size, np.bool_)
    np.not_equal(edges[1:], edges[:-1], out=first_of_equals[1:])
    return edges[first_of_equals]
