"""One pass for many ranges takes the combines of table 1 (Shein et al. 2018), multi-query columns.

The environment is the paper's hardest: every range from 1 to n is asked for at every slide.
"""

import random
from collections.abc import Callable
from typing import Any

import pytest

from windrow.algorithms import ALGORITHMS
from windrow.engine import range_loops
from windrow.engine.plain_window import PlainWindow
from windrow.windows.key_runs import NEVER

N, ROUNDS = 32, 320


class Counted:
    """A monoid of numbers whose operations are counted."""

    def __init__(self, combine: Callable[[Any, Any], Any], identity: Any) -> None:
        self._combine, self._identity, self.operations = combine, identity, 0

    def identity(self) -> Any:
        return self._identity

    def combine(self, older: Any, newer: Any) -> Any:
        self.operations += 1
        return self._combine(older, newer)

    def inverse(self, total: Any, oldest: Any) -> Any:
        self.operations += 1
        return total - oldest

    def same(self, left: Any, right: Any) -> bool:
        return bool(left == right)


def larger(older: Any, newer: Any) -> Any:
    return newer if newer > older else older


def add(older: Any, newer: Any) -> Any:
    return older + newer


def operations(name: str, combine: Callable[[Any, Any], Any], identity: Any, fold: Any) -> float:
    """Operations for each slide of a full window; answers are checked on the way."""
    algorithm, counted = ALGORITHMS[name], Counted(combine, identity)
    extents = list(range(1, N + 1))
    window = PlainWindow(algorithm, counted, ranges=extents)
    registered = "query_ranges" in window.functions
    loop = range_loops.over_registered if registered else range_loops.over_ranges
    linked = window.linked(
        loop,
        lift_row=lambda columns, _validities, row: columns[row],
        lower_row=lambda answers, _defined, row, partial: answers.__setitem__(row, partial),
    )
    size = N + ROUNDS
    rows = [random.Random(row).randrange(100) for row in range(size)]
    answers: list[Any] = [None] * (size * N)
    places = [size * index for index in range(N)]
    data, limits = (rows, (), answers, ()), (extents, places, [0, NEVER], 0)
    window.drive(linked, data, limits, 0, N)
    filling = counted.operations
    window.drive(linked, data, limits, N, size)
    taken = (counted.operations - filling) / ROUNDS
    for extent, place in zip(extents, places, strict=True):
        for row in range(size):
            assert answers[place + row] == fold(rows[max(row + 1 - extent, 0) : row + 1])
    return taken


def test_slick_deque_non_inv_takes_less_than_two() -> None:
    assert operations("slick_deque_non_inv", larger, -1, max) < 2


def test_slick_deque_inv_takes_two_for_each_range() -> None:
    # The range before the longest takes what is left of the total, without a combine of its own.
    assert operations("slick_deque_inv", add, 0, sum) == 2 * N - 1


@pytest.mark.parametrize(("combine", "identity", "fold"), [(larger, -1, max), (add, 0, sum)])
def test_flat_fit_takes_at_most_one_for_each_range(
    combine: Callable[[Any, Any], Any], identity: Any, fold: Any
) -> None:
    assert operations("flat_fit", combine, identity, fold) <= N - 1


def test_base_intervals_take_at_most_two_logarithms_for_each_range() -> None:
    logarithm = N.bit_length() - 1
    assert operations("base_intervals", add, 0, sum) <= N * 2 * logarithm + 1
