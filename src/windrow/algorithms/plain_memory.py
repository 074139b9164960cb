"""Where algorithms keep partials: in arrays for kernels, in Python lists for plain code.

An algorithm asks for what it needs in `allocate(memory, capacity)`:

- a queue: positions only grow, and evictions release them. In plain Python it grows chunk by chunk
  and never copies; in a kernel it is a ring of the given capacity.
- an array: positions from zero up to the capacity.
- integers: a queue of integers.
- counters: integers at positions from zero up to the capacity, all zero at first.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Protocol

from windrow.compiler.slots import Ring

CHUNK = 512


class Memory(Protocol):
    """What `allocate` of an algorithm is given; capacities are powers of two."""

    def queue(self, capacity: int) -> Ring:
        """Room for partials at growing positions."""

    def array(self, capacity: int) -> Ring:
        """Room for partials at positions from zero."""

    def integers(self, capacity: int) -> Ring:
        """Room for integers at growing positions."""

    def counters(self, capacity: int) -> Ring:
        """Zeros, at positions from zero."""


class PlainMemory:
    """Memory for plain Python."""

    def queue(self, capacity: int) -> Ring:
        """A queue in chunks, without a bound."""
        return ChunkedQueue()

    integers = queue

    def array(self, capacity: int) -> Ring:
        """A list."""
        return PlainArray(capacity)

    def counters(self, capacity: int) -> Ring:
        """A list of zeros."""
        return PlainArray(capacity, 0)


class ChunkedQueue:
    """Values by growing position, in chunks.

    A chunk is made when its first position is stored and dropped when all of it has been released,
    so no operation copies what is stored, and memory follows the window.
    """

    def __init__(self) -> None:
        self._chunks: dict[int, list[Any]] = {}
        self._oldest_chunk = 0

    @property
    def capacity(self) -> int:
        """There is always room."""
        return sys.maxsize

    def load(self, position: int) -> Any:
        """The value at a position."""
        return self._chunks[position // CHUNK][position % CHUNK]

    def store(self, position: int, value: Any) -> None:
        """Keep a value at a position."""
        chunk = self._chunks.get(position // CHUNK)
        if chunk is None:
            chunk = self._chunks[position // CHUNK] = [None] * CHUNK
        chunk[position % CHUNK] = value

    def release(self, position: int) -> None:
        """Drop the chunks that lie wholly before a position."""
        while self._oldest_chunk < position // CHUNK:
            self._chunks.pop(self._oldest_chunk, None)
            self._oldest_chunk += 1


class PlainArray:
    """Values by position from zero."""

    def __init__(self, capacity: int, value: Any = None) -> None:
        self._values: list[Any] = [value] * capacity

    @classmethod
    def of(cls, values: list[Any]) -> PlainArray:
        """These values, from position zero on."""
        array = cls(0)
        array._values = values
        return array

    @property
    def capacity(self) -> int:
        """How many values fit."""
        return len(self._values)

    def load(self, position: int) -> Any:
        """The value at a position."""
        return self._values[position]

    def store(self, position: int, value: Any) -> None:
        """Keep a value at a position."""
        self._values[position] = value

    def release(self, position: int) -> None:
        """Nothing: an array keeps its size."""


def _capacity(ring: Any) -> int:
    return int(ring.capacity)


def _load(ring: Any, position: int) -> Any:
    return ring.load(position)


def _store(ring: Any, position: int, value: Any) -> None:
    ring.store(position, value)


def _release(ring: Any, position: int) -> None:
    ring.release(position)


def _claim(words: Any, place: int, expected: int, word: int) -> bool:
    free = bool(words.load(place) == expected)
    if free:
        words.store(place, word)
    return free


def _pause(attempt: int) -> None:
    raise AssertionError("there is only one thread, and it waits for itself")


#: the slots of memory, for plain Python
PLAIN_SLOTS: dict[str, Callable[..., Any]] = {
    "capacity": _capacity,
    "load": _load,
    "store": _store,
    "release": _release,
    "load_integer": _load,
    "store_integer": _store,
    "watch": _load,
    "publish": _store,
    "claim": _claim,
    "pause": _pause,
}
