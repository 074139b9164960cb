"""How a slide policy is asked about a window in blocks, by both trees of stored windows.

A policy judges the oldest events up to the end of one node after the other, each the widest that
begins there. If they leave, or the policy cannot tell, all events of the node leave unread. If they
stay, the policy judges the node's first child. Only the way down needs blocks. If one is not at
hand, the search stops there, and goes on when it has been loaded.
"""

from windrow.algorithms.block_levels import (
    ASKING,
    GONE,
    HEAD,
    LEAVING,
    SETTLED,
    TAIL,
    TOTAL,
    Levels,
    State,
    loaded,
    place,
    single,
)
from windrow.compiler.slots import combine, identity, load, load_integer, query, store, verdict


def widest_level(state: State, begin: int) -> int:
    """The highest level that has a node which begins at an event."""
    level, mask = 0, (1 << state.bits) - 1
    while (begin >> (state.bits * level)) & mask == 0:
        width = 1 << (state.bits * (level + 1))
        if begin + width > state.end:
            break
        level += 1
    return level


def ask(state: State, levels: Levels) -> State:
    """Begin to ask the policy what leaves; the window must be ready."""
    store(levels.nodes, single(state.bits, TOTAL), query(state, levels))
    store(levels.nodes, single(state.bits, GONE), identity())
    return state._replace(policy=ASKING, asked=state.front, found=state.front)


def search(state: State, levels: Levels) -> State:
    """Find how many leave: the longest run of the oldest events that the policy lets leave.

    It is still asking if that takes a block that is not at hand. A run without values says nothing
    and leaves with the next event that has one (see `levels.count_leaving`).
    """
    bits, asked, found = state.bits, state.asked, state.found
    total, gone = single(bits, TOTAL), single(bits, GONE)
    level = widest_level(state, asked)
    while level >= 0 and asked != state.end:
        node = asked >> (bits * level)
        part = TAIL if node >> bits == state.end >> (bits * (level + 1)) else HEAD
        if part == HEAD and load_integer(levels.blocks, loaded(level)) != node >> bits:
            break
        partial = load(levels.nodes, place(bits, level, part, node))
        longer = combine(load(levels.nodes, gone), partial)
        said = verdict(load(levels.nodes, total), longer)
        if said == 0:
            level -= 1
        else:
            store(levels.nodes, gone, longer)
            asked += 1 << (bits * level)
            if said > 0:
                found = asked
            level = widest_level(state, asked)
    known = level < 0 or asked == state.end
    return state._replace(policy=LEAVING if known else ASKING, asked=asked, found=found)


def settled(state: State) -> State:
    """The window once its policy has let leave what leaves."""
    return state._replace(policy=SETTLED)


def needs_no_block(state: State) -> bool:
    """Whether all events are in the block that is being filled."""
    return state.front >> state.bits == state.end >> state.bits


#: what both trees list before their own `let_leave`
SEARCH_FUNCTIONS = (widest_level, ask, search, settled, needs_no_block)
