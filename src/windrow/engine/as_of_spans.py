"""The spans of one window of `as_of`, in an order in which windows only move forward.

Loops over spans want neither end to fall. From moment to moment of a key only a calendar's windows
begin earlier: one month before March 28, 23:00 is later than one month before March 29, 1:00. There
the moments go in layers. A moment is in the layer after the one before it if its window falls back.

    firsts     3  5  8  4  6 | 20  22  21    of the moments of two keys
    layer 0    3  5  8         20  22        never falls: keys are in the order of their events
    layer 1             4  6           21
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from windrow.algebra.arrays import read_only
from windrow.compiler.array_loops import compiled_loop
from windrow.windows.moments import Moments
from windrow.windows.walks import runs_of
from windrow.work import sizes

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class AskedSpans:
    """The spans of one window.

    Attributes:
        firsts, stops: the first event of each span, and the one behind its last; between two marks
            neither falls.
        marks: where layers begin, and where the last one ends.
        places: the span of each moment; None if they are in the moments' order.
    """

    firsts: Array
    stops: Array
    marks: list[int]
    places: Array | None = None

    @classmethod
    def of(cls, moments: Moments, firsts: Array, stops: Array) -> AskedSpans:
        """The spans of all moments, in layers if there is need for them."""
        falls = np.zeros(moments.size, np.bool_)
        falls[1:] = firsts[1:] < firsts[:-1]
        if not falls.any():
            return cls(firsts, stops, [0, moments.size])
        layers: Array = np.cumsum(falls)
        lengths = np.diff(np.append(moments.runs[:-1], moments.size))
        layers -= np.repeat(layers[moments.runs[:-1]], lengths)
        order = np.argsort(layers, kind="stable")
        places = np.empty(moments.size, np.int64)
        places[order] = np.arange(moments.size)
        marks = np.searchsorted(layers[order], np.arange(int(layers.max()) + 2))
        return cls(firsts[order], stops[order], marks.tolist(), places)

    def among(self, events: Array) -> AskedSpans:
        """The same spans among some of the events, all that they hold, which are sorted."""

        def numbered(edges: Array) -> Array:
            layers = [
                runs_of(events, edges[begin:stop] - 1) for begin, stop in pairwise(self.marks)
            ]
            return np.concatenate(layers) + 1

        return replace(self, firsts=numbered(self.firsts), stops=numbered(self.stops))

    def pieces(self, wanted: int) -> list[tuple[int, int]]:
        """The spans in pieces for so many threads, or a few more; none goes on in another layer."""
        return [
            piece
            for begin, stop in pairwise(self.marks)
            if begin < stop
            for piece in pairwise(self._cuts(begin, stop, wanted))
        ]

    def _cuts(self, begin: int, stop: int, wanted: int) -> list[int]:
        """Where one layer is cut: pieces have about as many events and answers each."""
        firsts, stops = self.firsts[begin:stop], self.stops[begin:stop]
        work = stops - firsts[0] + np.arange(stop - begin)
        total = int(work[-1])
        wanted = min(wanted, total // (2 * sizes.current().smallest_piece))
        if wanted < 2:
            return [begin, stop]
        cuts = np.searchsorted(work, [total * piece // wanted for piece in range(1, wanted)])
        cuts = np.unique(np.clip(cuts, 1, stop - begin - 1))
        # Each piece repeats the events that fill its first window. It pays while they are few.
        repeated = int(np.maximum(stops[cuts - 1] - firsts[cuts], 0).sum())
        cuts = cuts if repeated < total // 2 else cuts[:0]
        return [begin, *(begin + cuts).tolist(), stop]


def reached_events(asked: Iterable[AskedSpans], size: int) -> Array | None:
    """The events that some span holds; None if they are most of all events."""
    asked = list(asked)
    layers = [
        (read_only(spans.firsts[begin:stop]), read_only(spans.stops[begin:stop]))
        for spans in asked
        for begin, stop in pairwise(spans.marks)
    ]
    reached = np.zeros(size, np.bool_)
    held = sum(compiled_loop(_count_held)(*layer) for layer in layers)
    if 2 * held > size:
        return None
    for layer in layers:
        compiled_loop(_mark_held)(*layer, reached)
    return np.flatnonzero(reached)


def _count_held(firsts: Array, stops: Array) -> int:
    held = done = 0
    for place in range(len(firsts)):
        held += max(stops[place] - max(firsts[place], done), 0)
        done = max(stops[place], done)
    return held


def _mark_held(firsts: Array, stops: Array, reached: Array) -> None:
    done = 0
    for place in range(len(firsts)):
        for event in range(max(firsts[place], done), stops[place]):
            reached[event] = True
        done = max(stops[place], done)
