"""Contestants take turns: the one way in which windrow measures anything against anything.

Every other round goes through the contestants backwards: what one leaves behind, such as garbage or
a full cache, is not always the same one's to carry. What counts is the median of all rounds.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

Name = TypeVar("Name")
Reading = TypeVar("Reading")


def in_turns(
    contestants: Mapping[Name, Callable[[], Reading]],
    rounds: int,
    warm_up: int = 1,
    rest: float = 0.0,
) -> dict[Name, list[Reading]]:
    """What each contestant returns, round by round.

    Args:
        contestants: by name, in the order of the first round.
        rounds: how many count.
        warm_up: how many come before them and do not count.
        rest: seconds before each run, for what the run before leaves behind.
    """
    found: dict[Name, list[Reading]] = {name: [] for name in contestants}
    for turn in range(-warm_up, rounds):
        for name in contestants if turn % 2 == 0 else reversed([*contestants]):
            if rest:
                time.sleep(rest)
            reading = contestants[name]()
            if turn >= 0:
                found[name].append(reading)
    return found


def times_in_turns(
    contestants: Mapping[Name, Callable[[], Any]],
    rounds: int,
    warm_up: int = 1,
    rest: float = 0.0,
) -> dict[Name, list[float]]:
    """The seconds that each contestant takes, round by round, as in `in_turns`."""
    return in_turns({name: _timed(run) for name, run in contestants.items()}, rounds, warm_up, rest)


def median_times(
    contestants: Mapping[Name, Callable[[], Any]],
    rounds: int,
    warm_up: int = 1,
    rest: float = 0.0,
) -> dict[Name, float]:
    """The median of the seconds that each contestant takes, as in `in_turns`."""
    taken = times_in_turns(contestants, rounds, warm_up, rest)
    return {name: statistics.median(each) for name, each in taken.items()}


def median_time(run: Callable[[], Any], budget: float) -> float:
    """The median of the seconds of as many runs as fit the budget, three at least."""
    timed = _timed(run)
    timed()
    taken: list[float] = []
    while len(taken) < 3 or sum(taken) < budget:
        taken.append(timed())
    return statistics.median(taken)


def _timed(run: Callable[[], Any]) -> Callable[[], float]:
    def timed() -> float:
        started = time.perf_counter()
        run()
        return time.perf_counter() - started

    return timed
