"""Arrays to work in, used again by later calls.

Fresh memory is slow: the system hands it over page by page, and clears each. For medians of 100,000
rows that took a third of the time.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

#: how many integers are kept for later calls, at most: 64 MiB of them
_MOST_KEPT = 2**23

_kept: list[Array] = []
_lock = threading.Lock()


@contextmanager
def integers(count: int) -> Iterator[Array]:
    """An array of 64-bit integers, of any values; it is yours until the `with` ends."""
    array = _taken(count)
    try:
        yield array[:count]
    finally:
        _give_back(array)


def _taken(count: int) -> Array:
    """The smallest array that is large enough, or a new one."""
    with _lock:
        large = [place for place, each in enumerate(_kept) if len(each) >= count]
        if large:
            return _kept.pop(min(large, key=lambda place: len(_kept[place])))
    return np.empty(count, np.int64)


def _give_back(array: Array) -> None:
    """Keep an array; if that is too much, drop those that were kept first."""
    with _lock:
        _kept.append(array)
        while sum(map(len, _kept)) > _MOST_KEPT:
            _kept.pop(0)
