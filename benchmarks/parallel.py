"""The Parallel Boundary Aggregator beside those that work alone: when does a second thread pay?

Wall time, because two threads share the work, and so only on a machine with two idle cores. What
does not depend on that is the processor time of the window's own thread, printed beside it.

- Blocks of rows, as `wr.over` runs them, by the loop that each algorithm has for them.
- `wr.Window.slide_many`, as a user calls it: the planner has to choose PBA where a combine takes 50
  ns or more, and it has to be worth it.
- `wr.slide`, on one thread, with the chunks of theorem 1 (Zhang et al. 2021, §4.3).

`windrow bench --only parallel_boundary_2021.fig_7` has the latencies of single rounds.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

import windrow as wr
from benchmarks.harness import Comparison
from windrow.aggregations.moment_sketch import with_logarithms
from windrow.algebra.aggregation import Aggregation
from windrow.algebra.kinds import Kind
from windrow.algebra.product import Part, Product
from windrow.algorithms import (
    Algorithm,
    daba_lite,
    parallel_boundary,
    sequential_boundary,
    two_stacks_lite,
)
from windrow.engine import loops
from windrow.engine.row_windows import CompiledRowWindow, RowBlock, kernel_for
from windrow.experiments.rounds import in_turns, median_times
from windrow.planning.choose import HELPED_FROM
from windrow.windows.bounds import Bounds
from windrow.windows.key_runs import NEVER
from windrow.windows.reach import Newest
from windrow.work import sizes

Array = np.ndarray[Any, Any]

ALGORITHMS: tuple[Algorithm, ...] = (
    parallel_boundary,
    sequential_boundary,
    two_stacks_lite,
    daba_lite,
)
WINDOWS = [2**12, 2**16]
#: square roots to take in a combine, each some nanoseconds
COSTS = [0, 4, 16, 32, 64]
ROUNDS = 7
#: nanoseconds of work per measurement, about
BUDGET = 5e7
BAR = 1.25


def costly(roots: int) -> Aggregation:
    """A maximum that takes its time."""

    def combine(older: float, newer: float) -> float:
        largest = max(older, newer)
        waste = 0.0
        for root in range(roots):
            waste += math.sqrt(largest + root)
        return largest if waste >= 0.0 else older

    return wr.aggregation(name=f"max and {roots} roots", identity=-1.0, combine=combine)


def run() -> list[Comparison]:
    """Measure all."""
    return [*_blocks(), *_windows(), *_slides()]


# Blocks of rows ----------------------------------------------------------------------------------


class Pass(NamedTuple):
    """What a pass over a block took: nanoseconds a row, in all and of its own thread."""

    wall: float
    own: float
    helped: int


@dataclass
class Taken:
    """The passes of an algorithm, round by round."""

    passes: list[Pass]

    @property
    def wall(self) -> float:
        """The median nanoseconds per row."""
        return median(each.wall for each in self.passes)

    @property
    def own(self) -> float:
        """The same of its own thread."""
        return median(each.own for each in self.passes)

    def __str__(self) -> str:
        return (
            f"{self.wall:7.1f} ns a row, {self.own:7.1f} of its own thread, "
            f"{self.passes[-1].helped} chunks helped"
        )


def _blocks() -> Iterator[Comparison]:
    """Every cost, every window: PBA against each of the others."""
    for aggregation, budget in [
        *((costly(roots), BUDGET / (8 + 6 * roots)) for roots in COSTS),
        (wr.moment_sketch(), BUDGET / 200),
    ]:
        for extent in WINDOWS:
            taken = _taken(aggregation, extent, int(max(8 * extent, budget)))
            for name, each in taken.items():
                print(f"  {aggregation}, window {extent}, {name}: {each}", flush=True)
            combine = taken[sequential_boundary.NAME].own / 3
            for algorithm in ALGORITHMS[1:]:
                is_barred = algorithm is sequential_boundary and combine >= HELPED_FROM
                yield Comparison(
                    f"{aggregation}, {combine:.0f} ns a combine, window {extent:,}",
                    algorithm.NAME,
                    taken[parallel_boundary.NAME].wall / 1e9,
                    taken[algorithm.NAME].wall / 1e9,
                    BAR if is_barred else None,
                )


def _taken(aggregation: Any, extent: int, size: int) -> dict[str, Taken]:
    monoid = _monoid(aggregation)
    product = Product([Part(monoid, (0,))])
    block = RowBlock(
        (_column(aggregation, size),), (), Bounds(np.array([0, NEVER]), Newest(extent)), 0, 0, size
    )
    contestants = {
        algorithm.NAME: partial(_pass, algorithm, product, extent, block)
        for algorithm in ALGORITHMS
    }
    return {name: Taken(passes) for name, passes in in_turns(contestants, ROUNDS).items()}


def _pass(algorithm: Algorithm, product: Product, extent: int, block: RowBlock) -> Pass:
    kernel = kernel_for(loops.over_rows, algorithm, product, checked=False)
    one_pass = CompiledRowWindow(wr.rows(extent), loops.over_rows, kernel, product, algorithm)
    answers, defined = [product.parts[0].monoid.room(block.stop)], [np.empty(block.stop, np.bool_)]
    started, own = time.perf_counter(), time.thread_time()
    one_pass.advance(block, answers, defined)
    wall, own = time.perf_counter() - started, time.thread_time() - own
    helped = one_pass.helper.helped if one_pass.helper else 0
    return Pass(wall / block.stop * 1e9, own / block.stop * 1e9, helped)


def _monoid(aggregation: Any) -> Any:
    return getattr(aggregation, "aggregation", aggregation).monoid_for((Kind.FLOAT,)).for_blocks


def _column(aggregation: Any, size: int) -> Array:
    numbers = _numbers(size)
    if "moment" not in str(aggregation):
        return numbers
    both: Array = with_logarithms(pa.array(numbers))
    both.flags.writeable = False
    return both


def _numbers(size: int) -> Array:
    numbers: Array = np.abs(np.random.default_rng(1).normal(size=size)) + 0.1
    numbers.flags.writeable = False
    return numbers


# As users call it --------------------------------------------------------------------------------


def _windows() -> Iterator[Comparison]:
    """`wr.Window.slide_many`: what the planner chooses against SBA."""
    for roots in (32, 64):
        for extent in WINDOWS:
            numbers = _numbers(8 * extent if extent > 2**14 else 32 * extent)
            windows: dict[str, Any] = {
                "planned": wr.Window(costly(roots)(), types="float64"),
                "SBA": wr.Window(costly(roots)(), types="float64", algorithm="sequential_boundary"),
            }
            print(f"  {roots} roots, window {extent}: {windows['planned']}", flush=True)
            for window in windows.values():
                window.insert_many(numbers[:extent])
            taken = median_times(
                {name: partial(each.slide_many, numbers) for name, each in windows.items()}, ROUNDS
            )
            chosen = repr(windows["planned"]).split(", ")[-1].rstrip(">")
            yield Comparison(
                f"slide_many, {roots} roots, window {extent:,}, planned: {chosen}",
                "sequential_boundary",
                taken["planned"],
                taken["SBA"],
                BAR,
            )


def _slides() -> Iterator[Comparison]:
    """`wr.slide` on one thread: windows of 4,096 slices of four rows."""
    numbers = _numbers(200_000)
    table = pa.table({"t": np.arange(len(numbers)), "x": numbers})
    for roots in (32, 64):
        aggregation = costly(roots)
        question: dict[str, Any] = {
            "order": "t", "windows": wr.rows(2**14, every=4), "aggs": aggregation("x"),
        }  # fmt: skip
        with sizes.using(cores=1):
            taken = median_times(
                {
                    algorithm.NAME: partial(
                        wr.slide, table, **question, algorithm=algorithm.NAME
                    )
                    for algorithm in ALGORITHMS[:2]
                },
                ROUNDS,
            )  # fmt: skip
        yield Comparison(
            f"wr.slide, {roots} roots, 4,096 slices of 4 rows, one thread",
            "sequential_boundary",
            taken["parallel_boundary"],
            taken["sequential_boundary"],
        )
