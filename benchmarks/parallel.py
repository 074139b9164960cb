"""The Parallel Boundary Aggregator beside those that work alone: when does a second thread pay?

Wall time, because two threads share the work, and so only on a machine with two idle cores. What
does not depend on that is the processor time of the window's own thread, printed beside it: of the
4 combines a row that SBA takes, PBA leaves one to the helper.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

import windrow as wr
from benchmarks.harness import Comparison
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
from windrow.compiler.kernel import Kernel
from windrow.engine import loops
from windrow.engine.row_windows import CompiledRowWindow, RowBlock
from windrow.windows.bounds import Bounds
from windrow.windows.key_runs import NEVER
from windrow.windows.reach import Newest

ALGORITHMS: tuple[Algorithm, ...] = (
    parallel_boundary,
    sequential_boundary,
    two_stacks_lite,
    daba_lite,
)
WINDOWS = [2**10, 2**12, 2**14, 2**16]
#: square roots to take in a combine, each some nanoseconds
COSTS = [0, 4, 16, 64]
ROUNDS = 7
#: nanoseconds of work per measurement, about
BUDGET = 5e7


def costly(roots: int) -> Aggregation:
    """A maximum that takes its time."""

    def combine(older: float, newer: float) -> float:
        largest = max(older, newer)
        waste = 0.0
        for root in range(roots):
            waste += math.sqrt(largest + root)
        return largest if waste >= 0.0 else older

    return wr.aggregation(name=f"max and {roots} roots", identity=-1.0, combine=combine)


@dataclass
class Taken:
    """The best of some rounds, in nanoseconds per row."""

    wall: float = math.inf
    own: float = math.inf
    both: float = 0.0
    helped: int = 0

    def add(self, one_pass: CompiledRowWindow, block: RowBlock) -> None:
        answers, defined = [np.empty(block.stop)], [np.empty(block.stop, np.bool_)]
        started, own, both = time.perf_counter(), time.thread_time(), time.process_time()
        one_pass.advance(block, answers, defined)
        wall = (time.perf_counter() - started) / block.stop * 1e9
        if wall < self.wall:
            self.wall = wall
            self.both = (time.process_time() - both) / block.stop * 1e9
            self.helped = one_pass.helper.helped if one_pass.helper else 0
        self.own = min(self.own, (time.thread_time() - own) / block.stop * 1e9)

    def __str__(self) -> str:
        return (
            f"{self.wall:7.1f} ns a row, {self.own:7.1f} of its own thread, "
            f"{self.both / self.wall:4.2f} cores, {self.helped} chunks helped"
        )


def run() -> list[Comparison]:
    """Every cost, every window: PBA against each of the others."""
    comparisons = []
    for roots in COSTS:
        aggregation = costly(roots)
        product = Product([Part(aggregation.monoid_for((Kind.FLOAT,)), (0,))])
        for extent in WINDOWS:
            size = int(max(8 * extent, BUDGET / (8 + 6 * roots)))
            taken = _measure(product, extent, _block(size, extent))
            for name, each in taken.items():
                print(f"  {aggregation.name}, window {extent}, {name}: {each}", flush=True)
            comparisons += [
                Comparison(
                    f"{aggregation.name}, window {extent}",
                    algorithm.NAME,
                    taken[parallel_boundary.NAME].wall / 1e9,
                    taken[algorithm.NAME].wall / 1e9,
                )
                for algorithm in ALGORITHMS[1:]
            ]
    return comparisons


def _block(size: int, extent: int) -> RowBlock:
    numbers: np.ndarray[Any, Any] = np.abs(np.random.default_rng(1).normal(size=size))
    numbers.flags.writeable = False
    return RowBlock((numbers,), (), Bounds(np.array([0, NEVER]), Newest(extent)), 0, 0, size)


def _measure(product: Product, extent: int, block: RowBlock) -> dict[str, Taken]:
    taken = {algorithm.NAME: Taken() for algorithm in ALGORITHMS}
    for _round in range(ROUNDS):
        for algorithm in ALGORITHMS:
            kernel = Kernel(loops.over_rows, algorithm.FUNCTIONS, product, checked=False)
            one_pass = CompiledRowWindow(
                wr.rows(extent), loops.over_rows, kernel, product, algorithm
            )
            taken[algorithm.NAME].add(one_pass, block)
    return taken
