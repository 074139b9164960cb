"""Small pieces: what windrow does with many rows happens to a few."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

import pytest

from tests.stream.model import wait_in_small_blocks
from tests.stream.test_counted import FEWEST, SMALLEST
from tests.stream.test_rows import AT_ONCE, BINS, BLOCKS
from windrow.work import sizes

#: pieces of tables for threads, answers that are handed over at once, first rooms
WORK = {
    "cores": 4,
    "smallest_piece": 2,
    "most_answers": 3,
    "slice_capacity": 2,
    "window_capacity": 2,
}
#: blocks of state
SIZES = {
    "windrow.stream.over_stream.EVENTS_IN_A_BLOCK": 2,
    "windrow.stream.slide_stream.SLICES_IN_A_BLOCK": 2,
    FEWEST: 1,
    **SMALLEST,
    BINS: 4,
    BLOCKS: 2,
    AT_ONCE: 5,
}


@contextmanager
def small_pieces(random: Random) -> Iterator[None]:
    """In every other example, as if there were many rows and four cores."""
    if random.random() < 0.5:
        with pytest.MonkeyPatch.context() as patch, sizes.using(**WORK):
            for place, size in SIZES.items():
                patch.setattr(place, size)
            wait_in_small_blocks(patch)
            yield
    else:
        yield
