"""The loops of `slide`: rows into slices, slices into answers.

A slice is the longest run of rows that no window's edge cuts. Rows are combined into slices once,
however many windows share them. Then each window goes over the slices as if they were events.
Arguments have the order that `loops.py` describes.
"""

from typing import Any

from windrow.compiler.places import place_of
from windrow.compiler.slots import (
    Ring,
    State,
    combine,
    empty,
    evict,
    has_room,
    identity,
    insert,
    lift_row,
    load,
    lower_row,
    query,
    query_range,
    store,
)

Block = Any


def aggregate_slices(
    columns: Block, validities: Block, cuts: Block,
    slices: Ring, first_slice: int, begin: int, stop: int,
) -> None:  # fmt: skip
    """Combine the rows from each cut to the next; the first cut begins slice `first_slice`."""
    for number in range(begin, stop):
        partial = identity()
        for row in range(cuts[number], cuts[number + 1]):
            partial = combine(partial, lift_row(columns, validities, row))
        store(slices, first_slice + number, partial)


def aggregate_running(
    columns: Block, validities: Block, cuts: Block, readings: Block,
    slices: Ring, running: Ring, first_slice: int, begin: int, stop: int,
) -> None:  # fmt: skip
    """Combine as `aggregate_slices` does, and keep what a slice holds before some rows within it.

    `readings` are these rows, ascending; none is a cut. What was read is kept in their order.
    """
    place = place_of(readings, cuts[begin])
    for number in range(begin, stop):
        partial = identity()
        for row in range(cuts[number], cuts[number + 1]):
            if place < len(readings) and readings[place] == row:
                store(running, place, partial)
                place += 1
            partial = combine(partial, lift_row(columns, validities, row))
        store(slices, first_slice + number, partial)


def copy_slices(slices: Ring, larger: Ring, begin: int, stop: int) -> None:
    """Copy slices to a larger ring."""
    for number in range(begin, stop):
        store(larger, number, load(slices, number))


def answer_growing(
    slices: Ring, answers: Block, defined: Block, ring: Ring, state: State,
    firsts: Block, stops: Block, begin: int, stop: int,
) -> tuple[State, int]:  # fmt: skip
    """Answer as `answer_windows` does, where no slice leaves before a window begins elsewhere."""
    for answer in range(begin, stop):
        if firsts[answer] != state.front:
            state = empty(ring, firsts[answer])
        while state.end < stops[answer]:
            if not has_room(state, ring):
                return state, answer
            state = insert(state, ring, load(slices, state.end))
        lower_row(answers, defined, answer, query(state, ring))
    return state, stop


def answer_windows(
    slices: Ring, answers: Block, defined: Block, ring: Ring, state: State,
    firsts: Block, stops: Block, begin: int, stop: int,
) -> tuple[State, int]:  # fmt: skip
    """Answer windows over slices: window i holds the slices from `firsts[i]` to `stops[i]`.

    A position in the window's ring is the number of a slice. A window of another key, or one behind
    slices that no window holds, begins behind the end of the ring: the ring moves there, empty.
    """
    for answer in range(begin, stop):
        if firsts[answer] >= state.end:
            state = empty(ring, firsts[answer])
        while state.front < firsts[answer]:
            state = evict(state, ring)
        while state.end < stops[answer]:
            if not has_room(state, ring):
                return state, answer
            state = insert(state, ring, load(slices, state.end))
        lower_row(answers, defined, answer, query(state, ring))
    return state, stop


def answer_together(
    slices: Ring, answers: Block, defined: Block, ring: Ring, state: State,
    firsts: Block, stops: Block, fronts: Block, places: Block, begin: int, stop: int,
) -> tuple[State, int]:  # fmt: skip
    """Answer windows of several queries in one pass; the answers are in the order of their ends.

    An answer is written to its place. From `fronts[i]` on, slices are in windows to come.
    """
    for answer in range(begin, stop):
        if fronts[answer] >= state.end:
            state = empty(ring, fronts[answer])
        while state.front < fronts[answer]:
            state = evict(state, ring)
        while state.end < stops[answer]:
            if not has_room(state, ring):
                return state, answer
            state = insert(state, ring, load(slices, state.end))
        partial = query_range(state, ring, stops[answer] - firsts[answer])
        lower_row(answers, defined, places[answer], partial)
    return state, stop


def answer_running(
    slices: Ring, running: Ring, answers: Block, defined: Block, ring: Ring, state: State,
    firsts: Block, stops: Block, reads: Block, begin: int, stop: int,
) -> tuple[State, int]:  # fmt: skip
    """Answer as `answer_windows` does, with the slice that a window ends in as it was there.

    Window i also reads what is kept at `reads[i]`, unless that is negative.
    """
    for answer in range(begin, stop):
        if firsts[answer] >= state.end:
            state = empty(ring, firsts[answer])
        while state.front < firsts[answer]:
            state = evict(state, ring)
        while state.end < stops[answer]:
            if not has_room(state, ring):
                return state, answer
            state = insert(state, ring, load(slices, state.end))
        partial = query(state, ring)
        if reads[answer] >= 0:
            partial = combine(partial, load(running, reads[answer]))
        lower_row(answers, defined, answer, partial)
    return state, stop
