"""Small pieces: what windrow does with many rows happens to a few."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

from tests.support.stream.model import BINS_SMALL, COUNTS_SMALLEST, WAITING_SMALL
from windrow.stream import sizes as state_sizes
from windrow.work import sizes

#: pieces of tables for threads, answers that are handed over at once, first rooms
WORK = {
    "cores": 4,
    "smallest_piece": 2,
    "most_answers": 3,
    "slice_capacity": 2,
    "window_capacity": 2,
    "smallest_kept": 8,
    "smallest_scattered": 2,
    "most_lines": 5,
}
#: blocks of state
STATE = {
    "events_in_a_block": 2,
    "slices_in_a_block": 2,
    "fewest_counted": 1,
    **WAITING_SMALL,
    **BINS_SMALL,
    **COUNTS_SMALLEST,
}


@contextmanager
def small_pieces(random: Random) -> Iterator[None]:
    """In every other example, as if there were many rows and four cores."""
    if random.random() < 0.5:
        with sizes.using(**WORK), state_sizes.using(**STATE):
            yield
    else:
        yield
