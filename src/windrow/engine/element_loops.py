"""The loops of a compiled `wr.Window`, and its state in memory.

Between two calls, a window's state lies in memory: its whole numbers in cells, its partials in a
ring of their own. So a call for one event passes nothing that changes:

    cells      [ row, stop, leaving, answering, state.front, state.end, ... ]
    kept       [ state.back_partial, ... ]

`resume` and `suspend` are written out for the state of one algorithm (`state_functions`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from windrow.algorithms import Algorithm
from windrow.compiler.slots import (
    Partial,
    Ring,
    State,
    evict,
    evict_many,
    finish,
    half_leaving,
    has_room,
    insert,
    insert_at_time,
    insert_first,
    insert_next,
    leaving,
    lift_row,
    load_integer,
    lower_row,
    query,
    store_integer,
)
from windrow.compiler.syntax import define

Block = Any

#: what the cells before the state's are: the rows to insert, how many events leave, and whether
#: to answer
ROW, STOP, LEAVING, ANSWERING = range(4)
#: where the numbers of the state begin
STATE = 4


def resume(cells: Ring, kept: Ring) -> State:
    """The state in memory; see `state_functions`."""
    raise AssertionError("linked for one algorithm")


def suspend(cells: Ring, kept: Ring, state: State) -> None:
    """Put the state into memory; see `state_functions`."""
    raise AssertionError("linked for one algorithm")


def insert_rows(
    columns: Block, validities: Block, ring: Ring, state: State, begin: int, stop: int
) -> tuple[State, int]:
    """Insert rows, and answer none."""
    for row in range(begin, stop):
        if not has_room(state, ring):
            return state, row
        state = insert(state, ring, lift_row(columns, validities, row))
    return state, stop


def insert_rows_by_policy(
    columns: Block, validities: Block, ring: Ring, state: State, begin: int, stop: int
) -> tuple[State, int]:
    """Insert rows; after each, those leave that the policy lets leave."""
    for row in range(begin, stop):
        if not has_room(state, ring):
            return state, row
        state = insert(state, ring, lift_row(columns, validities, row))
        count = leaving(state, ring)
        if count == 1:
            state = evict(state, ring)
        elif count > 1:
            state = evict_many(state, ring, count)
    return state, stop


def insert_rows_by_halves(
    columns: Block, validities: Block, ring: Ring, state: State, begin: int, stop: int
) -> tuple[State, int]:
    """Insert rows; after each, the older half leaves, as often as the policy lets it leave."""
    for row in range(begin, stop):
        if not has_room(state, ring):
            return state, row
        state = insert(state, ring, lift_row(columns, validities, row))
        count = half_leaving(state, ring)
        while count > 0:
            state = evict_many(state, ring, count)
            count = half_leaving(state, ring)
    return state, stop


def insert_rows_in_any_order(
    columns: Block, validities: Block, ring: Ring, state: State, begin: int, stop: int
) -> tuple[State, int]:
    """Insert rows at their times, those without at the newest; the last two columns tell which."""
    for row in range(begin, stop):
        if not has_room(state, ring):
            return state, row
        partial = lift_row(columns, validities, row)
        if columns[-1][row]:
            state = insert_at_time(state, ring, columns[-2][row], partial)
        else:
            state = insert(state, ring, partial)
    return state, stop


def insert_sorted_rows(
    columns: Block, validities: Block, ring: Ring, state: State, begin: int, stop: int
) -> tuple[State, int]:
    """Insert rows at their times, which do not decrease; there is room for all."""
    if begin < stop:
        partial = lift_row(columns, validities, begin)
        state = insert_first(state, ring, columns[-2][begin], partial)
        for row in range(begin + 1, stop):
            partial = lift_row(columns, validities, row)
            state = insert_next(state, ring, columns[-2][row], partial)
        finish(ring)
    return state, stop


def serve(
    columns: Block, validities: Block, answers: Block, defined: Block,
    ring: Ring, kept: Ring, cells: Ring,
) -> None:  # fmt: skip
    """Let events leave, insert rows, and answer, as the cells say.

    Events leave first. Of the rows, those that are to leave at once are not inserted. If the ring
    is full, it raises, and the rows that are left stand in the cells; otherwise zeros do. Before it
    answers, all is in memory: an answer may be no number of 64 bits, and raise.
    """
    state = resume(cells, kept)
    going = load_integer(cells, LEAVING)
    row, stop = load_integer(cells, ROW), load_integer(cells, STOP)
    if going > 0:
        held = size(state)
        if going > held:
            row += going - held
            going = held
        if going == 1:
            state = evict(state, ring)
        elif going > 1:
            state = evict_many(state, ring, going)
        store_integer(cells, LEAVING, 0)
    state, row = insert_waiting(columns, validities, ring, state, row, stop)
    suspend(cells, kept, state)
    if row < stop:
        store_integer(cells, ROW, row)
        raise MemoryError("the ring is full")
    store_integer(cells, ROW, 0)
    store_integer(cells, STOP, 0)
    if load_integer(cells, ANSWERING) != 0:
        lower_row(answers, defined, 0, query(state, ring))


def size(state: State) -> int:
    """The number of events, for algorithms that do not say it themselves."""
    return state.end - state.front  # type: ignore[no-any-return]


def insert_waiting(
    columns: Block, validities: Block, ring: Ring, state: State, begin: int, stop: int
) -> tuple[State, int]:
    """One of the loops above."""
    raise AssertionError("linked for a window with a policy, or without")


def state_functions(algorithm: Algorithm) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """`resume` and `suspend` for the states of an algorithm."""
    reads, writes = [], []
    numbers, partials = places(algorithm)
    for field in algorithm.State._fields:  # type: ignore[attr-defined]
        if field in partials:
            reads.append(f"load(kept, {partials[field]})")
            writes.append(f"store(kept, {partials[field]}, state.{field})")
        else:
            reads.append(f"load_integer(cells, {numbers[field]})")
            writes.append(f"store_integer(cells, {numbers[field]}, state.{field})")
    text = "\n".join(
        [
            "def resume(cells, kept):",
            f"    return State({', '.join(reads)})",
            "",
            "def suspend(cells, kept, state):",
            *(f"    {line}" for line in writes),
        ]
    )
    namespace: dict[str, Any] = {"__name__": __name__, "State": algorithm.State}
    define(text, f"<state of {algorithm.NAME}>", namespace)
    return namespace["resume"], namespace["suspend"]


def places(algorithm: Algorithm) -> tuple[dict[str, int], dict[str, int]]:
    """Where the numbers of a state lie in the cells, and where its partials lie."""
    numbers: dict[str, int] = {}
    partials: dict[str, int] = {}
    for field, kind in algorithm.State.__annotations__.items():
        if kind in (Partial, "Partial"):
            partials[field] = len(partials)
        else:
            numbers[field] = STATE + len(numbers)
    return numbers, partials
