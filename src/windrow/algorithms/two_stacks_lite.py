"""Two-Stacks Lite.

paper      Tangwongsan et al. 2021, §4 (Hammer Slide, Theodorakis et al. 2018, had the idea of
           dropping the unread halves)
order      first in, first out
requires   an associative combine, nothing else
insert     1 combine
evict      at most n combines, 1 on average; k at once: at most the number that stays
query      1 combine
space      n + 1 partials

The window is a queue in one ring. Its older part is the front. It holds partials that reach from
each event to the end of the front, so the oldest of them answers for the whole front, and an
eviction only drops it. Its newer part is the back. It holds single events, and beside it stands one
running partial of them all. When the front is used up, the back is flipped: one pass from newest to
oldest turns it into a front.

      front          back           end
        |             |              |
        v             v              v
      [ c..g d..g .. g | h  i  j  k  ]     back_partial = h..k

Invariants, for a window of events v[0] to v[n-1] with f = back - front of them in the front:

1. front <= back <= end, and end - front = n.
2. The slot at front + i holds v[i] .. v[f-1], for i < f.
3. The slot at front + i holds v[i], for f <= i < n.
4. back_partial is v[f] .. v[n-1], the identity if f = n.
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

NAME = "two_stacks_lite"
GUARANTEES = Guarantees(Growth.LINEAR, lambda events: events + 1)

#: a larger ring holds the same partials at the same positions, and nothing else
KEEPS_POSITIONS = True


class State(NamedTuple):
    """Where the front begins, where the back begins, where both end, and the back's partial."""

    front: int
    back: int
    end: int
    back_partial: Partial


def refuses(traits: Traits, invertible: bool) -> str | None:
    """Why it cannot serve such an aggregation: it serves all."""
    return None


def allocate(memory: Memory, capacity: int) -> Ring:
    """Room for so many events."""
    return memory.queue(capacity)


def empty(ring: Ring, position: int) -> State:
    """A window with no events."""
    release(ring, position)
    return State(position, position, position, identity())


def has_room(state: State, ring: Ring) -> bool:
    """Whether one more event fits."""
    return state.end - state.front < capacity(ring)


def resize(state: State, ring: Ring, other: Ring) -> State:
    """The same window in another ring."""
    for position in range(state.front, state.end):
        store(other, position, load(ring, position))
    return state


def insert(state: State, ring: Ring, partial: Partial) -> State:
    """Add an event to the back."""
    store(ring, state.end, partial)
    return state._replace(end=state.end + 1, back_partial=combine(state.back_partial, partial))


def flip(state: State, ring: Ring) -> State:
    """Turn the back into a front; the front has been used up."""
    position = state.end - 1
    partial = load(ring, position)
    while position != state.front:
        position -= 1
        partial = combine(load(ring, position), partial)
        store(ring, position, partial)
    return state._replace(back=state.end, back_partial=identity())


def evict(state: State, ring: Ring) -> State:
    """Drop the oldest event."""
    if state.front == state.back:
        state = flip(state, ring)
    release(ring, state.front + 1)
    return state._replace(front=state.front + 1)


def evict_many(state: State, ring: Ring, count: int) -> State:
    """Drop the oldest events; those that leave from the back are never combined."""
    front = state.front + count
    release(ring, front)
    if front <= state.back:
        return state._replace(front=front)
    if front == state.end:
        return empty(ring, front)
    return flip(state._replace(front=front, back=front), ring)


def query(state: State, ring: Ring) -> Partial:
    """Combine the front with the back."""
    if state.front == state.back:
        return combine(identity(), state.back_partial)
    return combine(load(ring, state.front), state.back_partial)


FUNCTIONS = (empty, has_room, resize, insert, flip, evict, evict_many, query)


def stored_partials(state: State) -> int:
    """How many partials the state keeps."""
    return state.end - state.front + 1


def check_invariants(
    state: State,
    ring: Ring,
    events: Sequence[Partial],
    load: Callable[[Ring, int], Partial],
    fold: Callable[[Sequence[Partial]], Partial],
    equal: Callable[[Partial, Partial], bool],
) -> None:
    """Assert invariants 1 to 4 for a window of these lifted events."""
    front_size = state.back - state.front
    assert state.front <= state.back <= state.end, "invariant 1"
    assert state.end - state.front == len(events), "invariant 1"
    for index, event in enumerate(events):
        stored = load(ring, state.front + index)
        if index < front_size:
            assert equal(stored, fold(events[index:front_size])), f"invariant 2 at {index}"
        else:
            assert equal(stored, event), f"invariant 3 at {index}"
    assert equal(state.back_partial, fold(events[front_size:])), "invariant 4"
