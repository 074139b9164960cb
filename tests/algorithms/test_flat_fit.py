"""FlatFIT: its period (Shein et al. 2018, §4), ranges, resizing (Tangwongsan et al. 2021, §7)."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.algorithms.observed import Observed, bulk_evictions, most_touched
from tests.support.algorithms.resized import Resized
from windrow.algorithms import flat_fit
from windrow.algorithms.plain_memory import PLAIN_SLOTS
from windrow.testing import check_algorithm
from windrow.testing.strategies import traces


def drawn(observed: Observed) -> str:
    """Partials with what they point to, which is the next event or the end."""
    state, ring = observed.state, observed.window.ring
    load = PLAIN_SLOTS["load"]
    parts = []
    for position in range(state.front, state.end):
        target = load(ring.pointers, position)
        event = "." if target == state.end else load(ring.partials, target)[0]
        parts.append("".join(load(ring.partials, position)) + ">" + event)
    return " ".join(parts)


# State by state ---------------------------------------------------------------------------------


def test_partials_reach_as_far_as_the_last_query_that_met_them():
    observed = Observed(flat_fit)
    observed.follow(list("cdef"))
    assert drawn(observed) == "c>d d>e e>f f>."
    assert observed.query() == 3
    assert drawn(observed) == "cdef>. def>. ef>. f>."
    observed.follow(list("ghi"))
    assert drawn(observed) == "cdef>g def>g ef>g f>g g>h h>i i>."
    assert observed.query() == 3
    assert drawn(observed) == "cdefghi>. def>g ef>g f>g ghi>. hi>. i>."
    observed.follow(["j", "evict"])
    # d..f ; g..i ; j, as the picture of the file has it from its oldest event on.
    assert observed.query() == 2
    assert drawn(observed) == "defghij>. ef>g f>g ghij>. hi>j i>j j>."
    assert observed.query() == 0
    observed.check()


@given(trace=traces(st.integers(0, 9), most_steps=60))
def test_invariants(trace):
    check_algorithm(flat_fit, Observed(flat_fit).counting.aggregation, trace)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                ["insert", "insert", "insert", "evict", "evict_many", "query", "range"]
            ),
            st.floats(0, 1),
        ),
        max_size=120,
    )
)
def test_invariants_with_ranges(steps):
    """Few queries between the operations, so that chains of pointers get long."""
    observed = Resized(flat_fit)
    for number, (name, share) in enumerate(steps):
        count = int(share * len(observed))
        if name == "insert":
            assert observed.insert(number) == 0
        elif name == "evict_many":
            assert observed.evict_many(count) == 0
        elif name == "query":
            assert observed.query() <= max(0, len(observed) - 1)
        elif name == "range":
            assert observed.query_range(count) <= max(0, count - 1)
            assert observed.query_range(count) == 0
        elif len(observed):
            assert observed.evict() == 0
        observed.check()
    observed.query()


# Bounds -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [4, 5, 8, 33])
def test_table_1_period(size):
    """n - 1 combines once in n + 1 slides, 1 before and after, else 2: 3 (n - 1) in all."""
    observed = Observed(flat_fit)
    observed.follow(list(range(size)))
    period = [size - 1, 1, *[2] * (size - 2), 1]
    assert sum(period) == 3 * (size - 1)
    for expected in period * 3:
        assert observed.evict() + observed.insert(0) + observed.query() == expected
        assert flat_fit.stored_partials(observed.state) == size


@pytest.mark.parametrize("order", [1, -1])
def test_table_1_all_ranges(order):
    """Of all ranges from 1 to n, each takes no combine or one, and all together n - 1."""
    observed = Resized(flat_fit)
    observed.fill(range(16))
    for slide in range(40):
        observed.evict()
        observed.insert(slide)
        taken = [observed.query_range(count) for count in list(range(1, 17))[::order]]
        assert sum(taken) == 15
        assert max(taken) == 1 or slide == 0


def test_what_nobody_asks_for_is_not_combined():
    """Filled and drained without a query, as in Tangwongsan et al. 2021, §7.2."""
    observed = Observed(flat_fit)
    assert sum(observed.insert(number) for number in range(2000)) == 0
    assert sum(observed.evict() for _ in range(1990)) == 0
    assert observed.query() == 9


def test_evicting_many_takes_nothing():
    for _count, _stays, taken, one_by_one in bulk_evictions(flat_fit, 7):
        assert taken == one_by_one == 0


# Windows that change their size -----------------------------------------------------------------


def test_a_window_grows_and_shrinks_without_being_copied():
    """`Observed` forbids `resize`; an insert writes one partial, an evict none."""
    assert most_touched(flat_fit) == {"insert": 1, "evict": 0}


def test_pointers_stay_when_the_ring_is_resized():
    observed = Resized(flat_fit)
    observed.fill("abcdef")
    observed.query_range(3)
    observed.fill("gh")
    observed.evict()
    before = drawn(observed)
    assert before == "b>c c>d def>g ef>g f>g g>h h>."
    observed.window.grow()
    assert drawn(observed) == before
    assert observed.query() == 4
    observed.check()


def test_ranges_of_a_window():
    window = wr.Window(wr.mean(), algorithm="flat_fit")
    window.insert_many([1, 2, 3, None, 5])
    assert [window.query_range(count) for count in range(6)] == [None, 5, 5, 4, 10 / 3, 11 / 4]
    window.evict_many(4)
    assert (window.query(), window.query_range(1)) == (5, 5)


def test_a_combine_that_raises_leaves_the_window_as_it_was():
    def combine(older: float, newer: float) -> float:
        if math.isnan(older) or math.isnan(newer):
            raise ZeroDivisionError
        return older + newer

    picky = wr.aggregation(
        name="picky", identity=0.0, lift=float, combine=combine, lower=lambda partial: partial
    )
    window = wr.Window(picky, algorithm="flat_fit")
    window.insert_many([1, 2, math.nan, 4, 5, 6])
    for _again in range(2):
        with pytest.raises(ZeroDivisionError):
            window.query()
    assert window.query_range(3) == 15
    window.evict_many(3)
    assert window.query() == 15
    assert [window.query_range(count) for count in (1, 2, 3)] == [6, 11, 15]
