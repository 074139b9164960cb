"""The KLL sketch in a row of numbers, for kernels (see `quantiles` for the sketch).

A row holds keys: integers in the order of the values. They stand in one order, whatever their
levels are. Levels are the bytes of the numbers that follow; if all keys are on level 0, there are
none of these.

    | in use | count | smallest | largest | kept | top | key key ... key | levels ... |

Two rows are merged like two sorted lists. What a full level moves up is decided in the same pass:
of the keys that come on a level, every second goes up one level, and there it counts as one that
came. So a combine is one pass, and takes no memory but the row that it writes.

1. All levels together hold no more keys than they have room for.
2. `count` is the sum of 2^level of all keys.
3. The number of levels follows from the count. Rooms and levels are those of the fewest levels that
   are worth the count when they are full. So if no level below the top is too full, the top is not
   either, and one pass is enough.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

#: how much smaller a level is than the one above it, and the least that it holds
SHRINKS, LEAST = 2 / 3, 8
IN_USE, COUNT, SMALLEST, LARGEST, KEPT, TOP, KEYS = range(7)
_MOST_LEVELS = 64
_BITS = 2**31 - 1


def length_for(width: int) -> int:
    """The numbers of a row whose top level has room for `width` keys, of up to 2^62 values."""
    room, worth, above = width, width, width * SHRINKS
    while worth < 2**62:
        size = max(LEAST, math.ceil(above))
        room, worth, above = room + size, 2 * worth + size, above * SHRINKS
    # Before it writes keys, combine writes the rooms and sizes of levels. It reads one too many.
    return KEYS + max(room + math.ceil(room / 8), 2 * _MOST_LEVELS) + 1


def begin_sketch(key: Any, into: Any) -> None:
    """One value."""
    into[IN_USE] = KEYS
    into[COUNT] = 1
    into[SMALLEST] = key
    into[LARGEST] = key
    into[KEPT] = 1
    into[TOP] = 0
    into[KEYS] = key


def merge_sketches(older: Any, newer: Any, into: Any, width: Any) -> None:
    """The keys of both, fewer of them where there is no room for all."""
    if older[IN_USE] == 0 or newer[IN_USE] == 0:  # of no values nothing else is copied
        source = newer if older[IN_USE] == 0 else older
        for lane in range(1 + source[IN_USE]):
            into[lane] = source[lane]
        return
    kept, top, full, odd = full_levels(older, newer, into, width)
    into[COUNT] = older[COUNT] + newer[COUNT]
    into[SMALLEST] = min(older[SMALLEST], newer[SMALLEST])
    into[LARGEST] = max(older[LARGEST], newer[LARGEST])
    into[KEPT] = kept
    into[TOP] = top
    if top == 0:
        into[IN_USE] = KEYS - 1 + kept
        merge_keys(older, newer, into)
    else:
        into[IN_USE] = KEYS - 1 + kept + ((kept + 7) >> 3)
        merge_levels(older, newer, into, full, odd)


def full_levels(older: Any, newer: Any, into: Any, width: Any) -> Any:
    """How many keys stay, the top level, and as bits: full levels, those with an odd number."""
    kept, count = older[KEPT] + newer[KEPT], older[COUNT] + newer[COUNT]
    top, full, odd = max(older[TOP], newer[TOP]), 0, 0
    room, worth, above, levels = width, width, width * SHRINKS, 1
    rooms, sizes = KEYS, KEYS + _MOST_LEVELS
    into[rooms] = width
    while worth < count:
        size = max(LEAST, math.ceil(above))
        into[rooms + levels] = size
        room, worth, above, levels = room + size, 2 * worth + size, above * SHRINKS, levels + 1
    if kept <= room:
        return kept, top, full, odd
    for level in range(levels):
        into[sizes + level] = 0
    count_levels(older, into, sizes)
    count_levels(newer, into, sizes)
    risen = 0
    for level in range(levels - 1):
        size = into[sizes + level] + risen
        risen = 0
        if kept > room and size > into[rooms + levels - 1 - level]:
            full |= 1 << level
            odd |= (size & 1) << level
            risen = size >> 1
            kept -= risen
            top = max(top, level + 1)
    return kept, top, full, odd


def count_levels(partial: Any, into: Any, sizes: Any) -> None:
    """Add how many keys are on each level."""
    kept = partial[KEPT]
    if partial[TOP] == 0:
        into[sizes] += kept
        return
    for place in range(kept):
        into[sizes + ((partial[KEYS + kept + (place >> 3)] >> ((place & 7) << 3)) & 255)] += 1


def merge_keys(older: Any, newer: Any, into: Any) -> None:
    """All keys of both in order."""
    left, right, place = KEYS, KEYS, KEYS
    left_end, right_end = KEYS + older[KEPT], KEYS + newer[KEPT]
    while left < left_end and right < right_end:
        # Without a branch, which the processor would guess wrong half of the time.
        left_key, right_key = older[left], newer[right]
        takes_left = int(left_key <= right_key)
        into[place] = left_key if takes_left else right_key
        left += takes_left
        right += 1 - takes_left
        place += 1
    for lane in range(left, left_end):
        into[place] = older[lane]
        place += 1
    for lane in range(right, right_end):
        into[place] = newer[lane]
        place += 1


def merge_levels(older: Any, newer: Any, into: Any, full: Any, odd: Any) -> None:
    """The keys of both in order; of those on a full level, every second goes up a level."""
    turns = drawn(older, newer)
    left_end, right_end = older[KEPT], newer[KEPT]
    left_levels, right_levels = KEYS + left_end, KEYS + right_end
    left_mask, right_mask = 255 * int(older[TOP] > 0), 255 * int(newer[TOP] > 0)
    left, right, kept, levels = 0, 0, 0, 0
    end, written = into[KEPT], KEYS + into[KEPT]
    while kept < end:
        left_key, right_key = older[KEYS + left], newer[KEYS + right]
        takes_left = int(left < left_end) & (int(right >= right_end) | int(left_key <= right_key))
        key = left_key if takes_left else right_key
        left_level = (older[left_levels + (left >> 3)] >> ((left & 7) << 3)) & left_mask
        right_level = (newer[right_levels + (right >> 3)] >> ((right & 7) << 3)) & right_mask
        level = left_level if takes_left else right_level
        left += takes_left
        right += 1 - takes_left
        stays = 1
        while stays and (full >> level) & 1:
            if (odd >> level) & 1:  # the first of an odd number stays where it is
                odd ^= 1 << level
                break
            stays = (turns >> level) & 1
            turns ^= 1 << level
            level += 1
        if stays:
            into[KEYS + kept] = key
            levels |= level << ((kept & 7) << 3)
            kept += 1
            if kept & 7 == 0 or kept == end:
                into[written] = levels
                written += 1
                levels = 0


def drawn(older: Any, newer: Any) -> Any:
    """A bit for each level, by a hash of both, the same whichever comes first."""
    middle = older[KEYS + (older[KEPT] >> 1)] ^ newer[KEYS + (newer[KEPT] >> 1)]
    # In pieces of 31 bits, so that no product overflows, which numpy would warn of.
    folded = (middle ^ (middle >> 31) ^ (middle >> 62)) & _BITS
    mixed = folded * 0x41C64E6D + ((older[COUNT] + newer[COUNT]) & _BITS) * 0x1E3779B1
    mixed = ((mixed ^ (mixed >> 31)) & _BITS) * 0x5851F42D
    return mixed ^ (mixed >> 29)


def key_at(partial: Any, share: Any) -> Any:
    """The smallest key that at least a share of all does not exceed, about."""
    count, levels = partial[COUNT], KEYS + partial[KEPT]
    wanted = math.ceil(share * count - 5e-7)  # 0.07 of 100 is 7, and not a little more
    if wanted <= 0:
        return partial[SMALLEST]
    if wanted >= count:
        return partial[LARGEST]
    if partial[TOP] == 0:
        return partial[KEYS + wanted - 1]
    seen, place = 0, 0
    while seen < wanted:
        seen += 1 << ((partial[levels + (place >> 3)] >> ((place & 7) << 3)) & 255)
        place += 1
    return partial[KEYS + place - 1]


def check_invariants(partial: np.ndarray[Any, Any], width: int) -> None:
    """Raise an AssertionError that names the invariant that does not hold."""
    kept, count = int(partial[KEPT]), int(partial[COUNT])
    keys, words = partial[KEYS : KEYS + kept], partial[KEYS + kept : 1 + partial[IN_USE]]
    levels = np.ascontiguousarray(words).astype("<i8").view(np.uint8)[:kept]
    levels = levels if partial[TOP] else np.zeros(kept, np.uint8)
    assert np.all(keys[:-1] <= keys[1:]), "keys are in order"
    rooms, above = [width], width * SHRINKS
    while sum(size << (len(rooms) - 1 - place) for place, size in enumerate(rooms)) < count:
        rooms.append(max(LEAST, math.ceil(above)))
        above *= SHRINKS
    assert kept <= sum(rooms), "1: all levels together hold no more than they have room for"
    assert sum(1 << int(level) for level in levels) == count, "2: the count is that of all keys"
    assert max(levels, default=0) < len(rooms), "3: the number of levels follows from the count"
