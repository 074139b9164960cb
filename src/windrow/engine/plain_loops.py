"""What `wr.Window` calls for one event in plain Python, and the code of its windows."""

from __future__ import annotations

from typing import Any

from windrow.algebra.plain_source import Source
from windrow.algorithms import Algorithm
from windrow.algorithms.plain_memory import PLAIN_SLOTS, PlainMemory
from windrow.compiler.plain_code import PlainCode
from windrow.compiler.slots import (
    Partial,
    Ring,
    State,
    evict,
    evict_many,
    half_leaving,
    insert,
    leaving,
    query,
)

#: how many codes are kept: one for each pair of an algorithm and a monoid
_MOST = 256
_CODES: dict[Any, PlainCode] = {}


def lift(value: Any) -> Partial:
    """The partial of an event of one input."""
    raise AssertionError("linked for one monoid")


def lower(partial: Partial) -> Any:
    """The answer of a partial."""
    raise AssertionError("linked for one monoid")


def insert_value(state: State, ring: Ring, value: Any) -> State:
    """Insert an event of one input."""
    return insert(state, ring, lift(value))


def insert_by_policy(state: State, ring: Ring, value: Any) -> State:
    """Insert an event of one input, and let those leave that the policy lets leave."""
    state = insert(state, ring, lift(value))
    count = leaving(state, ring)
    if count == 1:
        state = evict(state, ring)
    elif count > 1:
        state = evict_many(state, ring, count)
    return state


def insert_by_halves(state: State, ring: Ring, value: Any) -> State:
    """The same of a policy that drops halves."""
    state = insert(state, ring, lift(value))
    count = half_leaving(state, ring)
    while count > 0:
        state = evict_many(state, ring, count)
        count = half_leaving(state, ring)
    return state


def answer(state: State, ring: Ring) -> Any:
    """The answer for all events."""
    return lower(query(state, ring))


def size(state: State) -> int:
    """The number of events, for algorithms that do not say it themselves."""
    return state.end - state.front  # type: ignore[no-any-return]


def code_of(algorithm: Algorithm, source: Source) -> PlainCode:
    """The functions of an algorithm over a monoid, written into each other."""
    text, refers = source
    key: Any = (algorithm.FUNCTIONS, text, tuple(sorted(refers)), tuple(map(id, refers.values())))
    found = _CODES.pop(key, None)
    if found is None:
        shared = {name: PLAIN_SLOTS[name] for name in ("claim", "pause")}
        own = () if hasattr(algorithm, "size") else (size,)
        inserting = (insert_by_policy, insert_by_halves) if "rule_0" in refers else (insert_value,)
        functions = (*algorithm.FUNCTIONS, *own, *inserting, answer)
        found = PlainCode(functions, algorithm.State, text, {**shared, **refers})
        if len(_CODES) >= _MOST:
            del _CODES[next(iter(_CODES))]
    _CODES[key] = found
    return found


def subtracts(algorithm: Algorithm) -> bool:
    """Whether an algorithm takes events out of partials."""
    return any("inverse" in each.__code__.co_names for each in algorithm.FUNCTIONS)


def is_bounded(algorithm: Algorithm) -> bool:
    """Whether the room of a window in plain Python has to grow with it."""
    rooms = []
    for capacity in (16, 32):
        memory = _Measured()
        algorithm.allocate(memory, capacity)
        rooms.append(memory.taken)
    return rooms[0] != rooms[1]


class _Measured(PlainMemory):
    """Adds up what is asked for and does not grow by itself."""

    def __init__(self) -> None:
        self.taken = 0

    def array(self, capacity: int) -> Ring:
        """A list."""
        self.taken += capacity
        return super().array(capacity)

    def counters(self, capacity: int) -> Ring:
        """A list of zeros."""
        self.taken += capacity
        return super().counters(capacity)
