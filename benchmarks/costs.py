"""The cost table: what was measured, as JSON for programs and as a page for people."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from windrow.planning.costs import PLAIN, SLIDING, VARYING

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "costs.md"
RAW = ROOT / "benchmarks" / "results" / "costs.json"
#: what the planner reads
PLANNED = ROOT / "src" / "windrow" / "planning" / "costs.json"


@dataclass(frozen=True)
class Cost:
    """One algorithm, one aggregation, one window.

    `static` and `dynamic` are million rounds per second: sliding, and filling and draining; `plain`
    is the first of them in `wr.Window`, one event at a time.
    """

    algorithm: str
    aggregation: str
    window: int
    static: float
    dynamic: float
    plain: float | None = None

    def __str__(self) -> str:
        return (
            f"{self.algorithm:<20} {self.aggregation:<15} {self.window:>8}"
            f" {self.static:9.1f} {self.dynamic:9.1f} M/s"
        )


def write_costs(costs: list[Cost]) -> None:
    """Write both."""
    RAW.parent.mkdir(exist_ok=True)
    RAW.write_text(json.dumps([asdict(cost) for cost in costs], indent=1) + "\n")
    PAGE.write_text("\n".join(_page(costs)) + "\n")
    PLANNED.write_text(json.dumps(_planned(costs), indent=1) + "\n")


def _planned(costs: list[Cost]) -> dict[str, dict[str, dict[str, dict[int, float]]]]:
    """Nanoseconds by how windows were driven, aggregation, algorithm and window."""
    table: dict[str, dict[str, dict[str, dict[int, float]]]] = {}
    for driven, attribute in ((SLIDING, "static"), (VARYING, "dynamic"), (PLAIN, "plain")):
        for cost in costs:
            rate = getattr(cost, attribute)
            if rate is not None:
                algorithms = table.setdefault(driven, {}).setdefault(cost.aggregation, {})
                algorithms.setdefault(cost.algorithm, {})[cost.window] = round(1000 / rate, 3)
    return table


def _page(costs: list[Cost]) -> Iterable[str]:
    yield "# What the algorithms cost"
    yield ""
    yield "`make bench BENCH_ARGS=algorithms` writes this page. The raw numbers are in"
    yield "`benchmarks/results/costs.json`. They come from one run on one core of a shared machine."
    yield "Compare the numbers with each other, not with another machine's."
    yield "[Experiments](experiments.md) has latencies, and rates beside those of a ring in C++"
    yield "and of other libraries."
    for title, attribute, explanation in (
        (
            "Sliding",
            "static",
            "Million rounds per second: evict the oldest event, insert one, query.",
        ),
        (
            "One event at a time",
            "plain",
            "Million rounds per second in `wr.Window`, which runs as plain Python.",
        ),
        (
            "Filling and draining",
            "dynamic",
            "Million events per second: insert and query after each event"
            " until the window is full, then evict and query until it is empty.",
        ),
    ):
        yield from ("", f"## {title}", "", explanation)
        for aggregation in dict.fromkeys(cost.aggregation for cost in costs):
            chosen = [
                cost
                for cost in costs
                if cost.aggregation == aggregation and getattr(cost, attribute) is not None
            ]
            if chosen:
                yield from _table(aggregation, chosen, attribute)


def _table(aggregation: str, costs: list[Cost], attribute: str) -> Iterable[str]:
    windows = sorted({cost.window for cost in costs})
    yield from ("", f"### {aggregation}", "")
    yield f"| algorithm | {' | '.join(f'{window:,}' for window in windows)} |"
    yield "|---|" + "---:|" * len(windows)
    for algorithm in dict.fromkeys(cost.algorithm for cost in costs):
        found = {cost.window: cost for cost in costs if cost.algorithm == algorithm}
        cells = (
            _number(getattr(found[window], attribute)) if window in found else ""
            for window in windows
        )
        yield f"| {algorithm} | {' | '.join(cells)} |"


def _number(rate: float) -> str:
    return f"{rate:.0f}" if rate >= 10 else f"{rate:.1f}" if rate >= 1 else f"{rate:.3f}"
