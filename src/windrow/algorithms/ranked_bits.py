"""A set of places as bits: which of a block's sorted values are in the window.

    place      0 1 2 3 4 5 6 7 8 ...      a value's place once the block is sorted
    words      0 1 1 0 0 0 1 0 0 ...      a bit for each place, 64 to a word
    summary    a bit for each word that has one

The next bit and the bit before are found in a few steps, however far away they are. For counting
there are sums instead of the summary: of 64 words, and of 64 times 64 words.
"""

from typing import Any

import numpy as np

from windrow.compiler.bit_counts import highest_bit, ones, trailing_zeros

#: an index: of signed ones, numba looks whether they count from the end
at = np.uint64
ONE = np.int64(1)
ALL = np.int64(-1)


def add_place(words: Any, summary: Any, place: Any) -> None:
    """Set a bit."""
    words[at(place >> 6)] |= ONE << (place & 63)
    summary[at(place >> 12)] |= ONE << ((place >> 6) & 63)


def remove_place(words: Any, summary: Any, place: Any) -> None:
    """Clear a bit."""
    word = words[at(place >> 6)] & ~(ONE << (place & 63))
    words[at(place >> 6)] = word
    # Without a branch: whether a word becomes empty is hard to foresee.
    summary[at(place >> 12)] &= ~(np.int64(word == 0) << ((place >> 6) & 63))


def place_after(words: Any, summary: Any, place: Any) -> Any:
    """The next place that is set; there must be one."""
    after = place + 1
    word = after >> 6
    bits = words[at(word)] & (ALL << (after & 63))
    if bits == 0:
        word += 1
        group = word >> 6
        filled = summary[at(group)] & (ALL << (word & 63))
        while filled == 0:
            group += 1
            filled = summary[at(group)]
        word = (group << 6) + trailing_zeros(filled)
        bits = words[at(word)]
    return (word << 6) + trailing_zeros(bits)


def place_before(words: Any, summary: Any, place: Any) -> Any:
    """The last place before that is set; there must be one."""
    word = place >> 6
    bits = words[at(word)] & ~(ALL << (place & 63))
    if bits == 0:
        group = word >> 6
        filled = summary[at(group)] & ~(ALL << (word & 63))
        while filled == 0:
            group -= 1
            filled = summary[at(group)]
        word = (group << 6) + highest_bit(filled)
        bits = words[at(word)]
    return (word << 6) + highest_bit(bits)


def clear(words: Any, summary: Any, places: int) -> None:
    """Clear the bits of so many places."""
    for word in range((places >> 6) + 1):
        words[at(word)] = 0
    for group in range((places >> 12) + 1):
        summary[at(group)] = 0


def flip_counted(words: Any, sums: Any, larger: Any, place: Any, change: Any) -> None:
    """Set a bit with a change of 1, or clear it with -1, where bits are counted."""
    words[at(place >> 6)] ^= ONE << (place & 63)
    sums[at(place >> 12)] += change
    larger[at(place >> 18)] += change


def count_below(words: Any, sums: Any, larger: Any, place: Any) -> Any:
    """How many places below one are set."""
    total = np.int64(0)
    for each in range(place >> 18):
        total += larger[at(each)]
    for each in range((place >> 18) << 6, place >> 12):
        total += sums[at(each)]
    for each in range((place >> 12) << 6, place >> 6):
        total += ones(words[at(each)])
    return total + ones(words[at(place >> 6)] & ~(ALL << (place & 63)))


def count_between(words: Any, sums: Any, larger: Any, begin: Any, end: Any) -> Any:
    """How many places are set from `begin` on, before `end`; mostly they are few."""
    if end - begin > 4096:
        return count_below(words, sums, larger, end) - count_below(words, sums, larger, begin)
    total = np.int64(0) - ones(words[at(begin >> 6)] & ~(ALL << (begin & 63)))
    for each in range(begin >> 6, end >> 6):
        total += ones(words[at(each)])
    return total + ones(words[at(end >> 6)] & ~(ALL << (end & 63)))
