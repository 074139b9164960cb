"""Ratios measured in one run.

The machines are shared and noisy, so times mean little and ratios much: the contestants of a
comparison take turns, round after round. The best round of each counts, or the median of all.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Comparison:
    """One line of a report: how two ways to do the same work compare.

    `ratio` is the time of `against` over the time of windrow: above 1, windrow is faster. A bar is
    the least ratio that is good enough.
    """

    work: str
    against: str
    seconds: float
    seconds_against: float
    bar: float | None = None

    @property
    def ratio(self) -> float:
        return self.seconds_against / self.seconds

    @property
    def passes(self) -> bool:
        return self.bar is None or self.ratio >= self.bar


def best_times(
    contestants: Mapping[str, Callable[[], Any]],
    rounds: int = 5,
    warm_up: int = 1,
    rest: float = 0.0,
) -> dict[str, float]:
    """The best time of each contestant; they take turns, after unmeasured rounds to warm up.

    `rest` is how many seconds there are for what a run leaves behind, before the next begins.
    """
    times = times_by_round(contestants, rounds, warm_up, rest)
    return {name: min(each[name] for each in times) for name in contestants}


def median_times(
    contestants: Mapping[str, Callable[[], Any]], rounds: int, warm_up: int = 1
) -> dict[str, float]:
    """The median time of each contestant over all rounds; they take turns, as in `best_times`."""
    times = times_by_round(contestants, rounds, warm_up)
    return {name: statistics.median(each[name] for each in times) for name in contestants}


def times_by_round(
    contestants: Mapping[str, Callable[[], Any]], rounds: int, warm_up: int, rest: float = 0.0
) -> list[dict[str, float]]:
    """The times of each contestant, as in `best_times`, in the rounds that are measured.

    Every other round goes through them backwards: what one leaves behind, such as garbage, is not
    always the same one's to carry.
    """
    times = []
    for turn in range(-warm_up, rounds):
        taken = {}
        for name in contestants if turn % 2 == 0 else reversed(contestants):
            time.sleep(rest)
            started = time.perf_counter()
            contestants[name]()
            taken[name] = time.perf_counter() - started
        if turn >= 0:
            times.append(taken)
    return times


def best_time(run: Callable[[], Any], budget: float) -> float:
    """The best time of as many runs as fit the budget in seconds, three at least."""
    run()
    best, spent, runs = float("inf"), 0.0, 0
    while runs < 3 or spent < budget:
        started = time.perf_counter()
        run()
        taken = time.perf_counter() - started
        best, spent, runs = min(best, taken), spent + taken, runs + 1
    return best


def show(title: str, comparisons: list[Comparison]) -> None:
    """Print a report."""
    print(f"\n{title}")
    width = max(len(each.work) for each in comparisons)
    against = max(len(each.against) for each in comparisons)
    for each in comparisons:
        bar = (
            "" if each.bar is None else f"   bar {each.bar:g}: {'met' if each.passes else 'MISSED'}"
        )
        print(
            f"  {each.work:<{width}}  {_duration(each.seconds):>9}  {each.against:>{against}}"
            f"  {_duration(each.seconds_against):>9}  ratio {each.ratio:6.2f}{bar}"
        )


def _duration(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.1f} ms"


def keep(suite: str, comparisons: list[Comparison]) -> Path:
    """Write the raw results as JSON."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{suite}.json"
    record = {
        "suite": suite,
        "python": platform.python_version(),
        "cores": len(os.sched_getaffinity(0)),
        "comparisons": [
            {**asdict(each), "ratio": each.ratio, "passes": each.passes} for each in comparisons
        ],
    }
    path.write_text(json.dumps(record, indent=1) + "\n")
    return path
