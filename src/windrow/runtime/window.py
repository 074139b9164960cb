"""`wr.Window`: the window as a data structure.

Called once per element from Python, plain code is as fast as a compiled method, so a window runs
its algorithm's source as it is, over Python objects.
"""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any

from windrow.algebra.aggregation import Aggregation, Measure
from windrow.algebra.kinds import Kind
from windrow.algebra.nullable import skipping_nulls
from windrow.errors import EmptyWindow, InvalidArgument
from windrow.planning.choose import choose
from windrow.runtime.linked import LinkedWindow


class Window:
    """A window to insert into, evict from and query.

    Args:
        aggregation: what to compute, as in `wr.max()`.
        algorithm: the name of an algorithm; by default the planner chooses one.

    >>> import windrow as wr
    >>> window = wr.Window(wr.max())
    >>> window.insert_many([4, 5, 3])
    >>> window.evict()
    >>> window.query(), len(window)
    (5, 2)
    """

    def __init__(self, aggregation: Aggregation | Measure, *, algorithm: str | None = None) -> None:
        if isinstance(aggregation, Measure):
            aggregation = aggregation.aggregation
        if not isinstance(aggregation, Aggregation):
            raise InvalidArgument(
                f"aggregation: give an aggregation such as wr.max(), not {aggregation!r}"
            )
        self._aggregation = aggregation
        monoid = aggregation.monoid_for((Kind.ANY,) * len(aggregation.inputs))
        self._algorithm = choose(aggregation.name, monoid, algorithm)
        # Carried inputs may be null, unless they are the value itself.
        watched = [
            index
            for index, entry in enumerate(aggregation.inputs)
            if not entry.optional and (index == 0 or not entry.carried)
        ]
        self._monoid = skipping_nulls(monoid, watched)
        self._window = LinkedWindow(self._algorithm, self._monoid)
        least = sum(not entry.optional for entry in aggregation.inputs)
        self._takes = range(least, len(aggregation.inputs) + 1)

    def insert(self, *inputs: Any) -> None:
        """Add an event at the newest end; a null is an event without a value."""
        if len(inputs) not in self._takes:
            roles = ", ".join(entry.name for entry in self._aggregation.inputs)
            raise InvalidArgument(
                f"insert: an event of {self._aggregation.name} is ({roles}), not {inputs!r}"
            )
        self._window.insert(self._monoid.lift(*inputs))

    def insert_many(self, events: Iterable[Any]) -> None:
        """Add events, oldest first; tuples, if the aggregation has several inputs."""
        several = len(self._aggregation.inputs) > 1
        for event in events:
            if several:
                self.insert(*event)
            else:
                self.insert(event)

    def evict(self) -> None:
        """Drop the oldest event."""
        if not len(self):
            raise EmptyWindow("evict: the window holds no events")
        self._window.evict()

    def evict_many(self, count: int) -> None:
        """Drop the oldest `count` events."""
        if not isinstance(count, Integral) or count < 0:
            raise InvalidArgument(f"count: a number of events is 0, 1, 2, ..., not {count!r}")
        if count > len(self):
            raise EmptyWindow(
                f"evict_many: {count} events are to leave, but the window holds {len(self)}"
            )
        self._window.evict_many(int(count))

    def query(self) -> Any:
        """The aggregate of all events in the window; None if they have no value."""
        return self._monoid.lower(self._window.query())

    def clear(self) -> None:
        """Drop all events."""
        self._window.clear()

    def __len__(self) -> int:
        return len(self._window)

    def __repr__(self) -> str:
        return f"<Window of {len(self)} events: {self._aggregation.name}, {self._algorithm.NAME}>"
