"""Two-Stacks: the paper's example, figures and theorem (Tangwongsan et al. 2021, §2.3, §3)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.algorithms.observed import (
    LETTER_TRACE,
    MAX_COUNT,
    MAX_COUNT_TRACE,
    Observed,
    bulk_evictions,
    single,
)
from windrow.algorithms import two_stacks
from windrow.testing import check_algorithm
from windrow.testing.strategies import traces


def values(observed: Observed) -> str:
    return observed.drawn(observed.window.ring[0], *observed.state)


def aggregates(observed: Observed) -> str:
    return observed.drawn(observed.window.ring[1], *observed.state)


# Figures 1 and 2, state by state: front | back --------------------------------------------------


def test_figure_1():
    observed = Observed(two_stacks, MAX_COUNT)
    expected = [
        (". | 4x1", ". | 4x1"),
        (". | 4x1 5x1", ". | 4x1 5x1"),
        (". | 4x1 5x1 3x1", ". | 4x1 5x1 5x1"),
        (". | 4x1 5x1 3x1 4x1", ". | 4x1 5x1 5x1 5x1"),
        (". | 4x1 5x1 3x1 4x1 0x1", ". | 4x1 5x1 5x1 5x1 5x1"),
        (". | 4x1 5x1 3x1 4x1 0x1 4x1", ". | 4x1 5x1 5x1 5x1 5x1 5x1"),
        (". | 4x1 5x1 3x1 4x1 0x1 4x1 4x1", ". | 4x1 5x1 5x1 5x1 5x1 5x1 5x1"),
        ("5x1 3x1 4x1 0x1 4x1 4x1 | .", "5x1 4x3 4x3 4x2 4x2 4x1 | ."),
        ("3x1 4x1 0x1 4x1 4x1 | .", "4x3 4x3 4x2 4x2 4x1 | ."),
        ("3x1 4x1 0x1 4x1 4x1 | 2x1", "4x3 4x3 4x2 4x2 4x1 | 2x1"),
        ("3x1 4x1 0x1 4x1 4x1 | 2x1 6x1", "4x3 4x3 4x2 4x2 4x1 | 2x1 6x1"),
        ("3x1 4x1 0x1 4x1 4x1 | 2x1 6x1 5x1", "4x3 4x3 4x2 4x2 4x1 | 2x1 6x1 6x1"),
        ("3x1 4x1 0x1 4x1 4x1 | 2x1 6x1 5x1 6x1", "4x3 4x3 4x2 4x2 4x1 | 2x1 6x1 6x1 6x2"),
        (
            "3x1 4x1 0x1 4x1 4x1 | 2x1 6x1 5x1 6x1 1x1",
            "4x3 4x3 4x2 4x2 4x1 | 2x1 6x1 6x1 6x2 6x2",
        ),
        (
            "3x1 4x1 0x1 4x1 4x1 | 2x1 6x1 5x1 6x1 1x1 6x1",
            "4x3 4x3 4x2 4x2 4x1 | 2x1 6x1 6x1 6x2 6x2 6x3",
        ),
    ]
    answers = [
        (4, 1), (5, 1), (5, 1), (5, 1), (5, 1), (5, 1), (5, 1), (5, 1),
        (4, 3), (4, 3), (6, 1), (6, 1), (6, 2), (6, 2), (6, 3),
    ]  # fmt: skip
    assert (values(observed), aggregates(observed)) == (". | .", ". | .")
    for given_, state, answer in zip(MAX_COUNT_TRACE, expected, answers, strict=True):
        observed.follow([given_])
        assert (values(observed), aggregates(observed)) == state
        assert observed.window.query() == answer


def test_figure_2_and_the_example_of_the_invariants():
    observed = Observed(two_stacks, wr.concat)
    observed.follow(LETTER_TRACE[:7])
    assert aggregates(observed) == ". | a ab abc abcd abcde abcdef abcdefg"
    observed.follow(["evict"])
    assert aggregates(observed) == "bcdefg cdefg defg efg fg g | ."
    observed.follow(LETTER_TRACE[8:])
    assert values(observed) == "c d e f g | h i j k l m n"
    assert aggregates(observed) == ("cdefg defg efg fg g | h hi hij hijk hijkl hijklm hijklmn")
    assert observed.window.query() == "cdefghijklmn"
    observed.follow(["evict"] * 6)
    assert values(observed) == "i j k l m n | ."
    assert aggregates(observed) == "ijklmn jklmn klmn lmn mn n | ."


@given(trace=traces(st.integers(0, 9), most_steps=60))
def test_invariants(trace):
    check_algorithm(two_stacks, Observed(two_stacks).counting.aggregation, trace)


# Theorem 3 --------------------------------------------------------------------------------------


@given(trace=traces(st.integers(0, 9), most_steps=60))
def test_theorem_3(trace):
    """One combine per insert and query, at most n and on average 1 per evict, 2n partials."""
    observed = Observed(two_stacks)
    inserted = evicting = 0
    for step in single(trace):
        if step.name == "insert":
            assert observed.insert(*step.inputs) == 1
            inserted += 1
        elif step.name == "evict" and observed.events:
            size = len(observed)
            taken = observed.evict()
            assert taken <= size
            evicting += taken
        assert observed.query() == 1
        # Whatever the trace, every insertion has paid for the one time its event is flipped.
        assert evicting <= inserted
        assert two_stacks.stored_partials(observed.state) == 2 * len(observed)


def test_a_flip_takes_one_combine_less_than_there_are_events():
    observed = Observed(two_stacks)
    observed.follow(list(range(100)))
    assert [observed.evict() for _ in range(100)] == [99] + [0] * 99


def test_a_sliding_window_combines_three_times_a_round():
    observed = Observed(two_stacks)
    observed.follow(list(range(50)))
    total = sum(
        observed.evict() + observed.insert(number) + observed.query() for number in range(1000)
    )
    assert total == 1000 + 1000 + 20 * 49


# Bulk eviction ----------------------------------------------------------------------------------


@pytest.mark.parametrize("inserted", range(1, 12))
def test_evicting_many_takes_no_more_than_evicting_one_by_one(inserted):
    for _count, stays, taken, one_by_one in bulk_evictions(two_stacks, inserted):
        assert taken <= one_by_one
        assert taken <= stays
