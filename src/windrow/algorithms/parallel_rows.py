"""Windows of rows by the Parallel Boundary Aggregator, in whole blocks.

paper      Zhang et al. 2021, §4
combines   2 for each row: csa, and the answer; lcs on a second thread

As `boundary_rows`, a chunk is a whole window. Theorem 1 of the paper allows that only if slides are
long: the lcs of a chunk is due at once when the chunk is closed, and it cannot begin before the
last event is there. In a block, all rows are there. So the lcs of a chunk is begun before the
window comes to the chunk, while the chunk before is used up, and it has a whole window's time.

      rows        |  oldest chunk  |  current chunk  |
      window              [ lcs    |  csa ]
      helper                        <- lcs of the current chunk, from its last row on

The window's thread lifts the rows of the chunk into their slots and hands the chunk over. The
helper writes lcs over them, so for its csa the window's thread lifts the rows once more. If the
block ends within the chunk, it goes on as `boundary_rows` does, and the rest is handed over when
the next block brings it.
"""

from typing import Any

from windrow.algorithms.boundary_rows import merge_chunks, reach_further, slide_rows
from windrow.algorithms.parallel_boundary import SMALLEST, hand_over, settle
from windrow.algorithms.sequential_boundary import State
from windrow.compiler.slots import (
    Ring,
    combine,
    identity,
    lift_row,
    load,
    lower_row,
    store,
)

Block = Any


def slide_ahead(
    columns: Block, validities: Block, answers: Block, defined: Block,
    ring: Ring, state: State, row: int, answer: int, count: int,
) -> State:  # fmt: skip
    """Slide until the oldest chunk is used up, and the current one is the oldest, with its lcs."""
    end = state.end + count
    for index in range(count):
        store(ring.slots, state.end + index, lift_row(columns, validities, row + index))
    hand_over(ring, state.current, end)
    partial = state.current_partial
    for index in range(count - 1):
        partial = combine(partial, lift_row(columns, validities, row + index))
        oldest = load(ring.slots, state.front + index + 1)
        lower_row(answers, defined, answer + index, combine(oldest, partial))
    partial = combine(partial, lift_row(columns, validities, row + count - 1))
    lower_row(answers, defined, answer + count - 1, partial)
    settle(ring)
    return state._replace(
        front=state.middle, middle=end, current=end, end=end, current_partial=identity()
    )


def slide_chunk(
    columns: Block, validities: Block, answers: Block, defined: Block,
    ring: Ring, state: State, row: int, answer: int, count: int,
) -> State:  # fmt: skip
    """Slide; ahead of the rest of a chunk, if the block has it and it is worth a helper."""
    if count == state.middle - state.front and state.end + count - state.current >= SMALLEST:
        return slide_ahead(columns, validities, answers, defined, ring, state, row, answer, count)
    return slide_rows(columns, validities, answers, defined, ring, state, row, answer, count)


#: what the driver calls, callees first
FUNCTIONS = (reach_further, merge_chunks, slide_rows, slide_ahead, slide_chunk)
