"""Ranks of current rows: places below are counted (see `value_counts`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from windrow.algorithms.ranked_bits import clear, count_below, count_between, flip_counted
from windrow.algorithms.value_counts import base_of, current_of, end_of
from windrow.algorithms.value_orders import sort_places, tie_bounds

#: what is written for a rank: a `RankMethod` of `algebra.value_counts`, or the percent rank
MIN, MAX, AVERAGE, DENSE, PERCENT = range(5)


def rank_blocks(
    keys: Any, counted: Any, room: Any, spare: Any, counts: Any, places: Any, rows: Any,
    heads: Any, tails: Any, words: Any, sums: Any, larger: Any, times: Any,
    firsts: Any, stops: Any, currents: Any, origin: int, begin: int, end: int, size: int,
    written: int, descending: int, defined: Any, numbers: Any, found: Any,
) -> None:  # fmt: skip
    """Answer the rows from `begin` to `end` with their ranks, in blocks of `size` rows.

    Args:
        keys, counted, room, spare, counts, places, rows: for `sort_places`.
        heads, tails: for `tie_bounds`.
        words, sums, larger: bits that are counted, one for each row of a block.
        times: how often a value is in the window, at its first place; for `DENSE`.
        firsts, stops, currents, origin, begin, end, size: as for `quantile_blocks`.
        written: what is written.
        descending: 1 to rank from the largest.
        defined: which rows have an answer, by row.
        numbers, found: answers that are floats, or integers, by row.
    """
    for first in range(begin, end, size):
        stop = min(first + size, end)
        base = base_of(firsts, currents, first, stop, origin)
        last = end_of(stops, currents, first, stop, origin)
        held = sort_places(keys, counted, base, last, room, spare, counts, places, rows)
        tie_bounds(keys, base, rows, held, heads, tails)
        clear(words, sums, last - base)
        larger[:] = 0
        times[:] = 0
        ranks_of_block(
            places, heads, tails, base, words, sums, larger, times, firsts, stops, currents, origin,
            first, stop, written, descending, defined, numbers, found,
        )  # fmt: skip


def ranks_of_block(
    places: Any, heads: Any, tails: Any, base: Any, words: Any, sums: Any, larger: Any,
    times: Any, firsts: Any, stops: Any, currents: Any, origin: int, begin: int, end: int,
    written: int, descending: int, defined: Any, numbers: Any, found: Any,
) -> None:  # fmt: skip
    """Answer a block's rows with their ranks.

    A row that is outside its own window is ranked as if it were in it, unless that holds no value.
    For `DENSE`, the bits are the first places of the values that are in the window.
    """
    first, stop, held = firsts[begin - origin], firsts[begin - origin], np.int64(0)
    for row in range(begin, end):
        next_first, next_stop = firsts[row - origin], stops[row - origin]
        kept_from = stop if next_first < first else min(next_first, stop)
        while first < kept_from:
            place = np.int64(places[first - base])
            first += 1
            if place >= 0:
                held -= leave(words, sums, larger, times, heads, place, written)
        if first == stop:
            first, stop = next_first, next_first
        while stop < next_stop:
            place = np.int64(places[stop - base])
            stop += 1
            if place >= 0:
                held += enter(words, sums, larger, times, heads, place, written)
        current = current_of(currents, row, origin)
        own = places[current - base]
        defined[row] = own >= 0 and held > 0
        if own < 0 or held == 0:
            continue
        head, tail = np.int64(heads[own]), np.int64(tails[own])
        smaller = count_below(words, sums, larger, head)
        itself = 0 if first <= current < stop else 1
        if written == PERCENT:
            numbers[row] = smaller / max(held + itself - 1, 1)
            continue
        through = smaller + count_between(words, sums, larger, head, tail)
        lowest, highest = smaller + 1, through + itself
        if descending:
            lowest, highest = held - through + 1, held - smaller + itself
        if written == AVERAGE:
            numbers[row] = (lowest + highest) / 2
        else:
            found[row] = highest if written == MAX else lowest


def enter(
    words: Any, sums: Any, larger: Any, times: Any, heads: Any, place: Any, written: int
) -> Any:
    """A row enters; how many bits more there are."""
    if written == DENSE:
        place = np.int64(heads[place])
        times[place] += 1
        if times[place] > 1:
            return 0
    flip_counted(words, sums, larger, place, 1)
    return 1


def leave(
    words: Any, sums: Any, larger: Any, times: Any, heads: Any, place: Any, written: int
) -> Any:
    """A row leaves; how many bits less there are."""
    if written == DENSE:
        place = np.int64(heads[place])
        times[place] -= 1
        if times[place] > 0:
            return 0
    flip_counted(words, sums, larger, place, -1)
    return 1
