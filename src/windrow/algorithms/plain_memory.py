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
from collections import deque
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


class ChunkedQueue(dict[int, list[Any]]):
    """Values by growing position, in chunks: the queue is the chunks by their number.

    A chunk is made when its first position is stored. It is dropped some time after all of it has
    been released: whenever a chunk is made or released, two go that were released before. The first
    release of several at once drops none, because that takes as long as a way through a tree. So no
    operation copies what is stored, none takes longer because many events leave at once, and
    memory follows the window.
    """

    def __init__(self) -> None:
        super().__init__()
        #: the chunk before which all is released
        self.oldest = 0
        #: whether the last release was of several, and dropped none
        self._owes = False
        #: the numbers of the chunks, in the order in which they were made
        self._made: deque[int] = deque()

    def __missing__(self, number: int) -> list[Any]:
        self._drop_some()
        self._made.append(number)
        made = self[number] = [None] * CHUNK
        return made

    @property
    def capacity(self) -> int:
        """There is always room."""
        return sys.maxsize

    def load(self, position: int) -> Any:
        """The value at a position."""
        return self[position // CHUNK][position % CHUNK]

    def store(self, position: int, value: Any) -> None:
        """Keep a value at a position."""
        self[position // CHUNK][position % CHUNK] = value

    def release(self, position: int) -> None:
        """Let go of the chunks that lie wholly before a position."""
        released = position // CHUNK - self.oldest
        if released:
            self.oldest += released
            self._owes = released > 1 and not self._owes
            if not self._owes:
                self._drop_some()

    def _drop_some(self) -> None:
        made = self._made
        for _ in range(2):
            if made and made[0] < self.oldest:
                del self[made.popleft()]


class PlainArray(list[list[Any]]):
    """Values by position from zero, in chunks as a queue has them."""

    def __init__(self, capacity: int, value: Any = None) -> None:
        begins = range(0, capacity, CHUNK)
        super().__init__([value] * min(CHUNK, capacity - begin) for begin in begins)
        self.capacity = capacity

    @classmethod
    def of(cls, values: list[Any]) -> PlainArray:
        """These values, from position zero on."""
        array = cls(len(values))
        for position, value in enumerate(values):
            array.store(position, value)
        return array

    def load(self, position: int) -> Any:
        """The value at a position."""
        return self[position // CHUNK][position % CHUNK]

    def store(self, position: int, value: Any) -> None:
        """Keep a value at a position."""
        self[position // CHUNK][position % CHUNK] = value

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
