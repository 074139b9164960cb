"""When a window answers: after so many rows, or by a clock."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, NamedTuple

from windrow.algebra.durations import nanoseconds, words
from windrow.errors import InvalidArgument
from windrow.slicing import PeriodicWindow
from windrow.windows.arguments import length, row_count

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


def trigger(every: Every, offset: str | timedelta | None) -> Trigger | None:
    """The trigger that `every` names; None for an answer to every row."""
    if isinstance(every, str | timedelta):
        return EveryTime(
            length(every, "every"), 0 if offset is None else nanoseconds(offset, "offset")
        )
    if offset is not None:
        raise InvalidArgument("offset: it moves a clock; give every= a duration with it")
    return None if every is None else EveryRows(row_count(every, "every"))
