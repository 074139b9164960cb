"""The loops that drive rows through one window for many ranges.

They take their arguments in the order that `loops.py` describes. `extents` are the ranges,
ascending, and `places` is where the answers of each begin.
"""

from typing import Any

from windrow.compiler.places import place_of
from windrow.compiler.slots import (
    Ring,
    State,
    empty,
    evict,
    has_room,
    insert,
    lift_row,
    load,
    lower_row,
    query_range,
    query_ranges,
)

Block = Any


def over_ranges(
    columns: Block, validities: Block, answers: Block, defined: Block,
    ring: Ring, state: State, extents: Block, places: Block, starts: Block, answer_from: int,
    begin: int, stop: int,
) -> tuple[State, int]:  # fmt: skip
    """Answer each row for every range, from the shortest: each query may use the one before."""
    longest = extents[len(extents) - 1]
    run = place_of(starts, begin)
    next_start = starts[run]
    for row in range(begin, stop):
        if row == next_start:
            state = empty(ring, state.end)
            run += 1
            next_start = starts[run]
        if state.end - state.front == longest:
            state = evict(state, ring)
        if not has_room(state, ring):
            return state, row
        state = insert(state, ring, lift_row(columns, validities, row))
        if row >= answer_from:
            for index in range(len(extents)):
                count = min(extents[index], state.end - state.front)
                lower_row(answers, defined, places[index] + row, query_range(state, ring, count))
    return state, stop


def over_registered(
    columns: Block, validities: Block, answers: Block, defined: Block,
    ring: Ring, state: State, extents: Block, places: Block, starts: Block, answer_from: int,
    begin: int, stop: int,
) -> tuple[State, int]:  # fmt: skip
    """Answer as `over_ranges` does, where the ring knows the ranges and answers all at once."""
    longest = extents[len(extents) - 1]
    run = place_of(starts, begin)
    next_start = starts[run]
    for row in range(begin, stop):
        if row == next_start:
            state = empty(ring, state.end)
            run += 1
            next_start = starts[run]
        if state.end - state.front == longest:
            state = evict(state, ring)
        if not has_room(state, ring):
            return state, row
        state = insert(state, ring, lift_row(columns, validities, row))
        if row >= answer_from:
            query_ranges(state, ring)
            for index in range(len(extents)):
                lower_row(answers, defined, places[index] + row, load(ring.answers, index))
    return state, stop
