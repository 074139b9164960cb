"""The loops that drive rows through a window.

There is one loop for each way in which rows leave a window. A loop goes over the rows `begin` to
`stop` of a block that is sorted by key and order. Every loop takes its arguments in this order:

    what it reads and writes   columns, validities, answers, defined (or counts)
    the window                 ring, state; times, where the loop keeps the time of each event
    where windows lie          starts, answer_from, and how far a window reaches back
    its rows                   begin, stop

`starts` holds the rows at which a new key begins, and in the end `NEVER`, a row that never comes. A
block whose first row is not among them continues the key of the block before. A loop inserts the
rows before `answer_from` and does not answer them: they fill the window of a block that begins in
the middle of a key.

A loop allocates nothing. It returns the state and `stop`. When the window is full it returns the
row that it could not insert; `KernelWindow.drive` makes room and calls it again from there. Every
step before that return may be taken twice without harm.
"""

from typing import Any

import numpy as np

from windrow.compiler.slots import (
    Ring,
    State,
    empty,
    evict,
    evict_many,
    half_leaving,
    has_room,
    identity,
    insert,
    leaving,
    lift_row,
    load_integer,
    lower_row,
    query,
    resize,
    store_integer,
)

Block = Any


def over_rows(
    columns: Block, validities: Block, answers: Block, defined: Block,
    ring: Ring, state: State, starts: Block, answer_from: int, extent: int, begin: int, stop: int,
) -> tuple[State, int]:  # fmt: skip
    """Answer each row over the newest `extent` rows of its key.

    Filling and sliding are two loops. Most rows go through the second, which has nothing to check.
    Rows without an answer lie less than `extent` before one with an answer, so they only fill.
    """
    run = np.searchsorted(starts, begin)
    row = begin
    while row < stop:
        if row == starts[run]:
            state = empty(ring, state.end)
            run += 1
        run_stop = min(starts[run], stop)
        while row < run_stop and state.end - state.front < extent:
            if not has_room(state, ring):
                return state, row
            state = insert(state, ring, lift_row(columns, validities, row))
            if row >= answer_from:
                lower_row(answers, defined, row, query(state, ring))
            row += 1
        while row < run_stop:
            state = evict(state, ring)
            state = insert(state, ring, lift_row(columns, validities, row))
            lower_row(answers, defined, row, query(state, ring))
            row += 1
    return state, stop


def over_growing(
    columns: Block, validities: Block, answers: Block, defined: Block,
    ring: Ring, state: State, starts: Block, answer_from: int, begin: int, stop: int,
) -> tuple[State, int]:  # fmt: skip
    """Answer each row over all rows of its run so far: nothing is evicted."""
    run = np.searchsorted(starts, begin)
    next_start = starts[run]
    for row in range(begin, stop):
        if row == next_start:
            state = empty(ring, state.end)
            run += 1
            next_start = starts[run]
        if not has_room(state, ring):
            return state, row
        state = insert(state, ring, lift_row(columns, validities, row))
        if row >= answer_from:
            lower_row(answers, defined, row, query(state, ring))
    return state, stop


def over_time(
    columns: Block, validities: Block, answers: Block, defined: Block,
    ring: Ring, state: State, times: Ring, starts: Block, answer_from: int,
    extent: int, order: Block, begin: int, stop: int,
) -> tuple[State, int]:  # fmt: skip
    """Answer each row over the rows of its key that are less than `extent` older."""
    run = np.searchsorted(starts, begin)
    next_start = starts[run]
    for row in range(begin, stop):
        if row == next_start:
            state = empty(ring, state.end)
            run += 1
            next_start = starts[run]
        while state.front != state.end and order[row] - load_integer(times, state.front) >= extent:
            state = evict(state, ring)
        if not has_room(state, ring):
            return state, row
        store_integer(times, state.end, order[row])
        state = insert(state, ring, lift_row(columns, validities, row))
        if row >= answer_from:
            lower_row(answers, defined, row, query(state, ring))
    return state, stop


def over_time_with_peers(
    columns: Block, validities: Block, answers: Block, defined: Block,
    ring: Ring, state: State, times: Ring, starts: Block, answer_from: int,
    extent: int, order: Block, begin: int, stop: int,
) -> tuple[State, int]:  # fmt: skip
    """Answer as `over_time` does, but insert all rows of a time before you answer any of them."""
    run = np.searchsorted(starts, begin)
    next_start = starts[run]
    for row in range(begin, stop):
        if row == next_start:
            state = empty(ring, state.end)
            run += 1
            next_start = starts[run]
        while state.front != state.end and order[row] - load_integer(times, state.front) >= extent:
            state = evict(state, ring)
        if not has_room(state, ring):
            return state, row
        store_integer(times, state.end, order[row])
        state = insert(state, ring, lift_row(columns, validities, row))
        if row + 1 == stop or row + 1 == next_start or order[row + 1] != order[row]:
            partial = query(state, ring)
            oldest = max(answer_from, starts[run - 1] if run > 0 else 0)
            peer = row
            while peer >= oldest and order[peer] == order[row]:
                lower_row(answers, defined, peer, partial)
                peer -= 1
    return state, stop


def over_counted(
    columns: Block, validities: Block, answers: Block, defined: Block,
    ring: Ring, state: State, starts: Block, answer_from: int,
    counts: Block, present: Block, begin: int, stop: int,
) -> tuple[State, int]:  # fmt: skip
    """Answer each row over the newest `counts[row]` rows of its key.

    From one row to the next a count grows by one at most. A row that is not `present`, such as one
    whose count is 0, takes a place in the window without a value, and is not answered.
    """
    run = np.searchsorted(starts, begin)
    next_start = starts[run]
    for row in range(begin, stop):
        if row == next_start:
            state = empty(ring, state.end)
            run += 1
            next_start = starts[run]
        surplus = min(state.end - state.front + 1 - counts[row], state.end - state.front)
        if surplus == 1:
            state = evict(state, ring)
        elif surplus > 1:
            state = evict_many(state, ring, surplus)
        if not has_room(state, ring):
            return state, row
        if present[row]:
            state = insert(state, ring, lift_row(columns, validities, row))
            if row >= answer_from:
                lower_row(answers, defined, row, query(state, ring))
        else:
            state = insert(state, ring, identity())
    return state, stop


def count_held(
    columns: Block, validities: Block, counts: Block,
    ring: Ring, state: State, starts: Block, asked_from: Block, begin: int, stop: int,
) -> tuple[State, int]:  # fmt: skip
    """Count for each row how many rows a policy leaves in its window.

    The policy is not asked about the rows of a key before its `asked_from`.
    """
    run = np.searchsorted(starts, begin)
    next_start = starts[run]
    asked = asked_from[run - 1] if run > 0 else 0
    for row in range(begin, stop):
        if row == next_start:
            state = empty(ring, state.end)
            asked = asked_from[run]
            run += 1
            next_start = starts[run]
        if not has_room(state, ring):
            return state, row
        state = insert(state, ring, lift_row(columns, validities, row))
        count = leaving(state, ring) if row >= asked else 0
        if count == 1:
            state = evict(state, ring)
        elif count > 1:
            state = evict_many(state, ring, count)
        counts[row] = state.end - state.front
    return state, stop


def count_held_by_halves(
    columns: Block, validities: Block, counts: Block,
    ring: Ring, state: State, starts: Block, asked_from: Block, begin: int, stop: int,
) -> tuple[State, int]:  # fmt: skip
    """Count as `count_held` does, for a policy that drops older halves as long as one leaves."""
    run = np.searchsorted(starts, begin)
    next_start = starts[run]
    asked = asked_from[run - 1] if run > 0 else 0
    for row in range(begin, stop):
        if row == next_start:
            state = empty(ring, state.end)
            asked = asked_from[run]
            run += 1
            next_start = starts[run]
        if not has_room(state, ring):
            return state, row
        state = insert(state, ring, lift_row(columns, validities, row))
        count = half_leaving(state, ring) if row >= asked else 0
        while count > 0:
            state = evict_many(state, ring, count)
            count = half_leaving(state, ring)
        counts[row] = state.end - state.front
    return state, stop


def move(state: State, ring: Ring, larger: Ring) -> tuple[State, int]:
    """Move the window to a larger ring; the row that every loop returns means nothing here."""
    return resize(state, ring, larger), 0
