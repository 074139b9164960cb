"""What the two trees of stored windows share: the blocks of each level, and the state.

Events lie in blocks of F. The partial of a full block is a node of the level above, whose nodes lie
in blocks again (see `block_tree`). Of each level, parts of F nodes are in memory:

      tail       the block that is being filled
      head       the block that the oldest event is in
      two more   what a tree computes of these; places that it does not use hold single partials

All parts lie in one ring, level by level. Blocks come from a store, so the functions of a tree
never load one: they say which they need.
"""

from typing import NamedTuple

from windrow.algorithms.plain_memory import Memory
from windrow.compiler.slots import Ring

#: what a policy is at, between two events: nothing, asking what leaves, letting it leave
SETTLED, ASKING, LEAVING = 0, 1, 2


class Levels(NamedTuple):
    """What of all levels is in memory: partials, and the numbers of the blocks that they are of.

    In one ring, because a kernel that passes many is slow to compile. `place` tells where what is:
    of each level the tail, the head and the head's suffixes, and single partials behind them.
    """

    nodes: Ring
    #: of each level, the number of the block whose nodes it has, if full, and of whose suffixes
    blocks: Ring


TAIL, HEAD, SUFFIXES, SINGLE = 0, 1, 2, 3
#: single partials: of each level that of its tail; of the lowest also that of the back, and what a
#: policy is asked about, the partial of all events and that of the oldest so far
TAIL_PARTIAL, BACK, TOTAL, GONE = 0, 1, 2, 3
#: the fewest partials of a block, for these to fit
SMALLEST_BITS = 2


def place(bits: int, level: int, part: int, node: int) -> int:
    """Where a part of a level keeps a node."""
    return ((4 * level + part) << bits) + (node & ((1 << bits) - 1))


def single(bits: int, which: int) -> int:
    """Where a single partial is that does not belong to a level."""
    return place(bits, 0, SINGLE, which)


class State(NamedTuple):
    """Where the window and the leftmost tree are, and what is still to be done.

    Attributes:
        front, end: the positions of the oldest event and behind the newest.
        reach, boundary: up to where the suffixes of level 0, and the leftmost tree, reach.
        top: the level of the tree's root block.
        planted: 1 if the tree is new, and neither its suffixes nor the back are computed.
        bits: F is two to the power of `bits`.
        policy: what the policy, if there is one, is at: `SETTLED`, `ASKING` or `LEAVING`.
        asked, found: up to where it has been asked, and up to where the events are to leave.
    """

    front: int
    reach: int
    boundary: int
    end: int
    top: int
    planted: int
    bits: int
    policy: int
    asked: int
    found: int


def levels_for(bits: int) -> int:
    """How many levels there are for 2^63 events, rounded up to a power of two."""
    return 1 << (-(-63 // bits) - 1).bit_length()


def allocate(memory: Memory, bits: int) -> Levels:
    """Room for the tails and heads of all levels."""
    levels = levels_for(bits)
    return Levels(memory.array(4 * levels << bits), memory.counters(2 * levels))


def empty(bits: int) -> State:
    """A window that never had an event."""
    return State(0, 0, 0, 0, 0, 0, bits, SETTLED, 0, 0)


def loaded(level: int) -> int:
    """Where the number of the block is whose nodes are the head of a level."""
    return 2 * level


def scanned(level: int) -> int:
    """Where the number of the block is whose suffixes a level has."""
    return 2 * level + 1


def head_of(state: State, level: int) -> int:
    """The block of a level in which the oldest event is."""
    return state.front >> (state.bits * (level + 1))


def is_asking_possible(state: State) -> bool:
    """Whether a policy can be where a state says: what is read from a store is not trusted."""
    if state.policy == SETTLED:
        return True
    at_work = state.policy in (ASKING, LEAVING)
    return at_work and state.front <= state.found <= state.asked <= state.end
