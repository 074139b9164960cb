"""Live windows: the windows of all keys in one ring, each going on where its last batch left it.

A key has a part of the ring, with room for as many partials as its window holds, rounded up to a
power of two. In it lies a window of Two-Stacks Lite (see `algorithms/two_stacks_lite.py`):

      ring   [ key 0      | key 1              | free  | key 2 ... ]
      key 1        front        middle       end
                     |            |           |
             [ ..  c..e d..e  e | f   g   h ]          its newer partial, f..h, stands in `newer`

A key whose part is full moves to one of four times the room, unless its window never needs as
much. The part that it leaves goes to the next key that wants one of that size. When no place is
left, all keys move to a larger ring, part behind part. So the parts that nobody has are never many,
and a window that grows is copied a few times.

An event costs the same as on a table: about three combines, whatever the range, and how many keys
there are does not matter. The kernel reads events where they lie and writes each answer there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from windrow.algebra.product import Product
from windrow.compiler.array_loops import compiled_loop
from windrow.compiler.kernel import Kernel
from windrow.compiler.kernel_memory import KernelMemory
from windrow.compiler.slots import Ring, combine, identity, lift_row, load, lower_row, store
from windrow.work import sizes
from windrow.work.threads import cores

Array = np.ndarray[Any, Any]
Block = Any

#: the room that a key gets at first
_SMALLEST = 8
#: how many times the room of a part that is full its key gets: a power of two
_GROWTH = 4
_LAST = 2**63 - 1


class LiveRing:
    """Windows of Two-Stacks Lite, one for each of the keys 0, 1, 2 and so on, in one ring.

    Attributes:
        ring: the partials of all windows.
        newer: for each key, the partial of what came since its last flip.
        bases, rooms: for each key, where its part begins and how much room it has.
        marks: for each key, how many partials have left, and how many had come at the last flip and
            until now.
    """

    def __init__(self, product: Product, timed: bool = False) -> None:
        """With `timed`, each partial has a time beside it: the last field of the ring."""
        self._memory, self._timed = KernelMemory(product), timed
        self.ring, self.newer = self._queue(_SMALLEST), self._memory.queue(1)
        self.bases, self.rooms = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self.marks = np.zeros((0, 3), np.int64)
        self._used = 0
        self._free: dict[int, list[int]] = {}

    def held(self, keys: Array | slice = slice(None)) -> Array:
        """How many partials the windows of some keys hold."""
        found: Array = self.marks[keys, 2] - self.marks[keys, 0]
        return found

    def keep_only(self, keys: Array) -> None:
        """Forget all other keys; these are 0, 1, 2 and so on from now on."""
        others = np.ones(len(self.rooms), np.bool_)
        others[keys] = False
        self._release(np.flatnonzero(others))
        self.bases, self.rooms, self.marks = self.bases[keys], self.rooms[keys], self.marks[keys]
        size = 1 << max(len(keys) - 1, 0).bit_length()
        newer = self._memory.queue(size)
        for field, before in zip(newer, self.newer, strict=True):
            field[: len(keys)] = before[keys]
        self.newer = newer

    def make_room(self, keys: Array, came: Array, most: int) -> None:
        """Let the part of each key have room for `came` more partials, but not for over `most`."""
        known = int(keys.max(initial=-1)) + 1
        if known > len(self.bases):
            self._know(1 << (known - 1).bit_length())
        wanted = np.minimum(self.held(keys) + came, most)
        small = wanted > self.rooms[keys]
        if not small.any():
            return
        moved = keys[small]
        whole = 1 << min((most - 1).bit_length(), 62)
        larger = np.minimum(_GROWTH * self.rooms[moved], whole)
        rooms = np.maximum(np.maximum(_powers_of_two(wanted[small]), _SMALLEST), larger)
        bases = self._places(rooms)
        if bases is None:
            self._lay_out(moved, rooms)
            return
        self._move(self.ring, moved, bases, rooms)
        self._release(moved)
        self.bases[moved], self.rooms[moved] = bases, rooms

    def _release(self, keys: Array) -> None:
        """Let others have the parts of some keys."""
        rooms, bases = self.rooms[keys], self.bases[keys]
        for room in np.unique(rooms[rooms > 0]).tolist():
            self._free.setdefault(room, []).extend(bases[rooms == room].tolist())

    def _know(self, count: int) -> None:
        """Have places for so many keys."""
        more = count - len(self.bases)
        self.bases = np.append(self.bases, np.zeros(more, np.int64))
        self.rooms = np.append(self.rooms, np.zeros(more, np.int64))
        self.marks = np.concatenate([self.marks, np.zeros((more, 3), np.int64)])
        self.newer = _copied(self.newer, self._memory.queue(count))

    def _places(self, rooms: Array) -> Array | None:
        """Where parts of these sizes begin: free parts, or behind all others if they fit there."""
        sizes_wanted, counts = np.unique(rooms, return_counts=True)
        taken = {
            room: min(count, len(self._free.get(room, ())))
            for room, count in zip(sizes_wanted.tolist(), counts.tolist(), strict=True)
        }
        fresh = int(rooms.sum()) - sum(room * count for room, count in taken.items())
        if self._used + fresh > len(self.ring[0]):
            return None
        bases = np.empty(len(rooms), np.int64)
        for room, count in taken.items():
            wanting = np.flatnonzero(rooms == room)
            reused = [self._free[room].pop() for _ in range(count)]
            end = self._used + (len(wanting) - count) * room
            bases[wanting] = [*reused, *range(self._used, end, room)]
            self._used = end
        return bases

    def _lay_out(self, keys: Array, rooms: Array) -> None:
        """Move all keys to a ring with places to spare, part behind part; some get more room."""
        all_rooms = self.rooms.copy()
        all_rooms[keys] = rooms
        ends = np.cumsum(all_rooms)
        self._used = int(ends[-1])
        spare = self._used // 4  # so that this is rare; memory that nobody has written takes none
        ring = self._queue(1 << (self._used + spare - 1).bit_length())
        self._move(ring, np.arange(len(ends)), ends - all_rooms, all_rooms)
        self.ring, self.bases, self.rooms, self._free = ring, ends - all_rooms, all_rooms, {}

    def _move(self, ring: Ring, keys: Array, bases: Array, rooms: Array) -> None:
        """Copy the windows of some keys to other parts, of this ring or of another one."""
        from_to = np.stack([self.bases[keys], self.rooms[keys] - 1, bases, rooms - 1])
        held = self.marks[keys]
        for field, moved in zip(self.ring, ring, strict=True):
            compiled_loop(_copy_parts)(field, moved, from_to, held)

    def _queue(self, size: int) -> Ring:
        ring = self._memory.queue(size)
        return (*ring, np.zeros(size, np.int64)) if self._timed else ring


def _copied(ring: Ring, larger: Ring) -> Ring:
    """A larger ring, with what a ring holds."""
    for field, before in zip(larger, ring, strict=True):
        field[: len(before)] = before
    return larger


def _copy_parts(field: Array, moved: Array, from_to: Array, marks: Array) -> None:
    for number in range(len(marks)):
        base, mask = from_to[0, number], from_to[1, number]
        other_base, other_mask = from_to[2, number], from_to[3, number]
        for position in range(marks[number, 0], marks[number, 2]):
            moved[other_base + (position & other_mask)] = field[base + (position & mask)]


def _powers_of_two(numbers: Array) -> Array:
    """The next power of two of each number, which is at least 1."""
    _mantissas, exponents = np.frexp((numbers - 1).astype(np.float64))
    return np.left_shift(1, exponents.astype(np.int64))


class LiveWindows:
    """The windows of one range that end at their row, of all keys of a stream."""

    def __init__(self, product: Product, most: int | None, extent: int) -> None:
        """Windows of rows, or of time.

        Args:
            product: what partials are of.
            most: how many rows a window holds; None if time decides.
            extent: how many ticks older a row is that has left, if time decides.
        """
        self.live, self._most, self._extent = LiveRing(product, timed=most is None), most, extent

    def work(
        self,
        kernel: Kernel,
        block: tuple[tuple[Array, ...], tuple[Array, ...]],
        answers: tuple[Sequence[Array], Sequence[Array]],
        keys: Array,
        rows: Array,
        cuts: Array,
        times: Array,
    ) -> list[Callable[[], None]]:
        """Make room for the rows of a batch; what answers them, in pieces of keys for threads.

        Args:
            kernel: that of `kernel_of`.
            block: what the kernel reads.
            answers: where it writes.
            keys: the numbers of the batch's keys, each once.
            rows: the rows of the first key, in order, then those of the next, and so on.
            cuts: where the rows of each key begin in `rows`, and in the end their number.
            times: the time of each row.
        """
        live = self.live
        live.make_room(keys, np.diff(cuts), _LAST if self._most is None else self._most)
        columns, validities = block
        values, defined = map(tuple, answers)
        windows = live.newer, live.marks, live.bases, live.rooms, keys, rows, cuts
        data = columns, validities, values, defined
        ring: Ring = live.ring
        limits: tuple[Any, ...] = (self._most,)
        if self._most is None:
            ring, limits = live.ring[:-1], (live.ring[-1], times, self._extent)
        pieces = key_pieces(cuts, len(rows) * len(values))
        return [partial(kernel, *data, ring, *windows, *limits, *piece) for piece in pieces]

    def is_needed(self, known: int, frontier: int) -> Array:
        """Which keys hold a row that a window of an event from a frontier on may hold."""
        if self._most is not None:
            return np.ones(known, np.bool_)
        live = self.live
        ends = live.marks[:known, 2]
        newest = live.ring[-1][live.bases[:known] + ((ends - 1) & (live.rooms[:known] - 1))]
        found: Array = (live.held()[:known] > 0) & (newest > frontier - self._extent)
        return found


def key_pieces(cuts: Array, answers: int) -> list[tuple[int, int]]:
    """Keys in pieces for threads, each with its begin and its end, by how much each has to do.

    Args:
        cuts: how much there is to do before each key, and in the end in all.
        answers: how many answers that gives.
    """
    wanted = max(min(cores(), answers // sizes.current().smallest_piece), 1)
    total = int(cuts[-1])
    marks = np.searchsorted(cuts, [total * piece // wanted for piece in range(1, wanted)])
    cut = pairwise([0, *marks.tolist(), len(cuts) - 1])
    return [(begin, stop) for begin, stop in cut if begin < stop]


def kernel_of(product: Product, checked: bool, timed: bool) -> Kernel:
    """The kernel of windows of time, or of rows."""
    return Kernel(over_live_time if timed else over_live_rows, (flip_part,), product, checked)


def flip_part(ring: Ring, base: int, mask: int, front: int, end: int) -> None:
    """Let each partial of a window reach to its end."""
    position = end - 1
    partial = load(ring, base + (position & mask))
    while position != front:
        position -= 1
        partial = combine(load(ring, base + (position & mask)), partial)
        store(ring, base + (position & mask), partial)


def over_live_rows(
    columns: Block, validities: Block, answers: Block, defined: Block,
    ring: Ring, newer: Ring, marks: Block, bases: Block, rooms: Block,
    keys: Block, rows: Block, cuts: Block, most: int, begin: int, stop: int,
) -> None:  # fmt: skip
    """Answer each row over the newest `most` rows of its key, itself among them."""
    for number in range(begin, stop):
        key = keys[number]
        base, mask = bases[key], rooms[key] - 1
        front, middle, end = marks[key, 0], marks[key, 1], marks[key, 2]
        back = identity() if middle == end else load(newer, key)
        for place in range(cuts[number], cuts[number + 1]):
            if end - front == most:
                if front == middle:
                    flip_part(ring, base, mask, front, end)
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


def over_live_time(
    columns: Block, validities: Block, answers: Block, defined: Block,
    ring: Ring, newer: Ring, marks: Block, bases: Block, rooms: Block,
    keys: Block, rows: Block, cuts: Block, kept: Block, times: Block, extent: int,
    begin: int, stop: int,
) -> None:  # fmt: skip
    """Answer each row over the rows of its key that are less than `extent` older."""
    for number in range(begin, stop):
        key = keys[number]
        base, mask = bases[key], rooms[key] - 1
        front, middle, end = marks[key, 0], marks[key, 1], marks[key, 2]
        back = identity() if middle == end else load(newer, key)
        for place in range(cuts[number], cuts[number + 1]):
            row = rows[place]
            while front != end and times[row] - kept[base + (front & mask)] >= extent:
                if front == middle:
                    flip_part(ring, base, mask, front, end)
                    middle, back = end, identity()
                front += 1
            event = lift_row(columns, validities, row)
            store(ring, base + (end & mask), event)
            kept[base + (end & mask)] = times[row]
            end += 1
            back = combine(back, event)
            if front == middle:
                lower_row(answers, defined, row, back)
            else:
                older = load(ring, base + (front & mask))
                lower_row(answers, defined, row, combine(older, back))
        store(newer, key, back)
        marks[key, 0], marks[key, 1], marks[key, 2] = front, middle, end
