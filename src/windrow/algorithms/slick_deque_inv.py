"""SlickDeque (Inv): running answers, for aggregations with an inverse.

paper      Shein et al. 2018, §3.2, algorithm 1
order      first in, first out
requires   an inverse; an exact one, if nothing of an event may stay behind when it has left
insert     1 combine, and 1 combine and 1 inverse for each registered range within the window
evict      1 inverse; k at once: k inverses or n - k combines, whichever are fewer
query      no combine, for the window and for every registered range
space      n + 1 partials, and 1 for each registered range

This is Subtract-on-Evict for many ranges at once. The window is the queue of its events, a total,
and one running answer for each registered range. A new event is combined into all of them. The
inverse takes the event that leaves a range out of its answer, and the event that leaves the window
out of the total. If a range is as long as the window or longer, its answer is the total. Such a
range costs nothing until the window outgrows it. So Example 2 of the paper, whose longest range is
the window, takes 4 operations a slide, as the paper counts.

As with Subtract-on-Evict, errors add up if an inverse rounds. A NaN, an infinity or a number that
dwarfs all others stays in an answer after it has left. The total of an empty window begins again
with the identity.

      front                   end
        |                      |
        v                      v
      [ c  d  e  f  g  h  i  j ]     total = c..j
                       |--3--|       ranges  3     5
                 |-----5-----|       answers h..j  f..j

Invariants, for a window of events v[0] to v[n-1]:

1. end - front = n.
2. The slot at front + i holds v[i].
3. total is v[0] .. v[n-1], up to rounding; exactly the identity if n = 0.
4. There are `ranges` ranges, in ascending order.
5. The answer of a range r < n is v[n-r] .. v[n-1], up to rounding.
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
    load_integer,
    release,
    store,
    store_integer,
)

NAME = "slick_deque_inv"
GUARANTEES = Guarantees(Growth.CONSTANT, lambda events: events + 1, subtracts=True)


class Answers(NamedTuple):
    """Events; the number of registered ranges and the ranges; their running answers."""

    events: Ring
    ranges: Ring
    answers: Ring


class State(NamedTuple):
    """The positions of the oldest event and behind the newest, how many ranges, and the total.

    The number of ranges never changes. It is here because a kernel then sees that it has none, and
    slides without asking: read from memory for every event, it cost a third of the speed.
    """

    front: int
    end: int
    ranges: int
    total: Partial


def refuses(traits: Traits, invertible: bool) -> str | None:
    """Why it cannot serve such an aggregation."""
    return None if invertible else "it has no inverse, so an event cannot be taken out of a partial"


def allocate(memory: Memory, capacity: int, ranges: int = 0) -> Answers:
    """Room for so many events, and for so many registered ranges."""
    room = 1 << ranges.bit_length()
    return Answers(memory.queue(capacity), memory.counters(room), memory.array(room))


def empty(ring: Answers, position: int) -> State:
    """A window with no events."""
    release(ring.events, position)
    return State(position, position, load_integer(ring.ranges, 0), identity())


def has_room(state: State, ring: Answers) -> bool:
    """Whether one more event fits."""
    return state.end - state.front < capacity(ring.events)


def resize(state: State, ring: Answers, other: Answers) -> State:
    """The same window in another ring, in which the same ranges are registered."""
    for position in range(state.front, state.end):
        store(other.events, position, load(ring.events, position))
    for index in range(state.ranges):
        store(other.answers, index, load(ring.answers, index))
    return state


def range_at(ring: Answers, index: int) -> int:
    """A registered range, from the shortest on."""
    return load_integer(ring.ranges, index + 1)


def slide_range(state: State, ring: Answers, index: int, extent: int) -> None:
    """Combine the newest event into the answer of a range, which leaves one behind."""
    newest = state.end - 1
    if extent == newest - state.front:  # until now the window's total was the answer
        answer = state.total
    else:
        answer = combine(load(ring.answers, index), load(ring.events, newest))
    store(ring.answers, index, inverse(answer, load(ring.events, newest - extent)))


def insert(state: State, ring: Answers, partial: Partial) -> State:
    """Keep the event, and combine it into the total and the answers within the window."""
    store(ring.events, state.end, partial)
    total = combine(state.total, partial)
    state = state._replace(end=state.end + 1, total=total)
    for index in range(state.ranges):
        extent = range_at(ring, index)
        if extent >= state.end - state.front:
            break
        slide_range(state, ring, index, extent)
    return state


def evict(state: State, ring: Answers) -> State:
    """Take the oldest event out of the total; ranges within the window do not hold it."""
    front = state.front + 1
    if front == state.end:
        total = identity()
    else:
        total = inverse(state.total, load(ring.events, state.front))
    release(ring.events, front)
    return state._replace(front=front, total=total)


def fold(ring: Answers, begin: int, stop: int) -> Partial:
    """Events, combined from scratch."""
    partial = identity()
    for position in range(begin, stop):
        partial = combine(partial, load(ring.events, position))
    return partial


def without_oldest(state: State, ring: Answers, count: int) -> Partial:
    """The total without some events: they are taken out, or those that stay are combined."""
    front = state.front + count
    if state.end - front <= count:
        return fold(ring, front, state.end)
    total = state.total
    for position in range(state.front, front):
        total = inverse(total, load(ring.events, position))
    return total


def evict_many(state: State, ring: Answers, count: int) -> State:
    """Drop the oldest events."""
    total = without_oldest(state, ring, count)
    release(ring.events, state.front + count)
    return state._replace(front=state.front + count, total=total)


def query(state: State, ring: Answers) -> Partial:
    """The total."""
    return state.total


def query_range(state: State, ring: Answers, count: int) -> Partial:
    """The partial of the newest events: a running answer, if their number is registered."""
    size = state.end - state.front
    for index in range(state.ranges):
        if range_at(ring, index) == count and count < size:
            return load(ring.answers, index)
    return without_oldest(state, ring, size - count)


def register(ring: Answers, index: int, extent: int) -> None:
    """Ask for a range, before the window is made; from the shortest to the longest."""
    store_integer(ring.ranges, 0, index + 1)
    store_integer(ring.ranges, index + 1, extent)


def query_ranges(state: State, ring: Answers) -> None:
    """Write the answers of the registered ranges: of those not within the window, the total."""
    for index in range(state.ranges):
        if range_at(ring, index) >= state.end - state.front:
            store(ring.answers, index, state.total)


FUNCTIONS = (
    empty,
    has_room,
    resize,
    range_at,
    slide_range,
    insert,
    evict,
    fold,
    without_oldest,
    evict_many,
    query,
    query_range,
    register,
    query_ranges,
)


def stored_partials(state: State) -> int:
    """How many partials the state keeps, but for those of registered ranges."""
    return state.end - state.front + 1


def check_invariants(
    state: State,
    ring: Answers,
    events: Sequence[Partial],
    load: Callable[[Ring, int], Partial],
    fold: Callable[[Sequence[Partial]], Partial],
    equal: Callable[[Partial, Partial], bool],
) -> None:
    """Assert invariants 1 to 5 for a window of these lifted events."""
    assert state.end - state.front == len(events), "invariant 1"
    for index, event in enumerate(events):
        assert equal(load(ring.events, state.front + index), event), f"invariant 2 at {index}"
    assert equal(state.total, fold(events)), "invariant 3"
    assert state.ranges == load(ring.ranges, 0), "invariant 4"
    ranges = [load(ring.ranges, 1 + index) for index in range(state.ranges)]
    assert ranges == sorted(set(ranges)), "invariant 4"
    for index, extent in enumerate(ranges):
        if extent < len(events):
            answer = load(ring.answers, index)
            assert equal(answer, fold(events[-extent:])), f"invariant 5 for range {extent}"
