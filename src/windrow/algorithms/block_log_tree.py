"""Block log tree: the log monoid tree in blocks, for windows in a store.

paper      Villalba et al. 2019, §4.1, with eight or so levels of pairs in one block of F
order      first in, first out
requires   an associative combine, nothing else
insert     at most log2(n) + 1 combines
evict      at most 2 log2(n) combines, and F for each block that is read; so does any number at once
query      1 combine
space      n + n/F + n/F^2 + ... partials, of which 4F for each level are in memory

Blocks are those of the block tree: events in blocks of F, and the partial of a full block is a node
of the level above. Within a block lies a binary tree, whose leaves are the block's nodes. A store
has the leaves alone. The other nodes are computed when a block is read.

      level 1   [         0..3          |         4..7          |            ]   tail
                [    0..1   |   2..3    ]
      level 0   [  .  |  1  |  2  |  3  ]   [  4 | 5 | 6 | 7  ]   [  8 | 9 |  ]  tail
                   ^  head                      in the store              ^
                 front                                                   end

      oldest = 1..7    newest = 8..9    top = 4

Seen as one tree of pairs, the events are its leaves. Its root is the pair of the two nodes that the
oldest and the newest event are in. An insert computes the newest branch again, from the leaf up to
the root's second half; an eviction computes the oldest branch, up to the first half. There is
neither a stack nor a boundary to be moved, so no operation waits for work that earlier ones left.

Invariants; positions are counted from the first event that ever was:

1. 2^top events from a multiple of 2^top on are the narrowest node that holds the window; 0 if it
   holds one event or none.
2. Every node that is full and begins at the oldest event or behind it is in the tail of its level,
   or is that of a full block, which is a leaf of the level above.
3. oldest is the partial of all events in the root's first half, of the only event, or the identity.
4. newest is the partial of all events in the root's second half, if there are two events.

`reach` and `boundary` of the state are not used, and equal `front`.
"""

from collections.abc import Callable, Sequence

from windrow.algorithms.block_levels import (
    GONE,
    HEAD,
    TAIL,
    TOTAL,
    Levels,
    State,
    allocate,
    empty,
    head_of,
    is_asking_possible,
    loaded,
    place,
    scanned,
)
from windrow.algorithms.block_policies import SEARCH_FUNCTIONS
from windrow.compiler.slots import (
    Partial,
    Ring,
    combine,
    identity,
    load,
    load_integer,
    store,
    store_integer,
)

__all__ = ["allocate", "empty"]

#: the binary trees of heads and of tails, in place of suffixes and singles of the block tree
INNER_HEAD, INNER_TAIL = 2, 3
#: single partials: the root's halves; `block_policies` has numbers for the others
OLDEST, NEWEST = 0, 1
#: what of `planted` says what has to be computed: the halves, the trees of the tails
OLDEST_STALE, NEWEST_STALE, TAILS_STALE = 1, 2, 4


def single(bits: int, which: int) -> int:
    """Where a single partial is: a binary tree leaves the last place of its part free."""
    return place(bits, which >> 1, INNER_HEAD + (which & 1), -1)


def node_place(state: State, begin: int, level: int, depth: int) -> int:
    """Where the node is that begins at an event, so far above the leaves of a level's blocks."""
    bits, leaf = state.bits, begin >> (state.bits * level)
    in_tail = leaf >> bits == state.end >> (bits * (level + 1))
    if depth == 0:
        return place(bits, level, TAIL if in_tail else HEAD, leaf)
    part = INNER_TAIL if in_tail else INNER_HEAD
    return place(bits, level, part, leaf + (1 << depth >> 1) - 1)


def insert(state: State, levels: Levels, partial: Partial) -> State:
    """Add a leaf, and compute the newest branch; outside of the root, the root becomes a half."""
    bits, position, front, top = state.bits, state.end, state.front, state.top
    while (front ^ position) >> top != 0:
        top += 1
    if position == front:
        store(levels.nodes, single(bits, OLDEST), partial)
    elif top != state.top:
        store(levels.nodes, single(bits, OLDEST), query(state, levels))
    node, level, depth = partial, 0, 0
    store(levels.nodes, node_place(state, position, 0, 0), partial)
    for height in range(top - 1):
        if position >> height & 1:
            sibling = ((position >> height) - 1) << height
            older = load(levels.nodes, node_place(state, sibling, level, depth))
            node = combine(older, node)
        depth += 1
        if depth == bits:
            level, depth = level + 1, 0
        if (position + 1) & ((2 << height) - 1) == 0:
            begin = position >> (height + 1) << (height + 1)
            store(levels.nodes, node_place(state, begin, level, depth), node)
    if top > 0:
        store(levels.nodes, single(bits, NEWEST), node)
        if position + 1 - front == 1 << top and front & ((1 << top) - 1) == 0:
            whole = combine(load(levels.nodes, single(bits, OLDEST)), node)
            depth += 1
            if depth == bits:
                level, depth = level + 1, 0
            store(levels.nodes, node_place(state, front, level, depth), whole)
    return state._replace(end=position + 1, top=top)


def query(state: State, levels: Levels) -> Partial:
    """Combine the root's pair; the window must be ready."""
    oldest = load(levels.nodes, single(state.bits, OLDEST))
    if state.top == 0:
        return combine(oldest, identity())
    return combine(oldest, load(levels.nodes, single(state.bits, NEWEST)))


def evict_many(state: State, count: int) -> State:
    """Drop the oldest events; the window is not ready then."""
    front, top, stale = state.front + count, state.top, state.planted | OLDEST_STALE
    while top > 0 and (front == state.end or (front ^ (state.end - 1)) >> (top - 1) == 0):
        top -= 1
    if top != state.top:
        stale |= NEWEST_STALE
    return state._replace(front=front, reach=front, boundary=front, top=top, planted=stale)


def is_ready(state: State) -> bool:
    """Whether the window can be queried, and filled, as it is."""
    return state.planted == 0


def refill(state: State, levels: Levels) -> State:
    """Make the window ready; the heads that it needs must have been loaded."""
    if state.planted == 0:
        return state
    level = 0
    while state.front >> (state.bits * (level + 1)) != state.end >> (state.bits * (level + 1)):
        head = load_integer(levels.blocks, loaded(level))
        if load_integer(levels.blocks, scanned(level)) != head:
            grow_tree(state, levels, level, head, 1 << state.bits)
            store_integer(levels.blocks, scanned(level), head)
        level += 1
    if state.planted & TAILS_STALE:
        level = 0
        while state.end >> (state.bits * level) != 0:
            leaves = state.end >> (state.bits * level)
            count = leaves & ((1 << state.bits) - 1)
            grow_tree(state, levels, level, leaves >> state.bits, count)
            level += 1
    if state.planted & OLDEST_STALE:
        store(levels.nodes, single(state.bits, OLDEST), first_half(state, levels))
    if state.planted & NEWEST_STALE and state.top > 0:
        store(levels.nodes, single(state.bits, NEWEST), second_half(state, levels))
    return state._replace(planted=0)


def grow_tree(state: State, levels: Levels, level: int, block: int, count: int) -> None:
    """Compute the nodes above the first leaves of a block, as far as the window may need them."""
    bits = state.bits
    for depth in range(1, bits):
        for number in range(count >> depth):
            begin = ((block << bits) + (number << depth)) << (bits * level)
            if begin >= state.front:
                middle = begin + (1 << (depth - 1 + bits * level))
                older = load(levels.nodes, node_place(state, begin, level, depth - 1))
                newer = load(levels.nodes, node_place(state, middle, level, depth - 1))
                node = combine(older, newer)
                store(levels.nodes, node_place(state, begin, level, depth), node)


def first_half(state: State, levels: Levels) -> Partial:
    """The partial of all from the oldest event to the end of the root's first half."""
    front = state.front
    if front == state.end:
        return identity()
    node, level, depth = load(levels.nodes, node_place(state, front, 0, 0)), 0, 0
    for height in range(state.top - 1):
        if front >> height & 1 == 0:
            sibling = ((front >> height) + 1) << height
            newer = load(levels.nodes, node_place(state, sibling, level, depth))
            node = combine(node, newer)
        depth += 1
        if depth == state.bits:
            level, depth = level + 1, 0
    return node


def second_half(state: State, levels: Levels) -> Partial:
    """The partial of all events in the root's second half: nodes as wide as there are."""
    begin = (state.end - 1) >> (state.top - 1) << (state.top - 1)
    held, rest = state.end - begin, state.end
    node, level, depth = identity(), 0, 0
    for height in range(state.top):
        if held >> height & 1:
            rest -= 1 << height
            older = load(levels.nodes, node_place(state, rest, level, depth))
            node = combine(older, node)
        depth += 1
        if depth == state.bits:
            level, depth = level + 1, 0
    return node


def let_leave(state: State, levels: Levels) -> State:
    """Evict what was found to leave; the window may not be ready then."""
    if state.found == state.front:
        return state
    return evict_many(state, state.found - state.front)


FUNCTIONS = (
    place, single, loaded, scanned, node_place, insert, query, is_ready, grow_tree, first_half,
    second_half, refill,
)  # fmt: skip
#: what a policy needs beside them
POLICY_FUNCTIONS = (evict_many, *SEARCH_FUNCTIONS, let_leave)


# What is kept outside of memory -------------------------------------------------------------------


def is_possible(state: State) -> bool:
    """Whether a window can have come to such a state: what is read from a store is not trusted."""
    front, reach, boundary, end, top, planted, _bits, _policy, _asked, _found = state
    if not (0 <= front == reach == boundary <= end < 2**63 and 0 <= planted < 8):
        return False
    if not is_asking_possible(state):
        return False
    return top == (0 if front == end else (front ^ (end - 1)).bit_length())


def restored(state: State) -> State:
    """The state once a header was read, or memory was taken back: no head is in memory."""
    return state._replace(planted=state.planted | TAILS_STALE)


def heads_needed(state: State) -> range:
    """The levels whose heads have to be in memory for the window to become ready."""
    levels = 0
    while head_of(state, levels) != state.end >> (state.bits * (levels + 1)):
        levels += 1
    return range(0 if is_ready(state) else levels)


def is_stale(_state: State, levels: Levels, level: int, block: int) -> bool:
    """Whether a head has to be loaded: a full block never changes."""
    return bool(levels.blocks[loaded(level)] != block)


def beside(bits: int) -> list[int]:
    """The places of the single partials; a header keeps them."""
    return [single(bits, which) for which in (OLDEST, NEWEST, TOTAL, GONE)]


def single_of_tail(_bits: int, _level: int) -> list[int]:
    """Nothing is beside a tail."""
    return []


def check_invariants(
    state: State,
    levels: Levels,
    events: Sequence[Partial],
    load: Callable[[Ring, int], Partial],
    fold: Callable[[Sequence[Partial]], Partial],
    equal: Callable[[Partial, Partial], bool],
) -> None:
    """Assert invariants 1 to 4 for these lifted events, all that ever were; it must be ready."""
    assert is_possible(state), "invariant 1"
    assert state.end == len(events), "invariant 1"
    height = 0
    while state.front + (1 << height) <= state.end:
        level, depth = divmod(height, state.bits)
        block = state.end >> (state.bits * (level + 1)) << (state.bits * (level + 1))
        first = -(-max(state.front, block) >> height)
        for number in range(first, state.end >> height):
            begin = number << height
            stored = load(levels.nodes, node_place(state, begin, level, depth))
            expected = fold(events[begin : begin + (1 << height)])
            assert equal(stored, expected), f"invariant 2 at {begin}, height {height}"
        height += 1
    half = state.end
    if state.top:
        half = (state.end - 1) >> (state.top - 1) << (state.top - 1)
        newest = load(levels.nodes, single(state.bits, NEWEST))
        assert equal(newest, fold(events[half:])), "invariant 4"
    oldest = load(levels.nodes, single(state.bits, OLDEST))
    assert equal(oldest, fold(events[state.front : half])), "invariant 3"
