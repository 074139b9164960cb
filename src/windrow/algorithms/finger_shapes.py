"""How a finger tree keeps its shape: nodes that are too full are split, thin ones are joined.

Every node but the root has `LEAST` to `MOST` entries. A split leaves both halves, and a join leaves
the whole, at least one step away from the next split or join, so most changes end at the leaf:
amortized, a change splits and joins O(1) nodes. An inner root has at least two entries. If a join
leaves it one, its child becomes the root.

Two neighbours under one parent may be on different spines, if the parent is the root. Joined, the
node is on both: it becomes the root. If entries move between them, both spines change.
"""

from windrow.algorithms.finger_nodes import (
    COUNT,
    HEIGHT,
    LEAST,
    LEFT,
    MOST,
    PATH,
    RIGHT,
    SLOT,
    WIDTH,
    Nodes,
    at_place,
    child_of,
    close_slots,
    free_node,
    known_of,
    mark,
    mark_all,
    move_entries,
    new_node,
    open_slot,
    set_known,
    set_place,
    set_time,
    summarize,
    time_of,
)
from windrow.algorithms.finger_paths import extend, set_path
from windrow.compiler.slots import Partial, store, store_integer


def set_child(ring: Nodes, node: int, slot: int, child: int) -> None:
    """Let an entry be a child, with the time of its first entry; what it holds is written later."""
    store_integer(ring.children, WIDTH * node + slot, child)
    set_time(ring, node, slot, time_of(ring, child, 0))


def raise_root(ring: Nodes) -> None:
    """Put a root above the root, and let the path begin there."""
    level = at_place(ring, HEIGHT) + 1
    root = new_node(ring, level)
    set_known(ring, root, COUNT, 1)
    set_child(ring, root, 0, at_place(ring, RIGHT + level - 1))
    set_place(ring, LEFT + level, root)
    set_place(ring, RIGHT + level, root)
    set_place(ring, HEIGHT, level)
    set_path(ring, level, root, 0)
    mark_all(ring)


def split(ring: Nodes, level: int) -> None:
    """Move the newer entries of the path's node at a level to a new node, and follow the path.

    If the node grew at its newest end, it will not grow again: it keeps more than half.
    """
    node, slot = at_place(ring, PATH + level), at_place(ring, SLOT + level)
    if level == at_place(ring, HEIGHT):
        raise_root(ring)
    else:
        extend(ring, level)
    parent, place = at_place(ring, PATH + level + 1), at_place(ring, SLOT + level + 1)
    count = known_of(ring, node, COUNT)
    kept = count - LEAST if slot == count - 1 else count // 2
    newer = new_node(ring, level)
    move_entries(ring, WIDTH * node + kept, WIDTH * newer, count - kept)
    set_known(ring, node, COUNT, kept)
    set_known(ring, newer, COUNT, count - kept)
    if node == at_place(ring, RIGHT + level):
        set_place(ring, RIGHT + level, newer)
    open_slot(ring, parent, place + 1)
    set_child(ring, parent, place + 1, newer)
    if slot < kept:
        summarize(ring, level, parent, place + 1)
        mark(ring, level, newer)
    else:
        summarize(ring, level, parent, place)
        mark(ring, level, node)
        set_path(ring, level, newer, slot - kept)
        set_place(ring, SLOT + level + 1, place + 1)
    mark(ring, level + 1, parent)


def put(ring: Nodes, time: int, partial: Partial) -> None:
    """Add an event where the path ends."""
    leaf, slot = at_place(ring, PATH), at_place(ring, SLOT)
    open_slot(ring, leaf, slot)
    set_time(ring, leaf, slot, time)
    store(ring.partials, WIDTH * leaf + slot, partial)
    level = 0
    while known_of(ring, at_place(ring, PATH + level), COUNT) > MOST:
        split(ring, level)
        level += 1


def join(ring: Nodes, level: int, parent: int, slot: int) -> None:
    """Make two neighbours at a level one node, or share their entries evenly."""
    older, newer = child_of(ring, parent, slot), child_of(ring, parent, slot + 1)
    count, other = known_of(ring, older, COUNT), known_of(ring, newer, COUNT)
    end, begin = WIDTH * older + count, WIDTH * newer
    if count + other < MOST:
        move_entries(ring, begin, end, other)
        set_known(ring, older, COUNT, count + other)
        set_known(ring, newer, COUNT, 0)
        free_node(ring, newer)
        close_slots(ring, parent, slot + 1, 1)
        if newer == at_place(ring, RIGHT + level):
            set_place(ring, RIGHT + level, older)
    else:
        kept = (count + other) // 2
        if count < kept:
            move_entries(ring, begin, end, kept - count)
            close_slots(ring, newer, 0, kept - count)
        else:
            move_entries(ring, begin, begin + count - kept, other)
            move_entries(ring, WIDTH * older + kept, begin, count - kept)
            set_known(ring, newer, COUNT, other + count - kept)
        set_known(ring, older, COUNT, kept)
        set_time(ring, parent, slot + 1, time_of(ring, newer, 0))
        summarize(ring, level, parent, slot + 1)
        mark(ring, level, newer)
    summarize(ring, level, parent, slot)
    mark(ring, level, older)


def lower_root(ring: Nodes) -> None:
    """Take away the root as long as it has one child and nothing else."""
    height = at_place(ring, HEIGHT)
    root = at_place(ring, RIGHT + height)
    while height > 0 and known_of(ring, root, COUNT) == 1:
        set_known(ring, root, COUNT, 0)
        free_node(ring, root)
        height -= 1
        root = at_place(ring, RIGHT + height)
    if height < at_place(ring, HEIGHT):
        set_place(ring, HEIGHT, height)
        mark_all(ring)


def thicken(ring: Nodes, level: int) -> None:
    """Join what has become thin, from the path's node at a level up, and tell the nodes above."""
    while level < at_place(ring, HEIGHT):
        node = at_place(ring, PATH + level)
        on_spine, thin = mark(ring, level, node), known_of(ring, node, COUNT) < LEAST
        if on_spine and not thin:
            return
        extend(ring, level)
        parent, slot = at_place(ring, PATH + level + 1), at_place(ring, SLOT + level + 1)
        if thin:
            last = known_of(ring, parent, COUNT) - 1
            join(ring, level, parent, slot if slot < last else slot - 1)
        else:
            summarize(ring, level, parent, slot)
        level += 1
    mark(ring, level, at_place(ring, PATH + level))
    lower_root(ring)


def cut(ring: Nodes, begin: int) -> None:
    """Free all nodes before the path, which begins at a level: it becomes the left spine.

    Only the few nodes that have the others below them are freed one by one (see `free_node`).
    """
    height = at_place(ring, HEIGHT)
    if begin < height and at_place(ring, PATH + begin) == at_place(ring, RIGHT + begin):
        above = at_place(ring, RIGHT + begin + 1)
        set_known(ring, above, COUNT, known_of(ring, above, COUNT) - 1)
        free_node(ring, at_place(ring, RIGHT + height))
        set_place(ring, HEIGHT, begin)
        mark_all(ring)
    for level in range(begin, -1, -1):
        node, slot = at_place(ring, PATH + level), at_place(ring, SLOT + level)
        if slot > 0:
            for gone in range(slot if level > 0 else 0):
                free_node(ring, child_of(ring, node, gone))
            close_slots(ring, node, 0, slot)
        set_path(ring, level, node, 0)
        set_place(ring, LEFT + level, node)
        mark(ring, level, node)
    lower_root(ring)
    for level in range(min(begin, at_place(ring, HEIGHT) - 1), -1, -1):
        set_path(ring, level, at_place(ring, LEFT + level), 0)
        thicken(ring, level)


#: what a module lists before its own functions, callees first
SHAPE_FUNCTIONS = (
    set_child, raise_root, split, put, join, lower_root, thicken, cut,
)  # fmt: skip
