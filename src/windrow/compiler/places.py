"""Where an integer belongs in an array that is in order."""

from __future__ import annotations

from typing import Any


def place_of(ordered: Any, integer: int) -> int:
    """The first place whose integer is not less.

    As numpy's `searchsorted`, which takes numba 0.25 s for each kernel that calls it.
    """
    low, high = 0, len(ordered)
    while low < high:
        middle = (low + high) >> 1
        if ordered[middle] < integer:
            low = middle + 1
        else:
            high = middle
    return low
