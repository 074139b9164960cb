"""`wr.slide` with many windows that share slices: one pass for all, or a pass for each.

The windows differ in range, from 100 rows up, and slide by one slice of 10 rows, as in the
max-multi-query experiments of Shein et al. 2018 (§5). A pass for each takes what the planner
chooses; one pass takes an algorithm that answers for parts of its window, by name.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

import windrow as wr
from benchmarks.harness import Comparison
from windrow.experiments.rounds import median_times
from windrow.planning.shared_answers import TOGETHER

ROWS = 1_000_000
WINDOWS = (4, 16, 64)
ROUNDS = 3


def run() -> list[Comparison]:
    """Each number of windows, max and sum."""
    numbers = np.random.default_rng(1).normal(size=ROWS)
    table = pa.table({"t": np.arange(ROWS), "x": numbers})
    found = []
    for aggregation in (wr.max, wr.sum):
        names = [name for name in TOGETHER if aggregation is wr.max or "slick" not in name]
        for count in WINDOWS:
            windows = {f"w{n}": wr.rows(100 * (n + 1), every=10) for n in range(count)}
            asked: dict[str, Any] = {"order": "t", "windows": windows, "aggs": aggregation("x")}
            contestants = {"each": partial(wr.slide, table, **asked)} | {
                name: partial(wr.slide, table, **asked, algorithm=name) for name in names
            }
            taken = median_times(contestants, ROUNDS)
            found += [
                Comparison(
                    f"{aggregation.name}, {count} windows, one pass of {name}",
                    "a pass for each",
                    taken[name],
                    taken["each"],
                )
                for name in names
            ]
    return found
