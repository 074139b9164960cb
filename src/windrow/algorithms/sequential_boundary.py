"""SBA, the Sequential Boundary Aggregator: PBA on one thread.

paper      Zhang et al. 2021, §4
order      first in, first out
requires   an associative combine, nothing else
insert     1 combine; at a boundary as many more as the chunk has events; less than 2 on average
evict      no combine while a closed chunk is left (log n if the window has grown); otherwise as
           many as the window has events; k at once: the same
query      1 combine, 2 while the window spans three chunks or more
space      n + 2 partials, within the 3b* + 2 of the paper

The stream is cut into chunks. The current chunk has one partial, accumulated from left to right
(csa). When a chunk is closed, its slots are accumulated from right to left (lcs), so each reaches
from its event to the end of the chunk. A window is the end of one chunk, whole chunks, and the
beginning of another. Its answer combines a slot of the oldest chunk, the partial of the chunks in
the middle, and the partial of the current chunk.

      front       middle                 current        end
        |           |                       |            |
        v           v                       v            v
      [ c..e d..e e | f..h g..h h | i..j j  |  k  l  m  n ]      middle_partial = f..j
                                                                 current_partial = k..n

Answers are right for any boundaries. Here a chunk is closed when it holds more than half of the
window. In a window of n events that slides by one, that is the optimal chunk of theorem 1,
b* = floor((n + 2) / 2). Then the window spans two or three chunks, a slide takes at most 3 combines
besides those of the boundary, and a boundary lies far enough ahead of the first event that needs
its lcs (see `parallel_boundary`). While a window grows, its chunks double in size.

Invariants, for a window of events v[0] to v[n-1]:

1. front <= middle <= current <= end, and end - front = n; the oldest chunk, from front to middle,
   has events unless there are no closed chunks at all.
2. The middle chunks begin at middle and at the boundaries from `first` to `last`, which grow and
   lie between middle and current.
3. In closed chunks, the slot of v[i] holds v[i] .. v[j], where v[j] is the last event of its chunk.
4. In the current chunk, the slot of v[i] holds v[i].
5. middle_partial is the partial of the middle chunks, current_partial that of the current one; the
   identity if there are none.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
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

NAME = "sequential_boundary"
GUARANTEES = Guarantees(Growth.LINEAR, lambda events: events + 2, positions=1)


class Chunks(NamedTuple):
    """Slots of events, and where the middle chunks but for the first begin."""

    slots: Ring
    boundaries: Ring


class State(NamedTuple):
    """Where oldest, middle and current chunks begin; the boundaries in use; two partials."""

    front: int
    middle: int
    current: int
    end: int
    first: int
    last: int
    middle_partial: Partial
    current_partial: Partial


def refuses(traits: Traits, invertible: bool) -> str | None:
    """Why it cannot serve such an aggregation: it serves all."""
    return None


def allocate(memory: Memory, capacity: int) -> Ring:
    """Room for so many events."""
    return Chunks(memory.queue(capacity), memory.integers(capacity))


def is_chunk_full(state: State, ring: Ring) -> bool:
    """Whether the current chunk holds more than half of the window."""
    return 2 * (state.end - state.current) > state.end - state.front


def accumulate_left(ring: Ring, begin: int, stop: int) -> None:
    """Let the slots of a chunk reach to its end: lcs, in the place of the events."""
    if begin == stop:
        return
    position = stop - 1
    partial = load(ring.slots, position)
    while position != begin:
        position -= 1
        partial = combine(load(ring.slots, position), partial)
        store(ring.slots, position, partial)


def hand_over(ring: Ring, begin: int, stop: int) -> None:
    """Have the lcs of a chunk computed: here, at once."""
    accumulate_left(ring, begin, stop)


def settle(ring: Ring) -> None:
    """Have what was handed over ready: here, it is."""


def abandon(ring: Ring) -> None:
    """Have what was handed over left alone, for nobody will read it: here, it is done."""


def empty(ring: Ring, position: int) -> State:
    """A window with no events."""
    abandon(ring)
    release(ring.slots, position)
    release(ring.boundaries, position)
    return State(
        position, position, position, position, position, position, identity(), identity()
    )  # fmt: skip


def has_room(state: State, ring: Ring) -> bool:
    """Whether one more event fits."""
    return state.end - state.front < capacity(ring.slots)


def resize(state: State, ring: Ring, other: Ring) -> State:
    """The same window in another ring."""
    settle(ring)
    for position in range(state.front, state.end):
        store(other.slots, position, load(ring.slots, position))
    for index in range(state.first, state.last):
        store_integer(other.boundaries, index, load_integer(ring.boundaries, index))
    return state


def close_chunk(state: State, ring: Ring) -> State:
    """Set a boundary behind the newest event: the current chunk becomes one of the middle."""
    hand_over(ring, state.current, state.end)
    if state.front == state.current:  # the only chunk: it is the oldest at once
        settle(ring)
        return state._replace(
            middle=state.end,
            current=state.end,
            middle_partial=identity(),
            current_partial=identity(),
        )
    if state.middle == state.current:
        return state._replace(
            current=state.end, middle_partial=state.current_partial, current_partial=identity()
        )
    store_integer(ring.boundaries, state.last, state.current)
    return state._replace(
        current=state.end,
        last=state.last + 1,
        middle_partial=combine(state.middle_partial, state.current_partial),
        current_partial=identity(),
    )


def insert(state: State, ring: Ring, partial: Partial) -> State:
    """Add an event to the current chunk."""
    store(ring.slots, state.end, partial)
    state = state._replace(
        end=state.end + 1, current_partial=combine(state.current_partial, partial)
    )
    if is_chunk_full(state, ring):
        return close_chunk(state, ring)
    return state


def enter_chunk(state: State, ring: Ring) -> State:
    """Make the chunk in which the front now lies the oldest one; the others before are used up.

    A current chunk that is the whole window is left open: its partial is the answer.
    """
    if state.front < state.current:
        settle(ring)
    else:
        abandon(ring)
    if state.front > state.current:
        accumulate_left(ring, state.front, state.end)
        return state._replace(
            middle=state.end,
            current=state.end,
            first=state.last,
            middle_partial=identity(),
            current_partial=identity(),
        )
    first = state.first
    while first != state.last and load_integer(ring.boundaries, first) <= state.front:
        first += 1
    release(ring.boundaries, first)
    if first == state.last:
        return state._replace(middle=state.current, first=first, middle_partial=identity())
    middle = load_integer(ring.boundaries, first)
    partial = load(ring.slots, middle)
    for index in range(first + 1, state.last):
        partial = combine(partial, load(ring.slots, load_integer(ring.boundaries, index)))
    return state._replace(middle=middle, first=first + 1, middle_partial=partial)


def evict_many(state: State, ring: Ring, count: int) -> State:
    """Drop the oldest events; closed chunks that leave as a whole are not looked at."""
    front = state.front + count
    if front == state.end:
        return empty(ring, front)
    state = state._replace(front=front)
    if front >= state.middle:
        state = enter_chunk(state, ring)
    release(ring.slots, front)
    return state


def evict(state: State, ring: Ring) -> State:
    """Drop the oldest event."""
    front = state.front + 1
    if front >= state.middle:
        return evict_many(state, ring, 1)
    release(ring.slots, front)
    return state._replace(front=front)


def query(state: State, ring: Ring) -> Partial:
    """Combine what is left of the oldest chunk, the chunks in the middle, and the current one."""
    if state.front == state.middle:
        return state.current_partial
    oldest = load(ring.slots, state.front)
    if state.middle != state.current:
        oldest = combine(oldest, state.middle_partial)
    return combine(oldest, state.current_partial)


FUNCTIONS = (
    is_chunk_full,
    accumulate_left,
    hand_over,
    settle,
    abandon,
    empty,
    has_room,
    resize,
    close_chunk,
    insert,
    enter_chunk,
    evict_many,
    evict,
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
    """Assert invariants 1 to 5 for a window of these lifted events."""
    middle, current, end = (position - state.front for position in state[1:4])
    assert 0 <= middle <= current <= end == len(events), "invariant 1"
    assert middle > 0 or current == 0, "invariant 1"
    boundaries = [
        load(ring.boundaries, index) - state.front for index in range(state.first, state.last)
    ]
    edges = [0, middle, *boundaries, current]
    assert edges == sorted(edges), "invariant 2"
    assert len(set(edges[1:])) == len(edges[1:]) or not boundaries, "invariant 2"
    for begin, stop in pairwise(edges):
        for index in range(begin, stop):
            stored = load(ring.slots, state.front + index)
            assert equal(stored, fold(events[index:stop])), f"invariant 3 at {index}"
    for index in range(current, end):
        stored = load(ring.slots, state.front + index)
        assert equal(stored, events[index]), f"invariant 4 at {index}"
    assert equal(state.middle_partial, fold(events[middle:current])), "invariant 5"
    assert equal(state.current_partial, fold(events[current:])), "invariant 5"
