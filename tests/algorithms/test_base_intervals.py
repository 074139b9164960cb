"""Base intervals: which are combined when, bounds (Shein et al. 2018, §4), ranges, resizing."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.algorithms.observed import bulk_evictions
from tests.support.algorithms.resized import Resized
from windrow.algorithms import base_intervals
from windrow.algorithms.flat_tree import node_of


def interval(observed: Resized, begin: int, width: int) -> str:
    return observed.text(observed.window.ring, node_of(observed.state.leaves, begin, width))


# State by state ---------------------------------------------------------------------------------


def test_an_event_completes_intervals():
    observed = Resized(base_intervals, room=8)
    assert [observed.insert(letter) for letter in "abcdefgh"] == [0, 1, 0, 2, 0, 1, 0, 3]
    assert [interval(observed, begin, 2) for begin in (0, 2, 4, 6)] == ["ab", "cd", "ef", "gh"]
    assert [interval(observed, begin, 4) for begin in (0, 4)] == ["abcd", "efgh"]
    assert interval(observed, 0, 8) == "abcdefgh"
    assert observed.query() == 0
    observed.evict()
    assert observed.query() == 2  # b ; cd ; efgh
    observed.check()


def test_the_picture_of_the_file():
    observed = Resized(base_intervals, room=16)
    observed.fill("abcdefghij")
    observed.evict()
    assert observed.query() == 3  # b ; cd ; efgh ; ij
    assert [observed.query_range(count) for count in range(10)] == [0, 0, 0, 1, 1, 2, 1, 2, 2, 3]


def test_intervals_take_the_place_of_those_a_round_before():
    observed = Resized(base_intervals, room=4)
    observed.fill("abcd")
    observed.evict()
    # The interval from e on is not complete, and what stood in its place is not combined again.
    assert observed.insert("e") == 0
    assert interval(observed, 0, 2) == "ab"
    assert observed.query() == 2  # b ; cd ; e
    observed.evict()
    assert observed.insert("f") == 1
    assert interval(observed, 4, 2) == "ef"
    observed.check()


def test_nothing_is_combined_with_what_was_there_before_the_window():
    observed = Resized(base_intervals, room=8)
    observed.fill("abc")
    observed.window.state = observed.window.functions["empty"](observed.window.ring, 3)
    observed.events.clear()
    assert [observed.insert(letter) for letter in "defgh"] == [0, 0, 1, 0, 2]
    observed.check()


@given(
    begin=st.integers(0, 40),
    steps=st.lists(
        st.tuples(
            st.sampled_from(["insert", "insert", "insert", "evict", "evict_many", "query_range"]),
            st.floats(0, 1, exclude_max=True),
        ),
        max_size=120,
    ),
)
def test_invariants(begin, steps):
    observed = Resized(base_intervals, begin=begin)
    for number, (name, share) in enumerate(steps):
        index = int(share * len(observed))
        if name == "insert":
            observed.insert(number)
        elif name == "evict_many":
            assert observed.evict_many(index) == 0
        elif name == "query_range":
            observed.query_range(index)
        elif len(observed):
            assert observed.evict() == 0
        observed.query()
        observed.check()


# Bounds -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 8, 16, 31, 64])
def test_table_1(size):
    """Sliding takes one combine per insert on average, and 2 log2(n) per query at most."""
    leaves = 1 << (size - 1).bit_length()
    observed = Resized(base_intervals, room=leaves)
    observed.fill(range(size))
    inserts = []
    for number in range(4 * leaves):
        assert observed.evict() == 0
        inserts.append(observed.insert(number))
        assert observed.query() <= 2 * math.log2(leaves)
        for count in range(0, size + 1, max(1, size // 8)):
            assert observed.query_range(count) <= 2 * math.log2(leaves)
        assert base_intervals.stored_partials(observed.state) == 2 * leaves - 1
    assert max(inserts) <= math.log2(leaves)
    assert sum(inserts) <= len(inserts)


def test_all_ranges_together_take_n_log_n():
    observed = Resized(base_intervals, room=64)
    observed.fill(range(64))
    for number in range(100):
        observed.evict()
        observed.insert(number)
        assert sum(map(observed.query_range, range(1, 65))) <= 64 * math.log2(64)


def test_evicting_many_takes_nothing():
    for _count, _stays, taken, one_by_one in bulk_evictions(base_intervals, 7):
        assert taken == one_by_one == 0


def test_a_window_is_resized_without_a_combine():
    chance = random.Random(2)
    for _attempt in range(50):
        observed = Resized(base_intervals, begin=chance.randrange(100))
        sizes = [chance.randrange(200) for _ in range(4)]
        rooms = set()
        for size in sizes:
            while len(observed) < size:
                assert observed.insert(size) <= math.log2(2 * size)
                rooms.add(observed.state.leaves)
            while len(observed) > size:
                assert observed.evict() == 0
                rooms.add(observed.state.leaves)
                assert observed.state.leaves == 16 or 4 * len(observed) >= observed.state.leaves
            observed.check()
            observed.query()
        assert max(rooms) < 2 * max(16, *sizes)


def test_ranges_of_a_window():
    window = wr.Window(wr.concat(), algorithm="base_intervals")
    window.insert_many("abcdefghijklmnopqrstuvwxyz")
    window.evict_many(3)
    assert [window.query_range(count) for count in (0, 1, 5, 23)] == [
        None, "z", "vwxyz", "defghijklmnopqrstuvwxyz"
    ]  # fmt: skip
