"""Windows of rows by the Sequential Boundary Aggregator, in whole blocks.

paper      Zhang et al. 2021, §4; van Herk 1992 and Gil and Werman 1993 filter images in the same
           way
combines   3 for each row: csa, lcs, and the answer

If all windows have one range, boundaries lie where they cost least: a chunk is a whole window. Then
a window is the end of one chunk and the beginning of the next, and every row until the end of the
first is answered alike. So rows slide in runs of up to a whole range, without a decision from row
to row. For sum and max this is 1.3 to 2 times as fast as single operations, and about as fast as
Two-Stacks Lite, which takes the same combines (benchmarks/algorithms.py).

The loser: computing lcs of the next chunk beside csa in one loop, so that the two chains of
combines overlap. It gained a tenth for sums and nothing for max, and needs twice the room.

Between blocks the window is an ordinary one of `sequential_boundary`. It may begin as any such
window: one that was just filled has chunks of all sizes, which are merged into one.
"""

from typing import Any

from windrow.algorithms.sequential_boundary import State, accumulate_left, settle
from windrow.compiler.places import place_of
from windrow.compiler.slots import (
    Partial,
    Ring,
    combine,
    empty,
    evict,
    has_room,
    identity,
    insert,
    lift_row,
    load,
    load_integer,
    lower_row,
    query,
    store,
)

Block = Any


def reach_further(ring: Ring, begin: int, stop: int, newer: Partial) -> Partial:
    """Let the slots of a closed chunk reach on over what is newer; the partial of both."""
    for position in range(begin, stop):
        store(ring.slots, position, combine(load(ring.slots, position), newer))
    return load(ring.slots, begin)


def merge_chunks(state: State, ring: Ring) -> State:
    """One closed chunk of all that there are."""
    settle(ring)
    accumulate_left(ring, state.current, state.end)
    stop = state.current
    newer = identity() if stop == state.end else load(ring.slots, stop)
    for index in range(state.last - 1, state.first - 1, -1):
        begin = load_integer(ring.boundaries, index)
        newer = reach_further(ring, begin, stop, newer)
        stop = begin
    if state.middle != stop:
        newer = reach_further(ring, state.middle, stop, newer)
    if state.front != state.middle:
        reach_further(ring, state.front, state.middle, newer)
    return state._replace(
        middle=state.end,
        current=state.end,
        first=state.last,
        middle_partial=identity(),
        current_partial=identity(),
    )


def slide_rows(
    columns: Block, validities: Block, answers: Block, defined: Block,
    ring: Ring, state: State, row: int, answer: int, count: int,
) -> State:  # fmt: skip
    """Slide a window of an oldest and a current chunk; at most by what is left of the oldest.

    The rows from `row` on enter one by one, and the answers from `answer` on are written.
    """
    partial = state.current_partial
    within = min(count, state.middle - state.front - 1)
    for index in range(within):
        event = lift_row(columns, validities, row + index)
        store(ring.slots, state.end + index, event)
        partial = combine(partial, event)
        oldest = load(ring.slots, state.front + index + 1)
        lower_row(answers, defined, answer + index, combine(oldest, partial))
    if within < count:  # the oldest chunk is used up
        event = lift_row(columns, validities, row + within)
        store(ring.slots, state.end + within, event)
        partial = combine(partial, event)
        lower_row(answers, defined, answer + within, partial)
    return state._replace(front=state.front + count, end=state.end + count, current_partial=partial)


def slide_chunk(
    columns: Block, validities: Block, answers: Block, defined: Block,
    ring: Ring, state: State, row: int, answer: int, count: int,
) -> State:  # fmt: skip
    """Slide as `slide_rows` does; `parallel_rows` has the rest of a chunk computed ahead."""
    return slide_rows(columns, validities, answers, defined, ring, state, row, answer, count)


def over_rows(
    columns: Block, validities: Block, answers: Block, defined: Block,
    ring: Ring, state: State, starts: Block, end: int, back: int, ahead: int,
    position: int, answered: int, answer_until: int, begin: int, stop: int,
) -> tuple[State, int]:  # fmt: skip
    """Answer as `over_rows` of `windrow.engine.loops` does, sliding over whole chunks."""
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
                    if state.front == state.middle or state.middle != state.current:
                        state = merge_chunks(state, ring)
                    count = min(slides_until - row, state.middle - state.front)
                    state = slide_chunk(
                        columns, validities, answers, defined, ring, state,
                        row + ahead - position, row - answered, count,
                    )  # fmt: skip
                    row += count
        run += 1
    return state, stop


#: what the driver calls, callees first
FUNCTIONS = (reach_further, merge_chunks, slide_rows, slide_chunk)
