"""The answers of a window in `wr.slide`: which rows each is about, where it begins and ends.

There are two ways to find them. In a table, or batch after batch, answers are complete when their
rows are there (`find`). In a stream, an answer is given when it is final: no event to come can
change it (`final`). An answer that a row or a mark asks for is final with that row, one that a
clock asks for at the end of its tick, and one of a session when a gap has passed since its last
row. So whether it became final between two frontiers follows from the answer alone. Nothing has to
be known of the answers that were given before.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from windrow.windows.bounds import Bounding, Bounds
from windrow.windows.key_rows import KeyRows
from windrow.windows.key_runs import NEVER
from windrow.windows.reach import Past
from windrow.windows.sorted_rows import SortedRows

Array = np.ndarray[Any, Any]

#: how many rows a window holds, where a stream keeps that of each key
HELD = "held"
_NO_ROWS = np.empty(0, np.int64)


@dataclass(frozen=True)
class Extents:
    """The answers of one window, in the order of keys and time.

    Without `begins` and `ends`, an answer is named after the order values of its oldest and newest
    row; with them, after times.

    Attributes:
        firsts, stops: the oldest row of each answer, and the row behind its newest.
        front: the oldest row that an answer to come may hold.
        openings: the rows of this batch at which answers to come may begin.
        names: which windows of its schedule the answers are of, if it has one.
    """

    firsts: Array
    stops: Array
    begins: Array | None = None
    ends: Array | None = None
    front: int = 0
    openings: Array = field(default_factory=lambda: _NO_ROWS)
    names: Array = field(default_factory=lambda: _NO_ROWS)


class Span(NamedTuple):
    """What became final: the time from `before` to before `frontier`, in ticks."""

    before: int
    frontier: int

    def makes_final(self, final: Array) -> Array:
        """Which answers became final, of those that are final at these times."""
        made: Array = (final > self.before) & (final <= self.frontier)
        return made


@dataclass(frozen=True)
class FinalAnswers:
    """The answers of a window that became final in a stream, and what those to come need.

    Attributes:
        extents: the answers that became final.
        fronts: of each key, the oldest row that answers to come may hold.
        due: of each key, when its next answer is final that takes no more events, or `NEVER`.
        expiry: of each key, from when on none of its rows are needed, or `NEVER`.
        numbers: of each key, what is to be kept beside its rows (see `Answering.ledger`).
    """

    extents: Extents
    fronts: Array
    due: Array
    expiry: Array
    numbers: Mapping[str, Array] = field(default_factory=dict)


class Answering(ABC):
    """Finds the answers of one window, along one stream of rows."""

    #: the numbers that a stream keeps of each key
    ledger: tuple[str, ...] = ()

    @abstractmethod
    def find(self, rows: SortedRows) -> Extents:
        """The answers that are complete with a table, or with the next batch."""

    def count(self, rows: SortedRows) -> int:
        """About how many they are, at most."""
        return rows.size + 1

    @abstractmethod
    def final(self, rows: KeyRows, span: Span, numbers: Mapping[str, Array]) -> FinalAnswers:
        """The answers that became final; `numbers` are those of the ledger."""


# Windows that rows, marks, gaps or a clock ask for -----------------------------------------------


@dataclass(frozen=True)
class FinalStops:
    """After which rows there is an answer that became final.

    Attributes:
        stops: the rows behind the newest of each answer.
        due, numbers: as in `FinalAnswers`.
    """

    stops: Array
    due: Array
    numbers: Mapping[str, Array] = field(default_factory=dict)


class Asking(ABC):
    """Says after which rows a window answers, along one stream of rows."""

    #: answers end a whole number of strides behind the key's first row
    stride: int = 1
    #: whether a window may be asked for after it is closed, as by a clock
    waits: bool = False
    #: the numbers that a stream keeps of each key
    ledger: tuple[str, ...] = ()

    @abstractmethod
    def stops(self, rows: SortedRows, bounds: Bounds) -> Array:
        """The rows behind the newest of each answer, in a table or the next batch."""

    def final(
        self, rows: KeyRows, bounds: Bounds, span: Span, numbers: Mapping[str, Array]
    ) -> FinalStops:
        """The rows behind the newest of each answer that became final: here, with that row."""
        stops = self.stops(rows, bounds)
        return FinalStops(stops[rows.is_fresh[stops - 1]], np.full(rows.count, NEVER))

    def times(
        self, rows: SortedRows, firsts: Array, stops: Array, front: int
    ) -> tuple[Array | None, Array | None]:
        """When answers begin and end, where that is not their oldest and newest row."""
        return None, None


class Asked(Answering):
    """A window's answers, from its bounds and what asks for them."""

    def __init__(self, bounding: Bounding, asking: Asking, remembers: bool) -> None:
        self._bounding, self._asking, self._remembers = bounding, asking, remembers
        self._past = Past()
        self.ledger = (*asking.ledger, HELD) if remembers else asking.ledger

    def find(self, rows: SortedRows) -> Extents:
        """The answers that are complete with a table, or with the next batch."""
        bounds = self._bounding.of(rows)
        stops = self._asking.stops(rows, bounds)
        found = bounds.follow(self._past, rows, stops, self._asking.stride, self._asking.waits)
        firsts, stops = _with_rows(found.firsts, stops)
        times = self._asking.times(rows, firsts, stops, found.front)
        return Extents(firsts, stops, *times, found.front, found.openings)

    def final(self, rows: KeyRows, span: Span, numbers: Mapping[str, Array]) -> FinalAnswers:
        """The answers that became final."""
        bounds = self._bounding.of(rows, numbers.get(HELD))
        final = self._asking.final(rows, bounds, span, numbers)
        firsts, stops = _with_rows(bounds.reach.firsts(bounds.runs, final.stops), final.stops)
        fronts, expiry = bounds.fronts(rows, span.frontier, self._asking.waits)
        times = self._asking.times(rows, firsts, stops, rows.size)
        held = {HELD: rows.stops - fronts} if self._remembers else {}
        return FinalAnswers(
            Extents(firsts, stops, *times), fronts, final.due, expiry, {**final.numbers, **held}
        )


def _with_rows(firsts: Array, stops: Array) -> tuple[Array, Array]:
    """The answers of windows that hold a row: a policy may let all rows leave."""
    held = firsts < stops
    return (firsts, stops) if held.all() else (firsts[held], stops[held])


def ends_of_runs(rows: SortedRows, changed: Array) -> Array:
    """The rows behind the last of a key, or before a row at which something changed."""
    marked = np.append(changed, rows.ends)
    marked[rows.runs[:-1]] = True
    if rows.since is None:
        marked[0] = False
    return np.flatnonzero(marked)
