"""SlickDeque (Non-Inv): a monotone deque, for aggregations that select.

paper      Shein et al. 2018, §3.2, algorithm 2
order      first in, first out
requires   a combine that returns one of its two arguments
insert     at most n combines, less than 2 on average
evict      no combine, for any number at once
query      no combine; all registered ranges in one pass over the deque
space      1 to n partials, and their positions

The window keeps only the events that can still be an answer. A new event rules out an older one if
combining the two returns the new one, because every later window that holds the older event holds
the new one as well. The rest is a deque in which every event wins against all events behind it. So
its oldest event answers for the whole window, and its oldest event among the newest r answers for
the range r. If two events are equal, the newer one replaces the older one. If they differ in what
they carry, as those of `arg_max` do, the first stays.

      front                      end            window of 9 events
        |                         |
        v                         v
        7  2  5  1  3  3  0  2  1
        ^     ^        ^     ^  ^
      [ 7     5        3     2  1 ]             positions beside partials
        |                         |
       head                      tail

The data decide how many nodes an event drops, and a processor cannot predict it. On random numbers,
blocks take four times as long as with Two-Stacks Lite (benchmarks/algorithms.py), though they
combine less. This algorithm pays if a combine costs more than a mispredicted branch, and for many
ranges at once.

The paper's answer loops (lines 31 and 36) stop one event too early: at a node that is exactly one
range old. The paper's own example needs the next node, which is what this file takes.

Invariants, for a window of events v[0] to v[n-1]:

1. end - front = n, and the deque is empty only if n = 0.
2. The positions in the deque are ascending, none is before front, and the last is end - 1.
3. A node at position front + i holds v[i].
4. The partial of v[i] .. v[n-1] is that of the first node at front + i or behind it.
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
    same,
    store,
    store_integer,
)

NAME = "slick_deque_non_inv"
GUARANTEES = Guarantees(Growth.LINEAR, lambda events: events, positions=1)


class Deque(NamedTuple):
    """Partials and their positions, node by node; ranges, their number first; their answers."""

    partials: Ring
    positions: Ring
    ranges: Ring
    answers: Ring


class State(NamedTuple):
    """Where the window begins and ends, and between which nodes of the ring the deque lies."""

    front: int
    end: int
    head: int
    tail: int


def refuses(traits: Traits, invertible: bool) -> str | None:
    """Why it cannot serve such an aggregation."""
    return None if traits.selective else "its combine does not return one of its two arguments"


def allocate(memory: Memory, capacity: int, ranges: int = 0) -> Deque:
    """Room for so many events, and for so many registered ranges."""
    room = 1 << ranges.bit_length()
    return Deque(
        memory.queue(capacity), memory.integers(capacity), memory.counters(room), memory.array(room)
    )


def empty(ring: Deque, position: int) -> State:
    """A window with no events."""
    release(ring.partials, position)
    release(ring.positions, position)
    return State(position, position, position, position)


def has_room(state: State, ring: Deque) -> bool:
    """Whether one more event fits: by the window, for which drivers keep times as well."""
    return state.end - state.front < capacity(ring.partials)


def resize(state: State, ring: Deque, other: Deque) -> State:
    """The same window in another ring."""
    for node in range(state.head, state.tail):
        store(other.partials, node, load(ring.partials, node))
        store_integer(other.positions, node, load_integer(ring.positions, node))
    return state


def insert(state: State, ring: Deque, partial: Partial) -> State:
    """Drop the newest nodes that can be an answer no longer, and add one."""
    # It is compared from a slot of its own: a row of an array that was just lifted stays only until
    # a few more are combined.
    store(ring.partials, state.tail, partial)
    newest = load(ring.partials, state.tail)
    node = state.tail
    while node != state.head and same(combine(load(ring.partials, node - 1), newest), newest):
        node -= 1
    store(ring.partials, node, newest)
    store_integer(ring.positions, node, state.end)
    return state._replace(end=state.end + 1, tail=node + 1)


def evict(state: State, ring: Deque) -> State:
    """Drop the oldest event, and its node if it still has one."""
    head = state.head
    if load_integer(ring.positions, head) == state.front:
        head += 1
        release(ring.partials, head)
        release(ring.positions, head)
    return state._replace(front=state.front + 1, head=head)


def first_node(state: State, ring: Deque, position: int) -> int:
    """The first node at a position or behind it, found by halving."""
    low, high = state.head, state.tail
    while low < high:
        node = (low + high) >> 1
        if load_integer(ring.positions, node) < position:
            low = node + 1
        else:
            high = node
    return low


def evict_many(state: State, ring: Deque, count: int) -> State:
    """Drop the oldest events, and those of their nodes that are left."""
    front = state.front + count
    head = first_node(state, ring, front)
    release(ring.partials, head)
    release(ring.positions, head)
    return state._replace(front=front, head=head)


def query(state: State, ring: Deque) -> Partial:
    """The oldest node."""
    if state.head == state.tail:
        return identity()
    return load(ring.partials, state.head)


def query_range(state: State, ring: Deque, count: int) -> Partial:
    """The partial of the newest events."""
    if count == 0:
        return identity()
    return load(ring.partials, first_node(state, ring, state.end - count))


def register(ring: Deque, index: int, extent: int) -> None:
    """Ask for a range; from the shortest to the longest."""
    store_integer(ring.ranges, 0, index + 1)
    store_integer(ring.ranges, index + 1, extent)


def query_ranges(state: State, ring: Deque) -> None:
    """Write the answers of the registered ranges, in one pass from the oldest node on."""
    node = state.head
    for index in range(load_integer(ring.ranges, 0) - 1, -1, -1):
        begin = state.end - load_integer(ring.ranges, index + 1)
        while node < state.tail and load_integer(ring.positions, node) < begin:
            node += 1
        store(ring.answers, index, load(ring.partials, node) if node < state.tail else identity())


FUNCTIONS = (
    empty,
    has_room,
    resize,
    insert,
    evict,
    first_node,
    evict_many,
    query,
    query_range,
    register,
    query_ranges,
)


def stored_partials(state: State) -> int:
    """How many partials the state keeps."""
    return state.tail - state.head


def check_invariants(
    state: State,
    ring: Deque,
    events: Sequence[Partial],
    load: Callable[[Ring, int], Partial],
    fold: Callable[[Sequence[Partial]], Partial],
    equal: Callable[[Partial, Partial], bool],
) -> None:
    """Assert invariants 1 to 4 for a window of these lifted events."""
    assert state.end - state.front == len(events), "invariant 1"
    nodes = range(state.head, state.tail)
    assert bool(nodes) == bool(events), "invariant 1"
    indices = [load(ring.positions, node) - state.front for node in nodes]
    assert indices == sorted(set(indices)), "invariant 2"
    assert not events or (indices[0] >= 0 and indices[-1] == len(events) - 1), "invariant 2"
    for node, index in zip(nodes, indices, strict=True):
        assert equal(load(ring.partials, node), events[index]), f"invariant 3 at {index}"
    for begin in range(len(events)):
        node = state.head + sum(index < begin for index in indices)
        suffix = fold(events[begin:])
        assert equal(load(ring.partials, node), suffix), f"invariant 4 at {begin}"
