"""Single events of a compiled window that come in any order, each with its time or without.

Which events a window holds depends on how insertions and evictions were mixed: the oldest leave,
and what comes later may be older. So events that wait enter before one leaves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from windrow.algebra import arrays
from windrow.compiler.event_calls import COUNT
from windrow.element.compiled_program import CompiledProgram, Read
from windrow.element.compiled_ring import CompiledRing
from windrow.element.single_events import ROOM, SingleEvents
from windrow.errors import InvalidArgument

Array = np.ndarray[Any, Any]


class TimedEvents(SingleEvents):
    """The operations of one event, of windows whose algorithm takes events in any order."""

    def __init__(self, program: CompiledProgram, ring: CompiledRing, slides: bool) -> None:
        """Make the buffers; the arguments are those of `SingleEvents`."""
        self._times, self._is_timed = np.zeros(ROOM, np.int64), np.zeros(ROOM, np.bool_)
        #: how many events have come, and how many when the last one with a time had come
        self._come = self._timed_end = 0
        super().__init__(program, ring, slides)

    def calls(self) -> dict[str, Callable[..., Any]]:
        """What to call for one event."""
        return {"insert": self.insert, "evict": self.evict, "query": self.query}

    def insert(self, *inputs: Any) -> None:
        """Add an event at the time of the newest."""
        self._is_timed[self._desk[COUNT]] = False
        super().insert(*inputs)
        self._come += 1

    def insert_at_time(self, time: int, inputs: tuple[Any, ...]) -> None:
        """Add an event behind all that are not later."""
        self.require_times("insert_at_time")
        place = self._desk[COUNT]
        self._times[place], self._is_timed[place] = time, True
        super().insert(*inputs)
        self._come += 1
        self._timed_end = self._come

    def note(self, count: int, timed: bool) -> None:
        """See that a block of events has come."""
        self._come += count
        if timed and count:
            self._timed_end = self._come

    def evict(self) -> None:
        """Let the oldest event leave."""
        self._enter()
        super().evict()

    def evict_many(self, count: int) -> None:
        """The same of many events; there must be as many."""
        self._enter()
        super().evict_many(count)

    def require_times(self, operation: str) -> None:
        """Refuse a window whose events came without times."""
        held = len(self)
        if held and self._come - held >= self._timed_end:
            raise InvalidArgument(
                f"{operation}: the {held} events of the window have no times; insert all with "
                "insert_at_time(time, value) or insert_many(values, times)"
            )

    def _enter(self) -> None:
        if self._desk[COUNT]:
            self.settle()

    def _read(self) -> Read:
        columns, validities = super()._read()
        return with_times((columns, validities), self._times, self._is_timed)


def with_times(read: Read, times: Array, is_timed: Array) -> Read:
    """What a kernel reads, with the times behind it, and which events have one."""
    columns, validities = read
    return (*columns, times, is_timed), validities


def in_order_of_times(read: Read, times: Array) -> tuple[Read, Array]:
    """Events from the earliest to the latest, those of one time as they came; and their times."""
    order = np.argsort(times, kind="stable")
    columns, validities = (
        tuple(arrays.read_only(each[order]) for each in several) for several in read
    )
    return (columns, validities), times[order]
