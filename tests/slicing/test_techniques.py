"""Panes, pairs and cutty against an enumeration of all windows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.slicing.enumeration import edges_of, enumerated, intervals, periodic_windows
from windrow.slicing import (
    LIMIT,
    TECHNIQUES,
    PeriodicWindow,
    Slices,
    Technique,
    cutty,
    pairs,
    panes,
)

every_technique = pytest.mark.parametrize("technique", TECHNIQUES.values(), ids=TECHNIQUES.keys())


@every_technique
@given(window=periodic_windows(), interval=intervals())
def test_no_window_start_is_inside_a_slice(
    technique: Technique, window: PeriodicWindow, interval: tuple[int, int]
) -> None:
    low, high = interval
    edges = technique.slices(window).edges_between(low, high)
    starts = {start for start, _ in enumerated(window, low, high) if low <= start < high}
    assert starts <= set(edges.tolist())
    assert np.all(np.diff(edges) > 0)
    assert technique is not cutty or starts == set(edges.tolist())


@pytest.mark.parametrize("technique", [panes, pairs], ids=["panes", "pairs"])
@given(window=periodic_windows(), interval=intervals())
def test_no_window_edge_is_inside_a_slice(
    technique: Technique, window: PeriodicWindow, interval: tuple[int, int]
) -> None:
    edges = set(technique.slices(window).edges_between(*interval).tolist())
    assert edges_of(window, *interval) <= edges


@given(periodic_windows(), intervals())
def test_slices_of_pairs_are_maximal(window: PeriodicWindow, interval: tuple[int, int]) -> None:
    edges = set(pairs.slices(window).edges_between(*interval).tolist())
    assert edges == edges_of(window, *interval)


@every_technique
@given(window=periodic_windows(), interval=intervals())
def test_each_event_is_in_the_slice_around_it(
    technique: Technique, window: PeriodicWindow, interval: tuple[int, int]
) -> None:
    slices = technique.slices(window)
    times = np.arange(*interval)
    numbers = slices.slice_of(times)
    assert np.all(slices.starts(numbers) <= times)
    assert np.all(times < slices.ends(numbers))
    assert numbers.tolist() == [slices.slice_at(time) for time in times.tolist()]
    assert np.all(np.diff(numbers) >= 0)


@every_technique
@given(
    window=periodic_windows(),
    low=st.integers(-100, 100),
    values=st.lists(st.integers(), max_size=90),
)
def test_sums_over_slices_are_sums_over_windows(
    technique: Technique, window: PeriodicWindow, low: int, values: list[int]
) -> None:
    high = low + len(values)
    slices = technique.slices(window)
    starts = window.windows_meeting(low, high)
    ends = starts + window.range
    first, end, running = slices.covering(starts, ends)
    full: dict[int, int] = {}
    for time, value in zip(range(low, high), values, strict=True):
        full[slices.slice_at(time)] = full.get(slices.slice_at(time), 0) + value
    for index, (start, stop) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        total = sum(full.get(number, 0) for number in range(first[index], end[index]))
        if running[index]:
            opened = int(slices.starts(end)[index])
            total += sum(
                value
                for time, value in zip(range(low, high), values, strict=True)
                if opened <= time < stop
            )
        expected = [
            value
            for time, value in zip(range(low, high), values, strict=True)
            if start <= time < stop
        ]
        assert total == sum(expected)


@every_technique
@given(window=periodic_windows(), start=st.integers(-20, 20))
def test_how_many_slices_and_partials(
    technique: Technique, window: PeriodicWindow, start: int
) -> None:
    slices = technique.slices(window)
    begin = window.offset + start * window.slide
    assert len(slices.edges_between(begin, begin + window.slide)) == technique.slices_per_slide(
        window
    )
    first, end, running = slices.covering(np.array([begin]), np.array([begin + window.range]))
    assert int((end - first + running)[0]) == technique.partials_per_window(window)
    assert technique is cutty or not running[0]


@given(periodic_windows(), intervals())
def test_a_slice_is_wholly_in_a_gap_or_wholly_in_a_window(
    window: PeriodicWindow, interval: tuple[int, int]
) -> None:
    times = np.arange(*interval)
    for technique in (panes, pairs):
        slices = technique.slices(window)
        begins = slices.starts(slices.slice_of(times))
        assert np.array_equal(window.holds(begins), window.holds(times))


def test_figure_1_of_001() -> None:
    """F1 is made of the panes P2, P3, P4 and P5; P5 is used by F1, F2 and F3."""
    # The text does not give the lengths: range 4, slide 1 is the smallest window that fits.
    window = PeriodicWindow.of_rows(4, 1)
    slices = panes.slices(window)
    ends = np.array([6, 7, 8])
    first, end, _ = slices.covering(ends - 4, ends)
    made_of = [set(range(*bounds)) for bounds in zip(first, end, strict=True)]
    assert made_of[0] == {2, 3, 4, 5}
    assert all(5 in numbers for numbers in made_of)


@given(periodic_windows())
def test_fragments_of_pairs_as_in_001(window: PeriodicWindow) -> None:
    """f2 = range % slide and f1 = slide - f2; a window of rows ends with a fragment of f2."""
    f2 = window.range % window.slide
    rows = PeriodicWindow.of_rows(window.range, window.slide)
    expected = (window.slide - f2, f2) if f2 else (window.slide,)
    assert pairs.slices(rows).lengths == expected


@given(periodic_windows())
def test_pairs_take_no_more_partials_than_panes_and_cutty_no_more_than_pairs(
    window: PeriodicWindow,
) -> None:
    assert pairs.partials_per_window(window) <= panes.partials_per_window(window)
    assert cutty.partials_per_window(window) <= pairs.partials_per_window(window)


def test_section_2_2_of_004() -> None:
    """W[10, 3]: slices of 3 values; a window covers 3 slices and 1 value."""
    slices = cutty.slices(PeriodicWindow(10, 3))
    assert slices.lengths == (3,)
    first, end, running = slices.covering(np.array([0, 3]), np.array([10, 13]))
    assert (end - first).tolist() == [3, 3]
    assert running.all()
    assert (np.array([10, 13]) - slices.starts(end)).tolist() == [1, 1]


def test_figure_1_of_004() -> None:
    """W[10, 2]: windows of 5 slices of 2 values, each slice shared by 5 windows."""
    window = PeriodicWindow(10, 2)
    for technique in TECHNIQUES.values():
        slices = technique.slices(window)
        assert slices.lengths == (2,)
        assert technique.partials_per_window(window) == 5
    assert len(window.window_starts_of(100)) == 5


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        (PeriodicWindow(10, 3), {"panes": (3, 10), "pairs": (2, 7), "cutty": (1, 4)}),
        (PeriodicWindow(10, 2), {"panes": (1, 5), "pairs": (1, 5), "cutty": (1, 5)}),
        (PeriodicWindow(6, 4), {"panes": (2, 3), "pairs": (2, 3), "cutty": (1, 2)}),
        (PeriodicWindow(5, 5), {"panes": (1, 1), "pairs": (1, 1), "cutty": (1, 1)}),
        (PeriodicWindow(2, 6), {"panes": (3, 1), "pairs": (2, 1), "cutty": (1, 1)}),
        (PeriodicWindow(1000, 999), {"panes": (999, 1000), "pairs": (2, 3), "cutty": (1, 2)}),
    ],
    ids=str,
)
def test_the_trade(window: PeriodicWindow, expected: dict[str, tuple[int, int]]) -> None:
    found = {
        name: (technique.slices_per_slide(window), technique.partials_per_window(window))
        for name, technique in TECHNIQUES.items()
    }
    assert found == expected


@every_technique
@given(
    extent=st.integers(1, LIMIT - 1),
    slide=st.integers(1, LIMIT - 1),
    offset=st.integers(-LIMIT, LIMIT),
    time=st.integers(-LIMIT, LIMIT),
)
def test_nothing_overflows_up_to_62_bits(
    technique: Technique, extent: int, slide: int, offset: int, time: int
) -> None:
    slices = technique.slices(PeriodicWindow(extent, slide, offset))
    number = slices.slice_at(time)
    assert slices.slice_of(np.array([time])).tolist() == [number]
    begin, end = slices.starts(np.array([number, number + 1])).tolist()
    assert begin <= time < end
    assert {(begin - edge) % slices.period for edge in slices.edges} & {0}
    assert slices.edges_between(time, end + 1).tolist()[-1] == end


@given(
    st.integers(1, 60).flatmap(
        lambda period: st.tuples(
            st.just(period), st.sets(st.integers(0, period - 1), min_size=1, max_size=30)
        )
    ),
    st.sampled_from([1, 7, 2**30, 2**40 + 1]),
    st.integers(0, 10**6),
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=20),
)
def test_ranks_by_comparison_by_table_and_by_search_agree(
    drawn: tuple[int, set[int]], unit: int, shift: int, times: list[int]
) -> None:
    period, edges = drawn[0] * unit, sorted(edge * unit for edge in drawn[1])
    shifted = tuple(sorted((edge + shift) % period for edge in edges))
    slices = Slices(period, shifted)
    searched = Slices(period, shifted)
    searched.__dict__["_cells"] = None
    given_times = np.array([*times, *shifted, *(edge - 1 for edge in shifted)], np.int64)
    expected = [slices.slice_at(time) for time in given_times.tolist()]
    assert slices.slice_of(given_times).tolist() == expected
    assert searched.slice_of(given_times).tolist() == expected


def test_many_events_are_numbered_block_by_block() -> None:
    slices = pairs.slices(PeriodicWindow(10, 4, 1))
    times = np.random.default_rng(4).integers(-(10**6), 10**6, (3, 30_001))
    numbers = slices.slice_of(times)
    assert numbers.shape == times.shape
    assert np.all(slices.starts(numbers) <= times)
    assert np.all(times < slices.ends(numbers))
    assert slices.slice_of(times[:, ::7]).tolist() == numbers[:, ::7].tolist()
    assert slices.slice_of(times[:0]).size == 0
    narrow = times[0].astype(np.int32)
    assert slices.slice_of(narrow).tolist() == numbers[0].tolist()


def test_times_that_are_no_integers_are_refused() -> None:
    with pytest.raises(TypeError, match="float64"):
        pairs.slices(PeriodicWindow(10, 4, 1)).slice_of(np.array([1.5]))
