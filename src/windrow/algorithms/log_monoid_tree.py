"""Log monoid tree (Log MTA, the logarithmic Monoid Tree Aggregator).

paper      Villalba et al. 2019, §4.1
order      first in, first out
requires   an associative combine, nothing else
insert     at most log2(n) combines, half as many on average
evict      at most log2(n) combines; any number at once: at most log2(n)
query      1 combine; of the newest k events at most log2(n) + 1
space      at most 2n + log2(n) partials

The events are the leaves of one tree, kept level by level (see `levels`). Every insert recomputes
the newest branch, from its leaf up to the root, and every eviction recomputes the oldest branch.
All other nodes are whole and final. The window keeps all nodes of the newest branch, the tails. Of
the oldest branch it keeps only the node at the root, the front partial, because nothing reads the
others. The root is a pair: its first element holds the oldest event, its second the newest, and a
query combines the two.

Whatever leaves, the path from the new oldest event up to the root is equally short. So evicting a
million events costs no more than evicting one.

      root      [     b    ..    d      |     e    ..    g      ]
      level 1   [       b | c..d        |  e..f   |   g         ]
      level 0   [     . | b | c | d     |   e | f | g | .       ]
                          ^                           ^
                        front                        end

      front_partial = b..d     tails = g, g, e..g     level = 2

Invariants, for a window of events v[0] to v[n-1]; positions count from front:

1. end - front = n.
2. level is that of the root's pair: the highest bit in which the positions of the oldest and of the
   newest event differ; -1 if n < 2.
3. The node that begins at i and ends before j holds v[i] .. v[j-1], for every node within the
   window that begins behind the oldest event.
4. At each level up to that of the root's pair, the tail holds the events of the node that contains
   the newest event.
5. front_partial is that of the root's first element, of the only event if n = 1, or the identity.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from windrow.algebra.monoid import Traits
from windrow.algorithms.guarantees import Growth, Guarantees
from windrow.algorithms.levels import (
    LEVEL_FUNCTIONS,
    copy_nodes,
    count_leaving,
    half_of,
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

NAME = "log_monoid_tree"
GUARANTEES = Guarantees(Growth.LOGARITHMIC, lambda events: 2 * events + events.bit_length() + 2)

#: a node is written when its last event comes; see `levels.widest_node`
LATE = 0
#: as many as there are bits in a position
MOST_LEVELS = 64


class Tree(NamedTuple):
    """The nodes that are final, and those that the newest event is in, by level."""

    nodes: Ring
    tails: Ring


class State(NamedTuple):
    """The positions of the oldest event and behind the newest, the root's level and first half."""

    front: int
    end: int
    level: int
    front_partial: Partial


def refuses(traits: Traits, invertible: bool) -> str | None:
    """Why it cannot serve such an aggregation: it serves all."""
    return None


def allocate(memory: Memory, capacity: int) -> Tree:
    """Room for so many events."""
    return Tree(memory.queue(2 * capacity), memory.array(MOST_LEVELS))


def empty(ring: Tree, position: int) -> State:
    """A window with no events."""
    release(ring.nodes, node_at(position, 0))
    return State(position, position, -1, identity())


def has_room(state: State, ring: Tree) -> bool:
    """Whether one more event fits."""
    return 2 * (state.end - state.front) < capacity(ring.nodes)


def resize(state: State, ring: Tree, other: Tree) -> State:
    """The same window in another ring."""
    copy_nodes(ring.nodes, other.nodes, state.front, state.end)
    for level in range(state.level + 1):
        store(other.tails, level, load(ring.tails, level))
    return state


def query(state: State, ring: Tree) -> Partial:
    """Combine the pair at the root."""
    if state.level < 0:
        return combine(state.front_partial, identity())
    return combine(state.front_partial, load(ring.tails, state.level))


def renew_tails(ring: Tree, position: int, partial: Partial, level: int) -> None:
    """Compute the newest branch from a new event up to a level, and keep what is final of it."""
    store(ring.nodes, node_at(position, 1), partial)
    store(ring.tails, 0, partial)
    width = 1
    for above in range(1, level + 1):
        if position & width != 0:
            sibling = (position & -width) - width
            partial = combine(load(ring.nodes, node_at(sibling, width)), partial)
        width *= 2
        store(ring.tails, above, partial)
        if (position + 1) & (width - 1) == 0:
            store(ring.nodes, node_at(position & -width, width), partial)


def insert(state: State, ring: Tree, partial: Partial) -> State:
    """Add a leaf; if it lies outside of the root, the root is the first half of a new one."""
    level = state.level
    while (state.front ^ state.end) >> (level + 1) != 0:
        level += 1
    if level == state.level:
        renew_tails(ring, state.end, partial, level)
        if level < 0:
            return state._replace(end=state.end + 1, level=level, front_partial=partial)
        return state._replace(end=state.end + 1, level=level)
    total = state._replace(end=state.end + 1, level=level, front_partial=query(state, ring))
    renew_tails(ring, state.end, partial, level)
    return total


def root_level(oldest: int, newest: int, level: int) -> int:
    """The level of the root's pair, which is `level` at most; -1 if there is one event."""
    while level >= 0 and (oldest ^ newest) >> level == 0:
        level -= 1
    return level


def first_half(ring: Tree, front: int, level: int) -> Partial:
    """The partial of all from `front` to the end of the node of a level that it is in."""
    partial = load(ring.nodes, node_at(front, 1))
    for below in range(level):
        width = 1 << below
        if front & width == 0:
            sibling = (front & -width) + width
            partial = combine(partial, load(ring.nodes, node_at(sibling, width)))
    return partial


def evict_many(state: State, ring: Tree, count: int) -> State:
    """Drop the oldest events, and compute the branch of the oldest that stays."""
    front = state.front + count
    if front == state.end:
        return empty(ring, front)
    release(ring.nodes, node_at(front, 0))
    level = root_level(front, state.end - 1, state.level)
    return state._replace(front=front, level=level, front_partial=first_half(ring, front, level))


def evict(state: State, ring: Tree) -> State:
    """Drop the oldest event."""
    return evict_many(state, ring, 1)


def query_range(state: State, ring: Tree, count: int) -> Partial:
    """The query of a window from which the older events had left."""
    if count == 0:
        return identity()
    front = state.end - count
    level = root_level(front, state.end - 1, state.level)
    partial = first_half(ring, front, level)
    if level < 0:
        return partial
    return combine(partial, load(ring.tails, level))


def leaving(state: State, ring: Tree) -> int:
    """How many of the oldest events leave by the policy."""
    return count_leaving(ring.nodes, state.front, state.end, LATE, query(state, ring))


def half_leaving(state: State, ring: Tree) -> int:
    """As many events as the older half has, if it leaves by the policy, or 0."""
    return half_of(ring.nodes, state.front, state.end, LATE, query(state, ring))


FUNCTIONS = (
    *LEVEL_FUNCTIONS,
    empty,
    has_room,
    resize,
    query,
    renew_tails,
    insert,
    root_level,
    first_half,
    evict_many,
    evict,
    query_range,
    leaving,
    half_leaving,
)


def nodes_of(state: State, width: int) -> range:
    """Where the nodes of a level begin that lie behind the oldest event: invariant 3."""
    first = (state.front // width + 1) * width
    return range(first, state.end + 1 - width, width)


def stored_partials(state: State) -> int:
    """How many partials the state keeps: nodes, tails, and one beside them."""
    levels = range((state.end - state.front).bit_length())
    return sum(len(nodes_of(state, 1 << level)) for level in levels) + state.level + 3


def check_invariants(
    state: State,
    ring: Tree,
    events: Sequence[Partial],
    load: Callable[[Ring, int], Partial],
    fold: Callable[[Sequence[Partial]], Partial],
    equal: Callable[[Partial, Partial], bool],
) -> None:
    """Assert invariants 1 to 5 for a window of these lifted events."""
    front, newest = state.front, state.end - 1
    assert state.end - front == len(events), "invariant 1"
    level = (front ^ newest).bit_length() - 1 if events else -1
    assert state.level == level, "invariant 2"
    for width in (1 << below for below in range(level + 1)):
        for begin in nodes_of(state, width):
            stored = load(ring.nodes, node_at(begin, width))
            expected = fold(events[begin - front : begin - front + width])
            assert equal(stored, expected), f"invariant 3 at {begin - front}, width {width}"
    for below in range(level + 1):
        begin = newest >> below << below
        expected = fold(events[begin - front :])
        assert equal(load(ring.tails, below), expected), f"invariant 4 at level {below}"
    half = len(events) if level < 0 else (newest >> level << level) - front
    assert equal(state.front_partial, fold(events[:half])), "invariant 5"
