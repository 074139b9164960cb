"""RowBlock kernels against `numpy.cumsum` over the same array: one addition per element."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import windrow as wr
from benchmarks.harness import Comparison
from windrow import algorithms
from windrow.algebra.kinds import Kind
from windrow.algebra.product import Part, Product
from windrow.compiler.kernel import Kernel
from windrow.engine import loops
from windrow.engine.row_windows import CompiledRowWindow, RowBlock
from windrow.experiments.rounds import median_times
from windrow.windows.bounds import Bounds
from windrow.windows.key_runs import NEVER
from windrow.windows.reach import Newest

Array = np.ndarray[Any, Any]

ALGORITHM = algorithms.find("two_stacks_lite")
EVENTS = 4_000_000
ROUNDS = 5
WINDOWS = [2**power for power in (4, 6, 8, 10, 12, 14, 16, 18, 20)]
#: windrow may take at most 1.2 times the time of cumsum
BAR = round(1 / 1.2, 2)


def run() -> list[Comparison]:
    """`two_stacks_lite`, sum and max of floats, windows of 16 to 2^20 rows."""
    numbers = np.random.default_rng(1).normal(size=EVENTS)
    numbers.flags.writeable = False
    answers = np.empty(EVENTS)
    comparisons = []
    for aggregation in (wr.sum, wr.max):
        product = Product([Part(aggregation.monoid_for((Kind.FLOAT,)), (0,))])
        kernel = Kernel(loops.over_rows, ALGORITHM.FUNCTIONS, product, checked=False)
        for extent in WINDOWS:
            roll = partial(_roll, kernel, product, extent, numbers, answers)
            cumsum = partial(np.cumsum, numbers, out=answers)
            times = median_times({"windrow": roll, "cumsum": cumsum}, ROUNDS)
            comparisons.append(
                Comparison(
                    f"{aggregation.name}, window {extent}",
                    "numpy.cumsum",
                    times["windrow"],
                    times["cumsum"],
                    BAR,
                )
            )
    return comparisons


def _roll(kernel: Kernel, product: Product, extent: int, numbers: Array, answers: Array) -> None:
    one_pass = CompiledRowWindow(wr.rows(extent), loops.over_rows, kernel, product, ALGORITHM)
    block = RowBlock(
        (numbers,), (), Bounds(np.array([0, NEVER]), Newest(extent)), 0, 0, len(numbers)
    )
    one_pass.advance(block, [answers], [np.empty(0, np.bool_)])
