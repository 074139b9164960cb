"""The counters of frequent items in a row of numbers, for kernels (see `frequencies`).

    | in use | missed | seen | item count since | item count since | ...

Items are keys: integers in the order of the values. They stand in this order, so two rows are
merged like two sorted lists. `since` says which item came first, and `seen` how many such numbers
are taken; of items of equal counts the first that came is answered first.
"""

from __future__ import annotations

from typing import Any

IN_USE, MISSED, SEEN, ITEMS = range(4)


def begin_counters(key: Any, into: Any) -> None:
    """One value, seen once."""
    into[IN_USE] = 5
    into[MISSED] = 0
    into[SEEN] = 1
    into[ITEMS] = key
    into[ITEMS + 1] = 1
    into[ITEMS + 2] = 0


def join_counters(older: Any, newer: Any, into: Any, counters: Any) -> None:
    """The counts of both; if these are too many, less what the next one after them has."""
    if older[IN_USE] == 0 or newer[IN_USE] == 0:  # of no values nothing else is copied
        source = newer if older[IN_USE] == 0 else older
        for lane in range(1 + source[IN_USE]):
            into[lane] = source[lane]
        return
    off = 0
    if older[IN_USE] + newer[IN_USE] > 2 * (ITEMS - 1) + 3 * counters:
        # The counts alone of twice as many items as there are counters have room here.
        different = merge_items(older, newer, into, -1)
        if different > counters:
            off = selected(into, ITEMS, ITEMS + different - 1, ITEMS + different - 1 - counters)
    different = merge_items(older, newer, into, off)
    into[MISSED] = older[MISSED] + newer[MISSED] + off
    into[SEEN] = older[SEEN] + newer[SEEN]
    into[IN_USE] = ITEMS - 1 + 3 * different


def merge_items(older: Any, newer: Any, into: Any, off: Any) -> Any:
    """Write the items of both with counts above `off`, less that; counts alone if it is -1."""
    left, right, written = ITEMS, ITEMS, 0
    left_end, right_end = 1 + older[IN_USE], 1 + newer[IN_USE]
    while left < left_end or right < right_end:
        of_both = left < left_end and right < right_end and older[left] == newer[right]
        if of_both or right >= right_end or (left < left_end and older[left] < newer[right]):
            key, count, since = older[left], older[left + 1], older[left + 2]
            left += 3
            if of_both:
                count += newer[right + 1]
                right += 3
        else:
            key, count, since = newer[right], newer[right + 1], older[SEEN] + newer[right + 2]
            right += 3
        if off < 0:
            into[ITEMS + written] = count
            written += 1
        elif count > off:
            place = ITEMS + 3 * written
            into[place] = key
            into[place + 1] = count - off
            into[place + 2] = since
            written += 1
    return written


def selected(numbers: Any, low: Any, high: Any, wanted: Any) -> Any:
    """What stands at the wanted place once the numbers from low to high are sorted."""
    while True:
        pivot = numbers[(low + high) >> 1]
        smaller, place, larger = low, low, high
        while place <= larger:
            number = numbers[place]
            if number < pivot:
                numbers[place] = numbers[smaller]
                numbers[smaller] = number
                smaller += 1
                place += 1
            elif number > pivot:
                numbers[place] = numbers[larger]
                numbers[larger] = number
                larger -= 1
            else:
                place += 1
        if wanted < smaller:
            high = smaller - 1
        elif wanted > larger:
            low = larger + 1
        else:
            return pivot


def write_best(partial: Any, into: Any, most: Any) -> None:
    """The items of the largest counts: for each the item, its count, and what that may be over."""
    found = 0
    for item in range(ITEMS, 1 + partial[IN_USE], 3):
        count, since = partial[item + 1], partial[item + 2]
        place = 3 * found + 1
        # Those that come after it move by one place, and the last out if there are enough.
        while place > 1 and (
            into[place - 2] < count or (into[place - 2] == count and into[place - 1] > since)
        ):
            if place <= 3 * most:
                into[place] = into[place - 3]
                into[place + 1] = into[place - 2]
                into[place + 2] = into[place - 1]
            place -= 3
        if place <= 3 * most:
            into[place] = partial[item]
            into[place + 1] = count
            into[place + 2] = since
            found = min(found + 1, most)
    into[0] = 3 * found
    for place in range(1, 1 + 3 * found, 3):
        into[place + 1] += partial[MISSED]
        into[place + 2] = partial[MISSED]
