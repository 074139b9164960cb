"""Measure: contestants take turns (`rounds.py`), and finished groups stay.

A group that is in the file already is not measured.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from windrow import __version__
from windrow.experiments import machine
from windrow.experiments.data import debs_2012, debs_2014
from windrow.experiments.experiment import SEED, Figure, Grid, Group, Missing, Paper, Round
from windrow.experiments.results import GroupKey, Point, Results
from windrow.experiments.rounds import in_turns


def describe(grid: Grid) -> dict[str, Any]:
    """What a run is: the first line of its file."""
    return {
        "grid": grid.name,
        "seed": SEED,
        "windrow": __version__,
        "data": debs_2012.origin() + debs_2014.origin(),
        "machine": machine.description(),
        "versions": machine.versions(),
        "busy": machine.busy_cores(),
        "began": datetime.now(UTC).isoformat(timespec="seconds"),
    }


@dataclass(frozen=True)
class Progress:
    """How far a run is.

    Attributes:
        paper, figure, panel, x: what is measured now.
        done, groups: how many groups are finished, of how many.
        seconds_left: how long the others take, if they take as long as those before.
    """

    paper: str
    figure: str
    panel: str
    x: float | str
    done: int
    groups: int
    seconds_left: float | None


@dataclass
class Pace:
    """How long groups take: those of the same figure tell most of each other."""

    figures: dict[tuple[str, str], list[float]]

    def add(self, figure: tuple[str, str], seconds: float) -> None:
        """A group has finished."""
        self.figures.setdefault(figure, []).append(seconds)

    def left(self, figures: Iterable[tuple[str, str]]) -> float | None:
        """The seconds that groups of these figures take; None before the first has finished."""
        everything = [each for taken in self.figures.values() for each in taken]
        if not everything:
            return None
        usual = sum(everything) / len(everything)
        return sum(
            sum(taken) / len(taken) if (taken := self.figures.get(figure)) else usual
            for figure in figures
        )


def measure(
    papers: Sequence[Paper],
    grid: Grid,
    results: Results,
    show: Callable[[Progress], None] = lambda _progress: None,
) -> None:
    """Measure all groups of some papers that are not in the results yet.

    Args:
        papers: what is measured, in this order.
        grid: how much of it.
        results: where finished groups are, and where more go.
        show: is told of each group before it begins.
    """
    waiting = [
        (paper, figure, group, key_of(paper, figure, group))
        for paper in papers
        for figure in paper.figures
        for group in figure.groups(grid)
    ]
    groups = len(waiting)
    waiting = [each for each in waiting if not results.is_finished(each[-1])]
    pace = Pace({})
    for number, (paper, figure, group, key) in enumerate(waiting):
        left = pace.left((each[0].name, each[1].name) for each in waiting[number:])
        done = groups - len(waiting) + number
        show(Progress(paper.name, figure.name, group.panel, group.x, done, groups, left))
        started = time.perf_counter()
        points = take_turns(group, group.rounds or grid.rounds)
        seconds = time.perf_counter() - started
        results.add(key, points, seconds)
        pace.add((paper.name, figure.name), seconds)


def key_of(paper: Paper, figure: Figure, group: Group) -> GroupKey:
    """How a group is called in the results."""
    return (paper.name, figure.name, group.panel, group.x)


def take_turns(group: Group, rounds: int) -> list[Point]:
    """The readings of all contestants, and why some have none.

    An unmeasured round comes first: it compiles and warms up.
    """
    ready: dict[str, Round] = {}
    gaps: dict[str, str] = {}
    for name, prepare in group.contestants.items():
        try:
            ready[name] = prepare()
            ready[name]()
        except Missing as missing:
            ready.pop(name, None)
            gaps[name] = str(missing)
    gc.collect()
    readings = in_turns(ready, rounds, warm_up=0)
    return [
        Point(group.panel, name, group.x, tuple(readings.get(name, ())), gaps.get(name))
        for name in group.contestants
    ]
