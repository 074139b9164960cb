"""What an algorithm keeps, step by step: the trace that its page draws.

The window is a `PlainWindow`, which runs the source that kernels are compiled from. Its partials
are texts that are joined, so a partial shows which events it stands for, and in which order. Where
an algorithm asks for a combine that selects, they are digits, and the largest stays.

    insert d   →   slots: a..c  b..c  c  d      front 0, back 3, end 4, back_partial d

Memory is recorded: what stands at each position, and what kind of room it is. A finger tree is
shown by its nodes (`finger_rooms.py`), and gets more events, of which one comes late.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from website.finger_rooms import fingers_of, levels_of
from windrow.algebra.monoid import Traits
from windrow.algorithms import Algorithm, finger_tree
from windrow.algorithms.finger_nodes import Nodes
from windrow.engine.plain_window import PlainWindow
from windrow.work import sizes

#: what is done, after a few first insertions
STEPS = ("insert", "evict", "insert", "evict", "insert", "evict", "insert")
_FIRST = 3
#: of a tree, whose leaves hold up to 7 events: the first of them make it grow and shrink
TREE_STEPS = ("insert", "late", "evict", "evict", "evict", "evict")
_TREE_FIRST = 12
#: what comes late, and behind how many others it belongs
_LATE, _BEHIND = "x", 3
#: room for so many events, which no trace outgrows
_ROOM, _TREE_ROOM = 8, 16


class Area:
    """Recorded memory: values by position."""

    def __init__(self, kind: str, capacity: int, value: Any = None) -> None:
        """`kind` is what `allocate` asked for; `value` is there at first."""
        self.kind, self.capacity = kind, capacity
        self.values: dict[int, Any] = {} if value is None else dict.fromkeys(range(capacity), value)

    def load(self, position: int) -> Any:
        """The value at a position."""
        return self.values[position]

    def store(self, position: int, value: Any) -> None:
        """Keep a value."""
        self.values[position] = value

    def release(self, position: int) -> None:
        """Forget what lies before a position, where positions only grow."""
        if self.kind in ("queue", "integers"):
            self.values = {place: each for place, each in self.values.items() if place >= position}


class RecordedMemory:
    """What `allocate` of an algorithm is given."""

    def queue(self, capacity: int) -> Area:
        """Partials at growing positions."""
        return Area("queue", 2**62)

    def array(self, capacity: int) -> Area:
        """Partials at positions from zero."""
        return Area("array", capacity)

    def integers(self, capacity: int) -> Area:
        """Integers at growing positions."""
        return Area("integers", 2**62)

    def counters(self, capacity: int) -> Area:
        """Zeros."""
        return Area("counters", capacity, 0)


class Joining:
    """Texts, joined; without its oldest part, the rest of a text is left."""

    traits = Traits()
    invertible = True
    events = "abcdefghijklm"

    def __init__(self) -> None:
        self.combines = 0

    def identity(self) -> str:
        """No events."""
        return ""

    def combine(self, older: str, newer: str) -> str:
        """Both, in their order."""
        self.combines += 1
        return older + newer

    def inverse(self, total: str, oldest: str) -> str:
        """The rest."""
        self.combines += 1
        return total.removeprefix(oldest)

    def same(self, left: str, right: str) -> bool:
        """Whether they are equal."""
        return left == right


class Largest(Joining):
    """Digits, of which the largest stays: for algorithms that need a combine that selects."""

    traits = Traits(commutative=True, selective=True, exact=True)
    events = "725136480"

    def combine(self, older: str, newer: str) -> str:
        """The larger; texts of digits compare as digits do, and no event is the smallest."""
        self.combines += 1
        return max(older, newer)


class RecordedWindow(PlainWindow):
    """A window whose memory is recorded."""

    def _allocate(self) -> Any:
        return self.algorithm.allocate(RecordedMemory(), self._capacity)  # type: ignore[arg-type]


class Room(NamedTuple):
    """What stands in one area of memory."""

    name: str
    kind: str
    values: dict[int, Any]


class Kept(NamedTuple):
    """What the window keeps after a step, and how many combines the step and its query took."""

    step: str
    events: str
    answer: str
    combines: int
    rooms: list[Room]
    state: dict[str, Any]


def monoid_for(algorithm: Algorithm) -> Joining:
    """Texts that are joined, unless the algorithm refuses them."""
    return Largest() if algorithm.refuses(Joining.traits, invertible=True) else Joining()


def trace(algorithm: Algorithm) -> Iterator[Kept]:
    """What a small window keeps after each of a few steps; every step ends with a query."""
    monoid = monoid_for(algorithm)
    is_tree = algorithm.NAME == finger_tree.NAME
    with sizes.using(plain_capacity=_TREE_ROOM if is_tree else _ROOM):
        window = RecordedWindow(algorithm, monoid)
    incoming = iter(enumerate(monoid.events))
    events = ""

    def insert() -> str:
        time, event = next(incoming)
        if is_tree:
            window.insert_at_time(time, event)
        else:
            window.insert(event)
        return event

    for _ in range(_TREE_FIRST if is_tree else _FIRST):
        events += insert()
    yield _kept(window, monoid, f"insert {', '.join(events)}", events)
    for step in TREE_STEPS if is_tree else STEPS:
        told = step
        if step == "insert":
            events += insert()
            told = f"insert {events[-1]}"
        elif step == "late":
            window.insert_at_time(_BEHIND - 1, _LATE)
            told = f"insert {_LATE}, late, behind {events[_BEHIND - 1]}"
            events = events[:_BEHIND] + _LATE + events[_BEHIND:]
        else:
            window.evict()
            events = events[1:]
        yield _kept(window, monoid, told, events)


def _kept(window: RecordedWindow, monoid: Joining, step: str, events: str) -> Kept:
    answer = window.query()
    combines, monoid.combines = monoid.combines, 0
    if isinstance(window.ring, Nodes):
        levels = [Room(name, "nodes", entries) for name, entries in levels_of(window.ring)]
        return Kept(step, events, answer, combines, levels, dict(fingers_of(window.ring)))
    state: dict[str, Any] = window.state._asdict()  # type: ignore[attr-defined]
    rooms = [
        Room(
            name,
            area.kind,
            {p: each for p, each in area.values.items() if _is_live(name, p, state)},
        )
        for name, area in _areas("", window.ring)
    ]
    shown = [room for room in rooms if room.values and room.kind != "counters"]
    return Kept(step, events, answer, combines, shown, state)


def _is_live(name: str, position: int, state: dict[str, Any]) -> bool:
    """Whether a state says that what is at a position counts; by default all does."""
    if name == "stack":
        return position < state.get("depth", 0)
    if name == "tails":
        return bool(position <= state["level"])
    return "tail" not in state or state["head"] <= position < state["tail"]


def _areas(name: str, ring: Any) -> Iterator[tuple[str, Area]]:
    """The memory of a ring, by name: it may be one area or a tuple of them."""
    if isinstance(ring, Area):
        yield name or "slots", ring
    elif isinstance(ring, tuple):
        fields: Mapping[str, Any] = (
            ring._asdict()
            if hasattr(ring, "_asdict")
            else dict(zip(("values", "aggregates"), ring, strict=False))
        )
        for each, part in fields.items():
            yield from _areas(each, part)
