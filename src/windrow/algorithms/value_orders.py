"""The order of a block's values, and the rows that have equal ones. No loop here knows their type.

A value is a key: an integer in the order of the values, such as a float's rank. A row that does not
count has place -1.

    row        0   1   2   3   4   5
    key        7   3   9   3   -   7       row 4 does not count
    place      2   0   4   1  -1   3       where it stands once all are sorted, older rows first
    before    -1  -1  -1   1   6   0       the last row before with an equal key, -1 for none
    after      5   3   6   6  -1   6       the next such row, 6 for none
    number     0   1   2   1  -1   0       equal for equal keys, in the order of their arrival
"""

from __future__ import annotations

from typing import Any

import numpy as np

from windrow.algebra.ordering import rank
from windrow.algorithms.ranked_bits import at

#: bits that a pass of the sort looks at, and the bits of a key that a round of four passes sorts by
DIGIT, PART = 8, 31
DIGITS = 1 << DIGIT
#: how many counts a sort needs room for: of the values of each of four digits
COUNTS = 4 * DIGITS
OFFSET = (1 << 32) - 1
#: keys beyond are halved before they are subtracted
FAR = 2**61
#: how far a key moves at most, on average, before all bits are sorted by
PATIENCE = 8


def float_keys(numbers: Any, keys: Any) -> None:
    """The rank of each float."""
    for row in range(len(numbers)):
        keys[row] = rank(numbers[row])


# Sorting -----------------------------------------------------------------------------------------


def sort_places(
    keys: Any, counted: Any, begin: Any, stop: Any, room: Any, spare: Any, counts: Any,
    places: Any, rows: Any,
) -> Any:  # fmt: skip
    """Sort the rows from `begin` to `stop` by key, older rows first among equals.

    A radix sort by the 31 highest bits in which keys differ, then an insertion sort of what is
    equal so far: floats are sorted by then, but for a few. Digits of 8 bits, because more lists
    than that do not stay in the cache: 400,000 keys took 10 ns each, with 11 bits 14.

    Args:
        keys: those of all rows.
        counted: which rows count; all, if it is empty.
        begin, stop: the rows to sort.
        room, spare, counts: to work in.
        places: the place of each row; -1 if it does not count.
        rows: at each place the row, less `begin`.

    Returns:
        How many rows count.
    """
    low, high = np.int64(2**63 - 1), np.int64(-(2**63))
    held = np.int64(0)
    if len(counted) == 0:
        held = np.int64(stop - begin)
        for row in range(begin, stop):
            low, high = min(low, keys[at(row)]), max(high, keys[at(row)])
    else:
        for row in range(begin, stop):
            places[row - begin] = -1
            if counted[row]:
                low, high = min(low, keys[row]), max(high, keys[row])
                room[held] = row - begin
                held += 1
    if held == 0:
        return 0
    halved = 1 if low < -FAR or high > FAR else 0
    low = low >> halved
    span = (high >> halved) - low
    drop = 0
    while (span >> drop) >> PART:
        drop += 1
    for place in range(held):
        own = room[at(place)] if len(counted) else np.int64(place)
        room[at(place)] = (((keys[at(begin + own)] >> halved) - low) >> drop << 32) | own
    order = sort_parts(room, spare, held, span >> drop, counts)
    source, other = (room, spare) if order == 0 else (spare, room)
    if halved + drop and not settle(keys, begin, source, held):
        for shift in range(0, 64, PART):
            # The two highest bits are the sign and one more: -2 to 1.
            above = 2 if shift == 2 * PART else 0
            for place in range(held):
                row = source[at(place)] & OFFSET
                part = (keys[at(begin + row)] >> shift) + above
                source[at(place)] = ((part & ((1 << PART) - 1)) << 32) | row
            order = sort_parts(source, other, held, (1 << PART) - 1, counts)
            if order:
                source, other = other, source
    for place in range(held):
        row = source[at(place)] & OFFSET
        rows[at(place)] = row
        places[at(row)] = place
    return held


def sort_parts(room: Any, spare: Any, held: Any, span: Any, counts: Any) -> Any:
    """Sort by the upper half of each word, up to `span`; what is equal keeps its order.

    Answers where the sorted words are: 0 for `room`, 1 for `spare`.
    """
    counts[:] = 0
    for place in range(held):
        part = room[at(place)] >> 32
        counts[at(part & 255)] += 1
        counts[at(DIGITS + ((part >> 8) & 255))] += 1
        counts[at(2 * DIGITS + ((part >> 16) & 255))] += 1
        counts[at(3 * DIGITS + (part >> 24))] += 1
    source, target = room, spare
    passes = 0
    while passes == 0 or (passes < 4 and span >> (DIGIT * passes)):
        digits, shift = passes * DIGITS, 32 + DIGIT * passes
        total = np.int64(0)
        for digit in range(digits, digits + DIGITS):
            count = counts[at(digit)]
            counts[at(digit)] = total
            total += count
        for place in range(held):
            word = source[at(place)]
            digit = digits + ((word >> shift) & (DIGITS - 1))
            into = counts[at(digit)]
            target[at(into)] = word
            counts[at(digit)] = into + 1
        source, target = target, source
        passes += 1
    return passes & 1


def settle(keys: Any, begin: int, words: Any, held: Any) -> bool:
    """Sort by whole keys what is sorted by its upper half; False if that takes too long."""
    moves = 0
    for place in range(1, held):
        own = words[place]
        part = own >> 32
        if words[place - 1] >> 32 == part:
            key = keys[begin + (own & OFFSET)]
            into = place
            while into > 0:
                other = words[into - 1]
                if other >> 32 != part or keys[begin + (other & OFFSET)] <= key:
                    break
                words[into] = other
                into -= 1
            words[into] = own
            moves += place - into
            if moves > PATIENCE * held:
                return False
    return True


def tie_bounds(keys: Any, base: Any, rows: Any, held: Any, heads: Any, tails: Any) -> None:
    """For each place the first place with an equal key, and the place behind the last."""
    head = 0
    for place in range(held):
        if keys[base + rows[place]] != keys[base + rows[head]]:
            for before in range(head, place):
                tails[before] = place
            head = place
        heads[place] = head
    for before in range(head, held):
        tails[before] = held


# Equal values ------------------------------------------------------------------------------------

#: spread the two halves of a key over a table; no product leaves 64 bits
HALF = (1 << 31) - 1
SPREAD_LOW, SPREAD_HIGH = 1640531527, 1150833019


def slot_for(key: Any, last: int) -> Any:
    """Where a table's search for a key begins."""
    low, high = key & HALF, (key >> 31) & HALF
    return (((low * SPREAD_LOW) ^ (high * SPREAD_HIGH)) >> 15) & last


def link_equal(keys: Any, counted: Any, table: Any, before: Any, after: Any, numbers: Any) -> Any:
    """For each row the last row before and the next one with an equal key, and its number.

    `table` has room for twice the rows, a power of two, and holds -1. Each entry is the last row
    of a key. A row that does not count is like one whose value came before and comes again, for
    ever: it changes no count. Answers how many numbers there are.
    """
    different = 0
    size, last = len(keys), len(table) - 1
    for row in range(size):
        after[row] = size
        if len(counted) and not counted[row]:
            before[row] = size
            after[row] = -1
            numbers[row] = -1
            continue
        key = keys[row]
        slot = slot_for(key, last)
        while table[slot] >= 0 and keys[table[slot]] != key:
            slot = (slot + 1) & last
        earlier = table[slot]
        before[row] = earlier
        if earlier >= 0:
            after[earlier] = row
            numbers[row] = numbers[earlier]
        else:
            numbers[row] = different
            different += 1
        table[slot] = row
    return different
