"""The loops that drive rows through a block tree (see `block_tree`).

A loop stops when a block is full and has to go to the store, or when it needs a block that is not
in memory. Then it returns the next row. The caller moves the block and calls it again.
"""

from typing import Any

from windrow.algorithms.block_levels import ASKING, LEAVING, SETTLED, Levels, State
from windrow.algorithms.block_policies import ask, needs_no_block, search, settled
from windrow.algorithms.block_tree import insert, is_ready, let_leave, query, refill
from windrow.compiler.slots import lift_row, lower_row

Block = Any


def insert_rows(
    columns: Block, validities: Block, answers: Block, defined: Block,
    levels: Levels, state: State, row: int, stop: int, inserting: bool, answering: bool,
) -> tuple[State, int]:  # fmt: skip
    """Insert rows until a block is full, and answer each.

    Not inserting, it answers for the window as it is.
    """
    state = refill(state, levels)
    while row < stop:
        if inserting:
            state = insert(state, levels, lift_row(columns, validities, row))
        if answering:
            lower_row(answers, defined, row, query(state, levels))
        row += 1
        if state.end & ((1 << state.bits) - 1) == 0:
            break
    return state, row


def slide_rows(
    columns: Block, validities: Block, answers: Block, defined: Block,
    levels: Levels, state: State, row: int, stop: int, inserting: bool, answering: bool,
) -> tuple[State, int]:  # fmt: skip
    """Like `insert_rows`, with a policy that is asked after each row, and may need a block for it.

    If the policy is not settled, the row that it is called with has been inserted.
    """
    while row < stop:
        state = refill(state, levels)
        if state.policy == SETTLED and inserting:
            state = ask(insert(state, levels, lift_row(columns, validities, row)), levels)
        if state.policy == ASKING:
            state = search(state, levels)
            if state.policy == ASKING:
                break
        if state.policy == LEAVING:
            state = let_leave(state, levels)
            if not is_ready(state):
                if needs_no_block(state):
                    continue
                break
            state = settled(state)
        if answering:
            lower_row(answers, defined, row, query(state, levels))
        row += 1
        if state.end & ((1 << state.bits) - 1) == 0:
            break
    return state, row
