"""Any aggregation of different values: a tree of partials over a block's rows (see `value_counts`).

The first row of each value in the window has its partial at its leaf, every other row the identity.
So the root is the partial of the different values in the order of their first arrival. When the
first row of a value leaves, the next row of that value takes its place.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from windrow.algorithms.value_counts import base_of
from windrow.compiler.slots import (
    Partial,
    Ring,
    capacity,
    combine,
    identity,
    lift_row,
    load,
    lower_row,
    store,
)


def distinct_blocks(
    columns: Any, validities: Any, answers: Any, defined: Any, tree: Ring, before: Any, after: Any,
    firsts: Any, stops: Any, currents: Any, origin: int, begin: int, end: int, size: int,
    filled: Any,
) -> None:  # fmt: skip
    """Answer the rows from `begin` to `end`, in blocks of `size` rows.

    Args:
        columns, validities, answers, defined: as for the loops of `engine/loops.py`.
        tree: partials; the second half are the leaves, one for each row of a block.
        before, after: the rows with equal values (see `value_orders`).
        firsts, stops, currents, origin, begin, end, size: as for `quantile_blocks`.
        filled: which rows have a window with values, by row.
    """
    leaves = capacity(tree) >> 1
    for opening in range(begin, end, size):
        closing = min(opening + size, end)
        base = base_of(firsts, currents, opening, closing, origin)
        for node in range(1, 2 * leaves):
            store(tree, node, identity())
        first, stop, held = firsts[opening - origin], firsts[opening - origin], np.int64(0)
        for row in range(opening, closing):
            next_first, next_stop = firsts[row - origin], stops[row - origin]
            kept_from = stop if next_first < first else min(next_first, stop)
            while first < kept_from:
                following = after[first]
                if following >= 0:  # it counts
                    put_leaf(tree, leaves + first - base, identity())
                    if following < stop:
                        event = lift_row(columns, validities, following)
                        put_leaf(tree, leaves + following - base, event)
                    else:
                        held -= 1
                first += 1
            if first == stop:
                first, stop = next_first, next_first
            while stop < next_stop:
                if before[stop] < first:
                    put_leaf(tree, leaves + stop - base, lift_row(columns, validities, stop))
                    held += 1
                stop += 1
            filled[row] = held > 0
            if held > 0:
                lower_row(answers, defined, row, load(tree, 1))


def put_leaf(tree: Ring, leaf: int, partial: Partial) -> None:
    """Write a leaf, and all that is above it."""
    store(tree, leaf, partial)
    node = leaf >> 1
    while node > 0:
        store(tree, node, combine(load(tree, 2 * node), load(tree, 2 * node + 1)))
        node >>= 1


#: what the loop is linked with
TREE = (put_leaf,)
