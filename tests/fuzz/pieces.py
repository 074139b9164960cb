"""Small pieces: what windrow does with many rows happens to a few."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

import pytest

from tests.stream.model import wait_in_small_blocks
from tests.stream.test_counted import FEWEST, SMALLEST
from tests.stream.test_rows import AT_ONCE, BINS, BLOCKS

#: pieces of tables for threads, answers that are handed over at once, blocks of state
SIZES = {
    "windrow.engine.over_table.SMALLEST_PIECE": 3,
    "windrow.engine.slide_table._SMALLEST_PIECE": 2,
    "windrow.engine.edges._SMALLEST_PIECE": 2,
    "windrow.engine.sorting._SMALLEST_PIECE": 2,
    "windrow.engine.slide_batches._MOST_ANSWERS": 3,
    "windrow.engine.slide_batches._FIRST_CAPACITY": 2,
    "windrow.engine.slice_windows._FIRST_CAPACITY": 2,
    "windrow.stream.over_stream.EVENTS_IN_A_BLOCK": 2,
    "windrow.stream.slide_stream.SLICES_IN_A_BLOCK": 2,
    FEWEST: 1,
    **SMALLEST,
    BINS: 4,
    BLOCKS: 2,
    AT_ONCE: 5,
}
MODULES = ("over_table", "slide_table", "edges", "sorting", "threads")


@contextmanager
def small_pieces(random: Random) -> Iterator[None]:
    """In every other example, as if there were many rows and four cores."""
    with pytest.MonkeyPatch.context() as patch:
        if random.random() < 0.5:
            for place, size in SIZES.items():
                patch.setattr(place, size)
            for module in MODULES:
                patch.setattr(f"windrow.engine.{module}.cores", lambda: 4)
            wait_in_small_blocks(patch)
        yield
