"""The amortized monoid tree: its figures (Villalba et al. 2019, §4.2), costs, bulk eviction."""

import itertools
import math
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.algorithms.observed import bulk_evictions
from tests.support.algorithms.trees import Long, Watched, in_pairs
from windrow.algorithms import ALGORITHMS, amortized_monoid_tree
from windrow.algorithms.plain_memory import PLAIN_SLOTS
from windrow.engine.plain_window import PlainWindow
from windrow.testing import CountingMonoid, Subject, check_algorithm
from windrow.testing.strategies import traces

load = PLAIN_SLOTS["load"]


class Forest(Watched):
    """An amortized monoid tree, drawn as in the figures."""

    def __init__(self, aggregation: Any = None) -> None:
        super().__init__(amortized_monoid_tree, "stack", aggregation)

    def settle(self) -> None:
        """Compute both partials and the stack anew, as the paper does when a tree has grown."""
        state = self.state
        self.window.state = self.window.functions["settle"](
            self.window.ring, state.front, state.end
        )

    @property
    def results(self) -> tuple[Any, Any]:
        """The result pair."""
        return self.state.front_partial, self.state.back_partial

    @property
    def stack(self) -> list[Any]:
        """Top first."""
        return [load(self.window.ring.stack, depth) for depth in reversed(range(self.state.depth))]

    def level(self, level: int) -> str:
        whole = amortized_monoid_tree.nodes_of(self.state, 1 << level)
        return in_pairs(self.nodes(whole, 1 << level), 1 << level) if whole else ""


def long(size: int, begin: int = 0) -> Long:
    return Long(amortized_monoid_tree, "stack", size, begin)


def of_sums(numbers: list[int]) -> Forest:
    observed = Forest(wr.sum)
    for number in numbers:
        observed.insert(number)
    return observed


# State by state ---------------------------------------------------------------------------------


def test_figure_4():
    """The newest pair of a level has no parent; the stack is what remains of the leftmost tree."""
    observed = of_sums([1, 2, 1, 2, 1, 2])
    assert observed.level(0) == "<1,2> <1,2> <1,2>"
    assert observed.level(1) == "<3,3>"
    assert observed.level(2) == ""
    observed.settle()
    assert observed.results == (6, 3)
    assert observed.stack == [5, 3]
    observed.check()


def test_figure_4_insertion():
    """A seventh event makes parents of two full pairs, and a new level.

    The paper's text has 6 + 1 = 7 as the new back, which with the front's 6 would be 13 in all; the
    back of its figure is 3.
    """
    observed = of_sums([1, 2, 1, 2, 1, 2])
    observed.settle()
    observed.insert(1)
    assert observed.level(0) == "<1,2> <1,2> <1,2> <1,.>"
    assert observed.level(1) == "<3,3> <3,.>"
    assert observed.level(2) == "<6,.>"
    assert observed.results == (6, 4)
    assert observed.stack == [5, 3]
    observed.check()


def test_figure_4_eviction():
    observed = of_sums([1, 2, 1, 2, 1, 2])
    observed.settle()
    observed.evict()
    assert observed.results == (5, 3)
    assert observed.level(0) == "<.,2> <1,2> <1,2>"
    assert observed.stack == [3]


def test_figure_5():
    observed = of_sums([1, 3, 2, 1, 2, 1, 1, 0, 3, 1])
    observed.settle()
    assert observed.level(0) == "<1,3> <2,1> <2,1> <1,0> <3,1>"
    assert observed.level(1) == "<4,3> <3,1>"
    assert observed.level(2) == "<7,.>"
    assert (observed.results, observed.stack) == ((7, 8), [6, 3])
    observed.evict()
    assert (observed.results, observed.stack) == ((6, 8), [3])
    assert observed.level(0) == "<.,3> <2,1> <2,1> <1,0> <3,1>"
    observed.evict()
    # The pair <2,1> goes onto the stack; of the second level the first element has left.
    assert (observed.results, observed.stack) == ((3, 8), [1])
    assert observed.level(0) == "<2,1> <2,1> <1,0> <3,1>"
    assert observed.level(1) == "<.,3> <3,1>"
    observed.evict()
    assert (observed.results, observed.stack) == ((1, 8), [])
    observed.evict()
    # The leftmost tree is used up; the next one, of the level below, takes its place.
    assert (observed.results, observed.stack) == ((4, 4), [2, 1])
    assert observed.level(1) == "<3,1>"
    observed.check()


def test_the_settled_front_is_the_one_that_evicting_finds():
    """An insert leaves the boundary where it is: the paper moves it, and nothing needs it there."""
    settled, lazy = of_sums(list(range(30))), of_sums(list(range(30)))
    for _ in range(12):
        settled.settle()
        settled.evict()
        lazy.evict()
        settled.settle()
        assert settled.results[0] + settled.results[1] == lazy.results[0] + lazy.results[1]
    assert (settled.state, settled.stack) == (lazy.state, lazy.stack)


@given(trace=traces(st.integers(0, 9), most_steps=60))
def test_invariants(trace):
    check_algorithm(amortized_monoid_tree, CountingMonoid().aggregation, trace)


# Costs ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("begin", [0, 1, 1023, 12345])
def test_filling_and_draining(begin):
    """2 combines an insert and 1 an evict on average, wherever the window stands."""
    size = 3000
    observed, most = long(size, begin), math.log2(size)
    assert max(observed.inserts) <= most + 1
    assert sum(observed.inserts) <= 2 * size
    assert amortized_monoid_tree.stored_partials(observed.state) <= 2 * size + most
    evicts = [observed.evict() for _ in range(size)]
    assert max(evicts) <= 3 * most
    # Besides 1 each, the leftmost tree is used up as often as the window is halved.
    assert sum(evicts) <= size + most * 3 * most


@pytest.mark.parametrize("size", [2, 3, 16, 100, 1000])
def test_sliding(size):
    """1 combine to evict, 2 to insert, 1 to query: 4 a round, and a little to change trees."""
    observed, rounds = long(size), 4 * size
    taken = [
        observed.evict() + observed.insert(number) + observed.query() for number in range(rounds)
    ]
    changes = 4 * rounds / size
    assert sum(taken) <= 4 * rounds + changes * 3 * math.log2(2 * size)
    assert max(taken) <= 4 * math.log2(2 * size) + 2


@pytest.mark.parametrize("size", [8, 9, 1000, 2**14, 2**14 + 4097])
@pytest.mark.parametrize("begin", [0, 3, 2**13 - 1])
def test_evicting_many_goes_one_way_down(size, begin):
    """However many leave: 3 log2(n) combines, and no more pairs touched on nodes and stack."""
    window = long(size, begin)
    functions, filled, events = window.window.functions, window.state, window.events
    # A queue in plain Python lets go of what has left; here it is to come back.
    functions["evict_many"].__globals__["release"] = lambda *_given: None
    counts = {2**power + more for power, more in itertools.product(range(15), (-1, 0, 1))}
    for count in sorted(count for count in counts if 1 < count < size):
        for evicted_before in (0, 1):
            window.window.state, window.events = filled, list(events)
            if evicted_before:
                window.evict_many(1)
            before = window.memory.touches
            assert window.evict_many(count - evicted_before) <= 3 * math.log2(size)
            assert window.memory.touches - before <= 6 * math.log2(size) + 2
            assert window.query() == 1


def test_evicting_many_small_windows():
    """Every window of up to 16 events: never more than a few ways up and down."""
    for count, stays, taken, _one_by_one in bulk_evictions(amortized_monoid_tree, 7):
        assert taken <= 3 * math.log2(count + stays + 1)


def test_inserts_never_recompute_results_and_evictions_once_at_most():
    """Villalba et al. 2019, §5.2: at most one recomputation for an event, whatever it evicts."""
    observed, chance = long(0), random.Random(4)
    for number in range(3000):
        boundary = observed.state.boundary
        observed.insert(number)
        assert observed.state.boundary == boundary or len(observed) == 1
        if chance.random() < 0.1:
            count = chance.randrange(len(observed))
            limit = 3 * math.log2(len(observed) + 1)
            assert observed.evict_many(count) <= limit
    observed.check()


# Policies ---------------------------------------------------------------------------------------


class Limited:
    """A window whose policy lets go of all but the newest events, and counts what it is asked."""

    def __init__(self, algorithm: Any) -> None:
        self.limit = self.verdicts = 0
        subject = Subject(wr.count)
        self.window = PlainWindow(algorithm, subject, verdict=self.verdict)

    def verdict(self, total: int, oldest: int) -> int:
        self.verdicts += 1
        return int(total - oldest >= self.limit)

    def insert(self, limit: int) -> tuple[int, int]:
        """How many leave, and how many verdicts it takes to find out."""
        self.limit, self.verdicts = limit, 0
        self.window.insert(1)
        leaving = self.window.leaving()
        self.window.evict_many(leaving)
        return leaving, self.verdicts


@pytest.mark.parametrize("name", ["log_monoid_tree", "amortized_monoid_tree"])
def test_a_policy_is_asked_little(name):
    """1 verdict if nothing leaves, 3 on average if one does, 2 log2(k) about if k do at once."""
    window = Limited(ALGORITHMS[name])
    for _ in range(5000):
        assert window.insert(5000) == (0, 1)
    slides = [window.insert(5000) for _ in range(4096)]
    assert all(leaving == 1 for leaving, _ in slides)
    assert sum(verdicts for _, verdicts in slides) <= 3.1 * len(slides)
    assert max(verdicts for _, verdicts in slides) <= 2 + math.log2(8192)
    for limit in (4990, 4900, 4000, 1000, 3):
        leaving, verdicts = window.insert(limit)
        assert len(window.window) == limit
        # Where the window is shorter than the nodes that begin in it, the way up has more steps.
        assert verdicts <= 3 * math.log2(leaving + 1) + 4


# Ranges and blocks ------------------------------------------------------------------------------


def test_ranges():
    """Of the newest k events: 3 log2(n) combines at most."""
    window = wr.Window(wr.concat(), algorithm="amortized_monoid_tree")
    letters = "abcdefghijklmnopqrstuvwxyz" * 8
    for number, letter in enumerate(letters):
        window.insert(letter)
        if number % 3 == 0:
            window.evict()
    inside = letters[-len(window) :]
    for count in range(1, len(window) + 1):
        assert window.query_range(count) == inside[-count:]
    observed = long(1000)
    functions, ring = observed.window.functions, observed.window.ring
    for count in range(1, 1001):
        functions["query_range"](observed.state, ring, count)
        assert observed.counting.taken() <= 3 * math.log2(1000)
