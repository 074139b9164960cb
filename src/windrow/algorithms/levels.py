"""Levels of a tree in one queue: the layout that both monoid trees share.

A node of width w, a power of two, stands for the events at w positions that begin at a multiple of
w. Level k holds the nodes of width 2^k: node i begins at position i 2^k. The leaves are level 0.
Nodes 2i and 2i + 1 of a level are a pair; their parent is node i of the level above. So a node's
place follows from positions alone and never changes:

      level 2   [         0         ]         |          1 ...
      level 1   [    0    |    1    ]    [    2    |    3 ...
      level 0   [  0 |  1 ]  [ 2 | 3 ]   [  4 |  5 ]  [ 6 | 7 ...
      position     0    1      2   3        4    5      6   7

In the queue, the node of width w that begins at position b stands at 2b + w. So the whole nodes of
a window lie in order between twice its front and twice its end. An eviction releases all slots
before. A ring of 2n slots holds all whole nodes of n events, and no node ever moves.
"""

from windrow.compiler.slots import Partial, Ring, combine, load, store, verdict


def node_at(begin: int, width: int) -> int:
    """Where a node stands in the queue; `begin` is a multiple of `width`."""
    return 2 * begin + width


def lowest_bit(position: int) -> int:
    """The width of the widest node that begins at a position other than 0."""
    return position & -position


def copy_nodes(nodes: Ring, others: Ring, front: int, end: int) -> None:
    """Copy the whole nodes of a window, and what stands between them, into another queue."""
    for place in range(node_at(front, 1), node_at(end, 0)):
        store(others, place, load(nodes, place))


def widest_node(begin: int, stop: int, end: int, late: int) -> int:
    """How wide a node can be that begins at a position, ends by `stop`, and has been written.

    In a window that ends at `end`, a node of width w is written when its last event comes if `late`
    is 0, and w - 1 events later if it is 1.
    """
    width = lowest_bit(begin)
    while begin + width > stop or begin + width + late * (width - 1) > end:
        width >>= 1
    return width


def between(nodes: Ring, begin: int, stop: int, end: int, late: int) -> Partial:
    """The partial of all from `begin` to before `stop`; `begin` is before `stop`."""
    partial = load(nodes, node_at(begin, 1))
    begin += 1
    while begin != stop:
        width = widest_node(begin, stop, end, late)
        partial = combine(partial, load(nodes, node_at(begin, width)))
        begin += width
    return partial


def count_leaving(nodes: Ring, front: int, end: int, late: int, total: Partial) -> int:
    """How many of the oldest events leave by the policy: the longest run that it lets leave.

    A policy that lets a run leave lets every shorter one leave, so this is a search. Mostly one
    event leaves, or none: so first the oldest is asked about, and the oldest two. Then the search
    goes up, from the oldest event over ever wider nodes, until the run so far stays, and then down
    in the last of those nodes. Finding out that k events leave takes 2 log2(k) verdicts, about. A
    run of events without values says nothing, and stays until a longer one leaves.
    """
    if front == end:
        return 0
    oldest = load(nodes, node_at(front, 1))
    said = verdict(total, oldest)
    if said == 0:
        return 0
    found, stop, width = 1 if said > 0 else 0, front + 1, 1
    if stop != end:
        longer = combine(oldest, load(nodes, node_at(stop, 1)))
        if verdict(total, longer) == 0:
            return found
    while stop != end:
        width = widest_node(stop, end, end, late)
        longer = combine(oldest, load(nodes, node_at(stop, width)))
        said = verdict(total, longer)
        if said == 0:
            break
        oldest, stop, width = longer, stop + width, 1
        if said > 0:
            found = stop - front
    while width > 1:
        width >>= 1
        longer = combine(oldest, load(nodes, node_at(stop, width)))
        said = verdict(total, longer)
        if said != 0:
            oldest, stop = longer, stop + width
            if said > 0:
                found = stop - front
    return found


def half_of(nodes: Ring, front: int, end: int, late: int, total: Partial) -> int:
    """As many events as the older half has, if the policy lets it leave, or 0."""
    half = (end - front) // 2
    if half > 0 and verdict(total, between(nodes, front, front + half, end, late)) > 0:
        return half
    return 0


#: what a module lists before its own functions, callees first
LEVEL_FUNCTIONS = (node_at, lowest_bit, copy_nodes, widest_node, between, count_leaving, half_of)
