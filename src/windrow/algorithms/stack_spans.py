"""Windows whose spans are known, by Two-Stacks, in whole blocks of rows.

paper      Tangwongsan et al. 2021, §3
combines   at most 3 for each row: its aggregate in the back, one in a flip, and the answer

The aggregates of both stacks answer every window that begins in the front and ends in the back:

    values       [ c     d     ..  g | h  i    j     k       ]
    aggregates   [ c..g  d..g  ..  g | h  h..i h..j  h..k    ]
                         ^                     ^
                       first                stop - 1            the window d..j

So all rows enter that windows of a block of rows hold, and then the rows are answered, each by one
combine. A block ends where a window begins behind the front: then the back is flipped.

How many rows enter and leave from one row to the next cannot be predicted. One loop over rows that
inserts, evicts and queries waits for every wrong guess: for a sum over 1,000 seconds around each
row, this takes less than half its time (benchmarks/around.py).
"""

from typing import Any

from windrow.algorithms.two_stacks import State, back_aggregate, flip
from windrow.compiler.slots import (
    Ring,
    capacity,
    combine,
    empty,
    lift_row,
    load,
    lower_row,
    store,
)

Block = Any


def first_beyond(numbers: Block, low: int, high: int, limit: int) -> int:
    """The first place between two whose number is beyond a limit; numbers do not fall.

    Steps double from the lower place on: windows of few rows are blocks of few windows.
    """
    step = 1
    while low + step < high and numbers[low + step] <= limit:
        low += step
        step *= 2
    high = min(low + step, high)
    while low < high:
        middle = (low + high) // 2
        if numbers[middle] <= limit:
            low = middle + 1
        else:
            high = middle
    return low


def enter_rows(
    columns: Block, validities: Block, ring: Ring, state: State, position: int, stop: int
) -> State:
    """Push the rows up to `stop` on the back."""
    values, aggregates = ring
    partial = back_aggregate(state, aggregates)
    for row in range(state.end, stop):
        event = lift_row(columns, validities, row - position)
        store(values, row, event)
        partial = combine(partial, event)
        store(aggregates, row, partial)
    return state._replace(end=max(state.end, stop))


def answer_spans(
    answers: Block, defined: Block, ring: Ring, back: int,
    firsts: Block, stops: Block, begin: int, stop: int, moved: int,
) -> None:  # fmt: skip
    """Answer the spans from `begin` to `stop`; that of a span goes to its place and `moved`.

    Neither end falls. So windows within the front come first, and windows within the back last.
    """
    aggregates = ring[1]
    entering = first_beyond(stops, begin, stop, back)
    leaving = first_beyond(firsts, begin, stop, back - 1)
    for place in range(begin, min(entering, leaving)):
        lower_row(answers, defined, place + moved, load(aggregates, firsts[place]))
    for place in range(entering, leaving):
        older, newer = load(aggregates, firsts[place]), load(aggregates, stops[place] - 1)
        lower_row(answers, defined, place + moved, combine(older, newer))
    for place in range(max(entering, leaving), stop):
        lower_row(answers, defined, place + moved, load(aggregates, stops[place] - 1))


def over_spans(
    columns: Block, validities: Block, answers: Block, defined: Block,
    ring: Ring, state: State, firsts: Block, stops: Block, spanned: int,
    position: int, answered: int, answer_until: int, begin: int, stop: int,
) -> tuple[State, int]:  # fmt: skip
    """Answer as `over_spans` of `windrow.engine.loops` does, block by block."""
    place, last = begin - spanned, stop - spanned
    while place < last:
        first = firsts[place]
        # Twice the room: in less, blocks would be short.
        if 2 * (stops[place] - first) > capacity(ring[0]):
            return state, place + spanned
        if first >= state.end:
            state = empty(ring, first)
        elif first > state.back:
            state = flip(state._replace(front=first, back=first), ring)
        state = state._replace(front=first)
        until = first_beyond(firsts, place, last, state.back)
        until = first_beyond(stops, place, until, first + capacity(ring[0]))
        state = enter_rows(columns, validities, ring, state, position, stops[until - 1])
        last_answer, moved = min(until, answer_until - spanned), spanned - answered
        answer_spans(answers, defined, ring, state.back, firsts, stops, place, last_answer, moved)
        place = until
    return state, stop


#: what the driver calls, callees first
FUNCTIONS = (first_beyond, enter_rows, answer_spans)
