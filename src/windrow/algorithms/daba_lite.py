"""DABA Lite.

paper      Tangwongsan et al. 2021, §6
order      first in, first out
requires   an associative combine, nothing else
insert     at most 3 combines, 2 on average
evict      at most 2 combines, 1 on average; k at once: at most min(2k, n - k)
query      1 combine
space      n + 2 partials
measured   a sum of floats is 1.4 times as fast at window 16 as at 4096. The accumulator's chain of
           combines is part of it, but xor, which has next to no latency, still gains 1.26; the
           rest is unexplained

DABA with one partial per event (`daba` describes the steps): the event's value if that will be
combined again, its aggregate if that will be read. Queries and steps read only the whole partial of
the back, and only the whole partial of right and accumulator together. So one partial of each
stands beside the queue. A step moves an event from the right to the accumulator, which does not
change the partial of the two; DABA combines it again.

      front           left     right  accumulator     back   end
        |              |         |      |               |      |
        v              v         v      v               v      v
      [ c..l d..l e..l | f..g g  | h  i | j..l k..l l   | m  n ]     right_partial = h..l
                                                                     back_partial = m..n

Invariants, for a window of events v[0] to v[n-1]. Positions count from front; b is back and r is
right. A sublist reaches from its own boundary to the next, and the front reaches to back:

1. front <= left <= right <= accumulator <= back <= end, and end - front = n.
2. Before left, and in the accumulator, the slot at i holds v[i] .. v[b-1].
3. In the left, the slot at i holds v[i] .. v[r-1].
4. In the right and in the back, the slot at i holds v[i].
5. right_partial is v[r] .. v[b-1], unless left and right are used up; then nothing reads it.
6. back_partial is v[b] .. v[n-1], the identity if b = n.
7. The window is empty; or left and right have the same size, and the front is larger than the back
   by the sizes of left, right and accumulator, and one.
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

NAME = "daba_lite"
GUARANTEES = Guarantees(Growth.CONSTANT, lambda events: events + 2)

#: a larger ring holds the same partials at the same positions, and nothing else
KEEPS_POSITIONS = True


class State(NamedTuple):
    """Where the sublists begin, where the last of them ends, and the partials of two of them."""

    front: int
    left: int
    right: int
    accumulator: int
    back: int
    end: int
    right_partial: Partial
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
    return State(position, position, position, position, position, position, identity(), identity())


def has_room(state: State, ring: Ring) -> bool:
    """Whether one more event fits."""
    return state.end - state.front < capacity(ring)


def resize(state: State, ring: Ring, other: Ring) -> State:
    """The same window in another ring."""
    for position in range(state.front, state.end):
        store(other, position, load(ring, position))
    return state


def first_of(begin: int, stop: int, ring: Ring) -> Partial:
    """The partial of a sublist whose slots reach to its newest event."""
    if begin == stop:
        return identity()
    return load(ring, begin)


def shrink(state: State, ring: Ring) -> State:
    """Hand the oldest of the left to the front, and the newest of the right to the accumulator."""
    newest = state.accumulator - 1
    accumulated = first_of(state.accumulator, state.back, ring)
    store(ring, state.left, combine(load(ring, state.left), state.right_partial))
    store(ring, newest, combine(load(ring, newest), accumulated))
    return state._replace(left=state.left + 1, accumulator=newest)


def shift(state: State, distance: int) -> State:
    """Move the boundaries between which nothing is left to shrink."""
    met = state.left + distance
    return state._replace(left=met, right=met, accumulator=met)


def flip(state: State, left: int) -> State:
    """Turn the front, from a position on, and the back into the left and right of a new front."""
    return state._replace(
        left=left,
        right=state.back,
        accumulator=state.end,
        back=state.end,
        right_partial=state.back_partial,
        back_partial=identity(),
    )


def step(state: State, ring: Ring) -> State:
    """Restore invariant 7 after the front has lost an event or the back has got one."""
    # The usual case first: in the paper's order, the reverse, sums took 10 to 20 % longer and more
    # at window 16, geometric means 5 %.
    if state.left != state.right:
        return shrink(state, ring)
    if state.left != state.back:
        return shift(state, 1)
    if state.front != state.back:
        return shrink(flip(state, state.front), ring)
    end = state.end  # one event or none: no sublist but the front has any
    return state._replace(
        left=end,
        right=end,
        accumulator=end,
        back=end,
        right_partial=identity(),
        back_partial=identity(),
    )


def insert(state: State, ring: Ring, partial: Partial) -> State:
    """Add an event to the back."""
    store(ring, state.end, partial)
    longer = state._replace(end=state.end + 1, back_partial=combine(state.back_partial, partial))
    return step(longer, ring)


def without(state: State, count: int) -> State:
    """The state without its oldest events, before any step is taken for them."""
    return state._replace(front=state.front + count)


def evict(state: State, ring: Ring) -> State:
    """Drop the oldest event."""
    release(ring, state.front + 1)
    return step(without(state, 1), ring)


def advance(state: State, ring: Ring, steps: int) -> State:
    """Take steps that do not flip all at once; events before the front have left already."""
    shrinks = min(steps, state.right - state.left)
    for position in range(max(state.front, state.left), state.left + shrinks):
        store(ring, position, combine(load(ring, position), state.right_partial))
    accumulated = first_of(state.accumulator, state.back, ring)
    accumulator = state.accumulator - shrinks
    for position in range(state.accumulator - 1, max(state.front, accumulator) - 1, -1):
        accumulated = combine(load(ring, position), accumulated)
        store(ring, position, accumulated)
    if shrinks < steps:
        return shift(state, steps)
    return state._replace(left=state.left + steps, accumulator=accumulator)


def evict_many(state: State, ring: Ring, count: int) -> State:
    """Drop the oldest events, with a step for each that combines nothing for those that leave."""
    if state.front + count == state.end:
        return empty(ring, state.end)
    before_flip = min(count, state.back - state.left)
    front_at_flip = state.front + before_flip + 1
    state = advance(without(state, count), ring, before_flip)
    if before_flip < count:
        state = advance(flip(state, front_at_flip), ring, count - before_flip)
    release(ring, state.front)
    return state


def query(state: State, ring: Ring) -> Partial:
    """Combine the front with the back."""
    return combine(first_of(state.front, state.back, ring), state.back_partial)


FUNCTIONS = (
    empty,
    has_room,
    resize,
    first_of,
    shrink,
    shift,
    flip,
    step,
    insert,
    without,
    evict,
    advance,
    evict_many,
    query,
)


def stored_partials(state: State) -> int:
    """How many partials the state keeps."""
    return state.end - state.front + 2


def check_invariants(
    state: State,
    ring: Ring,
    events: Sequence[Partial],
    load: Callable[[Ring, int], Partial],
    fold: Callable[[Sequence[Partial]], Partial],
    equal: Callable[[Partial, Partial], bool],
) -> None:
    """Assert invariants 1 to 7 for a window of these lifted events."""
    left, right, accumulator, back, end = (position - state.front for position in state[1:6])
    assert 0 <= left <= right <= accumulator <= back <= end, "invariant 1"
    assert end == len(events), "invariant 1"
    for index, event in enumerate(events):
        stored = load(ring, state.front + index)
        if index < left or accumulator <= index < back:
            assert equal(stored, fold(events[index:back])), f"invariant 2 at {index}"
        elif index < right:
            assert equal(stored, fold(events[index:right])), f"invariant 3 at {index}"
        else:
            assert equal(stored, event), f"invariant 4 at {index}"
    if left != right:
        assert equal(state.right_partial, fold(events[right:back])), "invariant 5"
    assert equal(state.back_partial, fold(events[back:])), "invariant 6"
    if events:
        assert right - left == accumulator - right, "invariant 7"
        assert back - (end - back) == (back - left) + 1, "invariant 7"
