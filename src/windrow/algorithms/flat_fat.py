"""FlatFAT and the Reactive Aggregator.

paper      Tangwongsan et al. 2015, §4 (FlatFAT, the Flat Fixed-sized Aggregator) and §5 (the
           Reactive Aggregator)
order      any: events may also leave and come in the middle of the window
requires   an associative combine, nothing else
insert     no combine
evict      no combine, for any number at once
query      first at most m (1 + ceil(log2(n/m))) combines, for m events inserted or evicted since
           the last query (any number of evicted ones counts as 2). Then none; or, if the buffer is
           inverted, log2(n) if it is full and at most 2 log2(n) if not. The newest k events take
           at most 2 log2(n)
evict_at   at most log2(n) combines
insert_at  at most d (1 + ceil(log2(n/d))) combines, d being the events behind it, and itself
space      2n - 1 partials, n being a power of two, 1 to 4 times the number of events

The events are the leaves of a complete binary tree in one array (see `flat_tree`). A node is the
combination of its children. The leaves are a ring. Operations change leaves only. A query first
updates every node above a changed leaf, each once. Then the root holds all events, unless the
buffer is inverted. An inverted buffer has the newest events in front of the oldest ones, so the
root has them in the wrong order. Then the query combines the nodes of each part, and the two parts.

      width 8   [            j..k  e  f..i             ]
      width 4   [     j..k  e      ] [      f..i       ]
      width 2   [  j..k  ] [   e   ] [  f..g ] [  h..i ]
      width 1   [ j ][ k ] [   ][ e ] [ f ][ g ] [ h ][ i ]
                         ^        ^
                        end     front              query = e ; f..i ; j..k

Unused leaves are not cleared: front and end say which they are. An unused node counts as the
identity, which is in node 0 (§5.2). An event that leaves from the middle makes a hole, a leaf that
holds the identity until the front passes it or all holes are closed (see `holes`). If the ring is
full and a quarter of it is holes, they are closed; if fewer are holes, the ring doubles. If less
than a quarter of the ring is used, it halves (§5.1).

Invariants, for a window of events v[0] to v[n-1]:

1. From front to end there are n events and `holes` holes, not more than there are leaves; the first
   of them is an event.
2. The leaf of an event holds it, the leaf of a hole the identity; events stand in their order.
3. A node that has used leaves holds their combination, in the order of the tree, unless one of its
   leaves was used or given up since the last query, which left front and end in `known`.
4. In the tree that counts holes, a node holds the number of holes among its leaves.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from windrow.algebra.monoid import Traits
from windrow.algorithms.flat_tree import TREE_FUNCTIONS, between, node_of
from windrow.algorithms.guarantees import Growth, Guarantees, in_a_tree
from windrow.algorithms.holes import HOLE_FUNCTIONS, count_hole, is_hole, position_behind
from windrow.algorithms.plain_memory import Memory
from windrow.compiler.slots import (
    Partial,
    Ring,
    capacity,
    combine,
    identity,
    load,
    load_integer,
    store,
    store_integer,
)

NAME = "flat_fat"
GUARANTEES = Guarantees(Growth.LOGARITHMIC, in_a_tree, positions=2)


class Aggregator(NamedTuple):
    """A tree of partials, a tree that counts holes, and front and end at the last query."""

    tree: Ring
    holes: Ring
    known: Ring


class State(NamedTuple):
    """Where events begin and end, how many holes are between them, and the number of leaves."""

    front: int
    end: int
    holes: int
    leaves: int


def refuses(traits: Traits, invertible: bool) -> str | None:
    """Why it cannot serve such an aggregation: it serves all."""
    return None


def allocate(memory: Memory, capacity: int) -> Aggregator:
    """A tree with a leaf for each of so many events."""
    return Aggregator(memory.array(2 * capacity), memory.counters(2 * capacity), memory.counters(2))


def empty(ring: Aggregator, position: int) -> State:
    """A window with no events."""
    return State(position, position, 0, capacity(ring.tree) >> 1)


def size(state: State) -> int:
    """The number of events."""
    return state.end - state.front - state.holes


def has_room(state: State, ring: Aggregator) -> bool:
    """Whether one more event fits behind the newest."""
    return state.end - state.front < state.leaves


def wants_less(state: State, ring: Aggregator) -> bool:
    """Whether half the room would do, and leave as much again."""
    return 4 * size(state) < state.leaves


# FlatFAT: the tree -------------------------------------------------------------------------------


def is_used(state: State, slot: int, width: int) -> bool:
    """Whether some of the slots from one on are between front and end."""
    distance = (slot - state.front) & (state.leaves - 1)
    return (distance < state.end - state.front) | (distance > state.leaves - width)


def climb(state: State, tree: Ring, slot: int, limit: int) -> None:
    """Combine the nodes above a slot again, up to a width.

    An unused node is read as node 0, the identity. To skip the combine instead took three times as
    long, because no processor can guess which nodes are unused.
    """
    node, width = 2 * slot + 1, 1
    partial = load(tree, node if is_used(state, slot, 1) else 0)
    while 2 * width <= limit:
        sibling = node ^ (2 * width)
        other = load(tree, sibling if is_used(state, (sibling - width) >> 1, width) else 0)
        older = other if sibling < node else partial
        newer = partial if sibling < node else other
        partial = combine(older, newer)
        node, width = (node - width) | (2 * width), 2 * width
        store(tree, node, partial)


def climb_all(state: State, tree: Ring, first: int, last: int) -> None:
    """Combine the nodes above positions that follow each other again, each node once.

    In the order of slots, each climbs to where it meets the path of the next one; `i ^ j` is less
    than a width if both slots are under the same node of that width.
    """
    low, high = first & (state.leaves - 1), last & (state.leaves - 1)
    if low > high:  # they go round: the newer ones have the lower slots
        for slot in range(high):
            climb(state, tree, slot, slot ^ (slot + 1))
        climb(state, tree, high, high ^ low)
        high = state.leaves - 1
    for slot in range(low, high):
        climb(state, tree, slot, slot ^ (slot + 1))
    climb(state, tree, high, state.leaves)


def refresh(state: State, ring: Aggregator) -> None:
    """Bring the nodes up to date with what was inserted and evicted since the last query.

    Of what was evicted, nodes with other events above them are those above its newest and its
    oldest event; the latter are above the newest event of all, too, if any was inserted.
    """
    mask = state.leaves - 1
    known_front, known_end = load_integer(ring.known, 0), load_integer(ring.known, 1)
    first, last = max(known_end, state.front), state.end - 1
    evicted = state.front - 1
    store(ring.tree, 0, identity())
    if first <= last:
        if known_front <= evicted < known_end:
            meeting = min((evicted ^ first) & mask, (evicted ^ last) & mask)
            climb(state, ring.tree, evicted & mask, meeting)
        climb_all(state, ring.tree, first, last)
    elif known_front <= evicted < last:
        climb(state, ring.tree, known_front & mask, (known_front ^ evicted) & mask)
        climb(state, ring.tree, evicted & mask, state.leaves)
    store_integer(ring.known, 0, state.front)
    store_integer(ring.known, 1, state.end)


def update(state: State, ring: Aggregator, positions: Ring, partials: Ring, count: int) -> None:
    """Write many events anew, at positions that grow, and the nodes above them, once each."""
    refresh(state, ring)
    mask = state.leaves - 1
    lowest = 0  # the index of the lowest slot
    for index in range(count):
        position = load_integer(positions, index)
        store(ring.tree, node_of(state.leaves, position, 1), load(partials, index))
        if position & mask < load_integer(positions, lowest) & mask:
            lowest = index
    for step in range(count):
        index = lowest + step if lowest + step < count else lowest + step - count
        following = index + 1 if index + 1 < count else 0
        slot = load_integer(positions, index) & mask
        meeting = slot ^ (load_integer(positions, following) & mask)
        climb(state, ring.tree, slot, meeting if step + 1 < count else state.leaves)


# The Reactive Aggregator: a window in the leaves --------------------------------------------------


def insert(state: State, ring: Aggregator, partial: Partial) -> State:
    """Write the next leaf."""
    store(ring.tree, node_of(state.leaves, state.end, 1), partial)
    return state._replace(end=state.end + 1)


def skip_holes(state: State, ring: Aggregator) -> State:
    """The window from its oldest event on."""
    front, _end, holes, leaves = state
    while holes > 0 and is_hole(ring.holes, leaves, front):
        count_hole(ring.holes, leaves, front, -1)
        front, holes = front + 1, holes - 1
    return state._replace(front=front, holes=holes)


def evict(state: State, ring: Aggregator) -> State:
    """Forget the oldest event."""
    state = state._replace(front=state.front + 1)
    return skip_holes(state, ring) if state.holes > 0 else state


def evict_many(state: State, ring: Aggregator, count: int) -> State:
    """Forget the oldest events."""
    if state.holes == 0:
        return state._replace(front=state.front + count, holes=0)
    for _event in range(count):
        state = evict(state, ring)
    return state


def position_of(state: State, ring: Aggregator, index: int) -> int:
    """The position of an event, counted from the oldest."""
    if state.holes == 0:
        return state.front + index
    return position_behind(ring.holes, state.leaves, state.front, index)


def evict_at(state: State, ring: Aggregator, index: int) -> State:
    """Make a hole of an event, counted from the oldest."""
    if index == 0:
        return evict(state, ring)
    refresh(state, ring)
    position = position_of(state, ring, index)
    store(ring.tree, node_of(state.leaves, position, 1), identity())
    count_hole(ring.holes, state.leaves, position, 1)
    climb(state, ring.tree, position & (state.leaves - 1), state.leaves)
    return state._replace(holes=state.holes + 1)


def insert_at(state: State, ring: Aggregator, index: int, partial: Partial) -> State:
    """Add an event that will be the one at this index, counted from the oldest.

    It takes the hole before that place, or else the events behind move up, to the next hole or by
    one behind the newest.
    """
    front, end, holes, leaves = state
    if index == size(state):
        return insert(state, ring, partial)
    refresh(state, ring)
    begin = position_of(state, ring, index)
    if holes > 0 and begin > front and is_hole(ring.holes, leaves, begin - 1):
        begin -= 1
    stop = begin
    while stop != end and not is_hole(ring.holes, leaves, stop):
        stop += 1
    for position in range(stop, begin, -1):
        moved = load(ring.tree, node_of(leaves, position - 1, 1))
        store(ring.tree, node_of(leaves, position, 1), moved)
    store(ring.tree, node_of(leaves, begin, 1), partial)
    if stop == end:
        state = state._replace(end=end + 1)
        store_integer(ring.known, 1, end + 1)
    else:
        count_hole(ring.holes, leaves, stop, -1)
        state = state._replace(holes=holes - 1)
    climb_all(state, ring.tree, begin, stop)
    return state


def compact(state: State, ring: Aggregator) -> State:
    """Close the holes, if they are a quarter of the leaves or more; the next query combines all."""
    front, end, _holes, leaves = state
    if 4 * size(state) > 3 * leaves:
        return state
    target = front
    for position in range(front, end):
        if is_hole(ring.holes, leaves, position):
            count_hole(ring.holes, leaves, position, -1)
        else:
            moved = load(ring.tree, node_of(leaves, position, 1))
            store(ring.tree, node_of(leaves, target, 1), moved)
            target += 1
    store_integer(ring.known, 1, front)
    return state._replace(end=target, holes=0)


def resize(state: State, ring: Aggregator, other: Aggregator) -> State:
    """The same events in another tree, without holes; the next query combines all."""
    resized = state._replace(end=state.front, holes=0, leaves=capacity(other.tree) >> 1)
    for position in range(state.front, state.end):
        if state.holes == 0 or not is_hole(ring.holes, state.leaves, position):
            partial = load(ring.tree, node_of(state.leaves, position, 1))
            resized = insert(resized, other, partial)
    store_integer(other.known, 0, state.front)
    store_integer(other.known, 1, state.front)
    return resized


# Queries ------------------------------------------------------------------------------------------


def is_inverted(state: State) -> bool:
    """Whether the newest event has a lower slot than the oldest one."""
    mask = state.leaves - 1
    return (state.end - 1) & mask < state.front & mask


def query(state: State, ring: Aggregator) -> Partial:
    """The root; of an inverted buffer, its older part combined with its newer one."""
    if state.front == state.end:
        return identity()
    refresh(state, ring)
    if is_inverted(state):
        return between(ring.tree, state.leaves, state.front, state.end)
    return load(ring.tree, state.leaves)


def prefix(state: State, ring: Aggregator, index: int) -> Partial:
    """The partial from the oldest event to the one at an index."""
    refresh(state, ring)
    stop = position_of(state, ring, index) + 1
    return between(ring.tree, state.leaves, state.front, stop)


def suffix(state: State, ring: Aggregator, index: int) -> Partial:
    """The partial from the event at an index to the newest one."""
    refresh(state, ring)
    begin = position_of(state, ring, index)
    return between(ring.tree, state.leaves, begin, state.end)


def query_range(state: State, ring: Aggregator, count: int) -> Partial:
    """The partial of the newest events."""
    if count == 0:
        return identity()
    return suffix(state, ring, size(state) - count)


FUNCTIONS = (
    *TREE_FUNCTIONS,
    *HOLE_FUNCTIONS,
    empty,
    size,
    has_room,
    wants_less,
    is_used,
    climb,
    climb_all,
    refresh,
    update,
    insert,
    skip_holes,
    evict,
    evict_many,
    position_of,
    evict_at,
    insert_at,
    compact,
    resize,
    is_inverted,
    query,
    prefix,
    suffix,
    query_range,
)


def stored_partials(state: State) -> int:
    """How many partials the state has room for."""
    return 2 * state.leaves - 1


def check_invariants(
    state: State,
    ring: Aggregator,
    events: Sequence[Partial],
    load: Callable[[Ring, int], Partial],
    fold: Callable[[Sequence[Partial]], Partial],
    equal: Callable[[Partial, Partial], bool],
) -> None:
    """Assert invariants 1 to 4 for a window of these lifted events."""
    front, end, holes, leaves = state
    used = range(front, end)
    is_hole = {position: load(ring.holes, node_of(leaves, position, 1)) for position in used}
    assert sum(is_hole.values()) == holes, "invariant 1"
    assert len(used) <= leaves, "invariant 1"
    assert len(used) - holes == len(events), "invariant 1"
    assert not used or not is_hole[front], "invariant 1"

    remaining = iter(events)
    for position in used:
        stored = load(ring.tree, node_of(leaves, position, 1))
        expected = fold([]) if is_hole[position] else next(remaining)
        assert equal(stored, expected), f"invariant 2 at {position - front}"

    at = {position % leaves: position for position in used}
    known_front, known_end = load(ring.known, 0), load(ring.known, 1)
    changed = {position % leaves for position in range(known_front, min(front, known_end))}
    changed |= {position % leaves for position in range(max(front, known_end), end)}
    width = 1
    while width <= leaves:
        for begin in range(0, leaves, width):
            slots = range(begin, begin + width)
            node = node_of(leaves, begin, width)
            holes_below = sum(is_hole[at[slot]] for slot in slots if slot in at)
            assert load(ring.holes, node) == holes_below, f"invariant 4 at node {node}"
            below = [load(ring.tree, 2 * slot + 1) for slot in slots if slot in at]
            if below and changed.isdisjoint(slots):
                assert equal(load(ring.tree, node), fold(below)), f"invariant 3 at node {node}"
        width *= 2
