"""Holes: positions of a ring whose events left from the middle of the window.

A tree over the ring (see `flat_tree`) counts the holes among the leaves of each node. With it you
find the i-th event without going through all events before it. A ring without holes does not need
the tree: there the i-th event is i positions behind the first.
"""

from windrow.algorithms.flat_tree import node_of
from windrow.compiler.slots import Ring, load_integer, store_integer


def is_hole(holes: Ring, leaves: int, position: int) -> bool:
    """Whether there is a hole at a position."""
    return load_integer(holes, node_of(leaves, position, 1)) == 1


def count_hole(holes: Ring, leaves: int, position: int, change: int) -> None:
    """One hole more, or one less, at a position."""
    width = 1
    while width <= leaves:
        node = node_of(leaves, position & -width, width)
        store_integer(holes, node, load_integer(holes, node) + change)
        width *= 2


def position_behind(holes: Ring, leaves: int, front: int, count: int) -> int:
    """The position of the event that has so many other events between it and the front.

    Nodes are passed over whose events all come before it, ever wider ones, then ever narrower ones.
    One that reaches beyond the newest event never looks as if it were such a node: unused leaves
    have no holes, so they count as events.
    """
    position, width = front, 1
    while True:
        events = width - load_integer(holes, node_of(leaves, position, width))
        if events <= count:
            count -= events
            position += width
            if position & width == 0:
                width *= 2
        elif width > 1:
            width >>= 1
        else:
            return position


#: what a module lists before its own functions, callees first
HOLE_FUNCTIONS = (is_hole, count_hole, position_behind)
