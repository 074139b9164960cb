"""`wr.Window`: the window as a data structure.

Behind it is one of two windows: one in plain Python, on any Python object (`plain_elements.py`), or
a compiled one, on numbers of known types (`compiled_window.py`). It provides `insert`, `evict` and
`query`, which are called for every event: they become attributes of the `wr.Window`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from windrow.algebra.aggregation import Aggregation, Measure
from windrow.algorithms import AlgorithmName
from windrow.element.arguments import count_of, event_range, going, iterated, natural
from windrow.element.compiled_window import CompiledWindow
from windrow.element.event_times import EventTimes
from windrow.element.plain_elements import PlainElements
from windrow.element.stored_algorithms import StoredAlgorithm
from windrow.element.stored_window import StoredWindow
from windrow.element.typed_inputs import Types
from windrow.engine.policy_counts import TREE
from windrow.errors import EmptyWindow, InvalidArgument, NotApplicable
from windrow.planning.choose import Preference, Wish
from windrow.stores import Store
from windrow.windows import PolicyWindow
from windrow.windows.policy import require_policy


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
        types: the type of the events, as in "float64", or one for each input or column: an Arrow or
            numpy type. Then the window is compiled, and takes events of these types only.
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
        types: Types | None = None,
        policy: PolicyWindow | None = None,
        algorithm: AlgorithmName | None = None,
        prefer: Preference = "throughput",
        exact: bool = True,
        ranges: Iterable[int] = (),
    ) -> None:
        if policy is not None:
            require_policy(policy)
            algorithm = algorithm or TREE.NAME
        wish = Wish(algorithm, prefer, exact)
        wanted = [event_range(each) for each in iterated("ranges", ranges, "numbers of events")]
        self._behind: PlainElements | CompiledWindow
        if types is None:
            self._behind = PlainElements(aggregation, policy, wish, wanted)
        else:
            if wanted:
                raise NotApplicable(
                    "ranges: a compiled window answers for all its events; leave out types="
                )
            self._behind = CompiledWindow(aggregation, types, policy, wish)
        self._times = EventTimes()
        self._take_entries()

    @classmethod
    def open(
        cls,
        store: Store | str | Path,
        name: str,
        aggregation: Aggregation | Measure | Iterable[Measure] | None = None,
        *,
        types: Types | None = None,
        policy: PolicyWindow | None = None,
        algorithm: StoredAlgorithm | None = None,
        block: int = 256,
        flush_every: int | None = 1_000_000,
        flush_seconds: float | None = 10.0,
    ) -> StoredWindow:
        """Open a window in a store, or make it there: larger than memory, safe from crashes.

        Args:
            store: where the events are kept: a store of `wr.stores`, the folder of a RocksDB, or
                the address of a Redis server.
            name: the window's name in the store; two windows of different names never meet.
            aggregation: what to compute; or a list of measures of named columns, as in
                `[wr.max("x"), wr.mean("y")]`: then events are mappings, and so are answers. Leave
                it out if the window is in the store.
            types: the Arrow type of the events, or one for each input, or a mapping from columns
                to types; "float64" by default.
            policy: makes the window slide by itself; give it again when you open it again.
            algorithm: "amortized_monoid_tree", the default, or "log_monoid_tree".
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
            types=types, policy=policy, algorithm=algorithm, block=block,
            flush_every=flush_every, flush_seconds=flush_seconds,
        )  # fmt: skip

    def insert(self, *inputs: Any) -> None:
        """Add an event at the newest end; a null is an event without a value."""
        is_faster_now = self._behind.insert(*inputs)
        if is_faster_now or self._times.are_kept:
            self._times.lose()
            self._take_entries()

    def insert_many(self, events: Any, times: Any = None) -> None:
        """Add events, oldest first.

        Args:
            events: a list or an array. If the aggregation has several inputs, a list of tuples; of
                several measures, a list of mappings. If the window has `types`, also a table with a
                column for each. Arrays and tables run at compiled speed then.
            times: when each event happened, for `evict_older_than`; never earlier than the event
                before, unless the algorithm takes events in any order (`insert_at_time`). Numbers,
                or times of one type.

        >>> import windrow as wr
        >>> window = wr.Window(wr.sum(), types="float64")
        >>> window.insert_many([1, 2, 4], times=[10, 20, 30])
        >>> window.evict_older_than(20)
        >>> window.query(), len(window)
        (6.0, 2)
        """
        if times is not None and isinstance(events, Iterator):
            events = list(events)  # they have to be counted
        if times is not None and self._behind.keeps_times:
            self._behind.insert_at_times(events, times)
            return
        found = None if times is None else self._times.checked(times, count_of(events), len(self))
        self._behind.insert_many(events)
        if found is not None:
            self._times.extend(found)
        else:
            self._times.lose()
        self._take_entries()

    def slide_many(self, events: Any) -> Any:
        """For each event: evict the oldest, insert it, answer. Returns the answers.

        The window keeps its number of events. With `types`, answers are an Arrow array, computed
        by the kernel of `wr.over`, or a table if there are several measures; without, a list.

        >>> import windrow as wr
        >>> window = wr.Window(wr.max(), types="float64")
        >>> window.insert_many([4, 5, 3])
        >>> window.slide_many([1, 2, 1]).to_pylist()
        [5.0, 3.0, 2.0]
        """
        if not len(self):
            raise EmptyWindow("slide_many: the window holds no events; insert some first")
        self._times.lose()
        return self._behind.slide_many(events)

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
        position = natural("position", position)
        if position > len(self):
            raise InvalidArgument(
                f"position: an event can be inserted at 0 to {len(self)}, not at {position}"
            )
        self._behind.insert_at(position, inputs)
        self._times.lose()

    def insert_at_time(self, time: Any, *inputs: Any) -> None:
        """Add an event that happened at a time: behind all events that are not later.

        Times are anything that has an order: numbers, dates, text. An event that you insert without
        a time gets that of the newest. Algorithms that need events to come in their order raise
        `NotApplicable`.

        >>> import windrow as wr
        >>> window = wr.Window(wr.concat(), algorithm="finger_tree")
        >>> window.insert_many("ace", times=[10, 30, 50])
        >>> window.insert_at_time(20, "b")
        >>> window.query()
        'abce'
        >>> window.evict_older_than(20)
        >>> window.query()
        'bce'
        """
        self._behind.insert_at_time(time, inputs)

    def evict(self) -> None:
        """Drop the oldest event."""
        self._behind.evict()

    def evict_many(self, count: int) -> None:
        """Drop the oldest `count` events."""
        self._behind.evict_many(going(count, len(self)))

    def evict_older_than(self, time: Any) -> None:
        """Drop the events that happened before a time; see `insert_many`."""
        if self._behind.keeps_times:
            self._behind.evict_many(self._behind.older_than(time))
        else:
            self.evict_many(self._times.older_than(time, len(self)))

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
        position, held = self._place("evict_at", position), len(self)
        self._behind.evict_at(position)
        self._times.drop(position, held)

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
        return self._behind.query() if range is None else self._behind.query_registered(range)

    def query_range(self, count: int) -> Any:
        """The aggregate of the newest `count` events; None if they have no value.

        Algorithms that cannot share one window among several ranges raise `NotApplicable`.

        >>> import windrow as wr
        >>> window = wr.Window(wr.max(), algorithm="flat_fit")
        >>> window.insert_many([4, 5, 3])
        >>> window.query_range(1), window.query_range(2), window.query()
        (3, 5, 5)
        """
        count = natural("count", count)
        if count > len(self):
            raise EmptyWindow(
                f"query_range: {count} events are asked for, but the window holds {len(self)}"
            )
        return self._behind.query_range(count)

    def prefix(self, position: int) -> Any:
        """The aggregate from the oldest event to the one at a position; the oldest is at 0.

        Only FlatFAT has it (Tangwongsan et al. 2015, §4); others raise `NotApplicable`.

        >>> import windrow as wr
        >>> window = wr.Window(wr.concat(), algorithm="flat_fat")
        >>> window.insert_many("abcd")
        >>> window.prefix(1), window.suffix(1)
        ('ab', 'bcd')
        """
        return self._behind.prefix(self._place("prefix", position))

    def suffix(self, position: int) -> Any:
        """The aggregate from the event at a position to the newest one; see `prefix`."""
        return self._behind.suffix(self._place("suffix", position))

    def update(self, events: Mapping[int, Any]) -> None:
        """Put other events in the place of those at some positions; see `prefix`.

        Nodes of the tree that several of them share are combined once.

        >>> import windrow as wr
        >>> window = wr.Window(wr.concat(), algorithm="flat_fat")
        >>> window.insert_many("abcd")
        >>> window.update({0: "A", 2: "C"})
        >>> window.query()
        'AbCd'
        """
        if not isinstance(events, Mapping):
            raise InvalidArgument(
                f"events: give a mapping from positions to events, as in {{0: 4}}, not {events!r}"
            )
        self._behind.update({self._place("update", each): events[each] for each in events})

    def clear(self) -> None:
        """Drop all events."""
        self._behind.clear()
        self._times = EventTimes()
        self._take_entries()

    def __len__(self) -> int:
        return len(self._behind)

    def __reduce__(self) -> NoReturn:
        raise NotApplicable(
            "a window is neither copied nor pickled: a copy would share its events; make another, "
            "or keep it in a store with wr.Window.open(...)"
        )

    def _take_entries(self) -> None:
        """Let operations of one event be those of the window behind, without a call between.

        While events have times, `insert` is that of this class: it sees an event without one.
        """
        entries = self._behind.entries()
        if self._times.are_kept:
            entries.pop("insert", None)
            vars(self).pop("insert", None)
        vars(self).update(entries)

    def _place(self, operation: str, position: int) -> int:
        """A position, if an event is there."""
        position = natural("position", position)
        if position >= len(self):
            raise EmptyWindow(
                f"{operation}: no event is at {position}, the window holds {len(self)}"
            )
        return position

    def __repr__(self) -> str:
        behind = self._behind
        return f"<Window of {len(self)} events: {behind.name}, {behind.algorithm.NAME}>"
