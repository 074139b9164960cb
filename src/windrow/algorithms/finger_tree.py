r"""Finger tree (FiBA, the Finger B-tree Aggregator).

paper      Tangwongsan et al. 2019 (insert, evict, query, ranges) and Tangwongsan et al. 2023 (many
           at once)
order      any: every event has a time; of equal times, what came later is newer
requires   an associative combine, nothing else
insert     at the newest end 1 combine and now and then a split, less than 4 on average; d events
           from the nearer end of the window, O(log d) amortized
evict      the oldest event O(1) amortized, less than 8 on average; m events at once O(log m)
           amortized; one d events from the nearer end O(log d) amortized
query      2 combines; of the newest k events O(log k), if they are less than half
space      room for 4n partials and 10n integers, n being a power of two, 1 to 4 times the number of
           events; 64 partials more

The events are in the leaves of a B-tree, ordered by time. A node has 3 to 7 entries, so it is split
or joined rarely. Both ends of the tree are held, as by two fingers. A search begins there, and what
is near an end is found in few steps. The nodes on the way from the root to the two ends, the left
and the right spine, change with every event. So no node keeps a partial of them. Instead each spine
accumulates partials downwards, from the root to its finger (see `finger_nodes`). A query combines
the partial of the left finger, the middle of the root, and that of the right finger.

      root           [ . |   e..i  j..m   | . ]                 middle  = e..m
                     /        |      |      \
      leaves   [ b c d ]  [ e..i ] [ j..m ]  [ n o p q ]
               left finger: b..d             right finger: n..q

An event changes the nodes between its leaf and the spine, and the spine from there down to its
finger: O(log d) nodes, if it is d events from that end.

The paper also keeps events in inner nodes. Here only leaves have events, so leaves and inner nodes
are handled alike; and an entry keeps the partial of its child, where the paper's node keeps its
own. Inner entries have times that part their children. A time may be earlier than all events of its
child, because what was the first of them may have left.

Invariants, for a window of events v[0] to v[n-1]:

1. The leaves have level 0 and hold v[0] to v[n-1], from left to right. Every node has 3 to 7
   entries, but the root may have fewer: as a leaf 1, else 2.
2. The times of events do not decrease. The time of an inner entry is not earlier than any event
   before its child, and not later than any event of its child; the first entry of a node of the
   left spine is left out.
3. An inner entry whose child is not on a spine holds the partial of the child's events. The child
   knows their number.
4. For each level, the first and the last node are known.
5. The left partial of a level below the root is that of its first node without the first entry, of
   a leaf with it, and of the left partials above. The right partial is that of the right partials
   above, and of the last node without the last entry, of a leaf with it. The middle is that of the
   root without the first and last entry; of a root that is a leaf, of all.
6. A node is in the tree, or free, or was never used. A free node is in the list of free nodes or
   below one that is. Nothing is stale.
"""

from typing import NamedTuple

from windrow.algebra.monoid import Traits
from windrow.algorithms.finger_checks import check_invariants as check_invariants
from windrow.algorithms.finger_nodes import (
    COUNT,
    HEIGHT,
    LEFT,
    MIDDLE,
    MOST,
    NODE_FUNCTIONS,
    PATH,
    RIGHT,
    SLOT,
    WIDTH,
    Nodes,
    at_place,
    close_slots,
    copy_tree,
    fold_entries,
    known_of,
    nodes_for,
    plant,
    repair,
    set_known,
    set_time,
    time_of,
)
from windrow.algorithms.finger_paths import (
    PATH_FUNCTIONS,
    count_older,
    find_index,
    leave_path,
    seek,
    seek_on,
    set_path,
)
from windrow.algorithms.finger_shapes import SHAPE_FUNCTIONS, cut, put, thicken
from windrow.algorithms.guarantees import Growth, Guarantees
from windrow.algorithms.plain_memory import Memory
from windrow.compiler.slots import (
    Partial,
    Ring,
    capacity,
    combine,
    identity,
    load,
    load_integer,
    store,
)

NAME = "finger_tree"
#: a node has room for 8 entries, and there is half a node for each event
ROOM = WIDTH // 2
GUARANTEES = Guarantees(
    Growth.LOGARITHMIC,
    lambda events: ROOM * (1 << (events - 1).bit_length()) + 64,
    positions=2 * ROOM + 2,
)


class State(NamedTuple):
    """Where events begin and end, if each had a position of its own, and how many fit."""

    front: int
    end: int
    room: int


def refuses(traits: Traits, invertible: bool) -> str | None:
    """Why it cannot serve such an aggregation: it serves all."""
    return None


def allocate(memory: Memory, capacity: int) -> Nodes:
    """Nodes for so many events."""
    return nodes_for(memory, capacity)


def empty(ring: Nodes, position: int) -> State:
    """A window with no events; its first event plants the tree."""
    return State(position, position, capacity(ring.partials) // ROOM)


def has_room(state: State, ring: Nodes) -> bool:
    """Whether one more event fits."""
    return state.end - state.front < state.room


def wants_less(state: State, ring: Nodes) -> bool:
    """Whether half the room would do, and leave as much again."""
    return 4 * (state.end - state.front) < state.room


def resize(state: State, ring: Nodes, other: Nodes) -> State:
    """The same tree in other nodes."""
    if state.front < state.end:
        copy_tree(ring, other)
    return State(state.front, state.end, capacity(other.partials) // ROOM)


# Events come --------------------------------------------------------------------------------------


def insert_newest(state: State, ring: Nodes, time: int, partial: Partial) -> State:
    """Add an event behind the newest; its time is not earlier than that of any other."""
    inserted = State(state.front, state.end + 1, state.room)
    if state.front == state.end:
        plant(ring)
    leaf = at_place(ring, RIGHT)
    count = known_of(ring, leaf, COUNT)
    if 0 < count < MOST:
        set_known(ring, leaf, COUNT, count + 1)
        set_time(ring, leaf, count, time)
        store(ring.partials, WIDTH * leaf + count, partial)
        place = MIDDLE if at_place(ring, HEIGHT) == 0 else RIGHT
        store(ring.spines, place, combine(load(ring.spines, place), partial))
        return inserted
    set_path(ring, 0, leaf, count)
    put(ring, time, partial)
    finish(ring)
    return inserted


def newest_time(state: State, ring: Nodes) -> int:
    """The time of the newest event; there must be one."""
    leaf = at_place(ring, RIGHT)
    return time_of(ring, leaf, known_of(ring, leaf, COUNT) - 1)


def insert(state: State, ring: Nodes, partial: Partial) -> State:
    """Add an event behind the newest, at its time."""
    time = newest_time(state, ring) if state.front < state.end else 0
    return insert_newest(state, ring, time, partial)


def insert_at_time(state: State, ring: Nodes, time: int, partial: Partial) -> State:
    """Add an event behind all that are not later."""
    if state.front == state.end or not time < newest_time(state, ring):
        return insert_newest(state, ring, time, partial)
    state = insert_first(state, ring, time, partial)
    finish(ring)
    return state


def insert_first(state: State, ring: Nodes, time: int, partial: Partial) -> State:
    """Add the first of many events whose times do not decrease; `finish` ends them."""
    if state.front == state.end:
        plant(ring)
    seek(ring, time)
    put(ring, time, partial)
    return State(state.front, state.end + 1, state.room)


def insert_next(state: State, ring: Nodes, time: int, partial: Partial) -> State:
    """Add the next of them: its search begins where the last one came to.

    Nodes are combined when the search leaves them: once, however many events they got.
    """
    seek_on(ring, time)
    put(ring, time, partial)
    return State(state.front, state.end + 1, state.room)


def finish(ring: Nodes) -> None:
    """Combine what is above the last event that was put into the tree."""
    leave_path(ring, at_place(ring, HEIGHT))
    repair(ring)


def insert_sorted(state: State, ring: Nodes, times: Ring, partials: Ring, count: int) -> State:
    """Add many events, one or more, whose times do not decrease; there must be room for all."""
    state = insert_first(state, ring, load_integer(times, 0), load(partials, 0))
    for index in range(1, count):
        state = insert_next(state, ring, load_integer(times, index), load(partials, index))
    finish(ring)
    return state


def insert_at(state: State, ring: Nodes, index: int, partial: Partial) -> State:
    """Add an event that will be the one at this index, at the time of the one that it was."""
    if index == state.end - state.front:
        return insert(state, ring, partial)
    find_index(ring, state.end - state.front, index)
    put(ring, time_of(ring, at_place(ring, PATH), at_place(ring, SLOT)), partial)
    finish(ring)
    return State(state.front, state.end + 1, state.room)


# Events leave -------------------------------------------------------------------------------------


def evict(state: State, ring: Nodes) -> State:
    """Drop the oldest event."""
    if state.end - state.front > 1:
        leaf = at_place(ring, LEFT)
        set_path(ring, 0, leaf, 0)
        close_slots(ring, leaf, 0, 1)
        thicken(ring, 0)
        repair(ring)
    return State(state.front + 1, state.end, state.room)


def evict_many(state: State, ring: Nodes, count: int) -> State:
    """Drop the oldest events, by one cut along the path to the oldest that stays."""
    if count < state.end - state.front:
        cut(ring, find_index(ring, state.end - state.front, count))
        repair(ring)
    return State(state.front + count, state.end, state.room)


def older_than(state: State, ring: Nodes, time: int) -> int:
    """How many events have an earlier time: the oldest ones."""
    return count_older(ring, time) if state.front < state.end else 0


def evict_at(state: State, ring: Nodes, index: int) -> State:
    """Drop the event at an index, counted from the oldest."""
    if state.end - state.front > 1:
        find_index(ring, state.end - state.front, index)
        close_slots(ring, at_place(ring, PATH), at_place(ring, SLOT), 1)
        thicken(ring, 0)
        repair(ring)
    return State(state.front + 1, state.end, state.room)


# Queries ------------------------------------------------------------------------------------------


def query(state: State, ring: Nodes) -> Partial:
    """Combine the left finger, the middle of the root, and the right finger."""
    if state.front == state.end:
        return identity()
    middle = load(ring.spines, MIDDLE)
    if at_place(ring, HEIGHT) == 0:
        return middle
    return combine(combine(load(ring.spines, LEFT), middle), load(ring.spines, RIGHT))


def query_range(state: State, ring: Nodes, count: int) -> Partial:
    """Combine what lies behind the path to the oldest of the newest events."""
    events = state.end - state.front
    if count == 0 or count == events:
        return query(state, ring) if count > 0 else identity()
    begin, height = find_index(ring, events, events - count), at_place(ring, HEIGHT)
    leaf = at_place(ring, PATH)
    partial = fold_entries(ring, leaf, at_place(ring, SLOT), known_of(ring, leaf, COUNT))
    for level in range(1, begin + 1):
        node, first = at_place(ring, PATH + level), at_place(ring, SLOT + level) + 1
        stop = rest_of(ring, level, node)
        if first < stop:
            partial = combine(partial, fold_entries(ring, node, first, stop))
    if at_place(ring, PATH + begin) != at_place(ring, RIGHT + begin):
        if begin + 1 < height:
            partial = combine(partial, load(ring.spines, LEFT + begin + 1))
        partial = combine(partial, load(ring.spines, MIDDLE))
        return combine(partial, load(ring.spines, RIGHT))
    if 0 < begin == height:
        return combine(partial, load(ring.spines, RIGHT))
    for level in range(begin - 1, -1, -1):
        node = at_place(ring, RIGHT + level)
        partial = combine(partial, fold_entries(ring, node, 0, rest_of(ring, level, node)))
    return partial


def rest_of(ring: Nodes, level: int, node: int) -> int:
    """How many entries of a node are not on the right spine."""
    count = known_of(ring, node, COUNT)
    return count - 1 if level > 0 and node == at_place(ring, RIGHT + level) else count


FUNCTIONS = (
    *NODE_FUNCTIONS, *PATH_FUNCTIONS, *SHAPE_FUNCTIONS,
    empty, has_room, wants_less, resize,
    finish, insert_newest, newest_time, insert, insert_first, insert_at_time, insert_next,
    insert_sorted, insert_at,
    evict, evict_many, older_than, evict_at,
    query, rest_of, query_range,
)  # fmt: skip


def stored_partials(state: State) -> int:
    """How many partials the state has room for."""
    return ROOM * state.room + 64
