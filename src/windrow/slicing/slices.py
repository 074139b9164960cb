"""Consecutive slices whose edges repeat with a period.

Every slicing technique and every shared plan has the same picture: edges within one period,
repeated for ever in both directions. A slice has the number of the edge where it begins; the first
edge at or after zero has number 0. So a slice's number says where it lies, and numbers follow the
order of events.

      period 5, edges 1 and 3

     -4  -2       1   3       6   8      11
      |---|-------|---|-------|---|-------|
       -2    -1     0     1     2     3         the slices' numbers

Invariants:

1. 0 <= edges[0] < edges[1] < ... < period.
2. Slice i begins at edges[i mod n] + (i div n) × period and ends where slice i + 1 begins.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from windrow.slicing.periodic import LIMIT, Integers

# The intermediate arrays of a block stay in the processor's cache; whole passes take twice as long.
BLOCK = 2**14

# For so few edges, comparing with each of them is faster than looking up the rank.
FEW_EDGES = 2

# A table of so many cells stays in the cache, where a lookup is faster than a search.
MOST_CELLS = 2**17


class Covering(NamedTuple):
    """The slices that windows are made of, one entry per window.

    Attributes:
        first: the number of the window's oldest slice.
        end: the number behind its newest whole slice.
        running: whether the window also reads slice `end`, as it stands when the window ends.
    """

    first: Integers
    end: Integers
    running: NDArray[np.bool_]


@dataclass(frozen=True)
class Slices:
    """Slices that begin at `edges` and at those plus any multiple of `period`.

    >>> slices = Slices(period=5, edges=(1, 3))
    >>> slices.edges_between(-5, 9)
    array([-4, -2,  1,  3,  6,  8])
    >>> slices.slice_of(np.array([-4, 0, 1, 2, 3, 6]))
    array([-2, -1,  0,  0,  1,  2])
    """

    period: int
    edges: tuple[int, ...]

    def __post_init__(self) -> None:
        assert 1 <= self.period < LIMIT, "a period fits 64 bits"
        assert self.edges, "invariant 1"
        assert self.edges[0] >= 0, "invariant 1"
        assert self.edges[-1] < self.period, "invariant 1"
        assert all(older < newer for older, newer in pairwise(self.edges)), "invariant 1"

    @property
    def lengths(self) -> tuple[int, ...]:
        """How long each slice of a period is."""
        following = (*self.edges[1:], self.edges[0] + self.period)
        return tuple(end - start for start, end in zip(self.edges, following, strict=True))

    def slice_at(self, time: int) -> int:
        """The number of the slice that holds one time or position."""
        period, phase = divmod(int(time), self.period)
        return period * len(self.edges) + bisect_right(self.edges, phase) - 1

    def slice_of(self, times: Integers) -> Integers:
        """The number of the slice that holds each time or position."""
        # Safe casting refuses floats. Other casting would silently truncate them.
        times = np.asarray(times).astype(np.int64, casting="safe", copy=False)
        if self.edges == (0,):
            return times // self.period
        flat = times.reshape(-1)
        numbers = np.empty_like(flat)
        for begin in range(0, flat.size, BLOCK):
            block = flat[begin : begin + BLOCK]
            periods = block // self.period
            # A product beyond 64 bits wraps, and the difference wraps back.
            phases = block - periods * self.period
            periods *= len(self.edges)
            np.add(periods, self._ranks(phases), out=numbers[begin : begin + BLOCK])
        return numbers.reshape(times.shape)

    def starts(self, numbers: Integers) -> Integers:
        """Where each slice begins."""
        if len(self.edges) == 1:
            return numbers * self.period + self.edges[0]
        periods, ranks = np.divmod(numbers, len(self.edges))
        return periods * self.period + self._edges[ranks]

    def ends(self, numbers: Integers) -> Integers:
        """Where each slice ends, which is where the next begins."""
        return self.starts(numbers + 1)

    def edges_between(self, low: int, high: int) -> Integers:
        """All edges in [low, high), in order."""
        if low >= high:
            return np.empty(0, np.int64)
        first, end = self.slice_at(low - 1) + 1, self.slice_at(high - 1) + 1
        return self.starts(np.arange(first, end, dtype=np.int64))

    def covering(self, starts: Integers, ends: Integers) -> Covering:
        """The slices of the windows [start, end); starts must be edges.

        >>> Slices(period=3, edges=(0,)).covering(np.array([0, 3]), np.array([9, 13]))
        Covering(first=array([0, 1]), end=array([3, 4]), running=array([False,  True]))
        """
        end = self.slice_of(ends)
        return Covering(self.slice_of(starts), end, self.starts(end) != ends)

    def _ranks(self, phases: Integers) -> Integers:
        """The number of the slice that holds each phase of period 0; -1 before the first edge."""
        if len(self.edges) <= FEW_EDGES:
            ranks = np.full(phases.shape, -1, np.int64)
            for edge in self.edges:
                ranks += phases >= edge
            return ranks
        if self._cells is None:
            return np.searchsorted(self._edges, phases, side="right") - 1
        return self._cells[(phases + self._shift) // self._unit]

    @cached_property
    def _edges(self) -> Integers:
        return np.array(self.edges, np.int64)

    @cached_property
    def _unit(self) -> int:
        """The longest length of which every distance between two edges is a multiple."""
        return math.gcd(self.period, *(edge - self.edges[0] for edge in self.edges))

    @property
    def _shift(self) -> int:
        """What makes every edge a multiple of the unit, when it is added."""
        return -self.edges[0] % self._unit

    @cached_property
    def _cells(self) -> Integers | None:
        """The rank of each cell of one unit in a period, if there are not too many."""
        cells = self.period // self._unit
        if cells > MOST_CELLS:
            return None
        begins = np.arange(cells + 1, dtype=np.int64) * self._unit - self._shift
        return np.searchsorted(self._edges, begins, side="right") - 1
