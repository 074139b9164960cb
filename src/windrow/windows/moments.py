"""Moments among events: from which event to which the windows go that end at a moment.

    key       ann             | bob  | eve        bob has no moments, eve no events
    events    0  1  2  3  4   | 5  6 |
    moments     0     1     2 |      |  3         runs begin at 0 and 3
    begins    0                         7         of the events of each run's key
    ends      5                         7

Both are sorted by key and order, their keys in one order. Times are ticks, or ranks that compare as
the values of the order columns do.

1. Where no limit falls along a key, neither `firsts` nor `stops` fall along all moments.
2. A window without events ends where it begins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from windrow.algebra.arrays import read_only
from windrow.compiler.array_loops import compiled_loop
from windrow.windows.edges import Edge, Edges
from windrow.windows.spans import FirstsAndStops
from windrow.work import sizes
from windrow.work.lazily import lazily
from windrow.work.threads import even_pieces, in_threads

Array = np.ndarray[Any, Any]

#: so many events are passed one by one; from there on, steps double
_NEAR = 8


@dataclass(frozen=True)
class Moments:
    """Moments sorted by key and order, and where the events of their keys are.

    Attributes:
        times: of the moments.
        runs: the moments at which a new key begins, closed by one that never comes (`key_runs`).
        begins, ends: of each run, the first event of its key and the one behind the last; they do
            not fall from run to run.
        events: the times of all events, sorted within each key; none is missing.
        timed: which moments have a time, None for all; the others come first in their run.
    """

    times: Array
    runs: Array
    begins: Array
    ends: Array
    events: Array = field(repr=False)
    timed: Array | None = None

    @property
    def size(self) -> int:
        """How many moments there are."""
        return len(self.times)

    def spans(self, edges: Edges) -> FirstsAndStops:
        """The first event of the window of each moment, and the one behind its last."""
        return self.spans_of({"": edges})[""]

    def spans_of(self, windows: Mapping[str, Edges], threads: int = 1) -> dict[str, FirstsAndStops]:
        """For each window, the first event of each moment and the one behind its last."""
        limits = {
            _limit(edge) for edges in windows.values() for edge in edges if not edge.is_at_end
        }
        places = {limit: self._places(limit, threads) for limit in limits}

        def found(name: str) -> FirstsAndStops:
            firsts, stops = (self._edge(edge, places) for edge in windows[name])
            stops = np.maximum(firsts, stops)
            if self.timed is None:
                return firsts, stops
            begins, _ends = self._of_keys  # without a moment there is no window
            return np.where(self.timed, firsts, begins), np.where(self.timed, stops, begins)

        return dict(zip(windows, in_threads(found, windows, threads), strict=True))

    def _edge(self, edge: Edge, places: Mapping[Edge, Array]) -> Array:
        """Where an edge lies, for each moment; `places` are those of the limits."""
        begins, ends = self._of_keys
        if edge.is_at_end:
            return begins if edge.rows < 0 else ends
        found = places[_limit(edge)]
        return np.clip(found + self._bounded(edge.rows), begins, ends) if edge.rows else found

    def _bounded(self, rows: int) -> int:
        """Not more rows than there are: sums of larger numbers would not fit."""
        return max(-len(self.events), min(rows, len(self.events)))

    @lazily
    def _of_keys(self) -> tuple[Array, Array]:
        """For each moment, where the events of its key begin and end."""
        lengths = np.diff(np.append(self.runs[:-1], self.size))
        return np.repeat(self.begins, lengths), np.repeat(self.ends, lengths)

    def _places(self, limit: Edge, threads: int) -> Array:
        """For each moment, the event behind all events of its key up to the limit."""
        places = np.empty(self.size, np.int64)
        among = self.runs, self.begins, self.ends, self.events, limit.limits(self.times)
        given = [*map(read_only, among), places, _NEAR]

        def walk(piece: tuple[int, int]) -> None:
            compiled_loop(_walk)(*given, *piece)

        wanted = max(min(threads, self.size // sizes.current().smallest_piece), 1)
        in_threads(walk, even_pieces(self.size, wanted), threads)
        return places


def _limit(edge: Edge) -> Edge:
    """The edge at the place of its limit: edges of several windows have one in common."""
    return replace(edge, rows=0)


def _walk(
    runs: Array, begins: Array, ends: Array, events: Array, limits: Array, places: Array,
    near: int, moment: int, stop: int,
) -> None:  # fmt: skip
    run = np.searchsorted(runs, moment + 1) - 1
    while moment < stop:
        begin, end = begins[run], ends[run]
        place = begin
        last = min(runs[run + 1], stop)
        while moment < last:
            limit = limits[moment]
            low, high = place, place
            if place > begin and events[place - 1] > limit:  # limits by a calendar may go back
                low = begin
            else:
                until = min(place + near, end)
                while high < until and events[high] <= limit:
                    high += 1
                low = high
                if high == until:
                    step = near
                    while high < end and events[high] <= limit:
                        low = high + 1
                        high = min(high + step, end)
                        step *= 2
            while low < high:
                middle = (low + high) // 2
                if events[middle] <= limit:
                    low = middle + 1
                else:
                    high = middle
            place = low
            places[moment] = place
            moment += 1
        run += 1
