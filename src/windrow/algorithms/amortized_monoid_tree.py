"""Amortized monoid tree (AMTA, the amortized Monoid Tree Aggregator).

paper      Villalba et al. 2019, §4.2
order      first in, first out
requires   an associative combine, nothing else
insert     at most log2(n) combines, 2 on average
evict      at most 3 log2(n) combines, 1 on average; any number at once: at most 3 log2(n)
query      1 combine; of the newest k events at most 3 log2(n)
space      at most 2n + log2(n) + 3 partials

The events are the leaves of a forest, kept level by level (see `levels`). A pair gets a parent when
it is no longer the newest of its level. So a node is written once, when its value is final: an
insert writes its leaf, and sometimes parents above it. Every level ends with a newest pair, full or
half, which is the root of a tree of its own.

The window keeps two partials beside the forest. The front partial is that of the leftmost tree,
whose root is the newest pair of the highest level. The back partial is that of all events behind
this tree; an insert combines its event into it. A query combines the two.

A stack prepares the front partials to come. The path from the root of the leftmost tree down to the
oldest event passes through one pair on each level. For each pair, the stack holds the partial from
the pair's second element to the end of the tree. An eviction takes the top of the stack. If a node
begins there, the eviction goes down in it and pushes the second halves. When the leftmost tree is
used up, everything is computed from the next tree.

Whatever leaves, one path from root to leaf leads to what stays. So evicting a million events
touches as few nodes as evicting a handful.

      level 2   [ a    ..    d |    .          .      ]
      level 1   [ a..b  | c..d | e..f  | g..h ]
      level 0   [ a | b | c| d | e | f | g | h | i | j ]
                    ^          ^                       ^
                  front     boundary                  end

      front_partial = b..d     stack = c..d     back_partial = e..j = e..f ; g..h ; i..j

The first partial on the stack begins at front + 1. Each of the others begins where the widest node
at the place before ends. So no position needs to be kept.

Nodes are final, so nodes that the next operation does not read may lie elsewhere. An insert reads
the newest two pairs of each level. An eviction reads the front partial, the stack, and the oldest
whole pair of each level. A bulk eviction reads one pair of each level on the path to the new oldest
event, and the newest pair of each level.

Invariants, for a window of events v[0] to v[n-1]; positions count from front:

1. front < boundary <= end, or all are equal; end - front = n.
2. The node of width w that begins at i and ends before j holds v[i] .. v[j-1], for every node that
   lies within the window and ends at least w - 1 events before the window does.
3. From front + 1 on, passing over the widest node each time leads to boundary; the partials on the
   stack, its top first, reach from those places to the boundary.
4. front_partial is the partial of the events before boundary.
5. back_partial is that of the others, the identity if there are none.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from windrow.algebra.monoid import Traits
from windrow.algorithms.guarantees import Growth, Guarantees
from windrow.algorithms.levels import (
    LEVEL_FUNCTIONS,
    between,
    copy_nodes,
    count_leaving,
    half_of,
    lowest_bit,
    node_at,
)
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

NAME = "amortized_monoid_tree"
GUARANTEES = Guarantees(Growth.LOGARITHMIC, lambda events: 2 * events + events.bit_length() + 2)

#: a node is not written before its pair is no longer the newest; see `levels.widest_node`
LATE = 1
#: as many as there are bits in a position
MOST_LEVELS = 64


class Forest(NamedTuple):
    """The nodes of all levels, and the stack."""

    nodes: Ring
    stack: Ring


class State(NamedTuple):
    """The oldest event, where the leftmost tree and the window end, the stack's depth, partials."""

    front: int
    boundary: int
    end: int
    depth: int
    front_partial: Partial
    back_partial: Partial


def refuses(traits: Traits, invertible: bool) -> str | None:
    """Why it cannot serve such an aggregation: it serves all."""
    return None


def allocate(memory: Memory, capacity: int) -> Forest:
    """Room for so many events."""
    return Forest(memory.queue(2 * capacity), memory.array(MOST_LEVELS))


def empty(ring: Forest, position: int) -> State:
    """A window with no events."""
    release(ring.nodes, node_at(position, 0))
    return State(position, position, position, 0, identity(), identity())


def has_room(state: State, ring: Forest) -> bool:
    """Whether one more event fits."""
    return 2 * (state.end - state.front) < capacity(ring.nodes)


def resize(state: State, ring: Forest, other: Forest) -> State:
    """The same window in another ring."""
    copy_nodes(ring.nodes, other.nodes, state.front, state.end)
    for depth in range(state.depth):
        store(other.stack, depth, load(ring.stack, depth))
    return state


def insert(state: State, ring: Forest, partial: Partial) -> State:
    """Keep the event, and give parents to the pairs that are no longer the newest of their level.

    If a level gets a node that begins 2w before `beyond`, w being the width, it begins a pair, and
    the pair before it, if no event of it has left, gets its parent.
    """
    nodes = ring.nodes
    store(nodes, node_at(state.end, 1), partial)
    beyond, width = state.end + 2, 1
    while beyond & width == 0 and beyond - 4 * width >= state.front:
        begin = beyond - 4 * width
        first, second = (
            load(nodes, node_at(begin, width)),
            load(nodes, node_at(begin + width, width)),
        )
        width *= 2
        store(nodes, node_at(begin, width), combine(first, second))
    if state.front == state.end:
        return state._replace(
            boundary=state.end + 1,
            end=state.end + 1,
            depth=0,
            front_partial=partial,
            back_partial=identity(),
        )
    return state._replace(end=state.end + 1, back_partial=combine(state.back_partial, partial))


def descend(state: State, ring: Forest, width: int) -> State:
    """Pile up the second elements of pairs, of this width and below, on the way to the front."""
    if width == 0:
        return state
    front, depth = state.front, state.depth
    nodes, stack = ring.nodes, ring.stack
    newer = identity()
    if depth > 0:
        newer = load(stack, depth - 1)
    while width > 0:
        if front & width == 0:
            middle = (front | (width - 1)) + 1
            if middle < state.boundary:
                older = load(nodes, node_at(middle, width))
                if depth > 0:
                    newer = combine(older, newer)
                else:
                    newer = older
                store(stack, depth, newer)
                depth += 1
        width >>= 1
    return state._replace(depth=depth)


def reach(state: State, ring: Forest) -> State:
    """Let the front partial, which is that of the oldest event, reach to the boundary."""
    if state.depth == 0:
        return state
    return state._replace(
        front_partial=combine(state.front_partial, load(ring.stack, state.depth - 1))
    )


def settle(ring: Forest, front: int, end: int) -> State:
    """A window of all events from `front` on, computed from the forest alone.

    As long as the level above has a node left, this level's newest pair belongs to the back.
    """
    if front == end:
        return State(front, front, front, 0, identity(), identity())
    nodes = ring.nodes
    back_partial, boundary, width = identity(), end, 1
    oldest_pair, newest_pair = front >> 1, (end + 1) >> 1
    while newest_pair - oldest_pair > 1:
        boundary -= width
        back_partial = combine(load(nodes, node_at(boundary, width)), back_partial)
        if boundary & width != 0:
            boundary -= width
            back_partial = combine(load(nodes, node_at(boundary, width)), back_partial)
        width *= 2
        oldest_pair >>= 1
        newest_pair >>= 1
    oldest = load(ring.nodes, node_at(front, 1))
    state = State(front, boundary, end, 0, oldest, back_partial)
    return reach(descend(state, ring, width), ring)


def evict(state: State, ring: Forest) -> State:
    """Drop the oldest event: the stack knows the front partial without it."""
    front = state.front + 1
    release(ring.nodes, node_at(front, 0))
    if front == state.boundary:
        return settle(ring, front, state.end)
    depth = state.depth - 1
    lighter = state._replace(front=front, depth=depth, front_partial=load(ring.stack, depth))
    return descend(lighter, ring, lowest_bit(front) >> 1)


def evict_many(state: State, ring: Forest, count: int) -> State:
    """Drop the oldest events, by one way down to the oldest that stays."""
    front = state.front + count
    release(ring.nodes, node_at(front, 0))
    if front >= state.boundary:
        return settle(ring, front, state.end)
    depth, begin, width = state.depth, state.front + 1, 1
    while begin <= front:
        width = lowest_bit(begin)
        begin += width
        depth -= 1
    oldest = load(ring.nodes, node_at(front, 1))
    lighter = state._replace(front=front, depth=depth, front_partial=oldest)
    return reach(descend(lighter, ring, width >> 1), ring)


def query(state: State, ring: Forest) -> Partial:
    """Combine the leftmost tree with the others."""
    return combine(state.front_partial, state.back_partial)


def query_range(state: State, ring: Forest, count: int) -> Partial:
    """Combine the nodes that make up the newest events."""
    if count == 0:
        return identity()
    return between(ring.nodes, state.end - count, state.end, state.end, LATE)


def leaving(state: State, ring: Forest) -> int:
    """How many of the oldest events leave by the policy."""
    return count_leaving(ring.nodes, state.front, state.end, LATE, query(state, ring))


def half_leaving(state: State, ring: Forest) -> int:
    """As many events as the older half has, if it leaves by the policy, or 0."""
    return half_of(ring.nodes, state.front, state.end, LATE, query(state, ring))


FUNCTIONS = (
    *LEVEL_FUNCTIONS,
    empty,
    has_room,
    resize,
    insert,
    descend,
    reach,
    settle,
    evict,
    evict_many,
    query,
    query_range,
    leaving,
    half_leaving,
)


def nodes_of(state: State, width: int) -> range:
    """Where the nodes of a level begin that the window needs: invariant 2."""
    first = -(-state.front // width) * width
    return range(first, state.end + 2 - 2 * width, width)


def stored_partials(state: State) -> int:
    """How many partials the state keeps: nodes, the stack, and two beside them."""
    levels = range((state.end - state.front).bit_length())
    return sum(len(nodes_of(state, 1 << level)) for level in levels) + state.depth + 2


def check_invariants(
    state: State,
    ring: Forest,
    events: Sequence[Partial],
    load: Callable[[Ring, int], Partial],
    fold: Callable[[Sequence[Partial]], Partial],
    equal: Callable[[Partial, Partial], bool],
) -> None:
    """Assert invariants 1 to 5 for a window of these lifted events."""
    front, boundary = state.front, state.boundary - state.front
    assert state.end - front == len(events), "invariant 1"
    assert 0 < boundary <= len(events) or boundary == len(events) == 0, "invariant 1"
    width = 1
    while nodes_of(state, width):
        for begin in nodes_of(state, width):
            stored = load(ring.nodes, node_at(begin, width))
            expected = fold(events[begin - front : begin - front + width])
            assert equal(stored, expected), f"invariant 2 at {begin - front}, width {width}"
        width *= 2
    place, depth = front + 1, state.depth
    while place < state.boundary:
        depth -= 1
        assert depth >= 0, "invariant 3: the stack is too short"
        expected = fold(events[place - front : boundary])
        assert equal(load(ring.stack, depth), expected), f"invariant 3 at {place - front}"
        place += lowest_bit(place)
    assert depth == 0, "invariant 3: the stack is too deep"
    assert place == state.boundary or not events, "invariant 3: the boundary is passed over"
    assert equal(state.front_partial, fold(events[:boundary])), "invariant 4"
    assert equal(state.back_partial, fold(events[boundary:])), "invariant 5"
