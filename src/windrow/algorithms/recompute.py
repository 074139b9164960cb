"""Recomputation, the oracle.

paper      the baseline that every paper starts from
order      first in, first out
requires   an associative combine, nothing else
insert     no combine
evict      no combine, for any number at once
query      n combines; of the newest k, k combines
space      n partials

The window is the queue of its events and nothing else. A query combines them all, oldest to newest.
It is slow and too simple to be wrong. Tests compare every other algorithm with this one, and you
can check any answer with `algorithm="recompute"`.

Invariants, for a window of events v[0] to v[n-1]:

1. end - front = n.
2. The slot at front + i holds v[i].
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from windrow.algebra.monoid import Traits
from windrow.algorithms.guarantees import Growth, Guarantees
from windrow.algorithms.plain_memory import Memory
from windrow.compiler.slots import (
    Partial,
    Ring,
    capacity,
    combine,
    identity,
    load,
    release,
    store,
)

NAME = "recompute"
GUARANTEES = Guarantees(Growth.LINEAR, lambda events: events)

#: a larger ring holds the same partials at the same positions, and nothing else
KEEPS_POSITIONS = True


class State(NamedTuple):
    """The positions of the oldest event and behind the newest."""

    front: int
    end: int


def refuses(traits: Traits, invertible: bool) -> str | None:
    """Why it cannot serve such an aggregation: it serves all."""
    return None


def allocate(memory: Memory, capacity: int) -> Ring:
    """Room for so many events."""
    return memory.queue(capacity)


def empty(ring: Ring, position: int) -> State:
    """A window with no events."""
    release(ring, position)
    return State(position, position)


def has_room(state: State, ring: Ring) -> bool:
    """Whether one more event fits."""
    return state.end - state.front < capacity(ring)


def resize(state: State, ring: Ring, other: Ring) -> State:
    """The same window in another ring."""
    for position in range(state.front, state.end):
        store(other, position, load(ring, position))
    return state


def insert(state: State, ring: Ring, partial: Partial) -> State:
    """Keep the event."""
    store(ring, state.end, partial)
    return state._replace(end=state.end + 1)


def evict(state: State, ring: Ring) -> State:
    """Forget the oldest event."""
    release(ring, state.front + 1)
    return state._replace(front=state.front + 1)


def evict_many(state: State, ring: Ring, count: int) -> State:
    """Forget the oldest events."""
    release(ring, state.front + count)
    return state._replace(front=state.front + count)


def query_range(state: State, ring: Ring, count: int) -> Partial:
    """Combine the newest events, oldest to newest."""
    partial = identity()
    for position in range(state.end - count, state.end):
        partial = combine(partial, load(ring, position))
    return partial


def query(state: State, ring: Ring) -> Partial:
    """Combine all events, oldest to newest."""
    return query_range(state, ring, state.end - state.front)


FUNCTIONS = (empty, has_room, resize, insert, evict, evict_many, query_range, query)


def stored_partials(state: State) -> int:
    """How many partials the state keeps."""
    return state.end - state.front


def check_invariants(
    state: State,
    ring: Ring,
    events: Sequence[Partial],
    load: Callable[[Ring, int], Partial],
    fold: Callable[[Sequence[Partial]], Partial],
    equal: Callable[[Partial, Partial], bool],
) -> None:
    """Assert invariants 1 and 2 for a window of these lifted events."""
    assert state.end - state.front == len(events), "invariant 1"
    for index, event in enumerate(events):
        assert equal(load(ring, state.front + index), event), f"invariant 2 at {index}"
