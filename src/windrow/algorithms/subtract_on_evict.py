"""Subtract-on-Evict, also Panes (Inv) and R-Int.

paper      Shein et al. 2018, §2.2 (as Panes (Inv) and R-Int); Tangwongsan et al. 2021, §8
order      first in, first out
requires   an inverse; an exact one, if nothing of an event may stay behind when it has left
insert     1 combine
evict      1 inverse; k at once: k inverses or n - k combines, whichever are fewer
query      no combine
space      n + 1 partials

The window is the queue of its events and their total. An insert combines an event into the total;
an eviction takes it out again. If the inverse rounds, as it does for floats, errors add up. A NaN,
an infinity or a number that dwarfs all others stays in the total after it has left. So the planner
never chooses this algorithm for floats unless you allow it. The total of an empty window begins
again with the identity.

      front                   end
        |                      |
        v                      v
      [ c  d  e  f  g  h  i  j ]     total = c..j

Invariants, for a window of events v[0] to v[n-1]:

1. end - front = n.
2. The slot at front + i holds v[i].
3. total is v[0] .. v[n-1], up to rounding; exactly the identity if n = 0.
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
    inverse,
    load,
    release,
    store,
)

NAME = "subtract_on_evict"
GUARANTEES = Guarantees(Growth.CONSTANT, lambda events: events + 1, subtracts=True)

#: a larger ring holds the same partials at the same positions, and nothing else
KEEPS_POSITIONS = True


class State(NamedTuple):
    """The positions of the oldest event and behind the newest, and the partial of all."""

    front: int
    end: int
    total: Partial


def refuses(traits: Traits, invertible: bool) -> str | None:
    """Why it cannot serve such an aggregation."""
    return None if invertible else "it has no inverse, so an event cannot be taken out of a partial"


def allocate(memory: Memory, capacity: int) -> Ring:
    """Room for so many events."""
    return memory.queue(capacity)


def empty(ring: Ring, position: int) -> State:
    """A window with no events."""
    release(ring, position)
    return State(position, position, identity())


def has_room(state: State, ring: Ring) -> bool:
    """Whether one more event fits."""
    return state.end - state.front < capacity(ring)


def resize(state: State, ring: Ring, other: Ring) -> State:
    """The same window in another ring."""
    for position in range(state.front, state.end):
        store(other, position, load(ring, position))
    return state


def insert(state: State, ring: Ring, partial: Partial) -> State:
    """Keep the event and combine it into the total."""
    store(ring, state.end, partial)
    return state._replace(end=state.end + 1, total=combine(state.total, partial))


def evict(state: State, ring: Ring) -> State:
    """Take the oldest event out of the total."""
    front = state.front + 1
    if front == state.end:
        return empty(ring, front)
    total = inverse(state.total, load(ring, state.front))
    release(ring, front)
    return state._replace(front=front, total=total)


def recompute(ring: Ring, front: int, end: int) -> State:
    """The window of the events that are left, combined from scratch."""
    total = identity()
    for position in range(front, end):
        total = combine(total, load(ring, position))
    return State(front, end, total)


def evict_many(state: State, ring: Ring, count: int) -> State:
    """Take out those that leave, or combine those that stay."""
    front = state.front + count
    if state.end - front <= count:
        release(ring, front)
        return recompute(ring, front, state.end)
    total = state.total
    for position in range(state.front, front):
        total = inverse(total, load(ring, position))
    release(ring, front)
    return state._replace(front=front, total=total)


def query(state: State, ring: Ring) -> Partial:
    """The total."""
    return state.total


FUNCTIONS = (empty, has_room, resize, insert, evict, recompute, evict_many, query)


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
    """Assert invariants 1 to 3 for a window of these lifted events."""
    assert state.end - state.front == len(events), "invariant 1"
    for index, event in enumerate(events):
        assert equal(load(ring, state.front + index), event), f"invariant 2 at {index}"
    assert equal(state.total, fold(events)), "invariant 3"
