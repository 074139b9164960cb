"""The bars of the monoid trees: bulk evictions, and several dimensions in one window.

The contestants are those of the papers' experiments (`windrow bench --only constant_time_2019`,
Figs. 7 and 9), at the sizes that the bars name.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable

from benchmarks.harness import Comparison
from windrow.experiments.papers.constant_time_2019 import (
    AMTA,
    APART,
    DABA,
    LMTA,
    TOGETHER,
    bulk_eviction,
    many_dimensions,
)
from windrow.experiments.rounds import in_turns

HELD, LEAVING = 2**23, 2**22
DIMENSIONS = (2, 4, 8, 16)
ROWS = 2**20
ROUNDS = 3


def run() -> list[Comparison]:
    """Measure both."""
    return [*_bulk_evictions(), *(_dimensions(count) for count in DIMENSIONS)]


def _bulk_evictions() -> Iterable[Comparison]:
    contestants = {
        name: bulk_eviction(name, HELD, LEAVING, times)()
        for name, times in ((DABA, 1), (LMTA, 10_000), (AMTA, 10_000))
    }
    found = in_turns(contestants, ROUNDS)
    taken = {name: statistics.median(microseconds) / 1e6 for name, microseconds in found.items()}
    work = f"{LEAVING:,} of {HELD:,} events leave at once"
    for name in (LMTA, AMTA):
        yield Comparison(f"{name}, {work}", DABA, taken[name], taken[DABA], bar=1000)


def _dimensions(count: int) -> Comparison:
    contestants = {
        name: many_dimensions(count, ROWS, together=name == TOGETHER)()
        for name in (TOGETHER, APART)
    }
    found = in_turns(contestants, ROUNDS)
    taken = {
        name: statistics.median(nanoseconds) / 1e9 * ROWS for name, nanoseconds in found.items()
    }
    work, against = f"{count} dimensions in one window", f"{count} windows"
    return Comparison(work, against, taken[TOGETHER], taken[APART], bar=1.0)
