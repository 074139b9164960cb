"""Different values, counted, and the most frequent one (see `value_counts`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from windrow.algorithms.value_counts import base_of

#: in the place of a row: there is none; there are more different values than are allowed
NONE, TOO_MANY = -1, -2


def distinct_counts(
    before: Any, after: Any, firsts: Any, stops: Any, currents: Any, origin: int, begin: int,
    end: int, size: int, found: Any,
) -> None:  # fmt: skip
    """Answer the rows from `begin` to `end` with the number of different values.

    Args:
        before, after: the rows with equal values (see `value_orders`).
        firsts, stops, currents, origin, begin, end: as for `quantile_blocks`.
        size: of no use here: no block needs room.
        found: the answers, by row.
    """
    first, stop, held = firsts[begin - origin], firsts[begin - origin], np.int64(0)
    for row in range(begin, end):
        next_first, next_stop = firsts[row - origin], stops[row - origin]
        if next_first >= stop or next_first < first:
            first, stop, held = next_first, next_first, np.int64(0)
        while stop < next_stop:
            held += np.int64(before[stop] < first)
            stop += 1
        while first < next_first:
            held -= np.int64(after[first] >= stop)
            first += 1
        found[row] = held


def mode_blocks(
    value_numbers: Any, after: Any, oldest: Any, times: Any, tree: Any,
    firsts: Any, stops: Any, currents: Any, origin: int, begin: int, end: int, size: int,
    limit: int, found: Any,
) -> None:  # fmt: skip
    """Answer the rows from `begin` to `end` with the first row of the most frequent value.

    Args:
        value_numbers, after: the rows with equal values (see `value_orders`).
        oldest: of each number, its first row in the window.
        times: of each number, how often it is in the window; 0 before and afterwards.
        tree: the tournament; its second half are the leaves, one for each row of a block.
        firsts, stops, currents, origin, begin, end, size: as for `quantile_blocks`.
        limit: how many different values are allowed; 0 for any number.
        found: the answers, by row.
    """
    leaves = len(tree) >> 1
    for opening in range(begin, end, size):
        closing = min(opening + size, end)
        base = base_of(firsts, currents, opening, closing, origin)
        tree[:] = 0
        first, stop, held = firsts[opening - origin], firsts[opening - origin], np.int64(0)
        for row in range(opening, closing):
            next_first, next_stop = firsts[row - origin], stops[row - origin]
            kept_from = stop if next_first < first else min(next_first, stop)
            while first < kept_from:
                number = value_numbers[first]
                if number >= 0:
                    times[number] -= 1
                    play(tree, leaves + first - base, 0)
                    if times[number] > 0:
                        oldest[number] = after[first]
                        play(tree, leaves + after[first] - base, times[number])
                    else:
                        held -= 1
                first += 1
            if first == stop:
                first, stop = next_first, next_first
            while stop < next_stop:
                number = value_numbers[stop]
                if number >= 0:
                    if times[number] == 0:
                        oldest[number] = stop
                        held += 1
                    times[number] += 1
                    play(tree, leaves + oldest[number] - base, times[number])
                stop += 1
            found[row] = base + winner(tree, leaves) if held > 0 else NONE
            if limit > 0 and held > limit:
                found[row] = TOO_MANY
        for row in range(first, stop):
            if value_numbers[row] >= 0:
                times[value_numbers[row]] = 0


def play(tree: Any, leaf: int, count: int) -> None:
    """Write a leaf, and the larger of each two above it."""
    tree[leaf] = count
    node = leaf >> 1
    while node > 0:
        larger = max(tree[2 * node], tree[2 * node + 1])
        if tree[node] == larger:
            break
        tree[node] = larger
        node >>= 1


def winner(tree: Any, leaves: int) -> Any:
    """The first leaf with the largest count."""
    node = 1
    while node < leaves:
        node *= 2
        if tree[node] < tree[1]:
            node += 1
    return node - leaves
