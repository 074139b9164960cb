"""Paths through a finger tree: from a node of a spine down to one entry of a leaf.

A search begins at both fingers. It goes up both spines until the subtree there has the place that
is looked for, and then down. The subtree of a spine's node at level l has at least 3^l events, so
a place that is d events from the nearer end is found in O(log d) steps.

A path is kept by level beside the nodes: the node, and the entry that leads on. A node of a path
has no way up but the path. Above the spine, the spine is the way up: `extend` follows it.
"""

from windrow.algorithms.finger_nodes import (
    COUNT,
    HEIGHT,
    LEFT,
    PATH,
    RIGHT,
    SIZE,
    SLOT,
    Nodes,
    at_place,
    child_of,
    known_of,
    mark,
    set_place,
    set_time,
    sum_sizes,
    summarize,
    time_of,
)


def set_path(ring: Nodes, level: int, node: int, slot: int) -> None:
    """Let the path lead through an entry of a node."""
    set_place(ring, PATH + level, node)
    set_place(ring, SLOT + level, slot)


def extend(ring: Nodes, level: int) -> None:
    """Let the path reach the level above, which is not above the root."""
    node = at_place(ring, PATH + level)
    if node == at_place(ring, LEFT + level):
        set_path(ring, level + 1, at_place(ring, LEFT + level + 1), 0)
    elif node == at_place(ring, RIGHT + level):
        parent = at_place(ring, RIGHT + level + 1)
        set_path(ring, level + 1, parent, known_of(ring, parent, COUNT) - 1)


# By time ------------------------------------------------------------------------------------------


def descend(ring: Nodes, level: int, node: int, time: int) -> None:
    """Go down to where an event of this time belongs: behind all that are not later.

    If it is to be the first of a subtree, no time that parts the subtree from others is later.
    """
    while level > 0:
        slot, last = 0, known_of(ring, node, COUNT) - 1
        while slot < last and not time < time_of(ring, node, slot + 1):
            slot += 1
        if slot == 0 and time < time_of(ring, node, 0):
            set_time(ring, node, 0, time)
        set_path(ring, level, node, slot)
        node = child_of(ring, node, slot)
        level -= 1
    slot, count = 0, known_of(ring, node, COUNT)
    while slot < count and not time < time_of(ring, node, slot):
        slot += 1
    set_path(ring, 0, node, slot)


def seek(ring: Nodes, time: int) -> None:
    """Find where an event of this time belongs, from the fingers."""
    level, height = 0, at_place(ring, HEIGHT)
    while level < height:
        if not time < time_of(ring, at_place(ring, RIGHT + level), 0):
            break
        if time < time_of(ring, at_place(ring, LEFT + level + 1), 1):
            descend(ring, level, at_place(ring, LEFT + level), time)
            return
        level += 1
    descend(ring, level, at_place(ring, RIGHT + level), time)


def seek_on(ring: Nodes, time: int) -> None:
    """Find where an event of this time belongs, from the path to one that is not later."""
    level = begin = 0  # where the search ends, and where it goes down another way
    while level < at_place(ring, HEIGHT):
        if at_place(ring, PATH + level) == at_place(ring, RIGHT + level):
            break
        extend(ring, level)
        parent, slot = at_place(ring, PATH + level + 1), at_place(ring, SLOT + level + 1) + 1
        level += 1
        if slot < known_of(ring, parent, COUNT):
            if time < time_of(ring, parent, slot):
                break
            begin = level
    if begin > 0:
        leave_path(ring, begin)
    descend(ring, begin, at_place(ring, PATH + begin), time)


def leave_path(ring: Nodes, top: int) -> None:
    """Write anew what the nodes above a changed leaf know of it, up to a level or the spine."""
    level = 0
    while not mark(ring, level, at_place(ring, PATH + level)) and level < top:
        parent, slot = at_place(ring, PATH + level + 1), at_place(ring, SLOT + level + 1)
        summarize(ring, level, parent, slot)
        level += 1


def count_older(ring: Nodes, time: int) -> int:
    """How many events have an earlier time."""
    level, height, older, below = 0, at_place(ring, HEIGHT), 0, 0
    while level < height and time_of(ring, at_place(ring, LEFT + level + 1), 1) < time:
        older = below = below + spine_size(ring, LEFT, level)
        level += 1
    node, slot = at_place(ring, LEFT + level), 0 if level == 0 else 1
    while level > 0:
        last = known_of(ring, node, COUNT) - 1
        while slot < last and time_of(ring, node, slot + 1) < time:
            older += known_of(ring, child_of(ring, node, slot), SIZE)
            slot += 1
        node, level, slot = child_of(ring, node, slot), level - 1, 0
    count = known_of(ring, node, COUNT)
    while slot < count and time_of(ring, node, slot) < time:
        slot += 1
    return older + slot


# By index -----------------------------------------------------------------------------------------


def spine_size(ring: Nodes, spine: int, level: int) -> int:
    """How many events a spine's node below the root has, without those of the spine below it."""
    node = at_place(ring, spine + level)
    count = known_of(ring, node, COUNT)
    if level == 0:
        return count
    first = 1 if spine == LEFT else 0
    return sum_sizes(ring, node, first, first + count - 1)


def find_index(ring: Nodes, events: int, index: int) -> int:
    """Find the event at an index, counted from the oldest; returns the level the path begins at."""
    level, height, behind, before = 0, at_place(ring, HEIGHT), events - 1 - index, 0
    oldest = newest = events  # how many events the spines' nodes at this level have
    if height > 0:
        oldest, newest = spine_size(ring, LEFT, 0), spine_size(ring, RIGHT, 0)
    while level < height and index >= oldest and behind >= newest:
        level, before = level + 1, oldest
        if level < height:
            oldest += spine_size(ring, LEFT, level)
            newest += spine_size(ring, RIGHT, level)
    node, slot, rank = at_place(ring, LEFT + level), 0 if level == 0 else 1, index - before
    if level < height and index >= oldest:
        node, slot, rank = at_place(ring, RIGHT + level), 0, newest - 1 - behind
    begin = level
    while level > 0:
        last = known_of(ring, node, COUNT) - 1
        while slot < last and rank >= known_of(ring, child_of(ring, node, slot), SIZE):
            rank -= known_of(ring, child_of(ring, node, slot), SIZE)
            slot += 1
        set_path(ring, level, node, slot)
        node, level, slot = child_of(ring, node, slot), level - 1, 0
    set_path(ring, 0, node, rank)
    return begin


#: what a module lists before its own functions, callees first
PATH_FUNCTIONS = (
    set_path, extend, descend, seek, leave_path, seek_on, spine_size, count_older, find_index,
)  # fmt: skip
