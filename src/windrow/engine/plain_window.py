"""A window in plain Python: an algorithm linked to a monoid of Python objects.

`wr.Window` calls it event by event. `over` and `slide` drive it by the loops that also become
kernels, for features whose partials are no numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, cast

from windrow.algorithms import ALGORITHMS, Algorithm, State
from windrow.algorithms.plain_memory import PLAIN_SLOTS, PlainMemory
from windrow.compiler.linking import link
from windrow.compiler.plain_code import PlainCode
from windrow.errors import NotApplicable
from windrow.work import sizes


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


class PlainWindow:
    """A window of partials: algorithm, ring and state."""

    state: State

    def __init__(
        self,
        algorithm: Algorithm,
        monoid: PlainMonoid,
        ranges: Iterable[int] = (),
        verdict: Callable[[Any, Any], int] | None = None,
    ) -> None:
        """`ranges` is what `query_ranges` answers; `verdict` comes from a slide policy."""
        self.algorithm = algorithm
        self.ranges = sorted(set(ranges))
        self._smallest = sizes.current().plain_capacity
        self._slots: dict[str, Callable[..., Any]] = {
            "identity": monoid.identity,
            "combine": monoid.combine,
            "inverse": monoid.inverse,
            "same": monoid.same,
            **PLAIN_SLOTS,
            **({} if verdict is None else {"verdict": verdict}),
        }
        self._linked: dict[str, Callable[..., Any]] = link(algorithm.FUNCTIONS, self._slots)
        self.functions: dict[str, Callable[..., Any]] | PlainCode = self._linked
        self._look_up()
        if self.ranges:
            self._offered("query_range")
        if verdict is not None:
            self._offered("leaving")
        self.clear()

    def _look_up(self) -> None:
        """Look up once what is called for every event."""
        self._insert = self.functions["insert"]
        self._evict: Callable[..., Any] = self.functions.get("evict") or _cannot_evict
        self._has_room, self._query = self.functions["has_room"], self.functions["query"]
        self._size: Callable[[State], int] = self.functions.get("size") or _end_to_end
        self._wants_less = self.functions.get("wants_less")

    def take(self, code: PlainCode) -> None:
        """Go on with the same functions, written into each other; states are bare tuples then."""
        self.functions = code
        self.state = cast(State, tuple(cast(tuple[Any, ...], self.state)))
        self._look_up()

    def clear(self) -> None:
        """Drop all events and all room."""
        self._capacity = self._smallest
        self.ring = self._allocate()
        self.state = self.functions["empty"](self.ring, 0)

    def _allocate(self) -> Any:
        """New room; ranges are registered in it if the algorithm keeps an answer for each."""
        memory = PlainMemory()
        if not self.ranges or "register" not in self.functions:
            return self.algorithm.allocate(memory, self._capacity)
        ring = self.algorithm.allocate(memory, self._capacity, len(self.ranges))  # type: ignore[call-arg]
        for index, extent in enumerate(self.ranges):
            self.functions["register"](ring, index, extent)
        return ring

    def insert(self, partial: Any) -> None:
        """Add an event at the newest end."""
        if not self._has_room(self.state, self.ring):
            self._make_room()
        self.state = self._insert(self.state, self.ring, partial)

    def insert_at(self, index: int, partial: Any) -> None:
        """Add an event before the one at an index, counted from the oldest."""
        insert_at = self._offered("insert_at")
        if not self._has_room(self.state, self.ring):
            self._make_room()
        self.state = insert_at(self.state, self.ring, index, partial)

    def insert_at_time(self, time: Any, partial: Any) -> None:
        """Add an event behind all that are not later."""
        insert_at_time = self._offered("insert_at_time")
        if not self._has_room(self.state, self.ring):
            self._make_room()
        self.state = insert_at_time(self.state, self.ring, time, partial)

    def insert_sorted(self, times: Sequence[Any], partials: Sequence[Any]) -> None:
        """Add many events, each behind all that are not later; their times do not decrease."""
        insert_sorted = self._offered("insert_sorted")
        if not times:
            return
        count, needed = len(times), len(self) + len(times)
        if needed > self._capacity:
            self._resize(1 << (needed - 1).bit_length())
        memory = PlainMemory()
        when, what = memory.counters(count), memory.array(count)
        for place, (time, partial) in enumerate(zip(times, partials, strict=True)):
            when.store(place, time)
            what.store(place, partial)
        self.state = insert_sorted(self.state, self.ring, when, what, count)

    def newest_time(self) -> Any:
        """The time of the newest event; there must be one."""
        return self._offered("newest_time")(self.state, self.ring)

    def older_than(self, time: Any) -> int:
        """How many events have an earlier time."""
        return int(self._offered("older_than")(self.state, self.ring, time))

    def evict(self) -> None:
        """Drop the oldest event; there must be one."""
        self.state = self._evict(self.state, self.ring)
        if self._wants_less is not None:
            self._shrink()

    def evict_many(self, count: int) -> None:
        """Drop the oldest events; there must be as many."""
        if count:
            self.state = self.functions["evict_many"](self.state, self.ring, count)
            self._shrink()

    def leaving(self) -> int:
        """How many of the oldest events leave by the policy."""
        return int(self._offered("leaving")(self.state, self.ring))

    def half_leaving(self) -> int:
        """How many events the older half has, if it leaves by the policy; otherwise 0."""
        return int(self._offered("half_leaving")(self.state, self.ring))

    def evict_at(self, index: int) -> None:
        """Drop the event at an index, counted from the oldest; there must be one."""
        self.state = self._offered("evict_at")(self.state, self.ring, index)
        self._shrink()

    def query(self) -> Any:
        """The partial of all events."""
        return self._query(self.state, self.ring)

    def query_range(self, count: int) -> Any:
        """The partial of the newest events; there must be as many."""
        return self._offered("query_range")(self.state, self.ring, count)

    def prefix(self, index: int) -> Any:
        """The partial from the oldest event to the one at an index; there must be one."""
        return self._offered("prefix")(self.state, self.ring, index)

    def suffix(self, index: int) -> Any:
        """The partial from the event at an index to the newest one; there must be one."""
        return self._offered("suffix")(self.state, self.ring, index)

    def update(self, changed: Mapping[int, Any]) -> None:
        """Put other partials in the place of those at some indices, each of which must be there."""
        update = self._offered("update")
        memory, position_of = PlainMemory(), self.functions["position_of"]
        positions, partials = memory.counters(len(changed)), memory.array(len(changed))
        for place, index in enumerate(sorted(changed)):
            positions.store(place, position_of(self.state, self.ring, index))
            partials.store(place, changed[index])
        update(self.state, self.ring, positions, partials, len(changed))

    def query_ranges(self) -> list[Any]:
        """The partials of the ranges, the shortest first; a range may be longer than the window."""
        if "query_ranges" not in self.functions:
            return [self.query_range(min(extent, len(self))) for extent in self.ranges]
        self.functions["query_ranges"](self.state, self.ring)
        load = PLAIN_SLOTS["load"]
        return [load(self.ring.answers, index) for index in range(len(self.ranges))]

    def linked(self, loop: Callable[..., Any], **slots: Any) -> Callable[..., Any]:
        """A loop of `engine/loops.py` or `engine/slice_loops.py`, over windows such as this one."""
        functions = link([loop], {**self._slots, **self._linked, **slots})
        linked: Callable[..., Any] = functions[loop.__name__]
        return linked

    def drive(
        self, loop: Callable[..., Any], data: tuple[Any, ...], bounds: tuple[Any, ...],
        begin: int, stop: int,
    ) -> None:  # fmt: skip
        """Run a loop from `begin` to `stop`, and make room whenever the window is full.

        The arguments are those of `KernelWindow.drive`.
        """
        while begin < stop:
            self.state, begin = loop(*data, self.ring, self.state, *bounds, begin, stop)
            if begin < stop:
                self.grow()

    def grow(self) -> None:
        """Make twice the room."""
        self._resize(2 * self._capacity)

    def _make_room(self) -> None:
        """Make room for one more event, by closing holes if that is enough."""
        if "compact" in self.functions:
            self.state = self.functions["compact"](self.state, self.ring)
        if not self._has_room(self.state, self.ring):
            self.grow()

    def _shrink(self) -> None:
        """Halve the room as long as the algorithm wants less."""
        while (
            self._wants_less is not None
            and self._capacity > self._smallest
            and self._wants_less(self.state, self.ring)
        ):
            self._resize(self._capacity // 2)

    def _resize(self, capacity: int) -> None:
        self._capacity = capacity
        other = self._allocate()
        self.state = self.functions["resize"](self.state, self.ring, other)
        self.ring = other

    def _offered(self, operation: str) -> Callable[..., Any]:
        """An operation that not every algorithm has."""
        require_offered(self.algorithm, operation)
        return self.functions[operation]

    def __len__(self) -> int:
        return self._size(self.state)


#: operations that users do not call: a window with a policy does
_SEARCHES = frozenset({"leaving", "half_leaving"})


def require_offered(algorithm: Algorithm, operation: str) -> None:
    """Refuse an algorithm that does not have an operation."""
    if not _has(algorithm, operation):
        having = ", ".join(name for name, each in ALGORITHMS.items() if _has(each, operation))
        if operation in _SEARCHES:
            raise NotApplicable(
                f"policy: {algorithm.NAME} cannot find how many events are to leave; {having} can"
            )
        raise NotApplicable(f"{algorithm.NAME} has no {operation}; {having} can do it")


def _cannot_evict(_state: State, _ring: Any) -> State:
    raise NotApplicable("evict: nothing leaves a window that only grows")


def _end_to_end(state: State) -> int:
    return state.end - state.front


def _has(algorithm: Algorithm, operation: str) -> bool:
    return any(function.__name__ == operation for function in algorithm.FUNCTIONS)
