"""Live windows by a clock: for each key the partials of its slices, with the times they begin at.

The events of a key enter in order. Those of one slice become one partial. Between them come the
answers of the windows that have ended:

      before a window [begin, end) is answered     enter   the slices before its end
                                                   leave   the slices before its begin

Windows that hold nothing are passed over, at once. So a batch costs its events and its answers.

All events of a slice come together, because a slice is final as a whole. When a window is answered,
no event of a slice that it holds is still to come. So a partial that a flip has combined with
others is never added to.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from windrow.algebra.product import Product
from windrow.compiler.array_loops import compiled_loop
from windrow.compiler.kernel import Kernel
from windrow.compiler.slots import Ring, combine, identity, lift_row, load, lower_row, store
from windrow.engine.live_windows import LiveRing, flip_part, key_pieces
from windrow.slicing import PeriodicWindow
from windrow.work.threads import in_threads

Array = np.ndarray[Any, Any]
Block = Any

#: as many keys as this are kept without looking for those that hold nothing
_FEW_KEYS = 1024
_LAST = 2**63 - 1


class LiveSlides:
    """The windows by one clock of all keys of a stream; the ring's last field has the times."""

    def __init__(self, product: Product, window: PeriodicWindow) -> None:
        self.live, self._window = LiveRing(product, timed=True), window

    def visited(self, keys: Array, cuts: Array, known: int) -> tuple[Array, Array]:
        """The keys that may have answers: those with new events, then those that hold some.

        Args:
            keys: those with new events, each once.
            cuts: where the events of each begin, and in the end their number.
            known: how many keys there are.
        """
        holding = self.live.held()[:known] > 0
        holding[keys[keys < len(holding)]] = False
        others = np.flatnonzero(holding)
        return np.append(keys, others), np.append(cuts, np.repeat(cuts[-1], len(others)))

    def counts(
        self, keys: Array, rows: Array, cuts: Array, slices: Array, low: int, high: int
    ) -> Array:
        """For each key, how many windows from `low` to `high` hold a slice; makes room, too."""
        self.live.make_room(keys, _different(rows, cuts, slices), _LAST)
        found = np.zeros(len(keys), np.int64)
        live, window = self.live, self._window

        def count(piece: tuple[int, int]) -> None:
            compiled_loop(_count_held)(
                live.ring[-1], live.marks, live.bases, live.rooms, keys, rows, cuts, slices,
                low, min(high, _LAST), window.range, window.slide, window.offset, found, *piece,
            )  # fmt: skip

        looked_at = np.append(0, np.cumsum(live.held(keys) + np.diff(cuts)))
        in_threads(count, key_pieces(looked_at, int(looked_at[-1])))
        return found

    def holding(self, known: int) -> Array | None:
        """The keys to keep, if most of those that are known hold nothing any more."""
        holding = self.live.held()[:known] > 0
        if known <= _FEW_KEYS or 2 * int(np.count_nonzero(holding)) > known:
            return None
        return np.flatnonzero(holding)


def kernel_of(product: Product, checked: bool) -> Kernel:
    """The kernel that answers windows by a clock."""
    return Kernel(slide_live, (flip_part,), product, checked)


def _different(rows: Array, cuts: Array, slices: Array) -> Array:
    """For each key, how many different slices its events have."""
    placed = slices[rows]
    anew = np.ones(len(rows) + 1, np.int64)
    anew[1:-1] = placed[1:] != placed[:-1]
    anew[cuts[:-1]] = 1
    before = np.concatenate([[0], np.cumsum(anew[:-1])])
    found: Array = before[cuts[1:]] - before[cuts[:-1]]
    return found


def _count_held(
    times: Array, marks: Array, bases: Array, rooms: Array,
    keys: Array, rows: Array, cuts: Array, slices: Array,
    low: int, high: int, extent: int, slide: int, offset: int, counts: Array, begin: int, stop: int,
) -> None:  # fmt: skip
    for number in range(begin, stop):
        key = keys[number]
        base, mask, end = bases[key], rooms[key] - 1, marks[key, 2]
        position, place = marks[key, 0], cuts[number]
        # The windows before `following` are counted. A slice mostly adds the next one alone, and
        # then nothing is divided: that takes longer than all the rest.
        following, count = low, 0
        while following <= high and (position < end or place < cuts[number + 1]):
            if position < end:
                time = times[base + (position & mask)]
                position += 1
            else:
                time = slices[rows[place]]
                place += 1
            if time < following:
                continue
            first = following
            if time - following >= extent:
                phase = (time - offset) % slide
                first = time - phase - (extent - 1 - phase) // slide * slide
            last = min(time, high)
            if first <= last:
                more = (last - first) // slide + 1 if last - first >= slide else 1
                count += more
                following = first + more * slide
        counts[number] = count


def slide_live(
    columns: Block, validities: Block, answers: Block, defined: Block, names: Block,
    ring: Ring, newer: Ring, times: Block, marks: Block, bases: Block, rooms: Block,
    keys: Block, rows: Block, cuts: Block, slices: Block, places: Block,
    low: int, high: int, opening: int, extent: int, slide: int, offset: int, begin: int, stop: int,
) -> None:  # fmt: skip
    """Answer the windows that begin from `low` to `high`, and drop what lies before `opening`.

    The answers of a key go to its place on; their windows' begins go to `names`.
    """
    for number in range(begin, stop):
        key = keys[number]
        base, mask = bases[key], rooms[key] - 1
        front, middle, end = marks[key, 0], marks[key, 1], marks[key, 2]
        back = identity() if middle == end else load(newer, key)
        event, last_event = cuts[number], cuts[number + 1]
        answer, name = places[number], low
        is_last = False
        while not is_last:
            if front == end and event < last_event:
                time = slices[rows[event]]
                phase = (time - offset) % slide
                name = max(name, time - phase - (extent - 1 - phase) // slide * slide)
            # The last round answers nothing: it takes the events that are left.
            is_last = name > high or (front == end and event == last_event)
            while event < last_event and (is_last or slices[rows[event]] - name < extent):
                row = rows[event]
                time = slices[row]
                lifted = lift_row(columns, validities, row)
                if end != middle and times[base + ((end - 1) & mask)] == time:
                    place = base + ((end - 1) & mask)
                    store(ring, place, combine(load(ring, place), lifted))
                else:
                    place = base + (end & mask)
                    store(ring, place, lifted)
                    times[place] = time
                    end += 1
                back = combine(back, lifted)
                event += 1
            oldest = opening if is_last else name
            while front != end and times[base + (front & mask)] < oldest:
                if front == middle:
                    flip_part(ring, base, mask, front, end)
                    middle, back = end, identity()
                front += 1
            if front != end and not is_last:
                if front == middle:
                    lower_row(answers, defined, answer, back)
                else:
                    older = load(ring, base + (front & mask))
                    lower_row(answers, defined, answer, combine(older, back))
                names[answer] = name
                answer += 1
                name += slide
        store(newer, key, back)
        marks[key, 0], marks[key, 1], marks[key, 2] = front, middle, end
