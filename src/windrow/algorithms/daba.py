"""DABA, the De-Amortized Banker's Aggregator.

paper      Tangwongsan et al. 2021, §5
order      first in, first out
requires   an associative combine, nothing else
insert     at most 4 combines, 2.5 on average
evict      at most 3 combines, 1.5 on average; k at once: at most min(2k, n - k) + 1
query      1 combine
space      2n partials

Two-Stacks flips late, when its front is used up, and then works through the whole window at once.
DABA flips early, when front and back have the same size, and spreads the work: every insertion and
every eviction takes one step of it, so none of them takes long. A flip only renames: the old front
and the old back become the left and the right of a new front. A step takes the oldest event of the
left and the newest of the right. It extends the aggregate of the first to the end of the new front,
so that the event is ready for eviction. It moves the other to the accumulator, whose aggregates
already reach there. When left and right are used up, a step only moves the place where they met one
event on. When that place has passed the accumulator, front and back have the same size again.

                 front           left     right      accumulator     back      end
                   |              |         |         |               |         |
                   v              v         v         v               v         v
    values       [ c    d    e    | f    g  | h  i    | j    k    l   | m  n    ]
    aggregates   [ c..l d..l e..l | f..g g  | h  h..i | j..l k..l l   | m  m..n ]

Invariants, for a window of events v[0] to v[n-1]. Positions count from front; b is back and r is
right. A sublist reaches from its own boundary to the next, and the front reaches to back:

1. front <= left <= right <= accumulator <= back <= end, and end - front = n.
2. The value at i is v[i], for i < n.
3. Before left, and in the accumulator, the aggregate at i is v[i] .. v[b-1].
4. In the left, the aggregate at i is v[i] .. v[r-1].
5. In the right, the aggregate at i is v[r] .. v[i].
6. In the back, the aggregate at i is v[b] .. v[i].
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

NAME = "daba"
GUARANTEES = Guarantees(Growth.CONSTANT, lambda events: 2 * events)


class State(NamedTuple):
    """Where the sublists begin, and where the last of them ends."""

    front: int
    left: int
    right: int
    accumulator: int
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
    return State(position, position, position, position, position, position)


def has_room(state: State, ring: Ring) -> bool:
    """Whether one more event fits."""
    return state.end - state.front < capacity(ring[0])


def resize(state: State, ring: Ring, other: Ring) -> State:
    """The same window in another ring."""
    for position in range(state.front, state.end):
        store(other[0], position, load(ring[0], position))
        store(other[1], position, load(ring[1], position))
    return state


def first_aggregate(begin: int, stop: int, aggregates: Ring) -> Partial:
    """The partial of a sublist whose aggregates reach to its newest event."""
    if begin == stop:
        return identity()
    return load(aggregates, begin)


def last_aggregate(begin: int, stop: int, aggregates: Ring) -> Partial:
    """The partial of a sublist whose aggregates reach to its oldest event."""
    if begin == stop:
        return identity()
    return load(aggregates, stop - 1)


def shrink(state: State, ring: Ring) -> State:
    """Hand the oldest of the left to the front, and the newest of the right to the accumulator."""
    values, aggregates = ring
    newest = state.accumulator - 1
    accumulated = first_aggregate(state.accumulator, state.back, aggregates)
    of_both = combine(load(aggregates, state.left), load(aggregates, newest))
    store(aggregates, state.left, combine(of_both, accumulated))
    store(aggregates, newest, combine(load(values, newest), accumulated))
    return state._replace(left=state.left + 1, accumulator=newest)


def shift(state: State, distance: int) -> State:
    """Move the boundaries between which nothing is left to shrink."""
    met = state.left + distance
    return state._replace(left=met, right=met, accumulator=met)


def flip(state: State, left: int) -> State:
    """Turn the front, from a position on, and the back into the left and right of a new front."""
    return state._replace(left=left, right=state.back, accumulator=state.end, back=state.end)


def step(state: State, ring: Ring) -> State:
    """Restore invariant 7 after the front has lost an event or the back has got one."""
    # The usual case first: in the paper's order, the reverse, sums took 10 to 20 % longer.
    if state.left != state.right:
        return shrink(state, ring)
    if state.left != state.back:
        return shift(state, 1)
    if state.front != state.back:
        return shrink(flip(state, state.front), ring)
    end = state.end  # one event or none: no sublist but the front has any
    return state._replace(left=end, right=end, accumulator=end, back=end)


def insert(state: State, ring: Ring, partial: Partial) -> State:
    """Add an event to the back."""
    values, aggregates = ring
    store(values, state.end, partial)
    older = last_aggregate(state.back, state.end, aggregates)
    store(aggregates, state.end, combine(older, partial))
    return step(state._replace(end=state.end + 1), ring)


def without(state: State, count: int) -> State:
    """The state without its oldest events, before any step is taken for them."""
    return state._replace(front=state.front + count)


def evict(state: State, ring: Ring) -> State:
    """Drop the oldest event."""
    forget(ring, state.front + 1)
    return step(without(state, 1), ring)


def accumulate(ring: Ring, oldest: int, stop: int, partial: Partial) -> None:
    """Aggregate the events before `stop`, back to the oldest, on the partial of what follows."""
    values, aggregates = ring
    for position in range(stop - 1, oldest - 1, -1):
        partial = combine(load(values, position), partial)
        store(aggregates, position, partial)


def advance(state: State, ring: Ring, steps: int) -> State:
    """Take steps that do not flip all at once; events before the front have left already."""
    front, left, right, accumulator, back, _end = state
    aggregates = ring[1]
    shrinks = min(steps, right - left)
    accumulated = first_aggregate(accumulator, back, aggregates)
    newest = left + shrinks - 1
    if shrinks > 0 and front <= newest:
        of_both = combine(load(aggregates, newest), load(aggregates, accumulator - 1))
        partial = combine(of_both, accumulated)
        store(aggregates, newest, partial)
        accumulate(ring, max(front, left), newest, partial)
    accumulate(ring, max(front, accumulator - shrinks), accumulator, accumulated)
    if shrinks < steps:
        return shift(state, steps)
    return state._replace(left=left + steps, accumulator=accumulator - shrinks)


def evict_many(state: State, ring: Ring, count: int) -> State:
    """Drop the oldest events, with a step for each that combines nothing for those that leave."""
    if state.front + count == state.end:
        return empty(ring, state.end)
    before_flip = min(count, state.back - state.left)
    front_at_flip = state.front + before_flip + 1
    state = advance(without(state, count), ring, before_flip)
    if before_flip < count:
        state = advance(flip(state, front_at_flip), ring, count - before_flip)
    forget(ring, state.front)
    return state


def query(state: State, ring: Ring) -> Partial:
    """Combine the front with the back."""
    front, _left, _right, _accumulator, back, end = state
    aggregates = ring[1]
    return combine(first_aggregate(front, back, aggregates), last_aggregate(back, end, aggregates))


FUNCTIONS = (
    forget,
    empty,
    has_room,
    resize,
    first_aggregate,
    last_aggregate,
    shrink,
    shift,
    flip,
    step,
    insert,
    without,
    evict,
    accumulate,
    advance,
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
    """Assert invariants 1 to 7 for a window of these lifted events."""
    values, aggregates = ring
    left, right, accumulator, back, end = (position - state.front for position in state[1:])
    assert 0 <= left <= right <= accumulator <= back <= end, "invariant 1"
    assert end == len(events), "invariant 1"
    for index, event in enumerate(events):
        assert equal(load(values, state.front + index), event), f"invariant 2 at {index}"
        if index < left or accumulator <= index < back:
            number, run = 3, events[index:back]
        elif index < right:
            number, run = 4, events[index:right]
        elif index < accumulator:
            number, run = 5, events[right : index + 1]
        else:
            number, run = 6, events[back : index + 1]
        aggregate = load(aggregates, state.front + index)
        assert equal(aggregate, fold(run)), f"invariant {number} at {index}"
    if events:
        assert right - left == accumulator - right, "invariant 7"
        assert back - (end - back) == (back - left) + 1, "invariant 7"
