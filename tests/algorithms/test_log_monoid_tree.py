"""The log monoid tree: its figures (Villalba et al. 2019, §4.1), costs, bulk eviction."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.algorithms.observed import bulk_evictions
from tests.support.algorithms.trees import Long, Watched, in_pairs
from windrow.algorithms import log_monoid_tree
from windrow.algorithms.plain_memory import PLAIN_SLOTS
from windrow.testing import CountingMonoid, check_algorithm
from windrow.testing.strategies import traces

load = PLAIN_SLOTS["load"]


class Tree(Watched):
    """A log monoid tree, drawn as in the figures."""

    def __init__(self, events: Any, aggregation: Any = None) -> None:
        super().__init__(log_monoid_tree, "tails", aggregation)
        for event in events:
            self.insert(event)

    def level(self, level: int) -> str:
        width, state, ring = 1 << level, self.state, self.window.ring
        nodes = self.nodes(log_monoid_tree.nodes_of(state, width), width)
        nodes[state.end - 1 >> level << level] = load(ring.tails, level)
        oldest = self.window.functions["first_half"](ring, state.front, level)
        nodes[state.front >> level << level] = oldest
        return in_pairs(nodes, width)


def long(size: int, begin: int = 0) -> Long:
    return Long(log_monoid_tree, "tails", size, begin)


# State by state ---------------------------------------------------------------------------------


def test_figure_1():
    observed = Tree([1, 2, 1, 2, 1, 2], wr.sum)
    assert observed.state.level == 2
    assert observed.level(2) == "<6,3>"
    assert observed.level(1) == "<3,3> <3,.>"
    assert observed.level(0) == "<1,2> <1,2> <1,2>"
    observed.check()


def test_figure_2():
    """Maxima of timestamps, of which 8 lets all that are 4 older leave: all others, at once."""
    observed = Tree([1, 1, 2, 2, 3, 3, 4, 8], wr.max)
    assert observed.level(2) == "<2,8>"
    assert observed.level(1) == "<1,2> <3,8>"
    assert observed.level(0) == "<1,1> <2,2> <3,3> <4,8>"
    # The root's first element, then the next level's, then the leaves': one branch each.
    observed.evict_many(4)
    assert observed.state.level == 1
    assert observed.level(1) == "<3,8>"
    assert observed.level(0) == "<3,3> <4,8>"
    observed.evict_many(2)
    assert observed.level(0) == "<4,8>"
    observed.evict_many(1)
    assert (observed.state.level, observed.state.front_partial) == (-1, 8)
    at_once = Tree([1, 1, 2, 2, 3, 3, 4, 8], wr.max)
    at_once.evict_many(7)
    assert at_once.state == observed.state


def test_a_root_that_is_outgrown_is_the_first_half_of_the_next():
    observed = Tree("abcd")
    observed.evict()
    assert observed.state.front_partial == ("b",)
    assert observed.insert("e") == 1
    assert observed.state.front_partial == tuple("bcd")
    assert observed.state.level == 2
    observed.check()


@given(trace=traces(st.integers(0, 9), most_steps=60))
def test_invariants(trace):
    check_algorithm(log_monoid_tree, CountingMonoid().aggregation, trace)


# Costs ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("begin", [0, 1, 1023, 12345])
def test_filling_and_draining(begin):
    observed, most = long(3000, begin), math.ceil(math.log2(3000))
    assert max(observed.inserts) <= most
    assert sum(observed.inserts) <= 3000 * (most / 2 + 1)
    assert log_monoid_tree.stored_partials(observed.state) <= 2 * 3000 + most
    assert max(observed.evict() for _ in range(3000)) <= most


@pytest.mark.parametrize("begin", [0, 3, 2**12 - 1])
def test_evicting_many_goes_one_way_up(begin):
    """However many leave: log2(n) combines, and one pair of each level touched."""
    for count in (1, 2, 3, 8, 63, 64, 65, 1000, 2047, 2048, 4095, 4096, 4999):
        window = long(5000, begin)
        before = window.memory.touches
        assert window.evict_many(count) <= math.log2(5000)
        assert window.memory.touches - before <= math.log2(5000) + 1
        assert window.query() <= 1


def test_evicting_many_small_windows():
    for count, stays, taken, _one_by_one in bulk_evictions(log_monoid_tree, 7):
        assert taken <= math.log2(count + stays + 1)


def test_ranges():
    """Of the newest k events: log2(n) + 1 combines at most."""
    window = wr.Window(wr.concat(), algorithm="log_monoid_tree")
    letters = "abcdefghijklmnopqrstuvwxyz" * 8
    for number, letter in enumerate(letters):
        window.insert(letter)
        if number % 3 == 0:
            window.evict()
    inside = letters[-len(window) :]
    for count in range(1, len(window) + 1):
        assert window.query_range(count) == inside[-count:]
    observed = long(1000)
    for count in range(1, 1001):
        observed.window.query_range(count)
        assert observed.counting.taken() <= math.ceil(math.log2(1000)) + 1
