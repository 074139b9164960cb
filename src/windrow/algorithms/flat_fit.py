"""FlatFIT, the Flat and Fast Index Traverser.

paper      Shein et al. 2017, as told in Shein et al. 2018, §2.2 and §4; windows that grow and
           shrink, Tangwongsan et al. 2021, §7
order      first in, first out
requires   an associative combine, nothing else
insert     no combine
evict      no combine, for any number at once
query      at most n - 1 combines; of a window that slides, less than 3 on average: n - 1 in one
           round of n + 1, 1 before and after it, 2 in the others; of the newest k events, at most
           k - 1, and n - 1 for all k together
space      n partials, n pointers, and a stack of at most n positions

Each partial has a pointer to where its events end. A query follows the pointers to the end and
pushes the places where it has been on a stack. On the way back it extends every partial that it met
to the end, so the next query jumps over all of them. Nothing is combined before a query needs it.

      front                                   end
        |                                      |
        v                                      v
      [ c..f   d..f   e..f   f    g..i   h    i    j ]
        >g     >g     >g     >g   >j     >i   >j   >end

      query = c..f ; g..i ; j, after which both c..j and g..j point to the end

Pointers are positions. They do not change when the ring grows or shrinks.

Invariants, for a window of events v[0] to v[n-1]:

1. end - front = n.
2. The pointer at front + i is front + j, with i < j <= n.
3. The partial at front + i is then v[i] .. v[j-1].
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
    load_integer,
    release,
    store,
    store_integer,
)

NAME = "flat_fit"
GUARANTEES = Guarantees(Growth.LINEAR, lambda events: events, positions=2)


class Traverser(NamedTuple):
    """Partials, the pointers beside them, and a stack of positions for the way back."""

    partials: Ring
    pointers: Ring
    stack: Ring


class State(NamedTuple):
    """The positions of the oldest event and behind the newest."""

    front: int
    end: int


def refuses(traits: Traits, invertible: bool) -> str | None:
    """Why it cannot serve such an aggregation: it serves all."""
    return None


def allocate(memory: Memory, capacity: int) -> Traverser:
    """Room for so many events."""
    return Traverser(memory.queue(capacity), memory.integers(capacity), memory.integers(capacity))


def forget(ring: Traverser, position: int) -> None:
    """Let go of all that stands before a position."""
    release(ring.partials, position)
    release(ring.pointers, position)


def empty(ring: Traverser, position: int) -> State:
    """A window with no events."""
    forget(ring, position)
    return State(position, position)


def has_room(state: State, ring: Traverser) -> bool:
    """Whether one more event fits."""
    return state.end - state.front < capacity(ring.partials)


def resize(state: State, ring: Traverser, other: Traverser) -> State:
    """The same window in another ring."""
    for position in range(state.front, state.end):
        store(other.partials, position, load(ring.partials, position))
        store_integer(other.pointers, position, load_integer(ring.pointers, position))
    return state


def insert(state: State, ring: Traverser, partial: Partial) -> State:
    """Keep the event; its pointer is the next position."""
    store(ring.partials, state.end, partial)
    store_integer(ring.pointers, state.end, state.end + 1)
    return state._replace(end=state.end + 1)


def evict(state: State, ring: Traverser) -> State:
    """Forget the oldest event."""
    forget(ring, state.front + 1)
    return state._replace(front=state.front + 1)


def evict_many(state: State, ring: Traverser, count: int) -> State:
    """Forget the oldest events."""
    forget(ring, state.front + count)
    return state._replace(front=state.front + count)


def reach(ring: Traverser, position: int, end: int, newer: Partial) -> Partial:
    """Let a partial reach to the end, given the partial of what is behind it."""
    partial = combine(load(ring.partials, position), newer)
    store(ring.partials, position, partial)
    store_integer(ring.pointers, position, end)
    return partial


def traverse(ring: Traverser, begin: int, end: int) -> Partial:
    """Combine from a position, which is before the end, to the end.

    Turning pointers around instead of piling up positions took 1.5 times as long, and a combine
    that raises would leave them so. The first position is not piled up: it would be every second
    one, since a window that slides has three on the way.
    """
    position = load_integer(ring.pointers, begin)
    if position == end:
        return load(ring.partials, begin)
    depth = 0
    following = load_integer(ring.pointers, position)
    while following != end:
        store_integer(ring.stack, depth, position)
        depth += 1
        position = following
        following = load_integer(ring.pointers, position)
    partial = load(ring.partials, position)
    while depth > 0:
        depth -= 1
        partial = reach(ring, load_integer(ring.stack, depth), end, partial)
    return reach(ring, begin, end, partial)


def query(state: State, ring: Traverser) -> Partial:
    """Combine from the oldest event on."""
    if state.front == state.end:
        return identity()
    return traverse(ring, state.front, state.end)


def query_range(state: State, ring: Traverser, count: int) -> Partial:
    """Combine the newest events."""
    if count == 0:
        return identity()
    return traverse(ring, state.end - count, state.end)


FUNCTIONS = (
    forget,
    empty,
    has_room,
    resize,
    insert,
    evict,
    evict_many,
    reach,
    traverse,
    query,
    query_range,
)


def stored_partials(state: State) -> int:
    """How many partials the state keeps."""
    return state.end - state.front


def check_invariants(
    state: State,
    ring: Traverser,
    events: Sequence[Partial],
    load: Callable[[Ring, int], Partial],
    fold: Callable[[Sequence[Partial]], Partial],
    equal: Callable[[Partial, Partial], bool],
) -> None:
    """Assert invariants 1 to 3 for a window of these lifted events."""
    assert state.end - state.front == len(events), "invariant 1"
    for index in range(len(events)):
        stop = load(ring.pointers, state.front + index) - state.front
        assert index < stop <= len(events), f"invariant 2 at {index}"
        stored = load(ring.partials, state.front + index)
        assert equal(stored, fold(events[index:stop])), f"invariant 3 at {index}"
