"""`wr.Window` as a data structure: by element, by block, and events that leave in bulk.

Everything is measured as a user calls it. A round is insert, evict and query of one event, over a
window of 4,096. The hand-written Two-Stacks is the paper's (Tangwongsan et al. 2021, §3): two
stacks of pairs of a value and an aggregate. A leaner one, for a maximum alone, keeps no pairs: it
has no bar, and shows what one gains by hand who wants nothing else.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterable
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np

import windrow as wr
from benchmarks.harness import Comparison
from windrow.algebra.aggregation import Aggregation
from windrow.algebra.kinds import Kind
from windrow.algebra.product import Part, Product
from windrow.engine import loops
from windrow.engine.row_windows import CompiledRowWindow, RowBlock, kernel_for
from windrow.experiments.rounds import median_times
from windrow.planning import costs
from windrow.planning.choose import Served, Wish, choose
from windrow.windows.bounds import Bounds
from windrow.windows.key_runs import NEVER
from windrow.windows.reach import Newest

EXTENT = 4096
ROUNDS = 20_000
EVENTS = 4_000_000
HELD, LEAVING, FEW = 2**22, 2**21, 2**5
POLICY = wr.policies.at_most_events(EXTENT)


def run() -> list[Comparison]:
    """Measure all."""
    return [*_by_element(), *_by_block(), *_bulk_evictions()]


# By element --------------------------------------------------------------------------------------


class TwoStacks:
    """The maximum of a window, written by hand."""

    def __init__(self) -> None:
        self.front: list[tuple[float, float]] = []
        self.back: list[tuple[float, float]] = []

    def insert(self, value: float) -> None:
        if self.back:
            self.back.append((value, max(self.back[-1][1], value)))
        else:
            self.back.append((value, value))

    def evict(self) -> None:
        if not self.front:
            while self.back:
                value, _ = self.back.pop()
                if self.front:
                    self.front.append((value, max(value, self.front[-1][1])))
                else:
                    self.front.append((value, value))
        self.front.pop()

    def query(self) -> float | None:
        if not self.front:
            return self.back[-1][1] if self.back else None
        if not self.back:
            return self.front[-1][1]
        return max(self.front[-1][1], self.back[-1][1])


class LeanTwoStacks:
    """The same without pairs: the front holds aggregates, the back values and one aggregate."""

    def __init__(self) -> None:
        self.front: list[float] = []
        self.back: list[float] = []
        self.newest = -math.inf

    def insert(self, value: float) -> None:
        self.back.append(value)
        if value > self.newest:
            self.newest = value

    def evict(self) -> None:
        front = self.front
        if not front:
            front.extend(accumulate(reversed(self.back), max))
            self.back.clear()
            self.newest = -math.inf
        front.pop()

    def query(self) -> float | None:
        front, newest = self.front, self.newest
        if front:
            oldest = front[-1]
            return oldest if oldest > newest else newest
        return newest if self.back else None


def _rounds(window: Any, values: list[float]) -> None:
    for value in values:
        window.insert(value)
        window.evict()
        window.query()


def _rounds_by_policy(window: Any, values: list[float]) -> None:
    for value in values:
        window.insert(value)
        window.query()


def _by_element() -> Iterable[Comparison]:
    values = np.random.default_rng(1).normal(size=ROUNDS).tolist()
    by_hand, lean = TwoStacks(), LeanTwoStacks()
    for value in values[:EXTENT]:
        by_hand.insert(value)
        lean.insert(value)
    tree = "amortized_monoid_tree"
    windows: dict[str, Any] = {
        "compiled": wr.Window(wr.max(), types="float64"),
        "plain": wr.Window(wr.max()),
        "plain tree": wr.Window(wr.max(), algorithm=tree),
        "compiled tree": wr.Window(wr.max(), algorithm=tree, types="float64"),
    }
    policies: dict[str, Any] = {
        "plain policy": wr.Window(wr.max(), policy=POLICY),
        "compiled policy": wr.Window(wr.max(), policy=POLICY, types="float64"),
    }
    contestants: dict[str, Callable[[], None]] = {
        "by hand": partial(_rounds, by_hand, values),
        "lean by hand": partial(_rounds, lean, values),
    }
    for name, window in (windows | policies).items():
        window.insert_many(values[:EXTENT])
        for value in values[:EXTENT]:  # long enough for code of its own
            window.insert(value)
        window.evict_many(len(window) - EXTENT)
        rounds = _rounds if name in windows else _rounds_by_policy
        contestants[name] = partial(rounds, window, values)
    taken = median_times(contestants, rounds=9)
    for name, seconds in taken.items():
        print(f"  {name}: {seconds / ROUNDS * 1e9:,.0f} ns a round", flush=True)
    for work, name, against, bar in (
        ("a round by element, compiled", "compiled", "by hand", 1 / 1.5),
        ("a round by element, plain Python", "plain", "by hand", 1 / 2.5),
        ("a round by element, compiled", "compiled", "lean by hand", None),
        ("a round by element, plain Python", "plain", "lean by hand", None),
        ("a round by policy, compiled", "compiled policy", "compiled tree", 1 / 2),
        ("a round by policy, plain Python", "plain policy", "plain tree", 1 / 2),
    ):
        rival = {
            "by hand": "Two-Stacks by hand",
            "lean by hand": "leaner Two-Stacks by hand",
        }.get(against, f"{against}, no policy")
        yield Comparison(work, rival, taken[name], taken[against], bar and round(bar, 3))


# By block ----------------------------------------------------------------------------------------


def _by_block() -> Iterable[Comparison]:
    numbers = np.random.default_rng(2).normal(size=EVENTS)
    numbers.flags.writeable = False
    sums = np.empty(EVENTS)
    for aggregation in (wr.max, wr.mean, wr.stddev):
        sliding = wr.Window(aggregation(), types="float64")
        sliding.insert_many(numbers[:EXTENT])
        taken = median_times(
            {
                "insert": partial(_insert, aggregation, numbers),
                "slide": partial(sliding.slide_many, numbers),
                "cumsum": partial(np.cumsum, numbers, out=sums),
                "kernel": _block_kernel(aggregation, numbers),
            },
            rounds=9,
        )
        name = aggregation.name
        yield Comparison(
            f"insert_many, {name}", "numpy.cumsum", taken["insert"], taken["cumsum"], 1 / 5
        )
        yield Comparison(
            f"slide_many, {name}, window {EXTENT:,}", "the block kernel",
            taken["slide"], taken["kernel"], round(1 / 1.3, 3),
        )  # fmt: skip


def _insert(aggregation: Any, numbers: Any) -> None:
    wr.Window(aggregation(), types="float64").insert_many(numbers)


def _block_kernel(aggregation: Aggregation, numbers: Any) -> Callable[[], None]:
    """The kernel that `wr.over` runs, with the algorithm that it chooses."""
    product = Product([Part(aggregation.monoid_for((Kind.FLOAT,)), (0,))])
    served = Served.compiled(aggregation.name, [aggregation.name], product, costs.SLIDING)
    algorithm = choose(served, Wish(), EXTENT).algorithm
    print(f"  {aggregation.name}: the block kernel is of {algorithm.NAME}", flush=True)
    kernel = kernel_for(loops.over_rows, algorithm, product, checked=False)
    bounds = Bounds(np.array([0, NEVER]), Newest(EXTENT))
    block = RowBlock((numbers,), (), bounds, 0, 0, len(numbers))

    def roll() -> None:
        window = CompiledRowWindow(wr.rows(EXTENT), loops.over_rows, kernel, product, algorithm)
        window.advance(block, [np.empty(len(numbers))], [np.empty(len(numbers), np.bool_)])

    return roll


# Events that leave in bulk -----------------------------------------------------------------------


def _bulk_evictions() -> Iterable[Comparison]:
    """What `evict_many` and the next answer take, of windows that are filled anew each time."""
    numbers = np.random.default_rng(3).normal(size=HELD)
    taken = {
        (name, count): _evicting(name, numbers, count)
        for name, count in (
            ("daba_lite", LEAVING),
            ("amortized_monoid_tree", LEAVING),
            ("amortized_monoid_tree", FEW),
        )
    }
    many, few = taken["amortized_monoid_tree", LEAVING], taken["amortized_monoid_tree", FEW]
    work = f"{LEAVING:,} of {HELD:,} events leave, amortized_monoid_tree"
    yield Comparison(work, "daba_lite", many, taken["daba_lite", LEAVING], 1000)
    yield Comparison(work, f"{FEW} events leave", many, few, round(1 / 3, 3))
    plain = wr.Window(wr.max(), algorithm="amortized_monoid_tree")
    plain.insert_many(numbers.tolist())
    seconds = {}
    # The few leave first: many leave only once from a window that takes half a minute to fill.
    seconds["few"] = statistics.median(_leaving(plain, FEW) for _ in range(9))
    seconds["many"] = _leaving(plain, LEAVING)
    rival = wr.Window(wr.max(), algorithm="daba_lite")
    rival.insert_many(numbers.tolist())
    yield Comparison(
        f"{work}, plain Python", "daba_lite, plain Python",
        seconds["many"], _leaving(rival, LEAVING), 1000,
    )  # fmt: skip
    yield Comparison(
        f"{work}, plain Python", f"{FEW} events leave", seconds["many"], seconds["few"],
        round(1 / 3, 3),
    )  # fmt: skip
    # Above, the few find what they read in the caches, and the many do not. Here neither does.
    again = wr.Window(wr.max(), algorithm="amortized_monoid_tree")
    again.insert_many(numbers.tolist())
    cold_few = statistics.median(_leaving_cold(again, FEW) for _ in range(9))
    yield Comparison(
        f"{work}, plain Python, cold caches", f"{FEW} events leave, cold caches",
        _leaving_cold(again, LEAVING), cold_few, round(1 / 3, 3),
    )  # fmt: skip


def _evicting(algorithm: Any, numbers: Any, count: int) -> float:
    """Seconds, the median of some windows."""
    times = []
    for _ in range(7):
        window = wr.Window(wr.max(), types="float64", algorithm=algorithm)
        window.insert_many(numbers)
        window.query()
        times.append(_leaving(window, count))
    return statistics.median(times)


def _leaving(window: wr.Window, count: int) -> float:
    started = time.perf_counter()
    window.evict_many(count)
    window.query()
    return time.perf_counter() - started


def _leaving_cold(window: wr.Window, count: int) -> float:
    """As `_leaving`, after other work that has filled the processor's caches."""
    np.arange(2**25, dtype=np.float64).sum()
    return _leaving(window, count)
