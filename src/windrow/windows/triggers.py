"""When a window answers: after so many rows, or by a clock."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal, NamedTuple

import numpy as np

from windrow.algebra.durations import nanoseconds, words
from windrow.errors import InvalidArgument
from windrow.slicing import PeriodicWindow
from windrow.windows import walks
from windrow.windows.arguments import length, row_count
from windrow.windows.bounds import Bounds
from windrow.windows.extents import Asking, FinalStops, Span, ends_of_runs
from windrow.windows.key_rows import KeyRows
from windrow.windows.key_runs import NEVER
from windrow.windows.reach import UNLIMITED
from windrow.windows.setting import Setting
from windrow.windows.sorted_rows import SortedRows

Array = np.ndarray[Any, Any]
Every = int | str | timedelta | None


class Trigger(ABC):
    """Asks a window for its answers."""

    #: whether it measures time
    in_time: bool = False

    @property
    def lengths(self) -> tuple[int, ...]:
        """The nanoseconds of which the times that it asks at are multiples."""
        return ()

    @abstractmethod
    def arguments(self) -> list[str]:
        """The arguments that make it, as text."""

    @abstractmethod
    def period(self, range: int) -> Period:
        """A window of so many rows, or nanoseconds, that it asks for."""

    @abstractmethod
    def asking(self, setting: Setting) -> Asking:
        """What asks along one stream of rows, before the first."""


@dataclass(frozen=True)
class EveryRows(Trigger):
    """An answer after every so many rows of a key."""

    rows: int

    def arguments(self) -> list[str]:
        """The arguments that make it, as text."""
        return [f"every={self.rows}"]

    def period(self, range: int) -> Period:
        """The last `range` rows: it is the ends that are multiples of the slide."""
        return Period("rows", range, self.rows, -range)

    def asking(self, setting: Setting) -> Asking:
        """What counts rows."""
        return _AfterRows(min(self.rows, UNLIMITED))


@dataclass(frozen=True)
class EveryTime(Trigger):
    """An answer at every tick of a clock that runs from the epoch plus an offset; nanoseconds."""

    time: int
    offset: int = 0

    in_time = True

    @property
    def lengths(self) -> tuple[int, ...]:
        """The nanoseconds of which the times that it asks at are multiples."""
        return (self.time, self.offset)

    def arguments(self) -> list[str]:
        """The arguments that make it, as text."""
        offset = [f"offset={words(self.offset)!r}"] if self.offset else []
        return [f"every={words(self.time)!r}", *offset]

    def period(self, range: int) -> Period:
        """The windows [begin, begin + range) for begins at the clock's ticks."""
        return Period("time", range, self.time, self.offset)

    def asking(self, setting: Setting) -> Asking:
        """What looks at the clock."""
        return _AtTicks(self, setting)


class Period(NamedTuple):
    """Windows that begin one slide apart; in rows, or in nanoseconds."""

    unit: Literal["time", "rows"]
    range: int
    slide: int
    offset: int

    def in_ticks(self, name: str, tick: int) -> PeriodicWindow:
        """The window of that name in ticks of so many nanoseconds."""
        try:
            return PeriodicWindow(self.range // tick, self.slide // tick, self.offset // tick)
        except InvalidArgument as error:
            raise InvalidArgument(f"windows: {name!r}: {error}") from None


class _AfterRows(Asking):
    """After every so many rows of a key; a stream keeps how many it has seen since."""

    ledger = ("seen",)

    def __init__(self, every: int) -> None:
        self.stride = every

    def stops(self, rows: SortedRows, bounds: Bounds) -> Array:
        """The rows behind every so many."""
        runs = rows.all_runs
        if rows.since is not None:
            # As if the key had begun where the answer that is due next begins to be counted.
            runs = runs.copy()
            runs[0] = -(-rows.since % self.stride)
        return walks.after_rows(runs, rows.size, self.stride)

    def final(
        self, rows: KeyRows, bounds: Bounds, span: Span, numbers: Mapping[str, Array]
    ) -> FinalStops:
        """Answers are final with their row."""
        seen = numbers["seen"]
        fresh = np.flatnonzero(rows.is_fresh)
        keys = rows.key_of[fresh]
        counted = seen[keys] + fresh - rows.fresh[keys] + 1
        stops = fresh[counted % self.stride == 0] + 1
        seen = (seen + rows.stops - rows.fresh) % self.stride
        return FinalStops(stops, np.full(rows.count, NEVER), {"seen": seen})


class _AtTicks(Asking):
    """At every tick of a clock that has seen a row since the one before."""

    waits = True

    def __init__(self, every: EveryTime, setting: Setting) -> None:
        self._every, self._setting = every, setting
        self._slide = every.time // setting.tick
        self._offset = every.offset // setting.tick % self._slide
        self._last = np.zeros(1, np.int64)

    def stops(self, rows: SortedRows, bounds: Bounds) -> Array:
        """The rows before which a tick has passed."""
        self._setting.require_times(rows.times, self._slide, self._slide)
        ticks = np.append(self._last, (rows.times - self._offset) // self._slide)
        self._last = ticks[-1:]
        return ends_of_runs(rows, ticks[1:] != ticks[:-1])

    def final(
        self, rows: KeyRows, bounds: Bounds, span: Span, numbers: Mapping[str, Array]
    ) -> FinalStops:
        """Answers are final at the end of their tick."""
        period = self._every.period(self._every.time)
        clock = period.in_ticks(self._setting.name, self._setting.tick)
        ends = clock.last_starts(rows.times) + clock.slide
        changed = np.ones(rows.size, np.bool_)
        changed[1:] = ends[1:] != ends[:-1]
        stops = ends_of_runs(rows, changed)
        stops = stops[span.makes_final(ends[stops - 1])]
        last = ends[rows.stops - 1]
        return FinalStops(stops, np.where(last > span.frontier, last, NEVER))


def trigger(every: Every, offset: str | timedelta | None) -> Trigger | None:
    """The trigger that `every` names; None for an answer to every row."""
    if isinstance(every, str | timedelta):
        return EveryTime(
            length(every, "every"), 0 if offset is None else nanoseconds(offset, "offset")
        )
    if offset is not None:
        raise InvalidArgument("offset: it moves a clock; give every= a duration with it")
    return None if every is None else EveryRows(row_count(every, "every"))
