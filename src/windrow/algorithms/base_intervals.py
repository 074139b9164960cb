"""Base intervals (B-Int).

paper      Arasu and Widom 2004, as told in Shein et al. 2018, §2.2 and §4; windows that grow and
           shrink are windrow's own
order      first in, first out
requires   an associative combine, nothing else
insert     at most log2(n) combines, 1 on average
evict      no combine, for any number at once
query      at most 2 log2(n) combines, also of the newest k events
space      2n - 1 partials, n being the window's extent rounded up to a power of two

Each level cuts all positions into intervals that do not overlap, twice as wide as those of the
level below. The last event of an interval completes it: its two halves are combined, and this may
complete the interval above. A complete interval never changes, so an eviction has nothing to do. A
query combines the fewest intervals that make up the window or its newest part, at most two of each
level.

The intervals go round a tree of fixed size (see `flat_tree`). Each takes the place of the interval
that lies a whole round before it.

               front                       end
                 |                          |
                 v                          v
      width 4   ( . . . . ) [ e   f   g   h ]  .   .
      width 2   (     ) [ c   d ] [ e f ] [ g h ] [ i j ]  .
      width 1    .    [ b ][ c ][ d ][ e ][ f ][ g ][ h ][ i ][ j ]

      query = b ; c..d ; e..h ; i..j

Invariants, for a window of events v[0] to v[n-1]:

1. end - front = n, at most as many as there are leaves.
2. The node of every interval that lies within the window holds the partial of its events.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from windrow.algebra.monoid import Traits
from windrow.algorithms.flat_tree import TREE_FUNCTIONS, between, node_of
from windrow.algorithms.guarantees import Growth, Guarantees, in_a_tree
from windrow.algorithms.plain_memory import Memory
from windrow.compiler.slots import (
    Partial,
    Ring,
    capacity,
    combine,
    identity,
    load,
    store,
)

NAME = "base_intervals"
GUARANTEES = Guarantees(Growth.LOGARITHMIC, in_a_tree)


class State(NamedTuple):
    """The positions of the oldest event and behind the newest, and the number of leaves."""

    front: int
    end: int
    leaves: int


def refuses(traits: Traits, invertible: bool) -> str | None:
    """Why it cannot serve such an aggregation: it serves all."""
    return None


def allocate(memory: Memory, capacity: int) -> Ring:
    """A tree with a leaf for each of so many events."""
    return memory.array(2 * capacity)


def empty(ring: Ring, position: int) -> State:
    """A window with no events."""
    return State(position, position, capacity(ring) >> 1)


def has_room(state: State, ring: Ring) -> bool:
    """Whether one more event fits."""
    return state.end - state.front < state.leaves


def wants_less(state: State, ring: Ring) -> bool:
    """Whether half the room would do, and leave as much again."""
    return 4 * (state.end - state.front) < state.leaves


def resize(state: State, ring: Ring, other: Ring) -> State:
    """The same window in another tree: intervals keep their partials."""
    leaves = capacity(other) >> 1
    width = 1
    while width <= state.end - state.front:
        first = (state.front + width - 1) & -width
        for begin in range(first, state.end - width + 1, width):
            partial = load(ring, node_of(state.leaves, begin, width))
            store(other, node_of(leaves, begin, width), partial)
        width *= 2
    return state._replace(leaves=leaves)


def insert(state: State, ring: Ring, partial: Partial) -> State:
    """Keep the event, and combine the intervals that it completes."""
    slot, width = state.end & (state.leaves - 1), 1
    node = 2 * slot + 1
    store(ring, node, partial)
    # As long as this interval is the second half of one that begins within the window.
    while slot & width and state.end + 1 - 2 * width >= state.front:
        partial = combine(load(ring, node - 2 * width), partial)
        node, width = node - width, 2 * width
        store(ring, node, partial)
    return state._replace(end=state.end + 1)


def evict(state: State, ring: Ring) -> State:
    """Forget the oldest event."""
    return state._replace(front=state.front + 1)


def evict_many(state: State, ring: Ring, count: int) -> State:
    """Forget the oldest events."""
    return state._replace(front=state.front + count)


def query(state: State, ring: Ring) -> Partial:
    """Combine the intervals that make up the window."""
    if state.front == state.end:
        return identity()
    return between(ring, state.leaves, state.front, state.end)


def query_range(state: State, ring: Ring, count: int) -> Partial:
    """Combine the intervals that make up the newest events."""
    if count == 0:
        return identity()
    return between(ring, state.leaves, state.end - count, state.end)


FUNCTIONS = (
    *TREE_FUNCTIONS,
    empty,
    has_room,
    wants_less,
    resize,
    insert,
    evict,
    evict_many,
    query,
    query_range,
)


def stored_partials(state: State) -> int:
    """How many partials the state has room for."""
    return 2 * state.leaves - 1


def check_invariants(
    state: State,
    ring: Ring,
    events: Sequence[Partial],
    load: Callable[[Ring, int], Partial],
    fold: Callable[[Sequence[Partial]], Partial],
    equal: Callable[[Partial, Partial], bool],
) -> None:
    """Assert invariants 1 and 2 for a window of these lifted events."""
    assert state.end - state.front == len(events) <= state.leaves, "invariant 1"
    width = 1
    while width <= len(events):
        for begin in range(state.front, state.end - width + 1):
            if begin % width == 0:
                index = begin - state.front
                stored = load(ring, node_of(state.leaves, begin, width))
                expected = fold(events[index : index + width])
                assert equal(stored, expected), f"invariant 2 at {index}, width {width}"
        width *= 2
