"""The loops of the papers' experiments; a kernel joins one with an algorithm and an aggregation.

They take their arguments in the order of `windrow.engine.loops`, so `KernelWindow.drive` runs them
and makes room. A round reads the row `row & mask`: rows go on without end over values that do not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from windrow.compiler.slots import (
    Ring,
    State,
    evict,
    evict_many,
    has_room,
    insert,
    lift_row,
    lower_row,
    query,
)
from windrow.experiments.ticks import ticks

Block = Any


def slide(
    columns: Block, validities: Block, answers: Block, defined: Block,
    ring: Ring, state: State, extent: int, mask: int, begin: int, stop: int,
) -> tuple[State, int]:  # fmt: skip
    """Rounds of evict, insert and query over a window of `extent` events."""
    for row in range(begin, stop):
        if state.end - state.front == extent:
            state = evict(state, ring)
        if not has_room(state, ring):
            return state, row
        state = insert(state, ring, lift_row(columns, validities, row & mask))
        lower_row(answers, defined, row & mask, query(state, ring))
    return state, stop


def time_rounds(
    columns: Block, validities: Block, answers: Block, defined: Block,
    ring: Ring, state: State, extent: int, mask: int, taken: Block, begin: int, stop: int,
) -> tuple[State, int]:  # fmt: skip
    """The same rounds; `taken` gets the ticks of each."""
    for row in range(begin, stop):
        started = ticks()
        if state.end - state.front == extent:
            state = evict(state, ring)
        if not has_room(state, ring):
            return state, row
        state = insert(state, ring, lift_row(columns, validities, row & mask))
        lower_row(answers, defined, row & mask, query(state, ring))
        taken[np.uintp(row & mask)] = ticks() - started
    return state, stop


def fill_and_drain(
    columns: Block, validities: Block, answers: Block, defined: Block,
    ring: Ring, state: State, extent: int, mask: int, begin: int, stop: int,
) -> tuple[State, int]:  # fmt: skip
    """Insert and query until the window holds `extent` events, evict until it is empty, again.

    Nothing is asked while the window drains. `extent` is a power of two.
    """
    for row in range(begin, stop):
        if not has_room(state, ring):
            return state, row
        state = insert(state, ring, lift_row(columns, validities, row & mask))
        lower_row(answers, defined, row & mask, query(state, ring))
        if state.end - state.front == extent:
            while state.front < state.end:
                state = evict(state, ring)
    return state, stop


def oscillate(
    columns: Block, validities: Block, answers: Block, defined: Block,
    ring: Ring, state: State, least: int, most: int, mask: int, begin: int, stop: int,
) -> tuple[State, int]:  # fmt: skip
    """Insert and query until the window holds `most` events, then evict down to `least`, again."""
    for row in range(begin, stop):
        if not has_room(state, ring):
            return state, row
        state = insert(state, ring, lift_row(columns, validities, row & mask))
        lower_row(answers, defined, row & mask, query(state, ring))
        if state.end - state.front >= most:
            while state.end - state.front > least:
                state = evict(state, ring)
    return state, stop


def in_batches(
    columns: Block, validities: Block, answers: Block, defined: Block,
    ring: Ring, state: State, extent: int, every: int, mask: int, begin: int, stop: int,
) -> tuple[State, int]:  # fmt: skip
    """Insert events; after `every` of them, evict what is beyond `extent` and query once."""
    for row in range(begin, stop):
        if not has_room(state, ring):
            return state, row
        state = insert(state, ring, lift_row(columns, validities, row & mask))
        if (row + 1) % every == 0:
            if state.end - state.front > extent:
                state = evict_many(state, ring, state.end - state.front - extent)
            lower_row(answers, defined, row & mask, query(state, ring))
    return state, stop


def slide_times(
    columns: Block, validities: Block, answers: Block, defined: Block,
    ring: Ring, state: State, times: Block, extent: int, begin: int, stop: int,
) -> tuple[State, int]:  # fmt: skip
    """Each row over the events that lie less than `extent` before it, one eviction at a time."""
    for row in range(begin, stop):
        oldest = times[np.uintp(row)] - extent
        while state.front < row and times[np.uintp(state.front)] <= oldest:
            state = evict(state, ring)
        if not has_room(state, ring):
            return state, row
        state = insert(state, ring, lift_row(columns, validities, row))
        lower_row(answers, defined, row, query(state, ring))
    return state, stop


def time_slides(
    columns: Block, validities: Block, answers: Block, defined: Block,
    ring: Ring, state: State, times: Block, extent: int, taken: Block, begin: int, stop: int,
) -> tuple[State, int]:  # fmt: skip
    """The same; `taken` gets the ticks of each row."""
    for row in range(begin, stop):
        started = ticks()
        oldest = times[np.uintp(row)] - extent
        while state.front < row and times[np.uintp(state.front)] <= oldest:
            state = evict(state, ring)
        if not has_room(state, ring):
            return state, row
        state = insert(state, ring, lift_row(columns, validities, row))
        lower_row(answers, defined, row, query(state, ring))
        taken[np.uintp(row)] = ticks() - started
    return state, stop


def fill(
    columns: Block, validities: Block, answers: Block, defined: Block,
    ring: Ring, state: State, mask: int, begin: int, stop: int,
) -> tuple[State, int]:  # fmt: skip
    """Insert events and ask nothing."""
    for row in range(begin, stop):
        if not has_room(state, ring):
            return state, row
        state = insert(state, ring, lift_row(columns, validities, row & mask))
    return state, stop


def drop(ring: Ring, state: State, count: int, times: int) -> Any:
    """Let events leave at once, `times` over: a state is a value, and what leaves is still there.

    One event more or fewer leaves each time, so that no compiler takes one time for another.
    """
    left = state
    for turn in range(times):
        left = evict_many(state, ring, count - (turn & 1))
    return query(left, ring)
