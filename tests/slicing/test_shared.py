"""Shared plans: Example 1 (Shein et al. 2018, §2.3), exactly the edges, groups that stay small."""

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.slicing.enumeration import edges_of, enumerated, intervals, periodic_windows
from windrow.algebra.durations import words
from windrow.errors import InvalidArgument
from windrow.planning.share import EDGE_LIMIT, Answer, SharedPlan, share
from windrow.slicing import LIMIT, PeriodicWindow, edges_between

several_windows = st.lists(periodic_windows(12), min_size=1, max_size=4)
EXAMPLE_1 = [PeriodicWindow.of_rows(6, 2), PeriodicWindow.of_rows(8, 4)]
SECOND = 1_000_000_000


def only_plan(windows: list[PeriodicWindow]) -> SharedPlan:
    (plan,) = share(windows).groups
    return plan


def test_example_1_of_001() -> None:
    """Partials every 2 rows; Q1 answers over the last three of them, Q2 over the last four."""
    plan = only_plan(EXAMPLE_1)
    assert plan.period == 4
    assert plan.edges == (0, 2)
    assert plan.slices.lengths == (2, 2)
    assert plan.answers == ((Answer(0, 3),), (Answer(1, 4), Answer(0, 3)))
    assert plan.longest == 4
    assert plan.needed == (True, True)
    assert plan.diagram().splitlines() == [
        "edges  0   2   4",
        "       |---|---|",
        "Q1         3   3",
        "Q2             4",
    ]
    assert share(EXAMPLE_1).why() == (
        "Q1 and Q2: composite slide 4, 2 slices, at most 4 in a window",
    )


def test_examples_2_and_3_of_001() -> None:
    """Ranges of 3 and 5 rows, both with a slide of 1: wSize is 5."""
    plan = only_plan([PeriodicWindow.of_rows(3, 1), PeriodicWindow.of_rows(5, 1)])
    assert (plan.period, plan.edges, plan.longest) == (1, (0,), 5)
    assert plan.answers == ((Answer(1, 5), Answer(0, 3)),)


def test_fragments_are_marked_as_edges_too() -> None:
    """Shein et al. 2018, §2.3: if slides consist of several fragments, all are marked."""
    plan = only_plan([PeriodicWindow.of_rows(5, 3), PeriodicWindow.of_rows(4, 2)])
    assert plan.period == 6
    # Q1 cuts at 0, 1, 3, 4 (fragments of 1 and 2), Q2 at 0, 2, 4.
    assert plan.edges == (0, 1, 2, 3, 4)
    assert plan.answers == (
        (),
        (Answer(1, 3),),
        (Answer(0, 4),),
        (Answer(1, 4),),
        (Answer(0, 4), Answer(1, 3)),
    )


@given(several_windows, intervals())
def test_slices_are_maximal(windows: list[PeriodicWindow], interval: tuple[int, int]) -> None:
    expected = set[int]().union(*(edges_of(window, *interval) for window in windows))
    assert edges_between(windows, *interval).tolist() == sorted(expected)
    assert only_plan(windows).slices.edges_between(*interval).tolist() == sorted(expected)


@given(several_windows, st.integers(-60, 60))
def test_answers_are_due_where_windows_end(windows: list[PeriodicWindow], low: int) -> None:
    plan = only_plan(windows)
    high = low + plan.period
    expected = {
        (end, query, start)
        for query, window in enumerate(windows)
        for start, end in enumerated(window, low, high)
        if low <= end < high
    }
    found = set()
    for end in plan.slices.edges_between(low, high).tolist():
        newest = plan.slices.slice_at(end - 1)
        for answer in plan.answers[newest % len(plan.edges)]:
            oldest = np.array([newest + 1 - answer.slices])
            found.add((end, answer.query, int(plan.slices.starts(oldest)[0])))
    assert found == expected


@given(several_windows, st.integers(-60, 60), st.lists(st.integers(-9, 9), max_size=60))
def test_sums_over_shared_slices_are_sums_over_windows(
    windows: list[PeriodicWindow], low: int, values: list[int]
) -> None:
    plan = only_plan(windows)
    times = np.arange(low, low + len(values))
    numbers = plan.slices.slice_of(times)
    totals: dict[int, int] = {}
    for number, value in zip(numbers.tolist(), values, strict=True):
        if plan.needed[number % len(plan.edges)]:
            totals[number] = totals.get(number, 0) + value
    for query, window in enumerate(windows):
        starts = window.windows_meeting(low, low + len(values))
        first, end, running = plan.slices.covering(starts, starts + window.range)
        assert not running.any()
        assert query in plan.queries
        for index, start in enumerate(starts.tolist()):
            total = sum(totals.get(number, 0) for number in range(first[index], end[index]))
            held = (times >= start) & (times < start + window.range)
            assert total == sum(np.array(values, np.int64)[held])


@given(several_windows)
def test_a_slice_is_needed_if_a_window_holds_it(windows: list[PeriodicWindow]) -> None:
    plan = only_plan(windows)
    for start, length, needed in zip(plan.edges, plan.slices.lengths, plan.needed, strict=True):
        for time in range(start, start + length):
            assert needed == any(len(window.window_starts_of(time)) for window in windows)


@given(several_windows)
def test_answers_come_longest_range_first(windows: list[PeriodicWindow]) -> None:
    plan = only_plan(windows)
    for due in plan.answers:
        ranges = [windows[answer.query].range for answer in due]
        assert ranges == sorted(ranges, reverse=True)
    assert plan.longest == max(answer.slices for due in plan.answers for answer in due)


def test_an_exploding_composite_slide_is_grouped() -> None:
    primes = [99_991, 99_989, 200, 400, 25_000]
    windows = [PeriodicWindow.of_rows(slide * 3, slide) for slide in primes]
    sharing = share(windows)
    assert [group.queries for group in sharing.groups] == [(0,), (1,), (2, 3, 4)]
    assert [group.period for group in sharing.groups] == [99_991, 99_989, 50_000]
    assert sharing.why() == (
        "one plan for all 5 queries: 3,779,245,037,323 edges in a composite slide of "
        "499,900,004,950,000, 2,268 slices kept",
        "a plan has at most 65,536 of either, so there are 3 groups, by common divisors",
        "group 1: Q1: composite slide 99,991, 1 slice, at most 3 in a window",
        "group 2: Q2: composite slide 99,989, 1 slice, at most 3 in a window",
        "group 3: Q3, Q4 and Q5: composite slide 50,000, 250 slices, at most 375 in a window",
    )


def test_a_fine_window_does_not_cut_a_long_one_to_pieces() -> None:
    long, fine = PeriodicWindow(10**9, 60_000), PeriodicWindow(3, 1)
    assert [group.queries for group in share([long, fine]).groups] == [(0,), (1,)]
    assert share([long, fine]).groups[0].longest == 33_333


def test_windows_that_are_large_by_themselves_still_share() -> None:
    windows = [PeriodicWindow.of_rows(10**6, 1), PeriodicWindow.of_rows(10**6 + 1, 1)]
    assert only_plan(windows).longest == 10**6 + 1


def test_one_window_is_planned_whatever_its_size() -> None:
    plan = only_plan([PeriodicWindow(LIMIT - 1, LIMIT - 2, -5)])
    assert len(plan.edges) == 2
    assert plan.longest == 3


def test_composite_slides_fit_64_bits() -> None:
    windows = [PeriodicWindow(2**60, 2**60), PeriodicWindow(3**37, 3**37)]
    assert len(share(windows).groups) == 2
    assert "about 5e35" in share(windows).why()[0]


@given(
    st.lists(periodic_windows(60), min_size=1, max_size=12),
    st.integers(2, 100),
)
def test_groups_hold_every_query_once_and_stay_small(
    windows: list[PeriodicWindow], limit: int
) -> None:
    groups = share(windows, limit).groups
    assert sorted(query for group in groups for query in group.queries) == list(range(len(windows)))
    for group in groups:
        assert group.windows == tuple(windows[query] for query in group.queries)
        assert list(group.queries) == sorted(group.queries)
        assert group.period == math.lcm(*(window.slide for window in group.windows))
        assert len(group.edges) <= limit
    assert share(windows, limit) == share(windows, limit)


def test_64_queries_are_planned_and_marked_at_once() -> None:
    source = random.Random(64)
    windows = [
        PeriodicWindow.of_rows(source.randint(1_000, 1_000_000), source.randint(100, 5_000))
        for _ in range(64)
    ]
    for group in share(windows).groups:
        assert len(group.edges) <= EDGE_LIMIT
        assert len(group.queries) >= 1
    edges = set(edges_between(windows, 0, 1_000_000).tolist())
    for window in windows:
        ends = window.ends_between(window.range, 1_000_000)
        assert edges.issuperset(ends.tolist())
        assert edges.issuperset((ends - window.range).tolist())


def test_no_windows_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="windows: at least one window is needed"):
        share([])


def test_edges_of_no_windows() -> None:
    assert edges_between([], 0, 10).tolist() == []


def test_a_diagram_in_words_with_gaps() -> None:
    windows = [PeriodicWindow(20 * SECOND, 60 * SECOND), PeriodicWindow(30 * SECOND, 60 * SECOND)]
    assert only_plan(windows).diagram(["short", "long"], words).splitlines() == [
        "edges  0  20 seconds  30 seconds    1 minute",
        "       |-----------|-----------|...........|",
        "short              1",
        "long                           2",
    ]


def test_a_diagram_leaves_out_what_does_not_fit() -> None:
    windows = [PeriodicWindow.of_rows(7 * slide + 1, slide) for slide in (600, 35, 48)]
    plan = only_plan([*windows, PeriodicWindow.of_rows(1, 16_800)])
    names = ["a", "b", "a name that is far too long for this", "d"]
    assert plan.diagram(names).splitlines() == [
        "edges                 0   34   35   47   48   69   70   95   96  104  105  139",
        "                      |----|----|----|----|----|----|----|----|----|----|----|",
        "a                     first at 600",
        "b                              23                  23                  23",
        "a name that is fa...                     33                  31",
        "d                     first at 16,800",
        "and 1,633 more slices, up to 16,800",
    ]


@given(several_windows, st.lists(st.text("abc ", max_size=40), min_size=4, max_size=4))
def test_a_diagram_is_at_most_80_columns_of_ascii(
    windows: list[PeriodicWindow], names: list[str]
) -> None:
    lines = share(windows).diagram(names).splitlines()
    assert all(len(line) <= 80 and line.isascii() for line in lines)


def test_a_diagram_of_many_queries_stays_short() -> None:
    windows = [PeriodicWindow.of_rows(extent, 10) for extent in range(10, 1000, 10)]
    lines = share(windows).diagram().splitlines()
    assert len(lines) == 27
    assert lines[-1] == "and 75 more queries"
