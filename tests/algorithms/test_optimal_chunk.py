"""The optimal chunk (Zhang et al. 2021, §4.3): theorems 1 and 2 against a search."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from windrow.algorithms.optimal_chunk import (
    optimal_chunk_of_rows,
    optimal_chunk_of_time,
)

# Theorem 1 ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("extent", "slide", "chunk"),
    [
        # A window of n that slides by one: b* = floor((n + 2) / 2), but n for the smallest.
        (1, 1, 1), (2, 1, 2), (3, 1, 2), (4, 1, 3), (5, 1, 3), (16, 1, 9),
        # §5.1.1: 17 for 2^5; for 2^20 half of it and one.
        (2**5, 1, 17), (2**20, 1, 2**19 + 1),
        # Figure 2 shows W[10, 2] with chunks of 5, which lets window 1 wait; 4 are optimal.
        (10, 2, 4),
        # The slide is long: there is time enough for the lcs of a chunk of the whole window.
        (10, 3, 3), (100, 10, 10), (100, 9, 11),
    ],
)  # fmt: skip
def test_theorem_1(extent, slide, chunk):
    assert optimal_chunk_of_rows(extent, slide) == chunk


def waits(extent: int, slide: int, chunk: int) -> bool:
    """Whether a window waits for the lcs: that of its second slice takes b - 2 combines.

    Meanwhile the slices behind the boundary are accumulated, of which the window takes ⌊r/s⌋ + 1
    - b, and the events behind its last slice; the first of all needs no combine.
    """
    slices, rest = divmod(extent, slide)
    return chunk - 2 > slide * (slices + 1 - chunk) + rest - 1


@given(extent=st.integers(1, 3000), slide=st.integers(1, 100))
def test_theorem_1_gives_the_longest_chunk_that_lets_no_window_wait(extent, slide):
    slide = min(extent, slide)
    slices = extent // slide
    chunk = optimal_chunk_of_rows(extent, slide)
    assert 1 <= chunk <= slices
    assert slices // chunk == 1, "k = 1: a window spans at most three chunks"
    if slices > 1:
        assert not waits(extent, slide, chunk)
    assert chunk == slices or waits(extent, slide, chunk + 1)


@given(size=st.integers(1, 5000))
def test_more_than_half_of_the_window_is_the_optimal_chunk(size):
    """How `sequential_boundary` finds it."""
    chunk = next(held for held in range(1, size + 1) if 2 * held > size)
    assert chunk == (size + 2) // 2 == optimal_chunk_of_rows(size)


# Theorem 2 ---------------------------------------------------------------------------------------


def waits_in_time(extent: Fraction, slide: Fraction, combine: Fraction, chunk: int) -> bool:
    """The same where events come in their own time, and windows are answered in between."""
    slices, rest = divmod(extent, slide)
    time = slide * (slices + 1 - chunk) + combine * (slices - chunk)
    if rest:
        time += rest + combine
    return (chunk - 2) * combine > time


TIMES = st.fractions(Fraction(1, 50), 50, max_denominator=50)


@given(slides=st.fractions(1, 300, max_denominator=20), slide=TIMES, combine=TIMES)
def test_theorem_2_gives_the_longest_chunk_that_lets_no_window_wait(slides, slide, combine):
    extent = slides * slide
    slices = extent // slide
    chunk = optimal_chunk_of_time(extent, slide, combine)
    assert 1 <= chunk <= slices
    assert slices // chunk == 1
    assert slices == 1 or not waits_in_time(extent, slide, combine, chunk)
    assert chunk == slices or waits_in_time(extent, slide, combine, chunk + 1)


def test_a_cheap_combine_makes_a_chunk_of_the_whole_window():
    """An hour that slides by a second has time enough for 3600 combines of 150 nanoseconds."""
    hour, second = 3600 * 10**9, 10**9
    assert optimal_chunk_of_time(hour, second, 150) == 3600
    assert optimal_chunk_of_time(hour, second // 100, 10**6) == 330_001
    # Where a combine takes far longer than a slide, a chunk is half of the window.
    assert optimal_chunk_of_time(hour, second, 10**15) == 1801


# Mistakes -----------------------------------------------------------------------------------------


def test_what_cannot_be_right_is_refused():
    with pytest.raises(wr.InvalidArgument, match="slide: a slide is above 0 and at most the range"):
        optimal_chunk_of_rows(4, 5)
    with pytest.raises(wr.InvalidArgument, match="slide: "):
        optimal_chunk_of_time(4, 0, 1)
    with pytest.raises(wr.InvalidArgument, match="combine: a combine takes some time, not 0"):
        optimal_chunk_of_time(4, 1, 0)
