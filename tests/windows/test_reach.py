"""Reaches against their definition: in a table, in batches, and for what a stream keeps of keys."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.windows.key_rows import KeyRows
from windrow.windows.key_runs import NEVER
from windrow.windows.reach import Behind, Counted, Newest, Past, Reach, Younger
from windrow.windows.sorted_rows import SortedRows

Array = Any

pytestmark = pytest.mark.usefixtures("interpreted")


class Case(NamedTuple):
    """The times and values of keys, one key after the other."""

    keys: list[int]  # how many rows each has
    times: list[int]
    values: list[int]
    amount: int

    @property
    def runs(self) -> Array:
        return np.append(np.cumsum([0, *self.keys[:-1]]), NEVER)

    def oldest(self, begin: int, row: int, name: str) -> int:
        """The definition: the oldest row in the window of a row whose key begins here."""
        if name == "newest":
            return max(begin, row + 1 - self.amount)
        measure = self.times if name == "younger" else self.values
        first = begin
        for newest in range(begin, row + 1):
            while measure[newest] - measure[first] >= self.amount:
                first += 1
        return first


@st.composite
def cases(draw: st.DrawFn) -> Case:
    keys = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    steps = st.lists(st.integers(0, 3), min_size=6, max_size=6)
    times = [time for size in keys for time in np.cumsum(draw(steps)[:size]).tolist()]
    values = [draw(st.integers(0, 5)) for _ in times]
    return Case(keys, times, values, draw(st.integers(1, 5)))


REACHES: dict[str, Callable[[Case, int, int], Reach]] = {
    "newest": lambda case, begin, stop: Newest(case.amount),
    "younger": lambda case, begin, stop: Younger(numbers(case.times[begin:stop]), case.amount),
    "behind": lambda case, begin, stop: Behind(numbers(case.values[begin:stop]), case.amount),
    "counted": lambda case, begin, stop: Counted(counts(case)[begin:stop]),
}


def numbers(values: list[int]) -> Array:
    return np.array(values, np.int64)


def counts(case: Case) -> Array:
    return np.array([row + 1 - first for row, first in enumerate(firsts(case, "behind"))], np.int64)


def firsts(case: Case, name: str) -> Iterator[int]:
    """Of each row, the oldest in its window."""
    starts = np.repeat(case.runs[:-1], case.keys).tolist()
    name = "behind" if name == "counted" else name
    return (case.oldest(begin, row, name) for row, begin in enumerate(starts))


@pytest.mark.parametrize("name", REACHES)
@given(cases())
def test_in_a_table(name: str, case: Case) -> None:
    size = len(case.times)
    reach, expected = REACHES[name](case, 0, size), list(firsts(case, name))
    assert reach.firsts(case.runs, np.arange(1, size + 1)).tolist() == expected
    assert [reach.oldest(case.runs, row) for row in range(size)] == expected


@pytest.mark.parametrize("name", REACHES)
@given(cases(), st.sets(st.integers(1, 20)), st.integers(1, 3))
def test_in_batches(name: str, case: Case, cuts: set[int], stride: int) -> None:
    size = len(case.times)
    marks = [0, *sorted(cut for cut in cuts if cut < size), size]
    past, front, found, expected = Past(), 0, [], []
    for begin, stop in pairwise(marks):
        new = (case.runs[:-1] >= begin) & (case.runs[:-1] < stop)
        runs = np.append(case.runs[:-1][new] - begin, NEVER)
        since = None if not begin else int(case.runs[:-1][case.runs[:-1] < begin][-1]) - begin
        rows = SortedRows({}, runs, stop - begin, since=since, ends=stop == size)
        ends = [
            row + 1 - begin
            for row in range(begin, stop)
            if (row + 1 - case.runs[np.searchsorted(case.runs, row, "right") - 1]) % stride == 0
        ]
        answer = REACHES[name](case, begin, stop).follow(
            past, rows, runs, np.array(ends, np.int64), stride
        )
        found += (answer.firsts + begin).tolist()
        expected += [list(firsts(case, name))[end + begin - 1] for end in ends]
        # No answer holds a row that was not needed any more.
        assert all(first >= front for first in found[len(found) - len(ends) :])
        front = answer.front + begin
    assert found == expected


@pytest.mark.parametrize("name", REACHES)
@given(cases())
def test_what_a_stream_keeps(name: str, case: Case) -> None:
    size, stops = len(case.times), np.cumsum(case.keys)
    columns = {"t": pa.array(case.times, pa.timestamp("s"))}
    rows = KeyRows(
        columns, case.runs, size, "t", keys=[], stops=stops, fresh=case.runs[:-1], ledger={}
    )
    frontier = max(case.times) + 1
    reach, oldest = REACHES[name](case, 0, size), list(firsts(case, name))
    for waits in (False, True):
        fronts, _expiry = reach.fronts(case.runs, rows, frontier, waits)
        for begin, stop, front in zip(case.runs[:-1], stops, fronts, strict=True):
            if name == "newest":
                assert front == max(begin, stop - case.amount + 1 - waits)
            elif name == "younger":
                young = [
                    row for row in range(begin, stop) if frontier - case.times[row] < case.amount
                ]
                assert front == min([stop, *young])
            else:
                assert front == oldest[stop - 1]
