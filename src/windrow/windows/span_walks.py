"""How far windows of time reach: for each row, the first that is not too far behind it.

Rows are sorted, so the answer never falls along a run, and one walk along the run finds all of
them. Where rows come in steps of one length, the answer lies a fixed number of rows behind, and
nothing is walked. How many rows leave from one row to the next can be predicted only where rows
come at regular times. There, an inner loop is fastest. Elsewhere each step of a walk moves one of
two places without a branch, the row or the first; and because a step waits for the one before, four
such walks go side by side. For 1 million rows at irregular times they take a third of the time of
inner loops.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from windrow.compiler.array_loops import compiled_loop

Array = np.ndarray[Any, Any]

#: so many rows are walked in one of both ways
_SEGMENT = 4096
#: fewer rows take no longer with one walk
_SHORTEST = 64


def _first_near(
    starts: Array, measure: Array, base: int, end: int, amount: int, segment: int, shortest: int,
    row: int, first: int, firsts: Array, rows: Array, ends: Array, heads: Array,
) -> None:  # fmt: skip
    begin, last_row = row, row + len(firsts)
    run = np.searchsorted(starts, row + 1)
    even_from = even_to = min(first, row)
    step = amount - amount
    while row < last_row:
        if row >= starts[run]:
            run += 1
        first = max(first, starts[run - 1])
        run_stop = min(starts[run], end)
        until = min(run_stop, last_row, row + segment)
        # Steps of one length: all rows since `even_from` are one step behind the next.
        if even_from < starts[run - 1]:
            even_from = even_to = min(first, row)
        if even_to == even_from and even_from + 1 < run_stop:
            step = measure[even_from + 1 - base] - measure[even_from - base]
        if step > 0 and even_from <= min(first, row):
            distance = (amount - 1) // step
            needed = min(run_stop, max(until, until - distance))
            # Places in slices are never negative, so these loops have no branches.
            looked_at, odd = measure[even_to - base : needed - base], 0
            for place in range(len(looked_at) - 1):
                odd += looked_at[place + 1] - looked_at[place] != step
            even_to = max(even_to, needed - 1)
            if odd == 0:
                found = firsts[row - begin : until - begin]
                for place in range(len(found)):
                    found[place] = min(max(row + place - distance, first), run_stop)
                row, first = until, found[-1]
                continue
            even_from = even_to
        # Regular times: as long as at most one row in eight lets another number of rows leave than
        # the row before it did.
        patience, moved = 64, 0
        while row < until and patience > 0:
            before, now = first, measure[row - base]
            while first < run_stop and now - measure[first - base] >= amount:
                first += 1
            firsts[row - begin] = first
            patience += 1 - 8 * (first - before != moved)
            moved = first - before
            row += 1
        rows[0], ends[0], heads[0] = row, until, first
        walks = 1
        if until - row >= shortest:
            walks = 4
            for walk in range(1, 4):
                rows[walk] = ends[walk - 1] = row + walk * ((until - row) // 4)
                ends[walk] = until
                now = measure[rows[walk] - base]
                low, high = heads[walk - 1], run_stop
                while low < high:
                    middle = (low + high) // 2
                    if now - measure[middle - base] >= amount:
                        low = middle + 1
                    else:
                        high = middle
                heads[walk] = low
            row_0, row_1, row_2, row_3 = rows[0], rows[1], rows[2], rows[3]
            end_0, end_1, end_2, end_3 = ends[0], ends[1], ends[2], ends[3]
            head_0, head_1, head_2, head_3 = heads[0], heads[1], heads[2], heads[3]
            while (
                row_0 < end_0 and row_1 < end_1 and row_2 < end_2 and row_3 < end_3
                and head_3 < run_stop
            ):  # fmt: skip
                firsts[row_0 - begin] = head_0
                firsts[row_1 - begin] = head_1
                firsts[row_2 - begin] = head_2
                firsts[row_3 - begin] = head_3
                leaves_0 = measure[row_0 - base] - measure[head_0 - base] >= amount
                leaves_1 = measure[row_1 - base] - measure[head_1 - base] >= amount
                leaves_2 = measure[row_2 - base] - measure[head_2 - base] >= amount
                leaves_3 = measure[row_3 - base] - measure[head_3 - base] >= amount
                head_0, row_0 = head_0 + leaves_0, row_0 + (not leaves_0)
                head_1, row_1 = head_1 + leaves_1, row_1 + (not leaves_1)
                head_2, row_2 = head_2 + leaves_2, row_2 + (not leaves_2)
                head_3, row_3 = head_3 + leaves_3, row_3 + (not leaves_3)
            rows[0], rows[1], rows[2], rows[3] = row_0, row_1, row_2, row_3
            heads[0], heads[1], heads[2], heads[3] = head_0, head_1, head_2, head_3
        for walk in range(walks):
            row, first = rows[walk], heads[walk]
            while row < ends[walk] and first < run_stop:
                firsts[row - begin] = first
                leaves = measure[row - base] - measure[first - base] >= amount
                first, row = first + leaves, row + (not leaves)
            while row < ends[walk]:
                firsts[row - begin] = first
                row += 1


def first_near(
    starts: Array, measure: Array, base: int, end: int, amount: int,
    begin: int, stop: int, oldest: int,
) -> Array:  # fmt: skip
    """For each row, the first of its run that lies less than an amount behind it.

    With an amount below 1 that is a row ahead of it, or the end of its run.

    Args:
        starts: where runs begin, that of the first row among them.
        measure: of the rows from `base` on; it does not fall along a run.
        end: the row behind the last that is there.
        amount: how far behind is too far.
        begin, stop: the rows.
        oldest: where to begin to look; no answer is before it.
    """
    firsts = np.empty(stop - begin, np.int64)
    rows, ends, heads = np.empty((3, 4), np.int64)
    compiled_loop(_first_near)(
        starts, measure, base, end, amount, _SEGMENT, _SHORTEST,
        begin, oldest, firsts, rows, ends, heads,
    )  # fmt: skip
    return firsts
