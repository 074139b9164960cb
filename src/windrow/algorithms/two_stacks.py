"""Two-Stacks.

paper      Tangwongsan et al. 2021, §3
order      first in, first out
requires   an associative combine, nothing else
insert     1 combine
evict      at most n combines, 1 on average; k at once: at most the number that stays
query      1 combine
space      2n partials
measured   a sum of floats is 1.4 times as fast at window 16 as at 4096, xor 1.1, three additions in
           a row 1.8: the longer a combine waits for the one before, the more a short flip gains

The window is two stacks, bottom to bottom in one queue. Each element is two partials: its event,
and the aggregate of all events from it down to the bottom of its stack. Evictions pop the older
stack, the front; insertions push to the newer one, the back. A query combines the tops of both.
When the front is used up, the back is flipped: one pass from newest to oldest turns it into a
front. Nothing reads the events of the front again, nor the aggregates of the back except the
newest. Two-Stacks Lite does not keep those.

                 front             back                     end
                   |                 |                       |
                   v                 v                       v
    values       [ c     d     ..  g | h  i    j     k       ]
    aggregates   [ c..g  d..g  ..  g | h  h..i h..j  h..k    ]

Invariants, for a window of events v[0] to v[n-1] with f = back - front of them in the front:

1. front <= back <= end, and end - front = n.
2. The value at front + i is v[i], for i < n.
3. The aggregate at front + i is v[i] .. v[f-1], for i < f.
4. The aggregate at front + i is v[f] .. v[i], for f <= i < n.
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

NAME = "two_stacks"
GUARANTEES = Guarantees(Growth.LINEAR, lambda events: 2 * events)


class State(NamedTuple):
    """Where the front begins, where the back begins, where both end."""

    front: int
    back: int
    end: int


def refuses(traits: Traits, invertible: bool) -> str | None:
    """Why it cannot serve such an aggregation: it serves all."""
    return None


def allocate(memory: Memory, capacity: int) -> Ring:
    """Room for so many values and as many aggregates."""
    return memory.queue(capacity), memory.queue(capacity)


def forget(ring: Ring, position: int) -> None:
    """Let go of all that stands before a position."""
    values, aggregates = ring
    release(values, position)
    release(aggregates, position)


def empty(ring: Ring, position: int) -> State:
    """A window with no events."""
    forget(ring, position)
    return State(position, position, position)


def has_room(state: State, ring: Ring) -> bool:
    """Whether one more event fits."""
    return state.end - state.front < capacity(ring[0])


def resize(state: State, ring: Ring, other: Ring) -> State:
    """The same window in another ring."""
    for position in range(state.front, state.end):
        store(other[0], position, load(ring[0], position))
        store(other[1], position, load(ring[1], position))
    return state


def front_aggregate(state: State, aggregates: Ring) -> Partial:
    """The partial of the whole front, at its top."""
    if state.front == state.back:
        return identity()
    return load(aggregates, state.front)


def back_aggregate(state: State, aggregates: Ring) -> Partial:
    """The partial of the whole back, at its top."""
    if state.back == state.end:
        return identity()
    return load(aggregates, state.end - 1)


def insert(state: State, ring: Ring, partial: Partial) -> State:
    """Push an event on the back."""
    values, aggregates = ring
    store(values, state.end, partial)
    store(aggregates, state.end, combine(back_aggregate(state, aggregates), partial))
    return state._replace(end=state.end + 1)


def flip(state: State, ring: Ring) -> State:
    """Turn the back into a front; the front has been used up."""
    values, aggregates = ring
    position = state.end - 1
    partial = load(values, position)
    store(aggregates, position, partial)
    while position != state.front:
        position -= 1
        partial = combine(load(values, position), partial)
        store(aggregates, position, partial)
    return state._replace(back=state.end)


def evict(state: State, ring: Ring) -> State:
    """Pop the oldest event off the front."""
    if state.front == state.back:
        state = flip(state, ring)
    forget(ring, state.front + 1)
    return state._replace(front=state.front + 1)


def evict_many(state: State, ring: Ring, count: int) -> State:
    """Drop the oldest events; those that leave from the back are never combined."""
    front = state.front + count
    forget(ring, front)
    if front <= state.back:
        return state._replace(front=front)
    if front == state.end:
        return empty(ring, front)
    return flip(state._replace(front=front, back=front), ring)


def query(state: State, ring: Ring) -> Partial:
    """Combine the tops of both stacks."""
    aggregates = ring[1]
    return combine(front_aggregate(state, aggregates), back_aggregate(state, aggregates))


FUNCTIONS = (
    forget,
    empty,
    has_room,
    resize,
    front_aggregate,
    back_aggregate,
    insert,
    flip,
    evict,
    evict_many,
    query,
)


def stored_partials(state: State) -> int:
    """How many partials the state keeps."""
    return 2 * (state.end - state.front)


def check_invariants(
    state: State,
    ring: Ring,
    events: Sequence[Partial],
    load: Callable[[Ring, int], Partial],
    fold: Callable[[Sequence[Partial]], Partial],
    equal: Callable[[Partial, Partial], bool],
) -> None:
    """Assert invariants 1 to 4 for a window of these lifted events."""
    values, aggregates = ring
    front_size = state.back - state.front
    assert state.front <= state.back <= state.end, "invariant 1"
    assert state.end - state.front == len(events), "invariant 1"
    for index, event in enumerate(events):
        aggregate = load(aggregates, state.front + index)
        assert equal(load(values, state.front + index), event), f"invariant 2 at {index}"
        if index < front_size:
            assert equal(aggregate, fold(events[index:front_size])), f"invariant 3 at {index}"
        else:
            stop = index + 1
            assert equal(aggregate, fold(events[front_size:stop])), f"invariant 4 at {index}"
