"""`wr.in_order`: events that come out of order, in order again.

An event is at most `lateness` late: when the newest event has time t, the watermark is
t - lateness, and no event before it is expected. Events up to the watermark are final and released
in order. An event from before the watermark is late: its windows may have been answered. It is
dropped and counted, never put into a wrong window.

    released  |  held until they are final   |  not seen yet
    ----------+------------------------------+--------------> time
          watermark                       newest

1. Held events are at or after the watermark, released events at or before it.
2. Events of equal order come out as they came in: a heap of (order, number of arrival, event) never
   compares events.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any, Generic, TypeVar

from windrow.algebra.durations import nanoseconds
from windrow.errors import InvalidArgument

Event = TypeVar("Event")


class InOrder(Generic[Event]):
    """An iterator over events in order; `late` counts the dropped events."""

    def __init__(
        self, events: Iterable[Event], order: Callable[[Event], Any], lateness: Any
    ) -> None:
        self._events = iter(events)
        self._order = order
        self._lateness = lateness
        self._held: list[tuple[Any, int, Event]] = []
        self._arrived = 0
        self._watermark: Any = None
        self._ended = False
        #: how many events came after the watermark had passed them
        self.late = 0

    def __iter__(self) -> Iterator[Event]:
        return self

    def __next__(self) -> Event:
        while not self._is_final():
            for event in self._events:
                self._insert(event)
                break
            else:
                self._ended = True
        if not self._held:
            raise StopIteration
        return heapq.heappop(self._held)[2]

    def __len__(self) -> int:
        """How many events are held."""
        return len(self._held)

    def _is_final(self) -> bool:
        """Whether the oldest held event can be released, or the events have ended."""
        if self._ended or not self._held:
            return self._ended
        return bool(self._held[0][0] <= self._watermark)

    def _insert(self, event: Event) -> None:
        order = self._order(event)
        if order is None or order != order:
            raise InvalidArgument(f"order: {order!r} of {event!r} is no time to order it by")
        watermark = self._watermark_after(order)
        try:
            if self._watermark is None or watermark > self._watermark:
                self._watermark = watermark
            if order < self._watermark:
                self.late += 1
                return
            heapq.heappush(self._held, (order, self._arrived, event))
        except TypeError as error:
            raise InvalidArgument(
                f"order: {order!r} of {event!r} cannot be compared with those before: {error}"
            ) from None
        self._arrived += 1

    def _watermark_after(self, order: Any) -> Any:
        try:
            return order - self._lateness
        except TypeError:
            is_span = isinstance(self._lateness, timedelta)
            given = "a duration" if is_span else "a number"
            wanted = "a number" if is_span else "a duration such as '10 seconds'"
            raise InvalidArgument(
                f"lateness: {given} cannot be taken from {order!r}, by which an event is ordered; "
                f"give {wanted}"
            ) from None


def in_order(
    events: Iterable[Event],
    *,
    order: str | Callable[[Event], Any],
    lateness: Any,
) -> InOrder[Event]:
    """Put the events of a stream in order; they may come late by `lateness` at most.

    An event is held until no earlier one is expected. A later event is dropped and counted. Events
    of equal order stay as they came.

    Args:
        events: any iterable; it is read only as far as you read.
        order: a function of an event, or the name of its key or attribute.
        lateness: how far an event may lie behind the newest event before it: a number, or for
            times a duration such as "10 seconds" or a timedelta.

    Returns:
        An iterator; its `late` is the number of events dropped so far.

    Raises:
        InvalidArgument: if `order` or `lateness` do not fit the events.

    Example:
        >>> import windrow as wr
        >>> stream = wr.in_order([3, 1, 2, 7, 3, 9], order=lambda t: t, lateness=2)
        >>> list(stream), stream.late
        ([1, 2, 3, 7, 9], 1)
    """
    if not isinstance(events, Iterable):
        raise InvalidArgument(f"events: something to iterate over is needed, not {events!r}")
    if isinstance(order, str):
        function = _by_name(order)
    elif callable(order):
        function = order
    else:
        raise InvalidArgument(
            f"order: a function of an event or the name of its field is needed, not {order!r}"
        )
    if isinstance(lateness, str):
        lateness = timedelta(microseconds=_microseconds(lateness))
    try:
        is_wrong = bool(lateness < lateness - lateness or lateness != lateness)
    except TypeError:
        raise InvalidArgument(
            f"lateness: a number, a duration such as '10 seconds' or a timedelta, not {lateness!r}"
        ) from None
    if is_wrong:
        raise InvalidArgument(f"lateness: it is at least zero, not {lateness!r}")
    return InOrder(events, function, lateness)


def _microseconds(lateness: str) -> int:
    # Rounded up: an event that is exactly as late as allowed is not late.
    return -(-nanoseconds(lateness, "lateness") // 1000)


def _by_name(name: str) -> Callable[[Any], Any]:
    def order(event: Any) -> Any:
        try:
            return event[name] if isinstance(event, Mapping) else getattr(event, name)
        except (KeyError, AttributeError):
            raise InvalidArgument(f"order: {event!r} has no {name!r}") from None

    return order
