"""Single events in plain Python, once many have come: no call that can be written out.

The first events of a window go through `plain_elements.py`. When so many have come that it pays,
the algorithm and the aggregation become a few functions (`windrow.compiler.plain_code`), and these
methods call them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from windrow.algebra.failures import FAILURES, named
from windrow.element.lifting import Events, ValueEvents
from windrow.engine.plain_loops import is_bounded
from windrow.engine.plain_window import PlainWindow
from windrow.errors import EmptyWindow

_NOTHING = object()


def swift_entries(
    events: Events, window: PlainWindow, registered: Callable[[int], Any]
) -> dict[str, Callable[..., Any]]:
    """What to call for one event: of windows whose room grows by itself, over one value.

    `registered` answers for ranges.
    """
    if not isinstance(events, ValueEvents) or not events.is_simple:
        return {}
    if is_bounded(window.algorithm):
        return {}
    swift = SwiftElements(events, window, registered)
    return {"insert": swift.insert, "evict": swift.evict, "query": swift.query}


class SwiftElements:
    """The operations of one event, with all that they need at hand."""

    __slots__ = (
        "_answer", "_end", "_events", "_evict", "_front", "_insert", "_known", "_name",
        "_registered", "_window",
    )  # fmt: skip

    def __init__(
        self, events: ValueEvents, window: PlainWindow, registered: Callable[[int], Any]
    ) -> None:
        functions, fields = window.functions, window.algorithm.State._fields  # type: ignore[attr-defined]
        self._events, self._window, self._name = events, window, events.name
        self._known = events.admissions[0].known[0]
        self._insert, self._answer = functions["insert_value"], functions["answer"]
        self._evict, self._registered = functions["evict"], registered
        self._front, self._end = fields.index("front"), fields.index("end")

    def insert(self, value: Any = _NOTHING, *others: Any) -> None:
        """Add an event at the newest end; a null is an event without a value."""
        window = self._window
        if type(value) not in self._known or others:
            inputs = () if value is _NOTHING else (value, *others)
            window.insert(self._events.lift("insert", inputs))
            return
        try:
            window.state = self._insert(window.state, window.ring, value)
        except FAILURES as error:
            raise named(self._name, error) from error

    def evict(self) -> None:
        """Drop the oldest event."""
        window = self._window
        state: Any = window.state
        if state[self._front] == state[self._end]:
            raise EmptyWindow("evict: the window holds no events")
        try:
            window.state = self._evict(state, window.ring)
        except FAILURES as error:
            raise named(self._name, error) from error

    def query(self, *, range: int | None = None) -> Any:
        """The aggregate of all events in the window; None if they have no value."""
        if range is not None:
            return self._registered(range)
        window = self._window
        try:
            return self._answer(window.state, window.ring)
        except FAILURES as error:
            raise named(self._name, error) from error
