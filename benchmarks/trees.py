"""The monoid trees: bulk eviction, policies, several dimensions (Villalba et al. 2019, §5).

The bulk evictions are measured inside one kernel, over and over on one window, because a call from
Python takes longer than one of them. Policies and dimensions are measured as a user calls them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import windrow as wr
from benchmarks.harness import Comparison, best_times
from windrow.algebra.aggregation import Aggregation
from windrow.algebra.kinds import Kind
from windrow.algebra.product import Part, Product
from windrow.algorithms import ALGORITHMS, Algorithm
from windrow.compiler.kernel import Kernel
from windrow.compiler.slots import evict_many, insert, lift_row, query
from windrow.engine.kernel_window import KernelWindow
from windrow.windows.policies import NO_RUNS, join_runs, lift_run

PAGE = Path(__file__).parents[1] / "docs" / "policy_costs.md"

HELD, LEAVING = 2**23, 2**22
EVENTS, LIMIT = 2**22, 2**20
DIMENSIONS = (2, 4, 8, 16)

longest_run = wr.aggregation(
    name="longest_run",
    identity=NO_RUNS,
    lift=lift_run,
    combine=join_runs,
    lower=lambda partial: partial[1],
    exact=True,
)

#: answers with their policies: at most so many events, and nothing that can no longer matter
TABLE: dict[str, tuple[Aggregation, Any]] = {
    "sum": (wr.sum, wr.policies.at_most_events(LIMIT)),
    "mean": (wr.mean, wr.policies.at_most_events(LIMIT)),
    "geometric mean": (wr.geometric_mean, wr.policies.at_most_events(LIMIT)),
    "stddev": (wr.stddev, wr.policies.at_most_events(LIMIT)),
    "max": (wr.max, wr.policies.since_max("x") | wr.policies.at_most_events(LIMIT)),
    "longest run": (
        longest_run,
        wr.policies.since_longest_run("x") | wr.policies.at_most_events(LIMIT),
    ),
}


def run() -> list[Comparison]:
    """Measure all, and write `docs/policy_costs.md`."""
    bulk = [*_bulk_evictions()]
    costs = _policies()
    _write_page(costs)
    return [*bulk, *_compared(costs), *_dimensions()]


# Bulk eviction -----------------------------------------------------------------------------------


def _fill(columns: Any, validities: Any, ring: Any, state: Any, size: int) -> Any:
    for row in range(size):
        state = insert(state, ring, lift_row(columns, validities, row))
    return state, 0


def _drop(ring: Any, state: Any, count: int, times: int) -> Any:
    """The same events leave again and again: a state is a value, and what they were stays."""
    left = state
    for turn in range(times):
        left = evict_many(state, ring, count - (turn & 1))
    return query(left, ring)


def _bulk_evictions() -> Iterable[Comparison]:
    taken = {
        name: _evicting(ALGORITHMS[name], times)
        for name, times in (
            ("daba_lite", 1),
            ("log_monoid_tree", 10_000),
            ("amortized_monoid_tree", 10_000),
        )
    }
    for name in ("log_monoid_tree", "amortized_monoid_tree"):
        yield Comparison(
            f"{name}, {LEAVING:,} of {HELD:,} events leave at once",
            "daba_lite",
            taken[name],
            taken["daba_lite"],
            bar=1000,
        )


def _evicting(algorithm: Algorithm, times: int) -> float:
    """Seconds of one bulk eviction of a sum, the best of some."""
    product = Product([Part(wr.sum.monoid_for((Kind.FLOAT,)), (0,))])
    numbers = np.random.default_rng(2).random(HELD)
    fill = Kernel(_fill, algorithm.FUNCTIONS, product, checked=False)
    drop = Kernel(_drop, algorithm.FUNCTIONS, product, checked=False)
    best = float("inf")
    for _round in range(3):
        window = KernelWindow(algorithm, product, capacity=HELD)
        state, _row = fill((numbers,), (), window.ring, window.state, HELD)
        drop(window.ring, window.state, 0, 0)  # compiles it
        started = time.perf_counter()
        drop(window.ring, state, LEAVING, times)
        best = min(best, (time.perf_counter() - started) / times)
    print(f"  {algorithm.NAME}: {best * 1e9:,.0f} ns", flush=True)
    return best


# Policies ----------------------------------------------------------------------------------------


def _readings() -> pa.Table:
    """A machine's memory in use, which wanders and stays above zero."""
    steps = np.random.default_rng(9).normal(size=EVENTS)
    used = np.abs(np.cumsum(steps)) + 1.0
    return pa.table({"t": np.arange(EVENTS), "x": used})


def _policies() -> dict[str, dict[str, float]]:
    """Seconds by answer and algorithm."""
    table, costs = _readings(), {}
    for name, (aggregation, policy) in TABLE.items():
        contestants = {
            algorithm: _asking(table, aggregation, policy, algorithm)
            for algorithm in ALGORITHMS
            if _serves(algorithm, aggregation)
        }
        costs[name] = best_times(contestants, rounds=3)
        for algorithm, seconds in costs[name].items():
            print(f"  {name}, {algorithm}: {seconds / EVENTS * 1e9:.0f} ns an event", flush=True)
    return costs


def _serves(algorithm: str, aggregation: Aggregation) -> bool:
    """Recomputing a million events for each event takes days."""
    monoid = aggregation.monoid_for((Kind.FLOAT,))
    refused = ALGORITHMS[algorithm].refuses(monoid.traits, monoid.inverse is not None)
    return refused is None and algorithm not in ("recompute", "parallel_boundary")


def _asking(table: pa.Table, aggregation: Aggregation, policy: Any, algorithm: str) -> Any:
    return lambda: wr.over(
        table, order="t", windows=policy, aggs=aggregation("x"), algorithm=algorithm, exact=False
    )


def _compared(costs: dict[str, dict[str, float]]) -> Iterable[Comparison]:
    tree = "amortized_monoid_tree"
    for name, taken in costs.items():
        yield Comparison(f"{name} by policy, {tree}", "daba_lite", taken[tree], taken["daba_lite"])


def _write_page(costs: dict[str, dict[str, float]]) -> None:
    names = list(dict.fromkeys(algorithm for taken in costs.values() for algorithm in taken))
    lines = [
        "# What windows with a policy cost",
        "",
        "`make bench BENCH_ARGS=trees` writes this page, after Villalba et al. 2019, Table 2. The",
        f"numbers are nanoseconds per event of `wr.over` on {EVENTS:,} events in process. A window",
        f"holds {LIMIT:,} events at most. For max and longest run, events older than the maximum",
        "or the longest run leave too. A tree of its own enforces the policy; each row names the",
        "algorithm that answers. Compare the numbers with each other, not with another machine's.",
        "",
        f"| algorithm | {' | '.join(costs)} |",
        "|---|" + "---:|" * len(costs),
    ]
    for algorithm in names:
        cells = (
            f"{taken[algorithm] / EVENTS * 1e9:.0f}" if algorithm in taken else ""
            for taken in costs.values()
        )
        lines.append(f"| {algorithm} | {' | '.join(cells)} |")
    PAGE.write_text("\n".join(lines) + "\n")


# Dimensions --------------------------------------------------------------------------------------


def _dimensions() -> Iterable[Comparison]:
    """One window of k columns against k windows of one column each (Villalba et al. 2019, §5.8)."""
    numbers = np.random.default_rng(4).random((max(DIMENSIONS), EVENTS // 4))
    names = [f"x{index}" for index in range(len(numbers))]
    columns = dict(zip(names, numbers, strict=True))
    table = pa.table({"t": np.arange(numbers.shape[1]), **columns})
    policy = wr.policies.at_most_events(2**15)

    def ask(measures: list[Any]) -> None:
        wr.over(table, order="t", windows=policy, aggs=measures, algorithm="amortized_monoid_tree")

    for count in DIMENSIONS:
        measures = [wr.sum(name) for name in names[:count]]
        taken = best_times(
            {
                "one": lambda measures=measures: ask(measures),
                "many": lambda measures=measures: [ask([each]) for each in measures],
            },
            rounds=3,
        )
        yield Comparison(
            f"{count} dimensions in one window",
            f"{count} windows",
            taken["one"],
            taken["many"],
            1.0,
        )
