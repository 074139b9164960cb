"""A driver that only the benchmarks need: fill and drain, and ask after each event."""

from __future__ import annotations

from typing import Any

from windrow.compiler.slots import (
    Ring,
    State,
    evict,
    has_room,
    insert,
    lift_row,
    lower_row,
    query,
)

Block = Any


def fill_and_drain(
    columns: Block, validities: Block, answers: Block, defined: Block,
    ring: Ring, state: State, extent: int,
) -> tuple[State, int]:  # fmt: skip
    """Fill a window to its extent and drain it again, until the rows are used up.

    An event costs one insertion and one eviction, each followed by a query.
    """
    row = 0
    while row + extent <= columns[0].shape[0]:
        for filled in range(row, row + extent):
            if not has_room(state, ring):
                return state, filled
            state = insert(state, ring, lift_row(columns, validities, filled))
            lower_row(answers, defined, filled, query(state, ring))
        for drained in range(row, row + extent):
            state = evict(state, ring)
            lower_row(answers, defined, drained, query(state, ring))
        row += extent
    return state, row
