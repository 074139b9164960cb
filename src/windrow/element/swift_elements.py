"""Single events in plain Python, once many have come: no call that can be written out.

The first events of a window go through `plain_elements.py`. When so many have come that it pays,
the algorithm and the aggregation become a few functions (`windrow.compiler.plain_code`), and these
methods call them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from windrow.algebra.failures import FAILURES, named
from windrow.element.lifting import Events, PolicyEvents, RowEvents, ValueEvents
from windrow.engine.plain_loops import is_bounded
from windrow.engine.plain_window import PlainWindow
from windrow.errors import EmptyWindow

_NOTHING = object()


def swift_entries(
    events: Events,
    window: PlainWindow,
    insert_checked: Callable[..., Any],
    query_registered: Callable[[int], Any],
) -> dict[str, Callable[..., Any]]:
    """What to call for one event: of windows whose room grows by itself, over one value.

    Args:
        events: what events are.
        window: the window, with code of its own.
        insert_checked: inserts an event of a type that has not been seen.
        query_registered: answers for a range.
    """
    if isinstance(events, RowEvents) or not events.is_simple or is_bounded(window.algorithm):
        return {}
    swift = SwiftElements(events, window, insert_checked, query_registered)
    return {"insert": swift.insert, "evict": swift.evict, "query": swift.query}


class SwiftElements:
    """The operations of one event, with all that they need at hand."""

    __slots__ = (
        "_admitted", "_answer", "_end", "_evict", "_front", "_insert", "_insert_checked", "_known",
        "_name", "_query_registered", "_window",
    )  # fmt: skip

    def __init__(
        self,
        events: ValueEvents | PolicyEvents,
        window: PlainWindow,
        insert_checked: Callable[..., Any],
        query_registered: Callable[[int], Any],
    ) -> None:
        """Look up the functions; the arguments are those of `swift_entries`."""
        functions, fields = window.functions, window.algorithm.State._fields  # type: ignore[attr-defined]
        self._window, self._name = window, events.name
        self._insert_checked, self._query_registered = insert_checked, query_registered
        #: the types that need no further check; for each measure that is asked, and for all
        self._admitted = [each.known[0] for each in events.all_admissions]
        self._known = set.intersection(*self._admitted)
        self._insert, self._answer = functions[events.inserting], functions["answer"]
        self._evict = functions["evict"]
        self._front, self._end = fields.index("front"), fields.index("end")

    def insert(self, value: Any = _NOTHING, *others: Any) -> None:
        """Add an event at the newest end; a null is an event without a value."""
        if type(value) not in self._known or others:
            self._insert_checked(*(() if value is _NOTHING else (value, *others)))
            self._known = set.intersection(*self._admitted)
            return
        window = self._window
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
            return self._query_registered(range)
        window = self._window
        try:
            return self._answer(window.state, window.ring)
        except FAILURES as error:
            raise named(self._name, error) from error
