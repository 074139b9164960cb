"""The nodes of a finger tree: a B-tree whose nodes lie in arrays, and what its two ends know.

A node has a number and room for `WIDTH` entries; in use are `LEAST` to `MOST`, and one more for a
moment before it is split. An entry of a leaf is an event: its time and its partial. An entry of an
inner node is a child: a time that parts it from the entries before it, and the partial of its
events. So moving, splitting and joining entries is the same at every level. Leaves have level 0.

The first nodes of all levels are the left spine, the last ones the right spine; the root is on
both. Those change all the time, so no entry above them keeps their partial or their size. What
their other entries come to is kept by level, from the root to the fingers, which are the leaves at
the two ends:

      root               [ left spine |   middle   | right spine ]
      level l            [ first | ..rest.. ]  ...  [ ..rest.. | last ]

      left partial of level l  = rest of level l ; left partial of level l + 1
      right partial of level l = right partial of level l + 1 ; rest of level l

In a leaf, the rest is all of it. The root belongs to neither: its middle is kept apart.

A change marks how many levels of a spine are stale, and `repair` writes them anew, from the top.
"""

from typing import NamedTuple

from windrow.algorithms.plain_memory import Memory
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

WIDTH, MOST, LEAST = 8, 7, 3

#: what is known of a node, in `nodes`; the size is the number of events, if it is on no spine
COUNT, LEVEL, SIZE, NEXT, KNOWN = 0, 1, 2, 3, 4
#: by level, in `places`: the nodes of both spines; the nodes of the path, and the entry in each
LEFT, RIGHT, PATH, SLOT = 0, 32, 64, 96
#: also in `places`: the level of the root; the first free node, plus 1; the first never used
HEIGHT, FREE, FRESH = 128, 129, 130
#: how many levels of a spine are stale, from the leaf up; whether the middle is
STALE_LEFT, STALE_RIGHT, STALE_MIDDLE = 131, 132, 133
#: in `spines`, where the other partials are by level, from LEFT and RIGHT on
MIDDLE = 63


class Nodes(NamedTuple):
    """Entries in three arrays, what is known of each node, and the ends of the tree."""

    partials: Ring
    times: Ring
    children: Ring
    nodes: Ring
    spines: Ring
    places: Ring


def nodes_for(memory: Memory, capacity: int) -> Nodes:
    """Enough nodes for so many events: with three entries and more in each, half as many will do.

    A tree of height h > 0 has at least 2 * 3^h events, n say; at most n/3 leaves, n/9 nodes above
    them and so on, and a root: at most n/2 nodes.
    """
    nodes = max(1, capacity // 2)
    return Nodes(
        memory.array(WIDTH * nodes),
        memory.counters(WIDTH * nodes),
        memory.counters(WIDTH * nodes),
        memory.counters(KNOWN * nodes),
        memory.array(64),
        memory.counters(256),
    )


# Places and entries -------------------------------------------------------------------------------


def at_place(ring: Nodes, place: int) -> int:
    """An integer that is kept beside the nodes."""
    return load_integer(ring.places, place)


def set_place(ring: Nodes, place: int, integer: int) -> None:
    """Keep an integer beside the nodes."""
    store_integer(ring.places, place, integer)


def known_of(ring: Nodes, node: int, what: int) -> int:
    """The count, level or size of a node, or the next free one."""
    return load_integer(ring.nodes, KNOWN * node + what)


def set_known(ring: Nodes, node: int, what: int, integer: int) -> None:
    """Keep the count, level or size of a node, or the next free one."""
    store_integer(ring.nodes, KNOWN * node + what, integer)


def time_of(ring: Nodes, node: int, slot: int) -> int:
    """The time of an entry; in plain Python, anything that has an order."""
    return load_integer(ring.times, WIDTH * node + slot)


def set_time(ring: Nodes, node: int, slot: int, time: int) -> None:
    """Keep the time of an entry."""
    store_integer(ring.times, WIDTH * node + slot, time)


def child_of(ring: Nodes, node: int, slot: int) -> int:
    """The child that an entry of an inner node is."""
    return load_integer(ring.children, WIDTH * node + slot)


def move_entries(ring: Nodes, source: int, target: int, count: int) -> None:
    """Copy entries to other places, in the order that overwrites none before it is copied."""
    for step in range(count):
        offset = step if target < source else count - 1 - step
        store(ring.partials, target + offset, load(ring.partials, source + offset))
        store_integer(ring.times, target + offset, load_integer(ring.times, source + offset))
        child = load_integer(ring.children, source + offset)
        store_integer(ring.children, target + offset, child)


def open_slot(ring: Nodes, node: int, slot: int) -> None:
    """Make room for an entry."""
    count = known_of(ring, node, COUNT)
    place = WIDTH * node + slot
    move_entries(ring, place, place + 1, count - slot)
    set_known(ring, node, COUNT, count + 1)


def close_slots(ring: Nodes, node: int, slot: int, closed: int) -> None:
    """Give up entries, and close the gap."""
    count = known_of(ring, node, COUNT)
    place = WIDTH * node + slot
    move_entries(ring, place + closed, place, count - slot - closed)
    set_known(ring, node, COUNT, count - closed)


def fold_entries(ring: Nodes, node: int, first: int, stop: int) -> Partial:
    """The partial of some entries of a node, at least one."""
    partial = load(ring.partials, WIDTH * node + first)
    for slot in range(first + 1, stop):
        partial = combine(partial, load(ring.partials, WIDTH * node + slot))
    return partial


def sum_sizes(ring: Nodes, node: int, first: int, stop: int) -> int:
    """How many events some entries of an inner node have; none of them is on a spine."""
    events = 0
    for slot in range(first, stop):
        events += known_of(ring, child_of(ring, node, slot), SIZE)
    return events


# Nodes come and go --------------------------------------------------------------------------------


def free_node(ring: Nodes, node: int) -> None:
    """Let go of a node and of all below it, which stay as they are until the node is needed."""
    set_known(ring, node, NEXT, at_place(ring, FREE))
    set_place(ring, FREE, node + 1)


def new_node(ring: Nodes, level: int) -> int:
    """A node without entries: a free one, whose children are then free as well, or the next."""
    node = at_place(ring, FREE) - 1
    if node < 0:
        node = at_place(ring, FRESH)
        set_place(ring, FRESH, node + 1)
    else:
        set_place(ring, FREE, known_of(ring, node, NEXT))
        if known_of(ring, node, LEVEL) > 0:
            for slot in range(known_of(ring, node, COUNT)):
                free_node(ring, child_of(ring, node, slot))
    set_known(ring, node, LEVEL, level)
    set_known(ring, node, COUNT, 0)
    return node


def plant(ring: Nodes) -> None:
    """A tree that is one leaf without entries; all other nodes are free."""
    for place in range(HEIGHT, STALE_MIDDLE + 1):
        set_place(ring, place, 0)
    leaf = new_node(ring, 0)
    set_place(ring, LEFT, leaf)
    set_place(ring, RIGHT, leaf)


# What spines and entries know ---------------------------------------------------------------------


def mark(ring: Nodes, level: int, node: int) -> bool:
    """If a node is on a spine, mark what it makes stale; returns whether it is."""
    if level == at_place(ring, HEIGHT):
        set_place(ring, STALE_MIDDLE, 1)
        return True
    on_left, on_right = node == at_place(ring, LEFT + level), node == at_place(ring, RIGHT + level)
    if on_left:
        set_place(ring, STALE_LEFT, max(at_place(ring, STALE_LEFT), level + 1))
    if on_right:
        set_place(ring, STALE_RIGHT, max(at_place(ring, STALE_RIGHT), level + 1))
    return on_left | on_right


def mark_all(ring: Nodes) -> None:
    """Mark both spines, and the middle: another node is the root."""
    set_place(ring, STALE_LEFT, at_place(ring, HEIGHT))
    set_place(ring, STALE_RIGHT, at_place(ring, HEIGHT))
    set_place(ring, STALE_MIDDLE, 1)


def summarize(ring: Nodes, level: int, parent: int, slot: int) -> None:
    """Write the partial and the size of a child at a level anew, unless it is on a spine."""
    node = child_of(ring, parent, slot)
    if node == at_place(ring, LEFT + level) or node == at_place(ring, RIGHT + level):
        return
    count = known_of(ring, node, COUNT)
    set_known(ring, node, SIZE, count if level == 0 else sum_sizes(ring, node, 0, count))
    store(ring.partials, WIDTH * parent + slot, fold_entries(ring, node, 0, count))


def repair_left(ring: Nodes, height: int) -> None:
    """Write the stale partials of the left spine anew."""
    for level in range(min(at_place(ring, STALE_LEFT), height) - 1, -1, -1):
        node = at_place(ring, LEFT + level)
        partial = fold_entries(ring, node, 0 if level == 0 else 1, known_of(ring, node, COUNT))
        if level + 1 < height:
            partial = combine(partial, load(ring.spines, LEFT + level + 1))
        store(ring.spines, LEFT + level, partial)
    set_place(ring, STALE_LEFT, 0)


def repair_right(ring: Nodes, height: int) -> None:
    """Write the stale partials of the right spine anew."""
    for level in range(min(at_place(ring, STALE_RIGHT), height) - 1, -1, -1):
        node = at_place(ring, RIGHT + level)
        count = known_of(ring, node, COUNT)
        partial = fold_entries(ring, node, 0, count if level == 0 else count - 1)
        if level + 1 < height:
            partial = combine(load(ring.spines, RIGHT + level + 1), partial)
        store(ring.spines, RIGHT + level, partial)
    set_place(ring, STALE_RIGHT, 0)


def repair(ring: Nodes) -> None:
    """Write what is stale anew."""
    height = at_place(ring, HEIGHT)
    if at_place(ring, STALE_MIDDLE) > 0:
        root = at_place(ring, RIGHT + height)
        count = known_of(ring, root, COUNT)
        if height == 0:
            store(ring.spines, MIDDLE, fold_entries(ring, root, 0, count))
        elif count > 2:
            store(ring.spines, MIDDLE, fold_entries(ring, root, 1, count - 1))
        else:
            store(ring.spines, MIDDLE, identity())
        set_place(ring, STALE_MIDDLE, 0)
    repair_left(ring, height)
    repair_right(ring, height)


# Other nodes --------------------------------------------------------------------------------------


def copy_node(ring: Nodes, node: int, other: Nodes, copy: int) -> None:
    """Copy the entries of a node and what is known of it; its children keep their numbers."""
    count = known_of(ring, node, COUNT)
    set_known(other, copy, COUNT, count)
    set_known(other, copy, LEVEL, known_of(ring, node, LEVEL))
    set_known(other, copy, SIZE, known_of(ring, node, SIZE))
    for slot in range(count):
        store(other.partials, WIDTH * copy + slot, load(ring.partials, WIDTH * node + slot))
        set_time(other, copy, slot, time_of(ring, node, slot))
        store_integer(other.children, WIDTH * copy + slot, child_of(ring, node, slot))


def copy_tree(ring: Nodes, other: Nodes) -> None:
    """Copy a tree to other nodes, which are numbered from the root down, level by level."""
    plant(other)
    height = at_place(ring, HEIGHT)
    set_place(other, HEIGHT, height)
    copy_node(ring, at_place(ring, RIGHT + height), other, 0)
    node, copied = 0, 1
    while node < copied:
        level = known_of(other, node, LEVEL)
        for slot in range(known_of(other, node, COUNT) if level > 0 else 0):
            child = new_node(other, level - 1)
            copy_node(ring, child_of(other, node, slot), other, child)
            store_integer(other.children, WIDTH * node + slot, child)
            copied += 1
        node += 1
    first = last = 0
    for level in range(height, -1, -1):
        set_place(other, LEFT + level, first)
        set_place(other, RIGHT + level, last)
        if level > 0:
            first = child_of(other, first, 0)
            last = child_of(other, last, known_of(other, last, COUNT) - 1)
        if level < height:
            store(other.spines, LEFT + level, load(ring.spines, LEFT + level))
            store(other.spines, RIGHT + level, load(ring.spines, RIGHT + level))
    store(other.spines, MIDDLE, load(ring.spines, MIDDLE))


#: Functions that LLVM need not copy to where they are called, and that numba compiles once. They
#: are long, called from several places, and call each other. Copied everywhere, the kernel of
#: `test_kernels_take_events_in_any_order` took 11 s to compile instead of 7.
APART = frozenset({
    "move_entries", "fold_entries", "open_slot", "close_slots", "new_node", "mark", "summarize",
    "repair_left", "repair_right", "repair", "copy_node", "copy_tree",
    "descend", "seek", "seek_on", "leave_path", "count_older", "find_index", "sum_sizes",
    "spine_size", "raise_root", "split", "put", "join", "lower_root", "thicken", "cut",
    "extend", "plant", "free_node",
})  # fmt: skip

#: what a module lists before its own functions, callees first
NODE_FUNCTIONS = (
    at_place, set_place, known_of, set_known, time_of, set_time, child_of,
    move_entries, open_slot, close_slots, fold_entries, sum_sizes,
    free_node, new_node, plant,
    mark, mark_all, summarize, repair_left, repair_right, repair,
    copy_node, copy_tree,
)  # fmt: skip
