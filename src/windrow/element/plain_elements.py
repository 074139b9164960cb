"""The window behind `wr.Window` without `types`: plain Python, on any Python object."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any

from windrow.element.arguments import iterated
from windrow.element.event_times import times_of
from windrow.element.lifting import Events, PolicyEvents, ValueEvents, events_of
from windrow.element.swift_elements import swift_entries
from windrow.engine.plain_loops import code_of, subtracts
from windrow.engine.plain_window import PlainWindow
from windrow.engine.policy_counts import let_leave
from windrow.errors import EmptyWindow, InvalidArgument
from windrow.planning.choose import Wish, choose
from windrow.windows import PolicyWindow
from windrow.work import sizes


class PlainElements:
    """Events that are lifted one by one, and a window of their partials."""

    def __init__(
        self, aggregation: Any, policy: PolicyWindow | None, wish: Wish, ranges: Sequence[int]
    ) -> None:
        own = events_of(aggregation, wish.exact)
        events: Events = own
        self._halves = False
        verdict: Callable[[Any, Any], int] | None = None
        if policy is not None:
            events = PolicyEvents(own, policy)
            self._halves, verdict = policy.halves, events.monoid.verdict
        self._events, self.name, self._slides = events, events.name, policy is not None
        chosen = choose(events.served, wish, shared=bool(ranges))
        self.algorithm = chosen.algorithm
        if isinstance(events, ValueEvents) and not subtracts(self.algorithm):
            events.never_subtract()
        if wish.exact and self.algorithm.GUARANTEES.subtracts and not chosen.served.traits.exact:
            for admission in events.admissions:
                admission.require_no_rounding(self.algorithm.NAME)
        self._window = PlainWindow(self.algorithm, events.monoid, ranges, verdict)
        self._answers: dict[int, Any] = {}
        self._answered: Any = None
        #: whether the times of events are kept in the window itself, so that they come in any order
        self.keeps_times = "insert_at_time" in self._window.functions
        #: where events end of which the first has a time
        self._timed_end = 0
        #: how many events are inserted before the code is made that is worth it; with times, never
        self._until_swift = sys.maxsize if self.keeps_times else sizes.current().events_before_code

    def entries(self) -> dict[str, Callable[..., Any]]:
        """The operations of one event, to be called directly; none before enough events came."""
        if self._until_swift > 0:
            return {}
        return swift_entries(self._events, self._window, self.insert_checked, self.query_registered)

    def insert(self, *inputs: Any) -> bool:
        """Add an event at the newest end; true if `entries` has become worth asking for."""
        self.insert_checked(*inputs)
        self._until_swift -= 1
        if self._until_swift:
            return False
        self._window.take(code_of(self.algorithm, self._events.source()))
        return True

    def insert_checked(self, *inputs: Any) -> None:
        """The same of an event that may be anything."""
        self._window.insert(self._events.lift("insert", inputs))
        if self._slides:
            let_leave(self._window, self._halves)

    def insert_many(self, events: Iterable[Any]) -> None:
        """Add events, oldest first."""
        insert: Callable[..., Any] = self.entries().get("insert", self.insert)
        for event in iterated("events", events):
            if insert(*event) if self._events.several else insert(event):
                insert = self.entries().get("insert", self.insert)

    def slide_many(self, events: Iterable[Any]) -> list[Any]:
        """For each event, evict the oldest, insert it and answer; there must be an oldest."""
        answers = []
        for event in iterated("events", events):
            self.evict()
            self.insert_many((event,))
            answers.append(self.query())
        return answers

    def insert_at(self, position: int, inputs: tuple[Any, ...]) -> None:
        """Add an event inside the window, before the one at a position."""
        self._window.insert_at(position, self._events.lift("insert_at", inputs))

    def insert_at_time(self, time: Any, inputs: tuple[Any, ...]) -> None:
        """Add an event behind all that are not later."""
        partial = self._events.lift("insert_at_time", inputs)
        if self.keeps_times:
            self._require_times("insert_at_time")
            self._require_comparable(time)
        self._window.insert_at_time(time, partial)
        self._timed_end = self._window.state.end

    def insert_at_times(self, events: Iterable[Any], times: Any) -> None:
        """Add many events, each behind all that are not later; all of them, or none."""
        given, moments = list(iterated("events", events)), times_of(times)
        if len(moments) != len(given):
            raise InvalidArgument(
                f"times: give one for each event, {len(given)}, not {len(moments)}"
            )
        several, lift = self._events.several, self._events.lift
        partials = [lift("insert_many", tuple(each) if several else (each,)) for each in given]
        self._require_times("insert_many")
        try:
            order = sorted(range(len(moments)), key=moments.__getitem__)
        except TypeError as error:
            raise InvalidArgument(f"times: they cannot be compared: {error}") from None
        for time in moments:
            self._require_comparable(time)
        self._window.insert_sorted([moments[i] for i in order], [partials[i] for i in order])
        self._timed_end = self._window.state.end

    def older_than(self, time: Any) -> int:
        """How many events have an earlier time."""
        self._require_times("evict_older_than")
        self._require_comparable(time)
        return self._window.older_than(time)

    def _require_times(self, operation: str) -> None:
        """Refuse a window whose events came without times."""
        if len(self._window) and self._window.state.front >= self._timed_end:
            raise InvalidArgument(
                f"{operation}: the {len(self._window)} events of the window have no times; insert "
                "all with insert_at_time(time, value) or insert_many(values, times)"
            )

    def _require_comparable(self, time: Any) -> None:
        """Refuse a time that has no place among those of the events."""
        try:
            unordered = time is None or bool(time != time)
            if len(self._window):
                time < self._window.newest_time()  # noqa: B015
        except (TypeError, ValueError) as error:
            raise InvalidArgument(
                f"time: {time!r} cannot be compared with the times of the events: {error}"
            ) from None
        if unordered:
            raise InvalidArgument(f"time: {time!r} is no time")

    def evict(self) -> None:
        """Drop the oldest event."""
        if not len(self._window):
            raise EmptyWindow("evict: the window holds no events")
        self._window.evict()

    def evict_many(self, count: int) -> None:
        """Drop the oldest events; there must be as many."""
        self._window.evict_many(count)

    def evict_at(self, position: int) -> None:
        """Drop the event at a position; there must be one."""
        self._window.evict_at(position)

    def query(self) -> Any:
        """The aggregate of all events in the window."""
        return self._events.lower(self._window.query())

    def query_registered(self, range: int) -> Any:
        """The aggregate of one of the ranges that the window was made with."""
        if self._answered is not self._window.state:
            found = map(self._events.lower, self._window.query_ranges())
            self._answers = dict(zip(self._window.ranges, found, strict=True))
            self._answered = self._window.state
        if not isinstance(range, Integral) or range not in self._answers:
            registered = ", ".join(map(str, self._window.ranges)) or "none"
            raise InvalidArgument(
                f"range: {range!r} is not one of the ranges that the window was made with "
                f"({registered}); query_range(count) takes any"
            )
        return self._answers[range]

    def query_range(self, count: int) -> Any:
        """The aggregate of the newest events; there must be as many."""
        return self._events.lower(self._window.query_range(count))

    def prefix(self, position: int) -> Any:
        """The aggregate from the oldest event to the one at a position."""
        return self._events.lower(self._window.prefix(position))

    def suffix(self, position: int) -> Any:
        """The aggregate from the event at a position to the newest one."""
        return self._events.lower(self._window.suffix(position))

    def update(self, events: Mapping[int, Any]) -> None:
        """Put other events in the place of those at some positions."""
        changed = {}
        for position, event in events.items():
            inputs = tuple(event) if self._events.several else (event,)
            changed[position] = self._events.lift("update", inputs)
        self._window.update(changed)

    def clear(self) -> None:
        """Drop all events and all room."""
        self._window.clear()
        self._timed_end = 0

    def __len__(self) -> int:
        return len(self._window)
