"""Block tree: the amortized monoid tree with blocks in place of pairs, for windows in a store.

paper      Villalba et al. 2019, §4.2, with nodes of F children in place of two
order      first in, first out
requires   an associative combine, nothing else
insert     2 combines, and 1 more for each F events
evict      1 combine on average; any number at once: at most F for each level
query      1 combine
space      n + n/F + n/F^2 + ... partials, of which 4F for each level are in memory

Events lie in blocks of F. The partial of a full block is a node of the level above, whose nodes lie
in blocks again. A full block never changes, so it goes to a store in one piece. Three blocks of
each level stay in memory: the tail, which is being filled; the head, which holds the oldest event;
and the head's suffixes.

      level 1              [ 0..3  |  4..7  |  8..11 |        ]   tail
      level 0   [ 0 | 1 | 2 | 3 ]  [ 4..7 ]  [ 8..11 ]  [ 12 | 13 |    |    ]
                          ^  head           in the store          tail     ^
                        front                                             end

      top = 1    boundary = 12    suffixes at level 1: 4..11, 8..11; at level 0: 2..11, 3..11
      back = 12..13

One block, the top, holds both the oldest event and the end. It is the root of the leftmost tree,
which ends at the last full node of that block: the boundary. A suffix reaches from its node to the
boundary, so the suffix at the oldest event is the partial of the whole tree. An eviction drops it.
When a level's head is used up, the tree takes the next block and scans its suffixes from right to
left, beginning with the suffix that the level above has behind it. This is a flip of Two-Stacks, of
one block. Events from the boundary on are combined as they come. When the tree is used up, the next
tree is as large as possible, and the tails of the levels below its top are left over.

Blocks come from a store, so the loops here never load one. They return; the caller brings the block
and calls again.

A policy is asked from node to node, the widest first (see `block_policies`).

Invariants, for levels k from 0, whose nodes hold F^k events each, all counted from the first event
that ever was:

1. front <= reach <= boundary <= end, and front and boundary - 1 lie within one node of level
   top + 1.
2. The tail of level k holds the nodes of the block that is being filled, and beside it is their
   partial.
3. The suffix of level 0 at each event from front to before reach is the partial from that event to
   before boundary.
4. back is the partial from boundary to before end.
"""

from collections.abc import Callable, Sequence

from windrow.algorithms.block_levels import (
    BACK,
    GONE,
    HEAD,
    SINGLE,
    SUFFIXES,
    TAIL,
    TAIL_PARTIAL,
    TOTAL,
    Levels,
    State,
    allocate,
    empty,
    is_asking_possible,
    levels_for,
    loaded,
    place,
    scanned,
    single,
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


def insert(state: State, levels: Levels, partial: Partial) -> State:
    """Add an event to its tail; a tail that is full becomes a node of the level above."""
    bits, mask = state.bits, (1 << state.bits) - 1
    level, position, node = 0, state.end, partial
    while True:
        store(levels.nodes, place(bits, level, TAIL, position), node)
        whole = place(bits, level, SINGLE, TAIL_PARTIAL)
        total = node if position & mask == 0 else combine(load(levels.nodes, whole), node)
        store(levels.nodes, whole, total)
        if position & mask != mask:
            break
        level, position, node = level + 1, position >> bits, total
    back = single(bits, BACK)
    store(levels.nodes, back, combine(load(levels.nodes, back), partial))
    return state._replace(end=state.end + 1)


def query(state: State, levels: Levels) -> Partial:
    """Combine the leftmost tree with the back; the window must be ready."""
    front = identity()
    if state.front != state.boundary:
        front = load(levels.nodes, place(state.bits, 0, SUFFIXES, state.front))
    return combine(front, load(levels.nodes, single(state.bits, BACK)))


def evict_many(state: State, count: int) -> State:
    """Drop the oldest events; the window may not be ready then."""
    front = state.front + count
    if state.planted or front > state.boundary:
        return plant(state, front)
    return state._replace(front=front, reach=max(front, state.reach))


def plant(state: State, front: int) -> State:
    """Take the largest tree that begins at an event for the leftmost."""
    top = 0
    while front >> (state.bits * (top + 1)) != state.end >> (state.bits * (top + 1)):
        top += 1
    boundary = state.end >> (state.bits * top) << (state.bits * top)
    return state._replace(front=front, reach=front, boundary=boundary, top=top, planted=1)


def is_ready(state: State) -> bool:
    """Whether the window can be queried, and filled, as it is."""
    return not state.planted and (state.front < state.reach or state.front == state.boundary)


def is_possible(state: State) -> bool:
    """Whether a window can have come to such a state: what is read from a store is not trusted."""
    front, reach, boundary, end, top, planted, bits, _policy, _asked, _found = state
    if not (0 <= front <= reach <= boundary <= end < 2**63 and 0 <= top < levels_for(bits)):
        return False
    if not is_asking_possible(state):
        return False
    aligned = boundary >> (bits * top) << (bits * top) == boundary
    block = bits * (top + 1)
    in_one_block = front == boundary or front >> block == (boundary - 1) >> block
    return aligned and in_one_block and planted in (0, 1)


def refill(state: State, levels: Levels) -> State:
    """Make the window ready; the heads of all levels up to the top must have been loaded."""
    if is_ready(state):
        return state
    if state.planted:
        sum_up_back(state, levels)
    return scan(state, levels)


def sum_up_back(state: State, levels: Levels) -> None:
    """Compute the back from the tails of the levels below the top."""
    back = identity()
    level = state.top - 1
    while level >= 0:
        if (state.end >> (state.bits * level)) & ((1 << state.bits) - 1):
            tail = place(state.bits, level, SINGLE, TAIL_PARTIAL)
            back = combine(back, load(levels.nodes, tail))
        level -= 1
    store(levels.nodes, single(state.bits, BACK), back)


def scan(state: State, levels: Levels) -> State:
    """Compute the suffixes of the levels whose heads are other blocks now."""
    bits, mask = state.bits, (1 << state.bits) - 1
    behind, reach = identity(), state.front
    level = state.top
    while level >= 0:
        node = state.front >> (bits * level)
        begin = node if level == 0 else node + 1
        stop = (node | mask) + 1
        if level == state.top:
            stop = state.boundary >> (bits * level)
        if state.planted or load_integer(levels.blocks, scanned(level)) != node >> bits:
            store_integer(levels.blocks, scanned(level), node >> bits)
            position, suffix = stop, behind
            while position != begin:
                position -= 1
                suffix = combine(load(levels.nodes, place(bits, level, HEAD, position)), suffix)
                store(levels.nodes, place(bits, level, SUFFIXES, position), suffix)
        if level == 0:
            reach = stop
        elif begin != stop:
            behind = load(levels.nodes, place(bits, level, SUFFIXES, begin))
        level -= 1
    return state._replace(reach=reach, planted=0)


def let_leave(state: State, levels: Levels) -> State:
    """Evict what was found to leave; the window may not be ready then."""
    front = state.front
    if state.found != front:
        state = evict_many(state, state.found - front)
    if state.planted and state.top == 0:
        # All that the new tree takes is in the block that is being filled.
        for position in range(state.front, state.end):
            node = load(levels.nodes, place(state.bits, 0, TAIL, position))
            store(levels.nodes, place(state.bits, 0, HEAD, position), node)
        store_integer(levels.blocks, loaded(0), -1)
    return state


FUNCTIONS = (
    place, single, loaded, scanned, insert, query, plant, is_ready, sum_up_back, scan, refill,
)  # fmt: skip
#: what a policy needs beside them
POLICY_FUNCTIONS = (evict_many, *SEARCH_FUNCTIONS, let_leave)


# What is kept outside of memory -------------------------------------------------------------------


def restored(state: State) -> State:
    """The state once a header was read, or memory was taken back: no head is in memory.

    Suffixes are not stored: they are computed again, from the same nodes in the same order.
    """
    return state._replace(reach=state.front)


def heads_needed(state: State) -> range:
    """The levels whose heads have to be in memory for the window to become ready."""
    return range(0) if is_ready(state) else range(state.top + 1)


def is_stale(state: State, levels: Levels, level: int, block: int) -> bool:
    """Whether a head has to be loaded, though it may be there already."""
    return bool(state.planted or levels.blocks[scanned(level)] != block)


def beside(bits: int) -> list[int]:
    """The places of the single partials that do not belong to a level; a header keeps them."""
    return [single(bits, which) for which in (BACK, TOTAL, GONE)]


def single_of_tail(bits: int, level: int) -> list[int]:
    """The place of the single partial beside a tail; a header keeps it with the tail."""
    return [place(bits, level, SINGLE, TAIL_PARTIAL)]


def check_invariants(
    state: State,
    levels: Levels,
    events: Sequence[Partial],
    load: Callable[[Ring, int], Partial],
    fold: Callable[[Sequence[Partial]], Partial],
    equal: Callable[[Partial, Partial], bool],
) -> None:
    """Assert invariants 1 to 4 for these lifted events, all that ever were; it must be ready."""
    bits, mask = state.bits, (1 << state.bits) - 1
    assert is_possible(state), "invariant 1"
    assert state.end == len(events), "invariant 1"
    for level in range(state.top + 2):
        width, nodes = 1 << bits * level, state.end >> bits * level
        begin = nodes & ~mask
        for node in range(begin, nodes):
            stored = load(levels.nodes, place(bits, level, TAIL, node))
            expected = fold(events[node * width : (node + 1) * width])
            assert equal(stored, expected), f"invariant 2 at level {level}, node {node}"
        if begin != nodes:
            expected = fold(events[begin * width : nodes * width])
            stored = load(levels.nodes, place(bits, level, SINGLE, TAIL_PARTIAL))
            assert equal(stored, expected), f"invariant 2 at level {level}"
    for position in range(state.front, state.reach):
        expected = fold(events[position : state.boundary])
        stored = load(levels.nodes, place(bits, 0, SUFFIXES, position))
        assert equal(stored, expected), f"invariant 3 at {position}"
    back = load(levels.nodes, place(bits, 0, SINGLE, BACK))
    assert equal(back, fold(events[state.boundary :])), "invariant 4"
