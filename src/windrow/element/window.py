"""`wr.Window`: the window as a data structure.

A call per event costs as much in plain Python as in a compiled method. So a window runs the source
of its algorithm as it is, over Python objects.
"""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from pathlib import Path
from typing import Any

from windrow.algebra.aggregation import Aggregation, Measure
from windrow.algorithms import AlgorithmName
from windrow.element.lifting import Events, PolicyEvents, events_of
from windrow.element.stored_window import StoredWindow
from windrow.element.typed_inputs import Types
from windrow.engine.plain_window import PlainWindow
from windrow.engine.policy_counts import TREE, let_leave
from windrow.errors import EmptyWindow, InvalidArgument
from windrow.planning.choose import Preference, Wish, choose
from windrow.stores import Store
from windrow.windows import PolicyWindow


class Window:
    """A window to insert into, evict from and query.

    Args:
        aggregation: what to compute, as in `wr.max()`; or a list of measures of named columns, as
            in `[wr.max("x"), wr.mean("y")]`: then events are mappings, and so are answers.
        policy: makes the window slide by itself, as in `wr.policy(...)`. After each event, events
            leave as the policy says. A measure without columns, such as `wr.sum()`, asks for the
            event itself.
        algorithm: the name of an algorithm; by default the planner chooses one. A policy needs one
            that can be searched: by default `amortized_monoid_tree`.
        prefer: what the planner looks for: "throughput", "latency" or "memory".
        exact: False admits algorithms that subtract floats.
        ranges: numbers of newest events that you will ask for beside the whole window, as in
            `query(range=3)`; algorithms that cannot share a window raise `NotApplicable`.

    Raises:
        InvalidArgument: if an argument is wrong.
        NotApplicable: if the algorithm that you name cannot serve the aggregation.

    >>> import windrow as wr
    >>> window = wr.Window(wr.max())
    >>> window.insert_many([4, 5, 3])
    >>> window.evict()
    >>> window.query(), len(window)
    (5, 2)

    Several dimensions in one window; one of them makes it slide:

    >>> recent = wr.policy(lambda total, oldest: total - oldest >= 60, of=wr.max("second"))
    >>> window = wr.Window([wr.mean("load"), wr.max("heat")], policy=recent)
    >>> window.insert({"second": 0, "load": 0.5, "heat": 40})
    >>> window.insert({"second": 59, "load": 0.7, "heat": 38})
    >>> window.insert({"second": 61, "load": 0.8, "heat": 39})
    >>> window.query(), len(window)
    ({'mean_load': 0.75, 'max_heat': 39}, 2)
    """

    def __init__(
        self,
        aggregation: Aggregation | Measure | Iterable[Measure],
        *,
        policy: PolicyWindow | None = None,
        algorithm: AlgorithmName | None = None,
        prefer: Preference = "throughput",
        exact: bool = True,
        ranges: Iterable[int] = (),
    ) -> None:
        own = events_of(aggregation)
        events: Events = own
        self._halves = False
        self._verdict = None
        if policy is not None:
            events = PolicyEvents(own, policy)
            self._halves, self._verdict = policy.halves, events.monoid.verdict
            algorithm = algorithm or TREE.NAME
        self._events = events
        wanted = [_range(each) for each in ranges]
        wish = Wish(algorithm, prefer, exact)
        chosen = choose(events.served, wish, shared=bool(wanted))
        self._algorithm = chosen.algorithm
        if exact and self._algorithm.GUARANTEES.subtracts and not chosen.served.traits.exact:
            for admission in events.admissions:
                admission.require_no_rounding(self._algorithm.NAME)
        self._window = PlainWindow(self._algorithm, events.monoid, wanted, self._verdict)
        self._answers: dict[int, Any] = {}
        self._answered: Any = None

    @classmethod
    def open(
        cls,
        store: Store | str | Path,
        name: str,
        aggregation: Aggregation | Measure | None = None,
        *,
        types: Types | None = None,
        policy: PolicyWindow | None = None,
        block: int = 256,
        flush_every: int | None = 1_000_000,
        flush_seconds: float | None = 10.0,
    ) -> StoredWindow:
        """Open a window in a store, or make it there: larger than memory, safe from crashes.

        Args:
            store: where the events are kept: a store of `wr.stores`, the folder of a RocksDB, or
                the address of a Redis server.
            name: the window's name in the store; two windows of different names never meet.
            aggregation: what to compute; leave it out if the window is in the store.
            types: the Arrow type of the events, or one for each input; "float64" by default.
            policy: makes the window slide by itself; give it again when you open it again.
            block: how many partials make one value of the store, a power of two.
            flush_every: flush after so many events; None if you flush yourself.
            flush_seconds: flush at an insertion after so many seconds; None if you flush yourself.

        A crash loses the insertions and evictions since the last flush.

        Raises:
            InvalidArgument: if an argument is wrong, or the store has another window of that name.
            NotApplicable: if a store cannot hold such an aggregation.
            StoreError: if the store fails, or holds damaged data.

        >>> import windrow as wr
        >>> store = wr.stores.MemoryStore()
        >>> window = wr.Window.open(store, "load", wr.mean())
        >>> window.insert_many([1.0, 2.0, 6.0])
        >>> window.flush()
        >>> again = wr.Window.open(store, "load")
        >>> again.recovered, again.query()
        (3, 3.0)
        """
        return StoredWindow(
            store, name, aggregation,
            types=types, policy=policy, block=block,
            flush_every=flush_every, flush_seconds=flush_seconds,
        )  # fmt: skip

    def insert(self, *inputs: Any) -> None:
        """Add an event at the newest end; a null is an event without a value."""
        self._window.insert(self._events.lift("insert", inputs))
        if self._verdict is not None:
            let_leave(self._window, self._halves)

    def insert_many(self, events: Iterable[Any]) -> None:
        """Add events, oldest first; tuples, if the aggregation has several inputs."""
        for event in events:
            if self._events.several:
                self.insert(*event)
            else:
                self.insert(event)

    def insert_at(self, position: int, *inputs: Any) -> None:
        """Add an event inside the window, before the one at a position; the oldest is at 0.

        Algorithms that need events to come in their order raise `NotApplicable`.

        >>> import windrow as wr
        >>> window = wr.Window(wr.concat(), algorithm="flat_fat")
        >>> window.insert_many("acd")
        >>> window.insert_at(1, "b")
        >>> window.query()
        'abcd'
        """
        position = _natural("position", position)
        if position > len(self):
            raise InvalidArgument(
                f"position: an event can be inserted at 0 to {len(self)}, not at {position}"
            )
        self._window.insert_at(position, self._events.lift("insert_at", inputs))

    def evict(self) -> None:
        """Drop the oldest event."""
        if not len(self):
            raise EmptyWindow("evict: the window holds no events")
        self._window.evict()

    def evict_many(self, count: int) -> None:
        """Drop the oldest `count` events."""
        count = _natural("count", count)
        if count > len(self):
            raise EmptyWindow(
                f"evict_many: {count} events are to leave, but the window holds {len(self)}"
            )
        self._window.evict_many(count)

    def evict_at(self, position: int) -> None:
        """Drop the event at a position; the oldest is at 0.

        Algorithms that need events to leave in their order raise `NotApplicable`.

        >>> import windrow as wr
        >>> window = wr.Window(wr.max(), algorithm="flat_fat")
        >>> window.insert_many([4, 5, 3])
        >>> window.evict_at(1)
        >>> window.query()
        4
        """
        position = _natural("position", position)
        if position >= len(self):
            raise EmptyWindow(f"evict_at: no event is at {position}, the window holds {len(self)}")
        self._window.evict_at(position)

    def query(self, *, range: int | None = None) -> Any:
        """The aggregate of all events in the window; None if they have no value.

        Args:
            range: ask for the newest `range` events instead, or all if there are fewer. It must be
                one of the window's `ranges`. The first query after a change computes all of them.

        >>> import windrow as wr
        >>> window = wr.Window(wr.max(), algorithm="slick_deque", ranges=(1, 2))
        >>> window.insert_many([5, 4, 3])
        >>> window.query(range=1), window.query(range=2), window.query()
        (3, 4, 5)
        """
        if range is None:
            return self._events.lower(self._window.query())
        if self._answered is not self._window.state:
            found = map(self._events.lower, self._window.query_ranges())
            self._answers = dict(zip(self._window.ranges, found, strict=True))
            self._answered = self._window.state
        if range not in self._answers:
            registered = ", ".join(map(str, self._window.ranges)) or "none"
            raise InvalidArgument(
                f"range: {range!r} is not one of the ranges that the window was made with "
                f"({registered}); query_range(count) takes any"
            )
        return self._answers[range]

    def query_range(self, count: int) -> Any:
        """The aggregate of the newest `count` events; None if they have no value.

        Algorithms that cannot share one window among several ranges raise `NotApplicable`.

        >>> import windrow as wr
        >>> window = wr.Window(wr.max(), algorithm="flat_fit")
        >>> window.insert_many([4, 5, 3])
        >>> window.query_range(1), window.query_range(2), window.query()
        (3, 5, 5)
        """
        count = _natural("count", count)
        if count > len(self):
            raise EmptyWindow(
                f"query_range: {count} events are asked for, but the window holds {len(self)}"
            )
        return self._events.lower(self._window.query_range(count))

    def clear(self) -> None:
        """Drop all events."""
        self._window.clear()

    def __len__(self) -> int:
        return len(self._window)

    def __repr__(self) -> str:
        return f"<Window of {len(self)} events: {self._events.name}, {self._algorithm.NAME}>"


def _range(extent: int) -> int:
    if not isinstance(extent, Integral) or extent < 1:
        raise InvalidArgument(f"ranges: a range is a number of events, 1 or more, not {extent!r}")
    return int(extent)


def _natural(argument: str, number: int) -> int:
    if not isinstance(number, Integral) or number < 0:
        raise InvalidArgument(f"{argument}: a number of events is 0, 1, 2, ..., not {number!r}")
    return int(number)
