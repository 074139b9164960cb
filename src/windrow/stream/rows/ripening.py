"""Sliding windows over the rows of keys: which answers became final, and what others need.

An answer is final when no event to come can change it: one that a row or a mark asks for as soon as
that row is final; one that a clock asks for at the end of its tick; one of a session when a gap has
passed since its last row. So whether it became final between two frontiers follows from the answer
alone, and nothing has to be known of the answers that were given before.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.engine.deltas import Measure
from windrow.engine.extents import Extents
from windrow.engine.policy_counts import PolicyKernels
from windrow.engine.row_windows import extent_of
from windrow.errors import InvalidArgument
from windrow.slicing import PeriodicWindow
from windrow.stream.rows.key_rows import KeyRows, later
from windrow.stream.rows.rows_group import Span, counts_held
from windrow.stream.state import NONE
from windrow.windows import (
    DeltaWindow,
    EveryRows,
    EveryTime,
    PolicyWindow,
    PunctuatedWindow,
    RowsWindow,
    SessionWindow,
    TimeWindow,
    Window,
    periods,
    walks,
)
from windrow.windows.key_runs import NEVER

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Ripe:
    """What came of a window.

    Attributes:
        extents: the answers that became final.
        fronts, due, expiry: of each key, as in `kept_rows.Needed`.
        numbers: of each key, what is to be known beside its rows.
    """

    extents: Extents
    fronts: Array
    due: Array
    expiry: Array
    numbers: dict[str, Array] = field(default_factory=dict)


#: from rows and what became final to what came of a window
Ripening = Callable[[KeyRows, Span], Ripe]


def ripening(
    place: int,
    name: str,
    window: Window,
    tick: int,
    schema: pa.Schema,
    nullable: AbstractSet[str],
) -> tuple[Ripening, list[str]]:
    """What finds the answers of a window, and the numbers that it has kept of each key.

    Args:
        place, name: tell the window from others, in the ledger and in messages.
        window: which answers by the same rules as on a table.
        tick: of the order column, in nanoseconds.
        schema: the columns of rows.
        nullable: those that may hold nulls.
    """
    if isinstance(window, SessionWindow):
        return _Sessions(window.gap // tick), []
    if isinstance(window, PunctuatedWindow):
        return _Punctuated(window.column), []
    if isinstance(window, TimeWindow) and isinstance(window.every, EveryTime):
        return _Periodic(in_ticks(name, window.range, window.every, tick)), []
    if isinstance(window, PolicyWindow):
        eviction: _Eviction = _Policy(PolicyKernels(window, schema, nullable), f"held_{place}")
        names = [f"held_{place}"]
    else:
        eviction, names = _eviction(window, tick), []
    if isinstance(window.every, EveryTime):
        clock = in_ticks(name, window.every.time, window.every, tick)
        return _Ticks(clock, eviction), names
    assert isinstance(window.every, EveryRows)
    seen = f"seen_{place}"
    return _AfterRows(min(window.every.rows, NEVER), seen, eviction), [seen, *names]


def in_ticks(name: str, extent: int, every: EveryTime, tick: int) -> PeriodicWindow:
    """A window of time that a clock asks for, from nanoseconds to ticks of so many."""
    try:
        return PeriodicWindow(extent // tick, every.time // tick, every.offset // tick)
    except InvalidArgument as error:
        raise InvalidArgument(f"windows: {name!r}: {error}") from None


# Eviction ----------------------------------------------------------------------------------------


class Evicted(NamedTuple):
    """The oldest row of each answer; of each key, as in `Ripe`."""

    firsts: Array
    fronts: Array
    expiry: Array
    numbers: dict[str, Array]


@dataclass(frozen=True)
class _Newest:
    """The newest rows."""

    count: int

    def evicted(self, rows: KeyRows, stops: Array, _frontier: int, pending: int) -> Evicted:
        kept = self.count - 1 + pending
        fronts = np.maximum(rows.starts, rows.stops - kept)
        firsts = walks.newest_rows(rows.runs, stops, self.count)
        return Evicted(firsts, fronts, np.full(rows.count, NEVER), {})


@dataclass(frozen=True)
class _Behind:
    """The rows that are less than an extent older; they answer after rows."""

    extent: int

    def evicted(self, rows: KeyRows, stops: Array, frontier: int, _pending: int) -> Evicted:
        firsts, _front = walks.less_behind(rows.runs, stops, rows.times, self.extent)
        fronts = rows.first_not_before(max(frontier - self.extent + 1, NONE))
        return Evicted(firsts, fronts, later(rows.last_times, self.extent), {})


@dataclass(frozen=True)
class _Delta:
    """The rows whose measure lies less than an amount behind."""

    window: DeltaWindow

    def evicted(self, rows: KeyRows, stops: Array, _frontier: int, _pending: int) -> Evicted:
        measure, amount = Measure(self.window).read(rows.columns[self.window.column])
        asked = walks.cuts([stops, rows.stops], rows.size)
        found, _front = walks.less_behind(rows.runs, asked, measure, amount)
        firsts, fronts = (found[walks.runs_of(asked, each)] for each in (stops, rows.stops))
        return Evicted(firsts, fronts, np.full(rows.count, NEVER), {})


@dataclass(frozen=True)
class _Policy:
    """The rows that a policy lets stay."""

    policy: PolicyKernels
    #: where the ledger has how many rows were left
    held: str

    def evicted(self, rows: KeyRows, stops: Array, _frontier: int, _pending: int) -> Evicted:
        counts, last = counts_held(self.policy.counts(), rows, rows.numbers(self.held))
        never = np.full(rows.count, NEVER)
        return Evicted(stops - counts[stops - 1], rows.stops - last, never, {self.held: last})


_Eviction = _Newest | _Behind | _Delta | _Policy


def _eviction(window: Window, tick: int) -> _Eviction:
    if isinstance(window, RowsWindow):
        return _Newest(min(window.range, NEVER))
    if isinstance(window, TimeWindow):
        return _Behind(extent_of(window, tick))
    assert isinstance(window, DeltaWindow)
    return _Delta(window)


# Triggers ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _AfterRows:
    """After every so many rows of a key."""

    every: int
    #: where the ledger has how many rows came since the last answer
    seen: str
    eviction: _Eviction

    def __call__(self, rows: KeyRows, span: Span) -> Ripe:
        seen = rows.numbers(self.seen)
        new = rows.stops - rows.fresh
        fresh = np.flatnonzero(rows.is_fresh)
        keys = rows.key_of[fresh]
        counted = seen[keys] + fresh - rows.fresh[keys] + 1
        stops = fresh[counted % self.every == 0] + 1
        firsts, fronts, expiry, numbers = self.eviction.evicted(rows, stops, span.frontier, 0)
        numbers[self.seen] = (seen + new) % self.every
        return Ripe(_with_rows(firsts, stops), fronts, np.full(rows.count, NEVER), expiry, numbers)


@dataclass(frozen=True)
class _Ticks:
    """At every tick of a clock that has seen a row since the one before."""

    clock: PeriodicWindow
    eviction: _Eviction

    def __call__(self, rows: KeyRows, span: Span) -> Ripe:
        ends = self.clock.last_starts(rows.times) + self.clock.slide
        stops = _ends_of_runs(rows, ends[1:] != ends[:-1])
        stops = stops[span.ripens(ends[stops - 1])]
        firsts, fronts, expiry, numbers = self.eviction.evicted(rows, stops, span.frontier, 1)
        last = ends[rows.stops - 1]
        due = np.where(last > span.frontier, last, NEVER)
        return Ripe(_with_rows(firsts, stops), fronts, due, expiry, numbers)


def _with_rows(firsts: Array, stops: Array) -> Extents:
    """The answers of windows that hold a row: a policy may let all rows leave."""
    held = firsts < stops
    return Extents(firsts[held], stops[held])


def _ends_of_runs(rows: KeyRows, changed: Array) -> Array:
    """The rows behind the last of a key, or before a row at which something changed."""
    ends = np.append(changed, True)
    ends[rows.stops - 1] = True
    return np.flatnonzero(ends) + 1


# Windows with a trigger of their own -------------------------------------------------------------


@dataclass(frozen=True)
class _Punctuated:
    """The rows since the last mark, at every mark."""

    column: str

    def __call__(self, rows: KeyRows, _span: Span) -> Ripe:
        marks = pc.fill_null(rows.columns[self.column], False).to_numpy(zero_copy_only=False)
        stops = np.flatnonzero(marks) + 1
        firsts = walks.since_last(rows.runs, stops, 0)
        latest = np.append(0, stops)[np.searchsorted(stops, rows.stops, "right")]
        new = rows.is_fresh[stops - 1]
        never = np.full(rows.count, NEVER)
        extents = Extents(firsts[new], stops[new])
        return Ripe(extents, np.maximum(rows.starts, latest), never, never)


@dataclass(frozen=True)
class _Sessions:
    """The rows of a session, when a gap has passed since the last."""

    gap: int

    def __call__(self, rows: KeyRows, span: Span) -> Ripe:
        times = rows.times
        stops = _ends_of_runs(rows, np.diff(times) > self.gap)
        firsts = walks.since_last(rows.runs, stops, 0)
        final = later(times[stops - 1], self.gap + 1)
        is_open = final > span.frontier
        fronts, due = rows.stops.copy(), np.full(rows.count, NEVER)
        keys = rows.key_of[firsts[is_open]]
        fronts[keys], due[keys] = firsts[is_open], final[is_open]
        ripe = span.ripens(final)
        firsts, stops = firsts[ripe], stops[ripe]
        extents = Extents(firsts, stops, times[firsts], times[stops - 1] + self.gap)
        return Ripe(extents, fronts, due, due)


@dataclass(frozen=True)
class _Periodic:
    """The windows of a clock that hold a row."""

    window: PeriodicWindow

    def __call__(self, rows: KeyRows, span: Span) -> Ripe:
        window = self.window
        following = self._first_open(span.frontier)
        if span.before == NONE:
            low = int(window.first_starts(rows.times.min(keepdims=True))[0])
        else:
            low = self._first_open(span.before)
        begins, firsts, stops = periods.held_between(
            rows.runs, rows.times, window.range, window.slide, low, following - window.slide
        )
        fronts = rows.first_not_before(following)
        due = np.where(fronts < rows.stops, following + window.range, NEVER)
        return Ripe(Extents(firsts, stops, begins, begins + window.range), fronts, due, due)

    def _first_open(self, frontier: int) -> int:
        """The begin of the first window that ends behind a frontier."""
        window = self.window
        return int(window.last_starts(np.array([frontier - window.range]))[0]) + window.slide
