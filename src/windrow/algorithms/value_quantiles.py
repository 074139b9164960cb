"""Quantiles of windows: a pointer among sorted places (see `value_counts`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from windrow.algebra.ordering import unrank
from windrow.algorithms.ranked_bits import (
    add_place,
    at,
    clear,
    place_after,
    place_before,
    remove_place,
)
from windrow.algorithms.value_counts import base_of, end_of
from windrow.algorithms.value_orders import sort_places

#: what a quantile is between two values, by its place in `algebra.value_counts.Interpolation`
LINEAR, LOWER, HIGHER, NEAREST, MIDPOINT = range(5)
#: what is written for a quantile: a number between keys that are floats or integers, a key, a row
OF_FLOATS, OF_INTEGERS, KEY, ROW = range(4)


def quantile_blocks(
    keys: Any, counted: Any, room: Any, spare: Any, counts: Any, places: Any, rows: Any,
    words: Any, summary: Any, firsts: Any, stops: Any, currents: Any, origin: int, begin: int,
    end: int, size: int, shares: Any, interpolations: Any, written: Any, defined: Any, numbers: Any,
    found: Any,
) -> None:  # fmt: skip
    """Answer the rows from `begin` to `end` with quantiles, in blocks of `size` rows.

    Args:
        keys, counted, room, spare, counts, places, rows: for `sort_places`.
        words, summary: bits, one for each row of a block.
        firsts, stops: the window of each row, by row less `origin`.
        currents: the row that each answer is about; none if that is the row itself.
        origin: the row of the first window.
        begin, end: the rows to answer.
        size: how many rows a block answers.
        shares: which quantiles.
        interpolations: what each is between two values.
        written: what is written for each.
        defined: which rows have an answer, by row.
        numbers, found: answers that are floats, or keys and rows, by quantile and row.
    """
    for first in range(begin, end, size):
        stop = min(first + size, end)
        base = base_of(firsts, currents, first, stop, origin)
        last = end_of(stops, currents, first, stop, origin)
        sort_places(keys, counted, base, last, room, spare, counts, places, rows)
        for each in range(len(shares)):
            clear(words, summary, last - base)
            quantile_of_block(
                keys, base, places, rows, words, summary, firsts, stops, origin, first, stop,
                shares[each], interpolations[each], written[each],
                defined, numbers[each], found[each],
            )  # fmt: skip


def quantile_of_block(
    keys: Any, base: Any, places: Any, rows: Any, words: Any, summary: Any, firsts: Any,
    stops: Any, origin: int, begin: int, end: int, share: float, interpolation: int,
    written: int, defined: Any, numbers: Any, found: Any,
) -> None:  # fmt: skip
    """Answer a block's rows with one quantile."""
    first, stop = firsts[at(begin - origin)], firsts[at(begin - origin)]
    held, pointer, below = np.int64(0), np.int64(0), np.int64(0)
    for row in range(begin, end):
        next_first, next_stop = firsts[at(row - origin)], stops[at(row - origin)]
        if next_first >= stop or next_first < first:
            # It begins anew: nothing of it is left, as at another key; or rows come back to it.
            while first < stop:
                if places[at(first - base)] >= 0:
                    remove_place(words, summary, np.int64(places[at(first - base)]))
                first += 1
            first, stop = next_first, next_first
            held, below = np.int64(0), np.int64(0)
        while stop < next_stop:
            place = np.int64(places[at(stop - base)])
            stop += 1
            if place >= 0:
                add_place(words, summary, place)
                if held == 0:
                    pointer = place
                held += 1
                below += np.int64(place < pointer)
        while first < next_first:
            place = np.int64(places[at(first - base)])
            first += 1
            if place >= 0:
                remove_place(words, summary, place)
                held -= 1
                below -= np.int64(place < pointer)
                if place == pointer and held > 0:
                    if below < held:
                        pointer = place_after(words, summary, pointer)
                    else:
                        pointer = place_before(words, summary, pointer)
                        below -= 1
        defined[row] = held > 0
        if held == 0:
            continue
        exact: Any = share * (held - 1)
        wanted = np.int64(exact)
        beyond = exact - wanted
        if beyond > 0 and interpolation != LINEAR:
            even = beyond == 0.5 and wanted & 1 == 0
            if interpolation == HIGHER or (interpolation == NEAREST and beyond >= 0.5 and not even):
                wanted += 1
            beyond = 0.5 if interpolation == MIDPOINT else 0.0
        while below < wanted:
            pointer = place_after(words, summary, pointer)
            below += 1
        while below > wanted:
            pointer = place_before(words, summary, pointer)
            below -= 1
        own = base + rows[at(pointer)]
        if written == ROW:
            found[row] = own
        elif written == KEY:
            found[row] = keys[at(own)]
        else:
            number = decoded(keys[at(own)], written)
            if beyond > 0:
                upper = rows[at(place_after(words, summary, pointer))]
                number = between(number, decoded(keys[at(base + upper)], written), beyond)
            numbers[row] = number


def between(lower: float, upper: float, beyond: float) -> float:
    """The number so far between two; as `algebra.value_counts.between`."""
    if lower == upper:
        return lower
    return lower * (1.0 - beyond) + upper * beyond


def decoded(key: Any, written: int) -> float:
    """The number that a key stands for."""
    return unrank(key) if written == OF_FLOATS else float(key)
