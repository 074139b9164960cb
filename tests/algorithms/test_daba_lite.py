"""DABA Lite: the paper's figures and theorem, and constant time (Tangwongsan et al. 2021, §6)."""

import math

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
    case,
    from_flip_to_flip,
    most_touched,
    single,
)
from windrow.algorithms import daba_lite
from windrow.algorithms.plain_memory import CHUNK
from windrow.testing import check_algorithm
from windrow.testing.strategies import traces


def slots(observed: Observed) -> str:
    return observed.drawn(observed.window.ring, *observed.state[:6])


# Figures 7 and 8, state by state: front | left | right | accumulator | back ---------------------


def test_figure_7():
    observed = Observed(daba_lite, MAX_COUNT)
    nothing = (-math.inf, 0)
    expected = [
        ("4x1 | . | . | . | .", nothing),
        ("5x1 | . | . | 5x1 | .", nothing),
        ("5x1 5x1 | . | . | . | 3x1", (3, 1)),
        ("5x1 | 5x1 | 3x1 | 4x1 | .", nothing),
        ("5x1 5x1 | . | . | 4x1 4x1 | 0x1", (0, 1)),
        # The text: where aggB is 0x1 and 4 is inserted, the element and the new aggB are 4x1.
        ("5x1 5x1 4x1 | . | . | 4x1 | 0x1 4x1", (4, 1)),
        ("5x1 5x1 4x1 4x1 | . | . | . | 0x1 4x1 4x1", (4, 2)),
        ("5x1 | 4x1 4x1 | 0x1 4x1 | 4x1 | .", nothing),
        ("4x3 | 4x1 | 0x1 | 4x2 4x1 | .", nothing),
        ("4x3 4x3 | . | . | 4x2 4x2 4x1 | 2x1", (2, 1)),
        ("4x3 4x3 4x2 | . | . | 4x2 4x1 | 2x1 6x1", (6, 1)),
        ("4x3 4x3 4x2 4x2 | . | . | 4x1 | 2x1 6x1 5x1", (6, 1)),
        ("4x3 4x3 4x2 4x2 4x1 | . | . | . | 2x1 6x1 5x1 6x1", (6, 2)),
        ("6x2 | 4x3 4x2 4x2 4x1 | 2x1 6x1 5x1 6x1 | 1x1 | .", nothing),
        ("6x2 6x2 | 4x2 4x2 4x1 | 2x1 6x1 5x1 | 6x1 1x1 | 6x1", (6, 1)),
    ]
    for given_, (state, back_partial) in zip(MAX_COUNT_TRACE, expected, strict=True):
        observed.follow([given_])
        assert (slots(observed), observed.state.back_partial) == (state, back_partial)
    assert observed.state.right_partial == (6, 2)
    assert observed.window.query() == (6, 3)


def test_figure_8_and_the_example_of_the_invariants():
    observed = Observed(daba_lite, wr.concat)
    # The case, the state, the partials of right and accumulator and of the back. Where left and
    # right are used up the first of the two is not read, and stays what it was.
    expected = [
        ("singleton", "a | . | . | . | .", "", ""),
        ("flip shrink", "ab | . | . | b | .", "b", ""),
        ("shift", "ab b | . | . | . | c", "b", "c"),
        ("flip shrink", "abcd | b | c | d | .", "cd", ""),
        ("shrink", "abcd bcd | . | . | cd d | e", "cd", "e"),
        ("shift", "abcd bcd cd | . | . | d | e f", "cd", "ef"),
        ("shift", "abcd bcd cd d | . | . | . | e f g", "cd", "efg"),
        ("flip shrink", "bcdefg | cd d | e f | g | .", "efg", ""),
        ("shrink", "cdefg | d | e | fg g | .", "efg", ""),
        ("shrink", "cdefg defg | . | . | efg fg g | h", "efg", "h"),
        ("shift", "cdefg defg efg | . | . | fg g | h i", "efg", "hi"),
        ("shift", "cdefg defg efg fg | . | . | g | h i j", "efg", "hij"),
        ("shift", "cdefg defg efg fg g | . | . | . | h i j k", "efg", "hijk"),
        ("flip shrink", "cdefghijkl | defg efg fg g | h i j k | l | .", "hijkl", ""),
        ("shrink", "cdefghijkl defghijkl | efg fg g | h i j | kl l | m", "hijkl", "m"),
        ("shrink", "cdefghijkl defghijkl efghijkl | fg g | h i | jkl kl l | m n", "hijkl", "mn"),
    ]
    assert slots(observed) == ". | . | . | . | ."
    for given_, (taken, state, right_partial, back_partial) in zip(
        LETTER_TRACE, expected, strict=True
    ):
        before = observed.state
        observed.follow([given_])
        assert (case(before, observed.state), slots(observed)) == (taken, state)
        assert observed.state[6:] == (right_partial, back_partial)
    assert observed.window.query() == "cdefghijklmn"


@given(trace=traces(st.integers(0, 9), most_steps=60))
def test_invariants(trace):
    check_algorithm(daba_lite, Observed(daba_lite).counting.aggregation, trace)


# Theorem 13 -------------------------------------------------------------------------------------


@given(trace=traces(st.integers(0, 9), most_steps=60))
def test_theorem_13(trace):
    """At most 3 combines per insert, 2 per evict, 1 per query; n + 2 partials."""
    observed = Observed(daba_lite)
    for step in single(trace):
        if step.name == "insert":
            assert observed.insert(*step.inputs) in (1, 3)
        elif step.name == "evict" and observed.events:
            assert observed.evict() in (0, 2)
        assert observed.query() == 1
        assert daba_lite.stored_partials(observed.state) == len(observed) + 2


@pytest.mark.parametrize("seed", range(5))
def test_theorem_13_on_average(seed):
    """From flip to flip an insert takes 2 combines and an evict 1, whatever their order."""
    for inserts, evicts, taken in from_flip_to_flip(daba_lite, seed):
        assert taken == 2 * inserts + evicts


def test_a_sliding_window_combines_four_times_a_round():
    observed = Observed(daba_lite)
    observed.follow(list(range(64)))
    rounds = [
        observed.evict() + observed.insert(number) + observed.query() for number in range(1280)
    ]
    assert max(rounds) <= 2 + 3 + 1
    assert sum(rounds) == pytest.approx((1 + 2 + 1) * 1280, rel=0.02)


# Constant time ----------------------------------------------------------------------------------


def test_a_window_grows_and_shrinks_in_constant_time():
    """Nothing is copied: `Observed` forbids `resize`, and no operation touches many partials."""
    assert most_touched(daba_lite) == {"insert": 6, "evict": 5}


# Bulk eviction ----------------------------------------------------------------------------------


@pytest.mark.parametrize("inserted", range(1, 15))
def test_evicting_many_takes_no_more_than_evicting_one_by_one(inserted):
    for count, stays, taken, one_by_one in bulk_evictions(daba_lite, inserted):
        assert taken <= one_by_one
        assert taken <= 2 * count
        assert taken <= stays


def test_evicting_many_touches_only_what_stays():
    observed = Observed(daba_lite)
    observed.follow(list(range(3000)))
    before = observed.memory.touches
    observed.evict_many(2990)
    assert observed.memory.touches - before < 50
    observed.check()
    # Chunks that were left are dropped as others are passed, two for each.
    for number in range(3 * CHUNK):
        observed.insert(number)
        observed.evict()
    assert all(queue.chunks <= 2 for queue in observed.memory.queues)
