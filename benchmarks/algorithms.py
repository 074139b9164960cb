"""Every algorithm, every window size: rounds per second.

A round evicts the oldest event, inserts a new one and queries. The results are the cost table that
`docs/costs.md` shows and the planner reads. `windrow bench` has the latency of single rounds, and a
ring in C++ beside them (`--only in_order_2021`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import windrow as wr
from benchmarks.costs import Cost, write_costs
from benchmarks.drivers import fill_and_drain
from benchmarks.harness import Comparison
from windrow.algebra.aggregation import Aggregation
from windrow.algebra.arrays import read_only
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Monoid
from windrow.algebra.product import Part, Product
from windrow.algorithms import ALGORITHMS, Algorithm
from windrow.compiler.kernel import Kernel
from windrow.compiler.kernel_memory import KernelMemory
from windrow.engine import loops
from windrow.engine.kernel_window import empty_state
from windrow.engine.row_windows import CompiledRowWindow, RowBlock, kernel_for
from windrow.experiments.bloom import bloom
from windrow.experiments.rounds import median_time
from windrow.windows.bounds import Bounds
from windrow.windows.key_runs import NEVER
from windrow.windows.reach import Newest

Array = np.ndarray[Any, Any]

AGGREGATIONS: tuple[Aggregation, ...] = (wr.sum, wr.max, wr.geometric_mean, wr.stddev, bloom)
WINDOWS = [1, 16, 256, 4096, 2**14, 2**16, 2**18, 2**20, 2**22]
#: plain Python costs the same in every window but for the cache, so that a few will do
PLAIN_WINDOWS = [16, 256, 4096]
PLAIN_AGGREGATIONS: tuple[Aggregation, ...] = (wr.sum, wr.max, wr.stddev)
PLAIN_EVENTS = 2**11
#: recomputation takes as many combines as the window has events
LARGEST_RECOMPUTED = 256
#: a million rows of a Bloom filter fill the memory of a small machine
LARGEST_OF_ROWS = 2**18
EVENTS = 2**20
#: seconds of work per measurement, about
BUDGET = 0.04


@dataclass(frozen=True)
class Subject:
    """One algorithm over one aggregation of one column of floats."""

    algorithm: Algorithm
    aggregation: Aggregation

    @property
    def monoid(self) -> Monoid:
        return self.aggregation.monoid_for((Kind.FLOAT,))

    @property
    def product(self) -> Product:
        return Product([Part(self.monoid.for_blocks, (0,))])

    @property
    def applies(self) -> bool:
        monoid = self.monoid
        return self.algorithm.refuses(monoid.traits, monoid.inverse is not None) is None

    def before(self, values: Array) -> Array:
        """What kernels read: numpy's half of lift done."""
        blockwise = self.monoid.blockwise
        return values if blockwise is None else read_only(blockwise.before(values))

    def after(self, answers: Array) -> None:
        """Numpy's half of lower."""
        if self.monoid.blockwise is not None:
            self.monoid.blockwise.after(answers, answers)


def subjects() -> Iterator[Subject]:
    """Every pair that goes together."""
    for algorithm in ALGORITHMS.values():
        for aggregation in AGGREGATIONS:
            subject = Subject(algorithm, aggregation)
            if subject.applies:
                yield subject


def largest(subject: Subject) -> int:
    """The largest window that is worth its time or memory."""
    if subject.algorithm.NAME == "recompute":
        return LARGEST_RECOMPUTED
    return LARGEST_OF_ROWS if subject.product.holds_rows else WINDOWS[-1]


def numbers(count: int) -> Array:
    """Positive floats, for geometric means."""
    values = np.random.default_rng(7).lognormal(size=count)
    values.flags.writeable = False
    return values


def static_rounds(subject: Subject, extent: int, values: Array) -> float:
    """Million rounds per second of a window of rows."""
    product = subject.product
    kernel = kernel_for(loops.over_rows, subject.algorithm, product, checked=False)
    answers, defined = _answers(subject, product, len(values))

    def slide(count: int) -> None:
        one_pass = CompiledRowWindow(
            wr.rows(extent), loops.over_rows, kernel, product, subject.algorithm
        )
        column = subject.before(values[:count])
        block = RowBlock((column,), (), Bounds(np.array([0, NEVER]), Newest(extent)), 0, 0, count)
        one_pass.advance(block, answers, defined)
        subject.after(answers[0][:count])

    # The filling of the window is not what is measured: it is timed apart and taken off.
    least = min(extent, len(values))
    filling = median_time(partial(slide, least), BUDGET)
    return (
        (len(values) - least) / (median_time(partial(slide, len(values)), BUDGET) - filling) / 1e6
    )


def dynamic_rounds(subject: Subject, extent: int, values: Array) -> float:
    """Million events per second through a window that fills and drains, over and over."""
    product = subject.product
    kernel = Kernel(fill_and_drain, subject.algorithm.FUNCTIONS, product, checked=False)
    answers, defined = _answers(subject, product, len(values))

    def run() -> None:
        arguments = _window(subject, product, extent)
        column = subject.before(values)
        kernel(*arguments[:-2], (column,), (), answers, defined, *arguments[-2:], extent)
        subject.after(answers[0])

    return len(values) / median_time(run, BUDGET) / 1e6


def plain_rounds(subject: Subject, extent: int, values: Array) -> float:
    """Million rounds per second of `wr.Window`."""
    numbers = values[: 2 * extent + PLAIN_EVENTS].tolist()

    def run() -> None:
        window = wr.Window(subject.aggregation, algorithm=subject.algorithm.NAME, exact=False)
        for number in numbers:
            if len(window) == extent:
                window.evict()
            window.insert(number)
            window.query()

    return len(numbers) / median_time(run, BUDGET) / 1e6


def _answers(
    subject: Subject, product: Product, size: int
) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    return (product.parts[0].monoid.room(size),), (np.empty(size, np.bool_),)


def _window(subject: Subject, product: Product, extent: int) -> tuple[Any, ...]:
    """Workspace, ring and state of an empty window."""
    memory = KernelMemory(product)
    ring = subject.algorithm.allocate(memory, 1 << (extent - 1).bit_length())
    return (*memory.workspace(), ring, empty_state(subject.algorithm, product, ring))


def measure(subject: Subject, extent: int) -> Cost:
    """All costs of one window."""
    values = numbers(max(EVENTS, 3 * extent) if extent >= 2**20 else EVENTS)
    plain = extent in PLAIN_WINDOWS and subject.aggregation in PLAIN_AGGREGATIONS
    return Cost(
        subject.algorithm.NAME,
        subject.aggregation.name,
        extent,
        static_rounds(subject, extent, values),
        dynamic_rounds(subject, extent, values),
        plain_rounds(subject, extent, values) if plain else None,
    )


def run() -> list[Comparison]:
    """Measure everything and write `docs/costs.md`; there is nothing to compare with."""
    costs = []
    for subject in subjects():
        for extent in WINDOWS:
            if extent > largest(subject):
                continue
            cost = measure(subject, extent)
            costs.append(cost)
            print(f"  {cost}", flush=True)
    write_costs(costs)
    return []
