"""PBA, the Parallel Boundary Aggregator: SBA with a second thread for what a boundary costs.

paper      Zhang et al. 2021, §4
order      first in, first out
requires   an associative combine, nothing else
insert     1 combine
evict      no combine while a closed chunk is left (log n if the window has grown); otherwise as
           many as the window has events; k at once: the same
query      1 combine, 2 while the window spans three chunks or more
helper     1 combine for each event
space      n + 2 partials, within the 3b* + 2 of the paper; in blocks of rows 2n + 2

Everything is as in `sequential_boundary`, with one difference: when a chunk is closed, the window
does not accumulate its slots from right to left at once. It hands the chunk to a helper, a loop on
another thread, slides on, and accumulates the next chunk from left to right. The optimal chunk is
as long as the helper needs to have the lcs ready when the front comes to it.

      thread of the window     | accumulate chunk 2, answer     | accumulate chunk 3, answer
                               |   hand over 1                  |   hand over 2     settle 1 |
      helper                      | lcs of chunk 1 |               | lcs of chunk 2 |

The window puts the chunk on a board, eight words that both threads share. The thread that takes a
chunk off the board computes its lcs. If the front comes to a chunk that nobody has taken, the
window's own thread takes it. If the helper has taken it, the window's thread waits until it is
done. So no answer depends on the helper. Without a helper, the window's own thread computes every
lcs, which is SBA. A helper that is late costs time and never an answer.

A chunk has as many slots as theorem 1 or 2 gives, where range and slide are known: `cut_into` says
how many. Elsewhere it is closed when it holds more than half of the window, as in SBA. In blocks,
the rows to come are there, and so a chunk is a whole window (`parallel_rows`).

      work    idle -> posted -> taken -> idle          begin, stop: the chunk
                        |                  or failed   leave: the helper shall stop
                        +--> idle (abandoned)

A helper runs beside the kernels of blocks, if there is a second core for it: in `wr.over`, in
`wr.slide`, and in a `wr.Window` with types (see `windrow.engine.helper_thread`). Single events have
none: a call is over before it comes. Chunks shorter than `SMALLEST` are not handed over. It pays if
combining is expensive. Its results come back from another core's cache, which takes at least as
long as combining two numbers.

Invariants, for a window of events v[0] to v[n-1], beside those of `sequential_boundary`:

6. In a posted chunk, the slot of v[i] holds v[i], and not yet what invariant 3 says. A posted chunk
   is the newest closed chunk, and not the oldest chunk.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from windrow.algorithms import sequential_boundary
from windrow.algorithms.guarantees import Growth, Guarantees
from windrow.algorithms.plain_memory import Memory
from windrow.algorithms.sequential_boundary import (
    State,
    accumulate_left,
    refuses,
    stored_partials,
)
from windrow.compiler.slots import (
    Partial,
    Ring,
    capacity,
    claim,
    load_integer,
    pause,
    publish,
    store_integer,
    watch,
)

NAME = "parallel_boundary"
GUARANTEES = Guarantees(Growth.LINEAR, lambda events: events + 2, positions=1)

__all__ = ["State", "refuses", "stored_partials"]

#: handing over takes as long as this many cheap combines
SMALLEST = 64

# The words of the board, and what the first of them says.
WORK, BEGIN, STOP, LEAVE, CHUNK, WORDS = 0, 1, 2, 3, 4, 8
IDLE, POSTED, TAKEN, FAILED = 0, 1, 2, 3


class SharedChunks(NamedTuple):
    """Slots of events, where the middle chunks but for the first begin, and the board."""

    slots: Ring
    boundaries: Ring
    board: Ring


def allocate(memory: Memory, capacity: int) -> SharedChunks:
    """Room for so many events."""
    slots = memory.queue(2 * capacity)  # for the window, and for a chunk that is to come
    return SharedChunks(slots, memory.integers(capacity), memory.counters(WORDS))


def cut_into(ring: SharedChunks, chunk: int) -> None:
    """Close chunks when they hold so many slots; called from Python, before the first event."""
    ring.board[CHUNK] = chunk


def has_room(state: State, ring: SharedChunks) -> bool:
    """Whether one more event fits."""
    return 2 * (state.end - state.front) < capacity(ring.slots)


def is_chunk_full(state: State, ring: SharedChunks) -> bool:
    """Whether the current chunk holds what it shall hold, or more than half of the window."""
    wanted = load_integer(ring.board, CHUNK)
    held = state.end - state.current
    if wanted > 0:
        return held >= wanted
    return 2 * held > state.end - state.front


def accumulate_posted(ring: SharedChunks) -> None:
    """Compute the lcs of the chunk that was taken off the board."""
    begin = load_integer(ring.board, BEGIN)
    accumulate_left(ring, begin, load_integer(ring.board, STOP))
    publish(ring.board, WORK, IDLE)


def settle(ring: SharedChunks) -> None:
    """Have what was handed over ready: compute what nobody has taken, wait for what somebody has.

    After a failure there is nothing to wait for. The window's answers are worthless then, and the
    error is raised when the block is through.
    """
    if claim(ring.board, WORK, POSTED, TAKEN):
        accumulate_posted(ring)
    attempt = 0
    while watch(ring.board, WORK) == TAKEN:
        pause(attempt)
        attempt += 1


def abandon(ring: SharedChunks) -> None:
    """Have what was handed over left alone: take it off the board, or wait for who has."""
    if not claim(ring.board, WORK, POSTED, IDLE):
        settle(ring)


def hand_over(ring: SharedChunks, begin: int, stop: int) -> None:
    """Post a chunk, unless it is too short to be worth it."""
    settle(ring)
    if stop - begin < SMALLEST:
        accumulate_left(ring, begin, stop)
    else:
        store_integer(ring.board, BEGIN, begin)
        store_integer(ring.board, STOP, stop)
        publish(ring.board, WORK, POSTED)


def help_out(ring: SharedChunks) -> int:
    """The helper's loop: compute what is posted until asked to leave; how many chunks that were."""
    helped = attempt = 0
    while True:
        if claim(ring.board, WORK, POSTED, TAKEN):
            accumulate_posted(ring)
            helped += 1
            attempt = 0
        elif watch(ring.board, LEAVE) != 0:
            return helped
        else:
            pause(attempt)
            attempt += 1


_OWN = (accumulate_posted, settle, abandon, hand_over, has_room, is_chunk_full)
_REPLACED = {"accumulate_left", *(function.__name__ for function in _OWN)}

FUNCTIONS = (
    accumulate_left,
    *_OWN,
    *(each for each in sequential_boundary.FUNCTIONS if each.__name__ not in _REPLACED),
)

#: the loop that a second thread runs beside a kernel
HELPER = help_out


def welcome(ring: SharedChunks) -> None:
    """Let a helper stay; called before it comes, from Python, with the arrays of a kernel."""
    ring.board[LEAVE] = 0


def dismiss(ring: SharedChunks) -> None:
    """Ask the helper to leave."""
    ring.board[LEAVE] = 1


def fail(ring: SharedChunks) -> None:
    """Tell who waits for the helper that it has failed."""
    ring.board[WORK] = FAILED


def check_invariants(
    state: State,
    ring: SharedChunks,
    events: Sequence[Partial],
    load: Callable[[Ring, int], Partial],
    fold: Callable[[Sequence[Partial]], Partial],
    equal: Callable[[Partial, Partial], bool],
) -> None:
    """Assert invariants 1 to 6 for a window of these lifted events."""
    work = load(ring.board, WORK)
    assert work in (IDLE, POSTED), "invariant 6"
    if work == IDLE:
        return sequential_boundary.check_invariants(state, ring, events, load, fold, equal)
    begin, stop = load(ring.board, BEGIN), load(ring.board, STOP)
    assert state.middle <= begin < stop == state.current, "invariant 6"
    posted = range(begin - state.front, stop - state.front)
    for index in posted:
        stored = load(ring.slots, state.front + index)
        assert equal(stored, events[index]), f"invariant 6 at {index}"

    def load_settled(place: Ring, position: int) -> Partial:
        if place is ring.slots and position - state.front in posted:
            return fold(events[position - state.front : posted.stop])
        return load(place, position)

    return sequential_boundary.check_invariants(state, ring, events, load_settled, fold, equal)
