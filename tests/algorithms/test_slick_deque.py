"""SlickDeque: examples 2 and 3, bounds of table 1, many ranges (Shein et al. 2018, §3, §4)."""

import math
import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.algorithms.observed import WatchedQueue
from windrow.algebra.equality import same
from windrow.algorithms import Algorithm, slick_deque_inv, slick_deque_non_inv
from windrow.algorithms.plain_memory import PLAIN_SLOTS
from windrow.engine.plain_window import PlainWindow
from windrow.testing import Operation
from windrow.testing.strategies import traces

#: the tuples of examples 2 and 3, in the order in which they enter the system
TUPLES = [6, 5, 0, 1, 3, 4, 2, 7]

load = PLAIN_SLOTS["load"]


class Counted:
    """A monoid whose operations are counted as the paper counts them: combines and inverses."""

    def __init__(self) -> None:
        self.operations = 0

    def same(self, left: Any, right: Any) -> bool:
        return bool(left == right)

    def taken(self) -> int:
        """Operations since this was last asked."""
        taken, self.operations = self.operations, 0
        return taken


class Sum(Counted):
    def identity(self) -> int:
        return 0

    def combine(self, older: int, newer: int) -> int:
        self.operations += 1
        return older + newer

    def inverse(self, total: int, oldest: int) -> int:
        self.operations += 1
        return total - oldest


class Letters(Counted):
    """Runs of letters, from which the oldest can be cut off: invertible, not commutative."""

    def identity(self) -> str:
        return ""

    def combine(self, older: str, newer: str) -> str:
        self.operations += 1
        return older + newer

    def inverse(self, total: str, oldest: str) -> str:
        self.operations += 1
        assert total.startswith(oldest)
        return total[len(oldest) :]


class Max(Counted):
    def identity(self) -> float:
        return -math.inf

    def combine(self, older: float, newer: float) -> float:
        self.operations += 1
        return newer if newer > older else older

    def inverse(self, total: float, oldest: float) -> float:
        raise AssertionError("a maximum has no inverse")


class First(Max):
    """The first of the largest pairs by their first halves: selective, not commutative."""

    def identity(self) -> Any:
        return (-math.inf, None)

    def combine(self, older: Any, newer: Any) -> Any:
        self.operations += 1
        return newer if newer[0] > older[0] else older


class Followed:
    """A window, and the list of its events beside it."""

    def __init__(self, algorithm: Algorithm, monoid: Any, ranges: Any = ()) -> None:
        self.algorithm, self.monoid = algorithm, monoid
        self.window = PlainWindow(algorithm, monoid, ranges)
        self.events: list[Any] = []

    def fold(self, events: Any) -> Any:
        total = self.monoid.identity()
        for event in events:
            total = self.monoid.combine(total, event)
        return total

    def insert(self, event: Any) -> int:
        """Insert; like all operations, returns how many operations of the monoid it took."""
        self.window.insert(event)
        self.events.append(event)
        return self.monoid.taken()

    def evict(self) -> int:
        self.window.evict()
        del self.events[0]
        return self.monoid.taken()

    def evict_many(self, count: int) -> int:
        self.window.evict_many(count)
        del self.events[:count]
        return self.monoid.taken()

    def slide(self, event: Any) -> int:
        """Evict and insert, and ask for every range."""
        taken = self.evict() + self.insert(event)
        self.window.query()
        self.window.query_ranges()
        return taken + self.monoid.taken()

    def take(self, step: Operation) -> None:
        for event in step.inputs:
            self.insert(event)
        if step.name == "evict" and self.events:
            self.evict()
        elif step.name == "evict_many":
            self.evict_many(min(step.count, len(self.events)))
        elif step.name == "clear":
            self.window.clear()
            self.events.clear()

    def check(self) -> None:
        """Invariants and all answers, which are not counted."""
        window = self.window
        assert window.query() == self.fold(self.events)
        answers = [self.fold(self.events[-extent:]) for extent in window.ranges]
        assert window.query_ranges() == answers
        for count in range(len(self.events) + 1):
            newest = self.events[len(self.events) - count :]
            assert window.query_range(count) == self.fold(newest)
        self.algorithm.check_invariants(
            window.state, window.ring, self.events, load, self.fold, self.monoid.same
        )
        self.monoid.taken()


# Example 2: the invertible form ------------------------------------------------------------------


def circular(followed: Followed) -> list[int]:
    """The paper's array of partials: the event at position p is in the cell p mod 5."""
    state, ring = followed.window.state, followed.window.ring
    cells = [0] * 5
    for position in range(state.front, state.end):
        cells[position % 5] = load(ring.events, position)
    return cells


def test_example_2():
    """Sums over 3 and 5 tuples, with 32 operations, the initial zeros of the array included."""
    followed = Followed(slick_deque_inv, Sum(), ranges=(3, 5))
    for _ in range(5):
        followed.insert(0)
    steps = []
    operations = 0
    for tuple_ in TUPLES:
        operations += followed.slide(tuple_)
        steps.append((circular(followed), followed.window.query_ranges()))
        followed.check()
    assert steps == [
        ([6, 0, 0, 0, 0], [6, 6]),
        ([6, 5, 0, 0, 0], [11, 11]),
        ([6, 5, 0, 0, 0], [11, 11]),
        ([6, 5, 0, 1, 0], [6, 12]),
        ([6, 5, 0, 1, 3], [4, 15]),
        ([4, 5, 0, 1, 3], [8, 13]),
        ([4, 2, 0, 1, 3], [9, 10]),
        ([4, 2, 7, 1, 3], [13, 17]),
    ]
    assert operations == 32


def test_example_2_without_the_initial_zeros():
    """What was never there need not be taken out: both answers are one until the fourth tuple."""
    followed = Followed(slick_deque_inv, Sum(), ranges=(3, 5))
    operations = []
    for tuple_ in TUPLES:
        operations.append(followed.slide(tuple_) if len(followed.events) == 5 else 0)
        if not operations[-1]:
            operations[-1] = followed.insert(tuple_)
        followed.check()
    assert operations == [1, 1, 1, 2, 3, 4, 4, 4]


# Example 3: the selective form -------------------------------------------------------------------


def nodes(followed: Followed) -> list[tuple[int, int]]:
    """The deque: positions in the paper's window of 5, and values."""
    state, ring = followed.window.state, followed.window.ring
    return [
        (load(ring.positions, node) % 5, load(ring.partials, node))
        for node in range(state.head, state.tail)
    ]


def test_example_3():
    """Maxima over 3 and 5 tuples, with 11 operations."""
    followed = Followed(slick_deque_non_inv, Max(), ranges=(3, 5))
    steps = []
    operations = 0
    for tuple_ in TUPLES:
        if len(followed.events) == 5:
            operations += followed.slide(tuple_)
        else:
            operations += followed.insert(tuple_)
        steps.append((nodes(followed), followed.window.query_ranges()))
        followed.check()
    assert steps == [
        ([(0, 6)], [6, 6]),
        ([(0, 6), (1, 5)], [6, 6]),
        ([(0, 6), (1, 5), (2, 0)], [6, 6]),
        ([(0, 6), (1, 5), (3, 1)], [5, 6]),
        ([(0, 6), (1, 5), (4, 3)], [3, 6]),
        ([(1, 5), (0, 4)], [4, 5]),
        ([(0, 4), (1, 2)], [4, 4]),
        ([(2, 7)], [7, 7]),
    ]
    assert operations == 11


# Table 1 -----------------------------------------------------------------------------------------

SIZES = [1, 2, 3, 8, 50]


@pytest.mark.parametrize("size", SIZES)
def test_invertible_one_query(size):
    """2 operations a slide, n + 1 partials."""
    followed = Followed(slick_deque_inv, Sum())
    for number in range(size):
        assert followed.insert(number) == 1
    for number in range(3 * size):
        # Nothing is taken out of a window that becomes empty: its total begins anew.
        assert followed.slide(number) == (2 if size > 1 else 1)
        assert slick_deque_inv.stored_partials(followed.window.state) == size + 1


@pytest.mark.parametrize("size", SIZES[1:])
def test_invertible_all_queries(size):
    """At most 2n operations a slide for all ranges from 1 to n, 2n partials."""
    followed = Followed(slick_deque_inv, Sum(), ranges=range(1, size + 1))
    for number in range(size):
        followed.insert(number)
    for number in range(3 * size):
        # One less: of n - 1 events, the range of n - 1 has the window's total for its answer.
        assert followed.slide(number) == 2 * size - 1
    followed.check()
    # The range of the whole window has no answer of its own.
    answers = [load(followed.window.ring.answers, index) for index in range(size - 1)]
    assert None not in answers
    assert slick_deque_inv.stored_partials(followed.window.state) + len(answers) == 2 * size


def inputs_of(name: str, size: int) -> list[int]:
    chance = random.Random(size)
    count = 40 * size
    return {
        "random": [chance.randrange(count) for _ in range(count)],
        "ties": [chance.randrange(3) for _ in range(count)],
        "rising": list(range(count)),
        "falling": list(range(count, 0, -1)),
        "saw": [-(number % size) for number in range(count)],
    }[name]


@pytest.mark.parametrize("name", ["random", "ties", "rising", "falling", "saw"])
@pytest.mark.parametrize("size", SIZES)
def test_selective_one_query(size, name):
    """Less than 2 operations a slide on average, at most n; 2 to 2n values."""
    followed = Followed(slick_deque_non_inv, Max())
    operations = [
        followed.slide(number) if len(followed.events) == size else followed.insert(number)
        for number in inputs_of(name, size)
    ]
    assert max(operations) <= size
    assert sum(operations) < 2 * len(operations)
    values = 2 * slick_deque_non_inv.stored_partials(followed.window.state)
    assert 2 <= values <= 2 * size


@pytest.mark.parametrize("size", SIZES[1:])
def test_selective_worst_case(size):
    """A falling input fills the deque, and the next largest tuple empties it: n operations."""
    followed = Followed(slick_deque_non_inv, Max())
    for number in range(size, 0, -1):
        assert followed.insert(number) <= 1
    assert slick_deque_non_inv.stored_partials(followed.window.state) == size
    assert followed.insert(size + 1) == size
    assert slick_deque_non_inv.stored_partials(followed.window.state) == 1


@pytest.mark.parametrize("name", ["random", "rising", "falling"])
@pytest.mark.parametrize("size", SIZES)
def test_selective_all_queries_in_one_pass(size, name):
    """No combine, and every node is passed at most once: with its insertion, 2n at most."""
    followed = Followed(slick_deque_non_inv, Max(), ranges=range(1, size + 1))
    for number in inputs_of(name, size)[:size]:
        followed.insert(number)
    watched = WatchedQueue()
    state, ring = followed.window.state, followed.window.ring
    for node in range(state.head, state.tail):
        watched.store(node, load(ring.positions, node))
    watched.touches = 0
    followed.window.ring = ring._replace(positions=watched)
    followed.window.query_ranges()
    assert followed.monoid.taken() == 0
    # A node is looked at when it is passed, and once for each range that it answers.
    assert watched.touches <= (state.tail - state.head) + size
    followed.window.ring = ring
    followed.check()


def test_evicting_many():
    """The invertible form takes the cheaper way, the selective form combines nothing."""
    for size in (1, 2, 9, 40):
        for count in range(size + 1):
            inverted = Followed(slick_deque_inv, Letters(), ranges=(2, 7))
            selected = Followed(slick_deque_non_inv, Max(), ranges=(2, 7))
            for index in range(size):
                inverted.insert("abcdefg"[index % 7])
                selected.insert(index * 7 % 11)
            assert inverted.evict_many(count) == min(count, size - count)
            assert selected.evict_many(count) == 0
            inverted.check()
            selected.check()


# Any trace ---------------------------------------------------------------------------------------

RANGES = st.lists(st.integers(1, 12), max_size=4)


@given(trace=traces(st.sampled_from("abc"), most_steps=30), ranges=RANGES)
def test_running_answers_of_any_trace(trace, ranges):
    followed = Followed(slick_deque_inv, Letters(), ranges)
    for step in trace:
        followed.take(step)
        followed.check()


@given(trace=traces(st.tuples(st.integers(0, 3), st.integers(0, 99))), ranges=RANGES)
def test_the_deque_of_any_trace(trace, ranges):
    """Ties: the first of the largest is the answer, for the window and for every range."""
    followed = Followed(slick_deque_non_inv, First(), ranges)
    for step in trace:
        followed.take(step)
        followed.check()


# `slick_deque`, the one name of both -------------------------------------------------------------


def test_the_form_is_chosen_by_traits():
    for aggregation in (wr.max, wr.min, wr.arg_max, wr.first, wr.last):
        window = wr.Window(aggregation(), algorithm="slick_deque")
        assert "slick_deque_non_inv" in repr(window)
    for aggregation in (wr.sum, wr.count, wr.mean, wr.geometric_mean):
        window = wr.Window(aggregation(), algorithm="slick_deque", exact=False)
        assert "slick_deque_inv" in repr(window)


def test_what_is_neither_invertible_nor_selective_is_refused():
    message = "slick_deque cannot serve max_count: .* one of its two arguments, and it has no inver"
    with pytest.raises(wr.NotApplicable, match=message):
        wr.Window(wr.max_count(), algorithm="slick_deque")
    with pytest.raises(wr.NotApplicable, match=message):
        wr.over(
            pa.table({"x": [1, 2]}),
            windows=wr.rows(2),
            aggs=[wr.max_count("x")],
            algorithm="slick_deque",
        )


def test_two_selective_aggregations_are_not_selective_together():
    question: dict[str, Any] = {"windows": wr.rows(2), "algorithm": "slick_deque"}
    table = pa.table({"x": [3, 1, 2]})
    with pytest.raises(wr.NotApplicable, match=r"slick_deque cannot serve min\(x\), max\(x\) in"):
        wr.over(table, aggs=[wr.min("x"), wr.max("x")], **question)
    both = wr.over(table, aggs=[wr.sum("x"), wr.count("x")], **question)
    assert both["sum_x"].to_pylist() == [3, 4, 3]


def test_ranges_of_a_window():
    window = wr.Window(wr.max(), algorithm="slick_deque", ranges=(5, 3, 3))
    answers = []
    for tuple_ in TUPLES:
        window.insert(tuple_)
        answers.append((window.query(range=3), window.query(range=5)))
    assert answers == [(6, 6), (6, 6), (6, 6), (5, 6), (3, 6), (4, 5), (4, 4), (7, 7)]
    window.evict_many(len(window) - 1)
    assert (window.query(range=3), window.query(range=5), window.query_range(0)) == (7, 7, None)
    window.clear()
    assert (window.query(range=3), window.query()) == (None, None)
    window.insert(1)
    assert window.query(range=3) == 1


@pytest.mark.parametrize("algorithm", ["slick_deque", "flat_fat", "flat_fit", None])
def test_ranges_of_any_window_that_can_be_shared(algorithm):
    window = wr.Window(wr.mean(), algorithm=algorithm, ranges=(2, 4))
    answers = []
    for number in [8, None, 2, 4, 6]:
        window.insert(number)
        answers.append((window.query(range=2), window.query(range=4), window.query()))
    assert answers == [(8, 8, 8), (8, 8, 8), (2, 5, 5), (3, 14 / 3, 14 / 3), (5, 4, 5)]


def test_ranges_that_cannot_be_asked_for():
    with pytest.raises(wr.InvalidArgument, match="ranges: a range is a number of events, 1 or mor"):
        wr.Window(wr.max(), ranges=(3, 0))
    with pytest.raises(
        wr.InvalidArgument, match=r"range: 4 is not one of the ranges .* with \(3, 5\)"
    ):
        wr.Window(wr.max(), ranges=(3, 5)).query(range=4)
    with pytest.raises(wr.InvalidArgument, match=r"made with \(none\); query_range"):
        wr.Window(wr.max(), algorithm="slick_deque").query(range=4)
    with pytest.raises(wr.NotApplicable, match=r"two_stacks_lite has no query_range; .*slick"):
        wr.Window(wr.max(), algorithm="two_stacks_lite", ranges=(3, 5))


# Ties, not a number, nulls -----------------------------------------------------------------------


def awkward(size: int) -> pa.Table:
    """Few values, so that there are ties, among them not a number; nulls; runs of falling ones."""
    chance = np.random.default_rng(4)
    floats = chance.choice([math.nan, -math.inf, -0.0, 0.0, 1.0, 2.0], size)
    falling = -(np.arange(size) % 50) * chance.choice([0, 1], size)
    return pa.table(
        {
            "key": chance.integers(0, 3, size),
            "ts": pa.array(np.cumsum(chance.integers(0, 4, size)), pa.timestamp("s")),
            "x": pa.array(floats, mask=chance.random(size) < 0.2),
            "n": pa.array(falling, mask=chance.random(size) < 0.2),
            "least": pa.array(np.full(size, -(2**63)), mask=chance.random(size) < 0.9),
            "row": np.arange(size),
        }
    )


ROWS = {"one": wr.rows(1), "few": wr.rows(7), "many": wr.rows(300)}
TIMES = {"short": wr.time("20 seconds"), "long": wr.time("30 minutes")}
#: Every measure needs a kernel of its own for rows and one for times: some get one of them.
SELECTIVE = {
    wr.max("x"): ROWS | TIMES,
    wr.arg_max("x", "row"): ROWS | TIMES,
    wr.first("x"): TIMES,
    wr.min("n"): ROWS,
    wr.arg_min("n", "row"): TIMES,
    wr.last("n"): ROWS | TIMES,
    wr.max("least"): ROWS,
}


def answered(algorithm: str, measures: list[Any], windows: dict[str, Any]) -> dict[str, str]:
    """Answers by column, as text.

    By their text, not a number is equal to itself; of 0.0 and -0.0 either may be the answer.
    """
    table = awkward(2000)
    answers = wr.over(
        table, key="key", order=["ts", "row"], windows=windows, aggs=measures, algorithm=algorithm
    )
    return {
        name: str(answers[name].to_pylist()).replace("-0.0", "0.0")
        for name in answers.column_names[table.num_columns :]
    }


@pytest.fixture(scope="module")
def recomputed() -> dict[str, str]:
    return answered("recompute", list(SELECTIVE), ROWS | TIMES)


@pytest.mark.compiled
@pytest.mark.parametrize("measure", SELECTIVE, ids=lambda measure: measure.name)
def test_selective_kernels_agree_with_recomputation(measure, recomputed):
    found = answered("slick_deque", [measure], SELECTIVE[measure])
    for name, answers in found.items():
        assert answers == recomputed[name], name


@pytest.mark.parametrize("aggregation", [wr.min, wr.max, wr.arg_min, wr.arg_max], ids=str)
def test_windows_of_awkward_values(aggregation):
    chance = random.Random(2)
    window = wr.Window(aggregation(), algorithm="slick_deque", ranges=(2, 5))
    events: list[Any] = []

    def recomputed(newest: int) -> Any:
        plain = wr.Window(aggregation(), algorithm="recompute")
        for event in events[-newest:]:
            plain.insert(*event)
        return plain.query()

    for number in range(500):
        value = chance.choice([None, math.nan, -math.inf, 0, 0.0, 1, 2])
        events.append((value, number)[: len(aggregation.inputs)])
        window.insert(*events[-1])
        if chance.random() < len(events) / 18:
            window.evict()
            del events[0]
        assert same(window.query(), recomputed(len(events)))
        assert same(window.query(range=2), recomputed(2))
        assert same(window.query(range=5), recomputed(5))


@pytest.mark.compiled
def test_not_a_number_is_the_same_as_itself_in_a_kernel():
    """Of floats that are compared as they are: two NaN that differ would both stay, the first in
    front of a number that is larger than nothing."""

    def larger(older: float, newer: float) -> float:
        return newer if newer != newer or newer > older else older

    largest = wr.aggregation(name="largest", identity=-math.inf, combine=larger, selective=True)
    table = pa.table({"x": [1.0, math.nan, 2.0, 1.0, math.nan, math.nan, 3.0, 1.0, 0.0]})
    question: dict[str, Any] = {"windows": wr.rows(3), "aggs": largest("x")}
    found = wr.over(table, algorithm="slick_deque", **question)["largest_x"].to_pylist()
    expected = wr.over(table, algorithm="recompute", **question)["largest_x"].to_pylist()
    assert str(found) == str(expected)


def test_rows_of_arrays_stay_as_they_are_while_many_nodes_leave():
    """A row that was just lifted is overwritten after a few combines: the deque keeps a copy."""

    def larger(older: Any, newer: Any) -> Any:
        return newer if newer[0] >= older[0] else older

    longest = wr.aggregation(
        name="longest",
        identity=np.array([-np.inf, 0.0]),
        lift=lambda value: np.array([value, 2 * value]),
        combine=larger,
        lower=lambda row: row[1],
        selective=True,
    )
    numbers = [-float(index % 60) for index in range(600)]
    table = pa.table({"x": numbers})
    question: dict[str, Any] = {"windows": wr.rows(200), "aggs": longest("x")}
    found = wr.over(table, algorithm="slick_deque", **question)
    assert found.equals(wr.over(table, algorithm="recompute", **question))
