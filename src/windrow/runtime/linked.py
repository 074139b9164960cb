"""An algorithm linked to a plain Python monoid: the window that `wr.Window` wraps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from windrow.algebra.linking import link
from windrow.algorithms import Algorithm, State
from windrow.algorithms.memory import PLAIN_SLOTS, PlainMemory

FIRST_CAPACITY = 16


class PlainMonoid(Protocol):
    """What an algorithm needs of an aggregation in plain Python."""

    def identity(self) -> Any:
        """The partial of no events."""

    def combine(self, older: Any, newer: Any) -> Any:
        """The partial of two neighbouring runs."""

    def inverse(self, total: Any, oldest: Any) -> Any:
        """The partial of a run without its oldest part."""

    def same(self, left: Any, right: Any) -> bool:
        """Whether two partials are equal."""


class LinkedWindow:
    """A window of partials: algorithm, ring and state."""

    def __init__(self, algorithm: Algorithm, monoid: PlainMonoid) -> None:
        self.algorithm = algorithm
        self.functions: dict[str, Callable[..., Any]] = link(
            algorithm.FUNCTIONS,
            {
                "identity": monoid.identity,
                "combine": monoid.combine,
                "inverse": monoid.inverse,
                "same": monoid.same,
                **PLAIN_SLOTS,
            },
        )
        # Looked up once: these are called for every event.
        self._insert, self._evict = self.functions["insert"], self.functions["evict"]
        self._has_room, self._query = self.functions["has_room"], self.functions["query"]
        self.clear()

    def clear(self) -> None:
        """Drop all events and all room."""
        self._capacity = FIRST_CAPACITY
        self.ring = self.algorithm.allocate(PlainMemory(), self._capacity)
        self.state: State = self.functions["empty"](self.ring, 0)

    def insert(self, partial: Any) -> None:
        """Add an event at the newest end."""
        if not self._has_room(self.state, self.ring):
            self.grow()
        self.state = self._insert(self.state, self.ring, partial)

    def evict(self) -> None:
        """Drop the oldest event; there must be one."""
        self.state = self._evict(self.state, self.ring)

    def evict_many(self, count: int) -> None:
        """Drop the oldest events; there must be as many."""
        if count:
            self.state = self.functions["evict_many"](self.state, self.ring, count)

    def query(self) -> Any:
        """The partial of all events."""
        return self._query(self.state, self.ring)

    def grow(self) -> None:
        """Twice the room."""
        self._capacity *= 2
        larger = self.algorithm.allocate(PlainMemory(), self._capacity)
        self.state = self.functions["resize"](self.state, self.ring, larger)
        self.ring = larger

    def __len__(self) -> int:
        return int(self.state.end - self.state.front)
