"""The spans of one window of `as_of`, in an order in which windows only move forward.

Loops over spans want neither end to fall. From moment to moment of a key only a calendar's windows
begin earlier: one month before March 28, 23:00 is later than one month before March 29, 1:00. There
the moments go in layers. A moment is in the layer after the one before it if its window falls back.

    firsts        3  5  8 | 2  4  9     of two keys' moments, in one order
                  3  5  8   2           layer 0   ... which never falls, because keys are
                        4  9            layer 1       in the order of their events
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from windrow.windows.edges import Edges
from windrow.windows.moments import Moments
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
    def of(cls, moments: Moments, edges: Edges) -> AskedSpans:
        """The spans of all moments."""
        firsts, stops = moments.spans(edges)
        falls = np.zeros(moments.size, np.bool_)
        if edges[0].since is not None:
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
