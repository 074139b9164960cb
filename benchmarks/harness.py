"""Ratios measured in one run.

The machines are shared and noisy, so times mean little and ratios much: the contestants of a
comparison take turns, round after round, and the median of all rounds counts
(`windrow.experiments.rounds`).
"""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, dataclass
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
#: what counts of the rounds; results of before that lack it may be of the best round
COUNTS = "median"


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


def show(title: str, comparisons: list[Comparison]) -> None:
    """Print a report."""
    print(f"\n{title}")
    width = max((len(each.work) for each in comparisons), default=0)
    against = max((len(each.against) for each in comparisons), default=0)
    for each in comparisons:
        bar = (
            "" if each.bar is None else f"   bar {each.bar:g}: {'met' if each.passes else 'MISSED'}"
        )
        print(
            f"  {each.work:<{width}}  {duration(each.seconds):>9}  {each.against:>{against}}"
            f"  {duration(each.seconds_against):>9}  ratio {each.ratio:6.2f}{bar}"
        )


def duration(seconds: float) -> str:
    """Seconds as people read them.

    >>> duration(2.5), duration(0.0123), duration(4.2e-7)
    ('2.50 s', '12.3 ms', '0.42 µs')
    """
    if seconds >= 1:
        return f"{seconds:.2f} s"
    if seconds >= 1e-4:
        return f"{seconds * 1e3:.1f} ms"
    return f"{seconds * 1e6:.2f} µs"


def keep(suite: str, comparisons: list[Comparison]) -> Path:
    """Write the raw results as JSON."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{suite}.json"
    record = {
        "suite": suite,
        "python": platform.python_version(),
        "cores": len(os.sched_getaffinity(0)),
        "counts": COUNTS,
        "comparisons": [
            {**asdict(each), "ratio": each.ratio, "passes": each.passes} for each in comparisons
        ],
    }
    path.write_text(json.dumps(record, indent=1) + "\n")
    return path
