"""Doubling: each range is put together from few parts, with the combines that the card says."""

from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from windrow.algorithms import doubling
from windrow.algorithms.doubling import Recipe
from windrow.compiler.linking import link
from windrow.windows.key_runs import NEVER

RANGES = st.lists(st.integers(1, 70), min_size=1, max_size=6).map(sorted)


class Lists:
    """Memory of Python objects."""

    def array(self, size: int) -> list[Any]:
        return [None] * size


class Driven:
    """The loop over rows of letters, with combines that are counted."""

    def __init__(self, ranges: list[int], *, selective: bool, tile: int) -> None:
        self.ranges, self.combines, self._selective = ranges, 0, selective
        self._drafts = [None] * tile
        self.recipes = doubling.recipes_for(ranges, selective)
        self.tables = doubling.allocate(Lists(), self.recipes, tile)  # type: ignore[arg-type]
        slots = {
            "combine": self._combine,
            "load_at": list.__getitem__,
            "store_at": list.__setitem__,
            "lift_row": lambda columns, _validities, row: columns[row],
            "lower_row": lambda drafts, _noted, row, partial: drafts.__setitem__(row, partial),
            "deliver": deliver,
        }
        functions = (*doubling.FUNCTIONS, doubling.over_ranges)
        self._loop = link(functions, slots)["over_ranges"]

    def _combine(self, older: Any, newer: Any) -> Any:
        self.combines += 1
        return max(older, newer) if self._selective else older + newer

    def answers(self, rows: list[Any], starts: list[int], cuts: list[int]) -> list[list[Any]]:
        """The answers of each range; `cuts` are where the loop is called again."""
        size = len(rows)
        answers: list[Any] = [None] * (size * len(self.ranges))
        places = size * np.arange(len(self.ranges))
        marks = [0, *cuts, size]
        for begin, stop in pairwise(marks):
            data = rows, (), answers, (), self._drafts, (), self.tables
            self._loop(*data, places, [*starts, NEVER], 0, begin, stop)
        return [answers[place : place + size] for place in places]


def deliver(
    drafts: list[Any], _noted: Any, answers: list[Any], _defined: Any,
    place: int, begin: int, count: int,
) -> None:  # fmt: skip
    answers[place + begin : place + count] = drafts[begin:count]


def from_scratch(rows: list[Any], starts: list[int], extent: int, fold: Any) -> list[Any]:
    found = []
    for row in range(len(rows)):
        begun = max(start for start in starts if start <= row)
        found.append(fold(rows[max(begun, row + 1 - extent) : row + 1]))
    return found


@given(RANGES, st.integers(0, 150), st.sets(st.integers(1, 149), max_size=4), st.data())
def test_windows_hold_their_rows_in_order(
    ranges: list[int], size: int, keys: set[int], data: st.DataObject
) -> None:
    starts = [0, *sorted(key for key in keys if key < size)]
    cuts = sorted(data.draw(st.sets(st.integers(0, size), max_size=3)))
    driven = Driven(ranges, selective=False, tile=data.draw(st.integers(1, 20)))
    letters = [chr(97 + row % 26) for row in range(size)]
    for extent, found in zip(ranges, driven.answers(letters, starts, cuts), strict=True):
        assert found == from_scratch(letters, starts, extent, "".join)


@given(RANGES, st.lists(st.integers(0, 9), min_size=1, max_size=150), st.integers(1, 20))
def test_parts_overlap_where_combine_selects(ranges: list[int], rows: list[int], tile: int) -> None:
    driven = Driven(ranges, selective=True, tile=tile)
    for extent, found in zip(ranges, driven.answers(rows, [0], []), strict=True):
        assert found == from_scratch(rows, [0], extent, max)


@given(RANGES)
def test_parts_cover_a_range_once(ranges: list[int]) -> None:
    for extent, recipe in zip(ranges, doubling.recipes_for(ranges, selective=False), strict=True):
        covered = [] if recipe.base is None else list(range(ranges[recipe.base]))
        for part in recipe.parts:
            covered += range(part.back, part.back + (1 << part.doubling))
        assert covered == list(range(extent))


@given(RANGES, st.booleans())
def test_a_row_of_full_windows_takes_the_combines_of_the_card(
    ranges: list[int], selective: bool
) -> None:
    driven = Driven(ranges, selective=selective, tile=8)
    filled = max(ranges) + 8
    rows = list(range(filled + 16))
    starts = [0]
    driven.answers(rows[:filled], starts, [])
    after_filling = driven.combines
    again = Driven(ranges, selective=selective, tile=8)
    again.answers(rows, starts, [])
    doublings = max(part.doubling for recipe in driven.recipes for part in recipe.parts)
    of_ranges = sum(recipe.combines for recipe in driven.recipes)
    if selective:
        assert of_ranges <= len(ranges)
    assert again.combines - after_filling == 16 * (doublings + of_ranges)


def test_equal_steps_take_one_combine_for_each_range() -> None:
    recipes = doubling.recipes_for(list(range(64, 64 * 65, 64)), selective=False)
    assert max(recipe.combines for recipe in recipes) == 1
    assert recipes[0] == Recipe(None, ((6, 0),))


def test_a_range_continues_the_one_that_leaves_the_fewest_parts() -> None:
    # 87 = 0b1010111 takes five parts anew and two behind 69, but one behind 55
    *_, last = doubling.recipes_for([55, 69, 87], selective=False)
    assert last == Recipe(0, ((5, 55),))
