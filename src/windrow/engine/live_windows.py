"""Windows of rows of many keys, all in one ring: each goes on where its last batch left it.

A key has a part of the ring, with room for as many partials as its window holds, rounded up to a
power of two. In it lies a window of Two-Stacks Lite (see `algorithms/two_stacks_lite.py`):

      ring   [ key 0      | key 1              | free  | key 2 ... ]
      key 1        front        middle       end
                     |            |           |
             [ ..  c..e d..e  e | f   g   h ]          its newer partial, f..h, stands in `newer`

A key whose part is full moves to one of at least twice the room. The part that it leaves goes to
the next key that wants one of that size. So the ring takes at most some times what windows hold.

An event costs the same as on a table: about three combines, whatever the range, and how many keys
there are does not matter. The kernel reads events where they lie and writes each answer there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from windrow.algebra.product import Product
from windrow.compiler.array_loops import compiled_loop
from windrow.compiler.kernel import Kernel
from windrow.compiler.kernel_memory import KernelMemory
from windrow.compiler.slots import Ring, combine, identity, lift_row, load, lower_row, store

Array = np.ndarray[Any, Any]
Block = Any

#: the room that a key gets at first
_SMALLEST = 8


class LiveWindows:
    """The windows of one range of the keys of a stream, with the numbers 0, 1, 2 and so on."""

    def __init__(self, product: Product, extent: int) -> None:
        """Each window holds the newest `extent` rows of its key."""
        self._memory, self._extent = KernelMemory(product), extent
        self._ring, self._newer = self._memory.queue(_SMALLEST), self._memory.queue(1)
        #: for each key, where its part begins and how much room it has
        self._bases, self._rooms = np.zeros(0, np.int64), np.zeros(0, np.int64)
        #: for each key, how many rows have left, how many had come at the last flip and until now
        self._marks = np.zeros((0, 3), np.int64)
        self._used = 0
        self._free: dict[int, list[int]] = {}

    def answer(
        self,
        kernel: Kernel,
        block: tuple[tuple[Array, ...], tuple[Array, ...]],
        answers: tuple[Sequence[Array], Sequence[Array]],
        keys: Array,
        rows: Array,
        cuts: Array,
    ) -> None:
        """Answer the rows of a batch.

        Args:
            kernel: that of `over_live`.
            block: what the kernel reads.
            answers: where it writes.
            keys: the numbers of the batch's keys, each once.
            rows: the rows of the first key, in order, then those of the next, and so on.
            cuts: where the rows of each key begin in `rows`, and in the end their number.
        """
        self._make_room(keys, np.diff(cuts))
        columns, validities = block
        values, defined = map(tuple, answers)
        kernel(
            columns, validities, values, defined, self._ring, self._newer, self._marks,
            self._bases, self._rooms, keys, rows, cuts, self._extent, 0, len(keys),
        )  # fmt: skip

    # Room ----------------------------------------------------------------------------------------

    def _make_room(self, keys: Array, came: Array) -> None:
        """Let the part of each key have room for its window with the new rows."""
        known = int(keys.max(initial=-1)) + 1
        if known > len(self._bases):
            self._know(1 << (known - 1).bit_length())
        held = self._marks[keys, 2] - self._marks[keys, 0]
        wanted = np.minimum(held + came, self._extent)
        small = wanted > self._rooms[keys]
        if not small.any():
            return
        moved = keys[small]
        rooms = np.maximum(_powers_of_two(wanted[small]), _SMALLEST)
        bases = self._places(rooms)
        self._move(moved, bases, rooms)
        for key in np.flatnonzero(self._rooms[moved]).tolist():
            number = moved[key]
            self._free.setdefault(int(self._rooms[number]), []).append(int(self._bases[number]))
        self._bases[moved], self._rooms[moved] = bases, rooms

    def _know(self, count: int) -> None:
        """Have places for so many keys."""
        more = count - len(self._bases)
        self._bases = np.append(self._bases, np.zeros(more, np.int64))
        self._rooms = np.append(self._rooms, np.zeros(more, np.int64))
        self._marks = np.concatenate([self._marks, np.zeros((more, 3), np.int64)])
        self._newer = self._larger(self._newer, count)

    def _places(self, rooms: Array) -> Array:
        """Where parts of these sizes begin: a free part, or one behind all others."""
        bases = np.empty(len(rooms), np.int64)
        for room in np.unique(rooms).tolist():
            wanting = np.flatnonzero(rooms == room)
            free = self._free.get(room, [])
            reused = [free.pop() for _ in range(min(len(free), len(wanting)))]
            fresh = len(wanting) - len(reused)
            bases[wanting] = [*reused, *range(self._used, self._used + fresh * room, room)]
            self._used += fresh * room
        if self._used > len(self._ring[0]):
            self._ring = self._larger(self._ring, 1 << (self._used - 1).bit_length())
        return bases

    def _move(self, keys: Array, bases: Array, rooms: Array) -> None:
        """Copy the windows of some keys to other parts."""
        from_to = np.stack([self._bases[keys], self._rooms[keys] - 1, bases, rooms - 1])
        held = self._marks[keys]
        for field in self._ring:
            compiled_loop(_copy_parts)(field, from_to, held)

    def _larger(self, ring: Ring, count: int) -> Ring:
        larger = self._memory.queue(count)
        for field, before in zip(larger, ring, strict=True):
            field[: len(before)] = before
        return larger


def _copy_parts(field: Array, from_to: Array, marks: Array) -> None:
    for number in range(len(marks)):
        base, mask = from_to[0, number], from_to[1, number]
        other_base, other_mask = from_to[2, number], from_to[3, number]
        for position in range(marks[number, 0], marks[number, 2]):
            field[other_base + (position & other_mask)] = field[base + (position & mask)]


def _powers_of_two(numbers: Array) -> Array:
    """The next power of two of each number, which is at least 1."""
    _mantissas, exponents = np.frexp((numbers - 1).astype(np.float64))
    return np.left_shift(1, exponents.astype(np.int64))


def over_live(
    columns: Block, validities: Block, answers: Block, defined: Block,
    ring: Ring, newer: Ring, marks: Block, bases: Block, rooms: Block,
    keys: Block, rows: Block, cuts: Block, extent: int, begin: int, stop: int,
) -> None:  # fmt: skip
    """Answer each row over the newest `extent` rows of its key, itself among them."""
    for number in range(begin, stop):
        key = keys[number]
        base, mask = bases[key], rooms[key] - 1
        front, middle, end = marks[key, 0], marks[key, 1], marks[key, 2]
        back = identity() if middle == end else load(newer, key)
        for place in range(cuts[number], cuts[number + 1]):
            if end - front == extent:
                if front == middle:
                    position = end - 1
                    partial = load(ring, base + (position & mask))
                    while position != front:
                        position -= 1
                        partial = combine(load(ring, base + (position & mask)), partial)
                        store(ring, base + (position & mask), partial)
                    middle, back = end, identity()
                front += 1
            row = rows[place]
            event = lift_row(columns, validities, row)
            store(ring, base + (end & mask), event)
            end += 1
            back = combine(back, event)
            if front == middle:
                lower_row(answers, defined, row, back)
            else:
                older = load(ring, base + (front & mask))
                lower_row(answers, defined, row, combine(older, back))
        store(newer, key, back)
        marks[key, 0], marks[key, 1], marks[key, 2] = front, middle, end
