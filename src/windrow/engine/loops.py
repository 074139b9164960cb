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

`over_rows`, `over_spans`, `over_growing_spans` and `over_whole` take rows numbered through all
blocks. The columns begin at the row `position`, and answers at the row `answered`, which may be of
an earlier block: a row is answered when all rows of its window are there. They fill windows by
themselves, and take only the rows to answer; a row from `answer_until` on is not answered, and only
enters what is there of its window. A position in their ring is the number of a row. Where spans are
known, what is answered need not be rows: `as_of` answers moments over the rows of events.

A loop allocates nothing. It returns the state and `stop`. When the window is full it returns the
row that it could not insert; `KernelWindow.drive` makes room and calls it again from there. Every
step before that return may be taken twice without harm.
"""

from typing import Any

from windrow.compiler.places import place_of
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
    query_range,
    resize,
    store_integer,
)

Block = Any


def over_rows(
    columns: Block, validities: Block, answers: Block, defined: Block,
    ring: Ring, state: State, starts: Block, end: int, back: int, ahead: int,
    position: int, answered: int, answer_until: int, begin: int, stop: int,
) -> tuple[State, int]:  # fmt: skip
    """Answer each row over the rows of its key from `back` before it to `ahead` behind it.

    Most rows go through the inner loop, which has nothing to check: one row leaves, one enters.
    """
    run = place_of(starts, begin + 1)
    row = begin
    while row < stop:
        run_begin, run_stop = starts[run - 1], min(starts[run], end)
        last_row = min(starts[run], stop)
        while row < last_row:
            first, behind = max(run_begin, row - back), min(row + ahead + 1, run_stop)
            if first >= state.end:
                state = empty(ring, first)
            while state.front < first:
                state = evict(state, ring)
            while state.end < behind:
                if not has_room(state, ring):
                    return state, row
                state = insert(state, ring, lift_row(columns, validities, state.end - position))
            if first < behind and row < answer_until:
                lower_row(answers, defined, row - answered, query(state, ring))
            row += 1
            if behind - first == back + 1 + ahead:
                slides_until = min(last_row, run_stop - ahead, answer_until)
                while row < slides_until:
                    state = evict(state, ring)
                    event = lift_row(columns, validities, row + ahead - position)
                    state = insert(state, ring, event)
                    lower_row(answers, defined, row - answered, query(state, ring))
                    row += 1
        run += 1
    return state, stop


def over_spans(
    columns: Block, validities: Block, answers: Block, defined: Block,
    ring: Ring, state: State, firsts: Block, stops: Block, spanned: int,
    position: int, answered: int, answer_until: int, begin: int, stop: int,
) -> tuple[State, int]:  # fmt: skip
    """Answer each row over the rows from `firsts` to `stops`, which begin at the row `spanned`.

    A window of another key begins behind the end of the one before: the ring moves there, empty.
    """
    for row in range(begin, stop):
        first, behind = firsts[row - spanned], stops[row - spanned]
        if first >= state.end:
            state = empty(ring, first)
        elif first > state.front:
            state = evict_many(state, ring, first - state.front)
        while state.end < behind:
            if not has_room(state, ring):
                return state, row
            state = insert(state, ring, lift_row(columns, validities, state.end - position))
        if first < behind and row < answer_until:
            lower_row(answers, defined, row - answered, query(state, ring))
    return state, stop


def over_growing_spans(
    columns: Block, validities: Block, answers: Block, defined: Block,
    ring: Ring, state: State, firsts: Block, stops: Block, spanned: int,
    position: int, answered: int, answer_until: int, begin: int, stop: int,
) -> tuple[State, int]:  # fmt: skip
    """Answer as `over_spans` does, where no row leaves before a window begins elsewhere."""
    for row in range(begin, stop):
        first, behind = firsts[row - spanned], stops[row - spanned]
        if first != state.front:
            state = empty(ring, first)
        while state.end < behind:
            if not has_room(state, ring):
                return state, row
            state = insert(state, ring, lift_row(columns, validities, state.end - position))
        if first < behind and row < answer_until:
            lower_row(answers, defined, row - answered, query(state, ring))
    return state, stop


def over_growing(
    columns: Block, validities: Block, answers: Block, defined: Block,
    ring: Ring, state: State, starts: Block, answer_from: int, begin: int, stop: int,
) -> tuple[State, int]:  # fmt: skip
    """Answer each row over all rows of its run so far: nothing is evicted."""
    run = place_of(starts, begin)
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


def over_whole(
    columns: Block, validities: Block, answers: Block, defined: Block,
    ring: Ring, state: State, starts: Block, end: int,
    position: int, answered: int, answer_until: int, begin: int, stop: int,
) -> tuple[State, int]:  # fmt: skip
    """Answer each row over all rows of its run: nothing is evicted."""
    run = place_of(starts, begin + 1)
    row = begin
    while row < stop:
        run_begin, run_stop = starts[run - 1], min(starts[run], end)
        if run_begin != state.front:
            state = empty(ring, run_begin)
        while state.end < run_stop:
            if not has_room(state, ring):
                return state, row
            state = insert(state, ring, lift_row(columns, validities, state.end - position))
        last_row = min(run_stop, stop)
        for each in range(row, min(last_row, answer_until)):
            lower_row(answers, defined, each - answered, query(state, ring))
        row = last_row
        run += 1
    return state, stop


def over_time(
    columns: Block, validities: Block, answers: Block, defined: Block,
    ring: Ring, state: State, times: Ring, starts: Block, answer_from: int,
    extent: int, order: Block, begin: int, stop: int,
) -> tuple[State, int]:  # fmt: skip
    """Answer each row over the rows of its key that are less than `extent` older."""
    run = place_of(starts, begin)
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


def over_counted(
    columns: Block, validities: Block, answers: Block, defined: Block,
    ring: Ring, state: State, starts: Block, answer_from: int,
    counts: Block, present: Block, begin: int, stop: int,
) -> tuple[State, int]:  # fmt: skip
    """Answer each row over the newest `counts[row]` rows of its key.

    From one row to the next a count grows by one at most. A row that is not `present`, such as one
    whose count is 0, takes a place in the window without a value, and is not answered.
    """
    run = place_of(starts, begin)
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


def over_returning(
    columns: Block, validities: Block, answers: Block, defined: Block,
    ring: Ring, state: State, starts: Block, answer_from: int,
    counts: Block, kept: Block, begin: int, stop: int,
) -> tuple[State, int]:  # fmt: skip
    """Answer each row over the newest `counts[row]` rows of its key, of `kept[row]` that stay.

    From one row to the next, as many more rows stay as there are new ones, at most.
    """
    run = place_of(starts, begin)
    next_start = starts[run]
    for row in range(begin, stop):
        if row == next_start:
            state = empty(ring, state.end)
            run += 1
            next_start = starts[run]
        surplus = min(state.end - state.front + 1 - kept[row], state.end - state.front)
        if surplus == 1:
            state = evict(state, ring)
        elif surplus > 1:
            state = evict_many(state, ring, surplus)
        if not has_room(state, ring):
            return state, row
        state = insert(state, ring, lift_row(columns, validities, row))
        if row >= answer_from:
            if counts[row] == kept[row]:
                lower_row(answers, defined, row, query(state, ring))
            else:
                lower_row(answers, defined, row, query_range(state, ring, counts[row]))
    return state, stop


def count_held(
    columns: Block, validities: Block, counts: Block,
    ring: Ring, state: State, starts: Block, asked_from: Block, begin: int, stop: int,
) -> tuple[State, int]:  # fmt: skip
    """Count for each row how many rows a policy leaves in its window.

    The policy is not asked about the rows of a key before its `asked_from`.
    """
    run = place_of(starts, begin)
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
    run = place_of(starts, begin)
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
