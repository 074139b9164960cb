"""DABA: the paper's figures and theorem, and constant time (Tangwongsan et al. 2021, §5)."""

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
from windrow.algorithms import daba
from windrow.algorithms.plain_memory import CHUNK
from windrow.testing import check_algorithm
from windrow.testing.strategies import traces


def values(observed: Observed) -> str:
    return observed.drawn(observed.window.ring[0], observed.state.front, observed.state.end)


def aggregates(observed: Observed) -> str:
    return observed.drawn(observed.window.ring[1], *observed.state)


# Figures 5 and 6, state by state: front | left | right | accumulator | back ---------------------


def test_figure_5():
    observed = Observed(daba, MAX_COUNT)
    expected = [
        "4x1 | . | . | . | .",
        "5x1 | . | . | 5x1 | .",
        "5x1 5x1 | . | . | . | 3x1",
        "5x1 | 5x1 | 3x1 | 4x1 | .",
        "5x1 5x1 | . | . | 4x1 4x1 | 0x1",
        # The text: where the back is 0x1 and 4 is inserted, the new element's aggregate is 4x1.
        "5x1 5x1 4x1 | . | . | 4x1 | 0x1 4x1",
        "5x1 5x1 4x1 4x1 | . | . | . | 0x1 4x1 4x2",
        "5x1 | 4x1 4x1 | 0x1 4x1 | 4x1 | .",
        "4x3 | 4x1 | 0x1 | 4x2 4x1 | .",
        "4x3 4x3 | . | . | 4x2 4x2 4x1 | 2x1",
        "4x3 4x3 4x2 | . | . | 4x2 4x1 | 2x1 6x1",
        "4x3 4x3 4x2 4x2 | . | . | 4x1 | 2x1 6x1 6x1",
        "4x3 4x3 4x2 4x2 4x1 | . | . | . | 2x1 6x1 6x1 6x2",
        "6x2 | 4x3 4x2 4x2 4x1 | 2x1 6x1 6x1 6x2 | 1x1 | .",
        "6x2 6x2 | 4x2 4x2 4x1 | 2x1 6x1 6x1 | 6x1 1x1 | 6x1",
    ]
    for given_, state in zip(MAX_COUNT_TRACE, expected, strict=True):
        observed.follow([given_])
        assert aggregates(observed) == state
    assert values(observed) == "3x1 4x1 0x1 4x1 4x1 2x1 6x1 5x1 6x1 1x1 6x1"
    assert observed.window.query() == (6, 3)


def test_figure_6_and_the_example_of_the_invariants():
    observed = Observed(daba, wr.concat)
    expected = [
        ("singleton", "a | . | . | . | ."),
        ("flip shrink", "ab | . | . | b | ."),
        ("shift", "ab b | . | . | . | c"),
        ("flip shrink", "abcd | b | c | d | ."),
        ("shrink", "abcd bcd | . | . | cd d | e"),
        ("shift", "abcd bcd cd | . | . | d | e ef"),
        ("shift", "abcd bcd cd d | . | . | . | e ef efg"),
        ("flip shrink", "bcdefg | cd d | e ef | g | ."),
        ("shrink", "cdefg | d | e | fg g | ."),
        ("shrink", "cdefg defg | . | . | efg fg g | h"),
        ("shift", "cdefg defg efg | . | . | fg g | h hi"),
        ("shift", "cdefg defg efg fg | . | . | g | h hi hij"),
        ("shift", "cdefg defg efg fg g | . | . | . | h hi hij hijk"),
        ("flip shrink", "cdefghijkl | defg efg fg g | h hi hij hijk | l | ."),
        ("shrink", "cdefghijkl defghijkl | efg fg g | h hi hij | kl l | m"),
        ("shrink", "cdefghijkl defghijkl efghijkl | fg g | h hi | jkl kl l | m mn"),
    ]
    assert aggregates(observed) == ". | . | . | . | ."
    for given_, (taken, state) in zip(LETTER_TRACE, expected, strict=True):
        before = observed.state
        observed.follow([given_])
        assert (case(before, observed.state), aggregates(observed)) == (taken, state)
    assert values(observed) == "c d e f g h i j k l m n"
    assert observed.window.query() == "cdefghijklmn"


@given(trace=traces(st.integers(0, 9), most_steps=60))
def test_invariants(trace):
    check_algorithm(daba, Observed(daba).counting.aggregation, trace)


# Theorem 10 -------------------------------------------------------------------------------------


@given(trace=traces(st.integers(0, 9), most_steps=60))
def test_theorem_10(trace):
    """At most 4 combines per insert, 3 per evict, 1 per query; 2n partials."""
    observed = Observed(daba)
    for step in single(trace):
        if step.name == "insert":
            assert observed.insert(*step.inputs) in (1, 4)
        elif step.name == "evict" and observed.events:
            assert observed.evict() in (0, 3)
        assert observed.query() == 1
        assert daba.stored_partials(observed.state) == 2 * len(observed)


@pytest.mark.parametrize("seed", range(5))
def test_theorem_10_on_average(seed):
    """From flip to flip an insert takes 2.5 combines and an evict 1.5, whatever their order."""
    for inserts, evicts, taken in from_flip_to_flip(daba, seed):
        assert taken == 2.5 * inserts + 1.5 * evicts


def test_a_sliding_window_combines_five_times_a_round():
    observed = Observed(daba)
    observed.follow(list(range(64)))
    rounds = [
        observed.evict() + observed.insert(number) + observed.query() for number in range(1280)
    ]
    assert max(rounds) <= 3 + 4 + 1
    assert sum(rounds) == pytest.approx((1.5 + 2.5 + 1) * 1280, rel=0.02)


# Constant time ----------------------------------------------------------------------------------


def test_a_window_grows_and_shrinks_in_constant_time():
    """Nothing is copied: `Observed` forbids `resize`, and no operation touches many partials."""
    assert most_touched(daba) == {"insert": 9, "evict": 6}


# Bulk eviction ----------------------------------------------------------------------------------


@pytest.mark.parametrize("inserted", range(1, 15))
def test_evicting_many_takes_no_more_than_evicting_one_by_one(inserted):
    for count, stays, taken, one_by_one in bulk_evictions(daba, inserted):
        assert taken <= one_by_one
        assert taken <= 2 * count + 1
        assert taken <= stays + 1


def test_evicting_many_touches_only_what_stays():
    observed = Observed(daba)
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
