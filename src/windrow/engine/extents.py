"""The answers of a window over sorted rows: which rows each is about, where it begins and ends.

Rows come in stretches: a whole table is one, a stream has many. A finder holds what a window has to
remember from one stretch to the next; of the rows that follow it knows nothing, so it also says at
which rows answers to come may begin.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.engine import columns as arrow
from windrow.engine.deltas import Measure
from windrow.engine.policy_counts import Counts, PolicyKernels
from windrow.errors import InvalidArgument
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
from windrow.windows.periods import clock_windows
from windrow.windows.tail import Tail

Array = np.ndarray[Any, Any]

_LARGEST = 2**63 - 1
_NO_ROWS = np.empty(0, np.int64)


@dataclass(frozen=True)
class Stretch:
    """Rows that follow those of the stretch before; the rows before have negative numbers.

    Attributes:
        columns: the rows, sorted by key and order.
        size: how many there are.
        starts: the rows at which a key begins, the key of the rows before among them; and `NEVER`.
        follows: whether there are rows before, whose key is the first of `starts`.
        ends: whether no rows follow.
        times: the order column as integers, if a window measures time.
    """

    columns: Mapping[str, pa.Array]
    size: int
    starts: Array
    follows: bool = False
    ends: bool = True
    times: Array = field(default_factory=lambda: _NO_ROWS)

    @property
    def new_starts(self) -> Array:
        """The rows of this stretch at which a key begins, and `NEVER`."""
        return self.starts[1:] if self.follows else self.starts

    @property
    def open_start(self) -> int:
        """Where the last key begins: rows that follow may be of it."""
        return int(self.starts[-2]) if len(self.starts) > 1 else 0

    def ends_before(self, changed: Array) -> Array:
        """The rows behind the last of a key, or before a row at which something changed."""
        marked = np.append(changed, self.ends)
        marked[self.new_starts[:-1]] = True
        if not self.follows:
            marked[0] = False
        return np.flatnonzero(marked)


@dataclass(frozen=True)
class Extents:
    """The answers of one window, in the order of keys and time.

    Without `begins` and `ends`, an answer is named after the order values of its oldest and newest
    row; with them, after times.

    Attributes:
        firsts, stops: the oldest row of each answer, and the row behind its newest.
        front: the oldest row that an answer to come may hold.
        openings: the rows of this stretch at which answers to come may begin.
    """

    firsts: Array
    stops: Array
    begins: Array | None = None
    ends: Array | None = None
    front: int = 0
    openings: Array = field(default_factory=lambda: _NO_ROWS)


class Finder(Protocol):
    """Finds the answers of one window."""

    def find(self, stretch: Stretch) -> Extents:
        """The answers that are complete with a stretch."""

    def count(self, stretch: Stretch) -> int:
        """About how many they are, at most."""


def _allow(_answers: int) -> None:
    """Refuse no number of answers."""


def finder_for(
    name: str,
    window: Window,
    order: str,
    order_type: pa.DataType,
    require: Callable[[int], None] = _allow,
) -> Finder:
    """What finds the answers of a window; the name of window and order are for messages.

    `require` refuses so many answers before there is room for them.
    """
    if isinstance(window, PunctuatedWindow):
        return _Triggered(_AfterMarks(window.column), _SinceLast())
    if not (isinstance(window, TimeWindow | SessionWindow) or isinstance(window.every, EveryTime)):
        assert isinstance(window.every, EveryRows)
        rows = min(window.every.rows, _LARGEST)
        return _Triggered(_AfterRows(rows), _eviction(window, 1, rows))
    tick = arrow.nanoseconds_per_tick(order_type)
    reach = _Reach(name, order, order_type)
    if isinstance(window, SessionWindow):
        return _Sessions(window.gap // tick, reach)
    if isinstance(window.every, EveryRows):
        rows = min(window.every.rows, _LARGEST)
        return _Triggered(_AfterRows(rows), _eviction(window, tick, rows))
    assert isinstance(window.every, EveryTime)
    slide = window.every.time // tick
    offset = window.every.offset // tick % slide
    if isinstance(window, TimeWindow):
        return _Periodic(periods.Periods(window.range // tick, slide, offset), reach, require)
    return _Triggered(_AfterTicks(slide, offset, reach), _eviction(window, tick, 1))


@dataclass(frozen=True)
class _Reach:
    """The times that an order column can hold."""

    window: str
    order: str
    type: pa.DataType

    def require(self, stretch: Stretch, behind: int, ahead: int) -> None:
        """Refuse a window that would begin or end where the order column's type has no times."""
        times = stretch.times
        if not len(times):
            return
        limit = 2 ** (self.type.bit_width - 1)
        if int(times.min()) - behind < -limit or int(times.max()) + ahead >= limit:
            raise InvalidArgument(
                f"windows: {self.window!r} begins or ends at times that {self.order!r}, which is "
                f"{self.type}, cannot hold; give a shorter window, or cast the column to a "
                "coarser unit"
            )


# Triggers ----------------------------------------------------------------------------------------


class _Trigger(Protocol):
    def stops(self, stretch: Stretch) -> Array:
        """The rows behind the newest of each answer."""


@dataclass(frozen=True)
class _AfterRows:
    every: int

    def stops(self, stretch: Stretch) -> Array:
        starts = stretch.starts
        if stretch.follows:
            # As if the key had begun where the answer that is due next begins to be counted.
            starts = starts.copy()
            starts[0] = -(-int(starts[0]) % self.every)
        return walks.after_rows(starts, stretch.size, self.every)


@dataclass(frozen=True)
class _AfterMarks:
    column: str

    def stops(self, stretch: Stretch) -> Array:
        marks = pc.fill_null(stretch.columns[self.column], False)
        return walks.after_marks(marks.to_numpy(zero_copy_only=False))


class _AfterTicks:
    """At every tick of a clock that has seen a row since the one before."""

    def __init__(self, slide: int, offset: int, reach: _Reach) -> None:
        self._slide, self._offset, self._reach = slide, offset, reach
        self._last = np.zeros(1, np.int64)

    def stops(self, stretch: Stretch) -> Array:
        self._reach.require(stretch, self._slide, self._slide)
        ticks = np.append(self._last, (stretch.times - self._offset) // self._slide)
        self._last = ticks[-1:]
        return stretch.ends_before(ticks[1:] != ticks[:-1])


# Eviction ----------------------------------------------------------------------------------------


class _Eviction(Protocol):
    def firsts(self, stretch: Stretch, stops: Array) -> tuple[Array, int, Array]:
        """The oldest row of each answer; front and openings as in `Extents`."""


def _eviction(window: Window, tick: int, stride: int) -> _Eviction:
    """A stride is how many rows lie between two answers, always."""
    if isinstance(window, RowsWindow):
        return _NewestRows(min(window.range, _LARGEST), stride)
    if isinstance(window, TimeWindow):
        # Times are whole ticks: less than a part of a tick older is less than the whole.
        extent = min(-(-window.range // tick), _LARGEST)
        return _LessBehind(lambda stretch: (stretch.times, extent))
    if isinstance(window, PolicyWindow):
        return _Held(window)
    assert isinstance(window, DeltaWindow)
    column, measure = window.column, Measure(window)
    return _LessBehind(lambda stretch: measure.read(stretch.columns[column]))


@dataclass(frozen=True)
class _NewestRows:
    count: int
    stride: int

    def firsts(self, stretch: Stretch, stops: Array) -> tuple[Array, int, Array]:
        firsts = walks.newest_rows(stretch.starts, stops, self.count)
        front = max(stretch.open_start, stretch.size - self.count)
        # Answers end a whole number of strides behind the key's first row.
        opening = stretch.open_start + -self.count % self.stride
        opening += max(-(-(max(front, 0) - opening) // self.stride), 0) * self.stride
        return firsts, front, np.arange(min(opening, stretch.size), stretch.size, self.stride)


class _SinceLast:
    def __init__(self) -> None:
        self._since = 0

    def firsts(self, stretch: Stretch, stops: Array) -> tuple[Array, int, Array]:
        firsts = walks.since_last(stretch.starts, stops, self._since)
        front = max(stretch.open_start, self._since, int(stops[-1]) if len(stops) else self._since)
        self._since = front - stretch.size
        return firsts, front, _NO_ROWS


class _LessBehind:
    """The rows whose measure lies less than an amount behind the newest row's."""

    def __init__(self, measure: Callable[[Stretch], tuple[Array, Any]]) -> None:
        """The measure of a stretch's rows, and the amount."""
        self._measure = measure
        #: the measures of the rows in the window
        self._held = Tail()

    def firsts(self, stretch: Stretch, stops: Array) -> tuple[Array, int, Array]:
        held = len(self._held)
        values, amount = self._measure(stretch)
        self._held.extend(values)
        starts = stretch.new_starts.copy()
        starts[:-1] += held
        measures = arrow.read_only(self._held.values)
        firsts, first = walks.less_behind(starts, stops + held, measures, amount, held)
        self._held.drop(first)
        front = first - held
        return firsts - held, front, np.arange(max(front, 0), stretch.size)


class _Held:
    """The rows that a policy lets stay."""

    def __init__(self, window: PolicyWindow) -> None:
        self._window = window
        self._counts: Counts | None = None
        #: how many rows stayed in the window of the last row
        self._last = np.zeros(1, np.int64)

    def firsts(self, stretch: Stretch, stops: Array) -> tuple[Array, int, Array]:
        columns = {name: stretch.columns[name] for name in self._window.columns}
        if self._counts is None:
            schema = pa.schema([(name, column.type) for name, column in columns.items()])
            whole = stretch.ends and not stretch.follows
            nullable = {name for name, column in columns.items() if column.null_count or not whole}
            self._counts = PolicyKernels(self._window, schema, nullable).counts()
        held = self._counts.of(columns, stretch.new_starts, stretch.size)
        held = np.append(self._last, held)
        self._last = held[-1:]
        front = stretch.size - int(held[-1])
        return stops - held[stops], front, np.arange(max(front, 0), stretch.size)


# Windows -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Triggered:
    trigger: _Trigger
    eviction: _Eviction

    def find(self, stretch: Stretch) -> Extents:
        stops = self.trigger.stops(stretch)
        firsts, front, openings = self.eviction.firsts(stretch, stops)
        # A policy may let all rows leave, and a window without rows has no answer.
        held = firsts < stops
        if not held.all():
            firsts, stops = firsts[held], stops[held]
        return Extents(firsts, stops, front=front, openings=openings)

    def count(self, stretch: Stretch) -> int:
        return stretch.size + 1


class _Sessions:
    """One answer for each session, which ends one gap after its last row."""

    def __init__(self, gap: int, reach: _Reach) -> None:
        self._gap, self._reach = gap, reach
        self._eviction = _SinceLast()
        #: the first and the last time of the open session
        self._first, self._last = np.zeros(1, np.int64), np.zeros(1, np.int64)

    def find(self, stretch: Stretch) -> Extents:
        self._reach.require(stretch, 0, self._gap)
        times = np.append(self._last, stretch.times)
        stops = stretch.ends_before(np.diff(times) > self._gap)
        firsts, front, openings = self._eviction.firsts(stretch, stops)
        first_times = np.append(self._first, stretch.times)
        begins, ends = first_times[np.maximum(firsts, -1) + 1], times[stops] + self._gap
        if front < stretch.size:
            self._first = first_times[max(front, -1) + 1 :][:1]
        self._last = times[-1:]
        return Extents(firsts, stops, begins, ends, front, openings)

    def count(self, stretch: Stretch) -> int:
        return stretch.size + 1


class _Periodic:
    """The windows of a clock that hold a row."""

    def __init__(
        self, periods: periods.Periods, reach: _Reach, require: Callable[[int], None]
    ) -> None:
        self._periods, self._reach, self._require = periods, reach, require
        #: of the windows that rows to come may be in: where they begin, and their first rows
        self._begins, self._firsts = _NO_ROWS, _NO_ROWS
        self._latest = 0

    def find(self, stretch: Stretch) -> Extents:
        periods, pending = self._periods, len(self._begins)
        self._reach.require(stretch, periods.extent + periods.slide, periods.extent)
        if stretch.ends and not stretch.follows:
            begins, firsts, stops = clock_windows(
                stretch.starts, stretch.times, periods, self._require
            )
            return Extents(firsts, stops, begins, begins + periods.extent)
        total = self.count(stretch)
        begins, firsts, stops = (np.empty(total, np.int64) for _ in range(3))
        begins[:pending], firsts[:pending] = self._begins, self._firsts
        _found, stopped, self._latest = periods.fill(
            stretch.new_starts, stretch.times, begins, firsts, stops, pending, self._latest
        )
        if stretch.ends:
            stops[stopped:] = stretch.size
            stopped = total
        openings = firsts[stopped:]
        front = int(openings[0]) if len(openings) else stretch.size
        self._begins, self._firsts = begins[stopped:], openings - stretch.size
        return Extents(
            firsts[:stopped], stops[:stopped], begins[:stopped], begins[:stopped] + periods.extent,
            front, openings[openings >= 0],
        )  # fmt: skip

    def count(self, stretch: Stretch) -> int:
        pending = len(self._begins)
        return self._periods.count(stretch.new_starts, stretch.times, pending, self._latest)
