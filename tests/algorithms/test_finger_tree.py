"""The finger tree: states, shapes, combines (Tangwongsan et al. 2019, Tangwongsan et al. 2023)."""

import datetime
import math
import operator
import random
from collections.abc import Iterator
from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.algorithms.lines import LINES
from tests.support.algorithms.timed import Timed
from windrow.algebra.counting import COUNT
from windrow.algebra.kinds import Kind
from windrow.algebra.product import Part, Product
from windrow.algorithms import finger_tree
from windrow.algorithms.finger_nodes import HEIGHT, LEFT, MIDDLE, RIGHT
from windrow.algorithms.finger_tree import evict_at, evict_many, insert_at_time, older_than
from windrow.compiler.kernel import Kernel
from windrow.compiler.kernel_memory import KernelMemory
from windrow.compiler.slots import lift_row, lower_row, query
from windrow.engine.kernel_window import empty_state
from windrow.engine.plain_window import PlainWindow
from windrow.testing import CountingMonoid, Subject


def letters(text: str) -> Timed:
    """A window of letters; the time of each is its place in the alphabet."""
    observed = Timed()
    for letter in text:
        observed.insert_at_time(letter, letter)
        observed.check()
    return observed


# State by state ----------------------------------------------------------------------------------


def test_a_tree_grows_at_its_newest_end():
    """The leaf that is left behind keeps five of eight; the first split makes a root."""
    observed = letters("abcdefg")
    assert (observed.drawn_level(0), observed.finger(MIDDLE)) == ("[a|b|c|d|e|f|g]", "abcdefg")
    observed.insert_at_time("h", "h")
    assert observed.drawn_level(1) == "[.|.]"
    assert observed.drawn_level(0) == "[a|b|c|d|e] [f|g|h]"
    fingers = [observed.finger(place) for place in (LEFT, MIDDLE, RIGHT)]
    assert fingers == ["abcde", "", "fgh"]
    assert observed.query() == 2
    for letter in "ijklm":
        observed.insert_at_time(letter, letter)
    assert observed.drawn_level(1) == "[.|fghij|.]"
    assert observed.drawn_level(0) == "[a|b|c|d|e] [f|g|h|i|j] [k|l|m]"
    fingers = [observed.finger(place) for place in (LEFT, MIDDLE, RIGHT)]
    assert fingers == ["abcde", "fghij", "klm"]
    observed.check()


def test_events_come_out_of_order():
    """Into a finger, between the fingers, and where a node is full."""
    observed = letters("acegikmoqsuwy")
    assert observed.drawn_level(0) == "[a|c|e|g|i] [k|m|o|q|s] [u|w|y]"
    # Into the right finger: its three combines, and nothing else.
    assert observed.insert_at_time("v", "v") == 3
    assert observed.drawn_level(0) == "[a|c|e|g|i] [k|m|o|q|s] [u|v|w|y]"
    # Into the middle: its leaf is combined, and the root has one entry there.
    assert observed.insert_at_time("l", "l") == 5
    assert observed.insert_at_time("n", "n") == 6
    assert (observed.drawn_level(1), observed.finger(MIDDLE)) == ("[.|klmnoqs|.]", "klmnoqs")
    # The leaf is full: it is split in its middle.
    observed.insert_at_time("p", "p")
    assert observed.drawn_level(0) == "[a|c|e|g|i] [k|l|m|n] [o|p|q|s] [u|v|w|y]"
    assert observed.drawn_level(1) == "[.|klmn|opqs|.]"
    # Into the left finger, before all others.
    observed.insert_at_time("A", "A")
    assert (observed.finger(LEFT), observed.finger(RIGHT)) == ("Aacegi", "uvwy")
    observed.check()
    assert observed.query() == 2


def test_thin_leaves_take_from_their_neighbour_or_join_it():
    observed = letters("abcdefghijklm")
    assert observed.drawn_level(0) == "[a|b|c|d|e] [f|g|h|i|j] [k|l|m]"
    for _event in range(3):
        observed.evict()
        observed.check()
    # Two and five are shared.
    assert observed.drawn_level(0) == "[d|e|f] [g|h|i|j] [k|l|m]"
    assert (observed.finger(LEFT), observed.finger(MIDDLE)) == ("def", "ghij")
    # At the newest end: two and four are joined, and the finger is the joined leaf.
    observed.evict_at(9)
    assert observed.drawn_level(0) == "[d|e|f] [g|h|i|j|k|l]"
    assert (observed.drawn_level(1), observed.finger(RIGHT)) == ("[.|.]", "ghijkl")
    observed.check()
    # Across the spines: two and six are shared, so both fingers change.
    observed.evict()
    assert observed.drawn_level(0) == "[e|f|g|h] [i|j|k|l]"
    assert (observed.finger(LEFT), observed.finger(RIGHT)) == ("efgh", "ijkl")
    observed.check()
    observed.evict()
    observed.evict_at(6)
    # Across the spines again: what is joined is the root.
    observed.evict_at(5)
    assert (observed.height, observed.drawn_level(0)) == (0, "[f|g|h|i|j]")
    assert observed.finger(MIDDLE) == "fghij"
    observed.check()
    assert observed.query() == 0


def test_many_leave_by_one_cut():
    """What has left hangs below few free nodes, and is used again when nodes are needed."""
    observed = Timed()
    for number in range(1000):
        observed.insert(number)
    assert observed.height == 4
    used = observed.used_nodes
    for count in (1, 17, 300, 400, 200, 81):
        assert observed.evict_many(count) <= 3 * 4 * math.log2(count + 2)
        observed.check()
        observed.query()
    assert len(observed) == 1
    observed.fill(range(900))
    observed.check()
    assert observed.used_nodes <= used
    observed.evict_many(901)
    observed.check()
    assert (observed.query(), len(observed.window)) == (0, 0)


def test_equal_times_stay_in_the_order_in_which_they_came():
    observed = Timed()
    for number in range(200):
        observed.insert_at_time(number % 3, number)
    observed.insert_sorted([0, 0, 1, 1, 2, 2, 3], range(200, 207))
    observed.check()
    observed.query()
    expected = [each for rest in range(3) for each in range(rest, 200, 3)]
    for newer, place in ((204, 200), (205, 201), (206, 202), (202, 134), (203, 135)):
        expected.insert(place, newer)
    expected[67:67] = [200, 201]
    assert [number for (number,) in observed.events] == expected


@pytest.mark.parametrize(
    "times",
    [
        ["b", "a", "", "ab", "c"],
        [(1, "b"), (1, "a"), (0, "z")],
        [datetime.date(2024, 5, day) for day in (3, 1, 2)],
        [0.5, -math.inf, 3, math.inf],
    ],
    ids=["text", "tuples", "dates", "numbers"],
)
def test_times_are_anything_that_has_an_order(times):
    observed = Timed()
    for number, time in enumerate(times * 10):
        observed.insert_at_time(time, number)
        observed.check()
        observed.older_than(time)
    observed.query()


# Any order ---------------------------------------------------------------------------------------


def step(observed: Timed, name: str, share: float, lateness: int, number: int) -> None:
    """One operation, somewhere in the window; whatever it was, all invariants hold."""
    size = len(observed)
    index = int(share * size)
    latest = observed.times[-1] if size else number
    if name == "insert_at_time":
        observed.insert_at_time(latest + 2 - int(share * lateness), number)
    elif name == "insert_sorted":
        late = [latest + 3 - int(share * lateness * place) for place in range(lateness)]
        observed.insert_sorted(sorted(late), range(lateness))
    elif name == "insert":
        observed.insert(number)
    elif name == "insert_at":
        observed.insert_at(index, number)
    elif name == "evict_many":
        observed.evict_many(index)
    elif name == "older_than":
        observed.older_than(latest - int(share * lateness))
    elif name == "query_range":
        observed.query_range(index)
    elif size and name == "evict":
        observed.evict()
    elif size and name == "evict_at":
        observed.evict_at(index)
    elif size and name == "evict_newest":
        observed.evict_at(size - 1)
    observed.check()
    assert observed.query() <= 2
    assert len(observed.window) == len(observed)


STEPS = [
    "insert_at_time", "insert_sorted", "insert", "insert_at", "older_than", "query_range",
    "evict", "evict_many", "evict_at", "evict_newest",
]  # fmt: skip


@given(
    size=st.integers(0, 90),
    steps=st.lists(
        st.tuples(st.sampled_from(STEPS), st.floats(0, 0.99), st.sampled_from([1, 4, 30])),
        max_size=40,
    ),
)
def test_any_trace(size, steps):
    observed = Timed()
    if size:
        observed.insert_sorted(list(range(size)), range(size))
    for number, (name, share, lateness) in enumerate(steps):
        step(observed, name, share, lateness, size + number)


@pytest.mark.parametrize("seed", range(6))
def test_windows_that_shrink_at_both_ends_join_across_the_spines(seed):
    """Again and again: a tree of several levels loses events at its ends until it is one leaf.

    A published implementation was wrong for years where neighbours of different spines share.
    """
    chance = random.Random(seed)
    observed, heights, across = Timed(), set(), 0
    for size in (9, 30, 70, 150):
        while len(observed) < size:
            step(observed, "insert_at_time", chance.random(), 40, 0)
        newest = chance.random()
        while len(observed) > 1:
            two_children = observed.drawn_level(observed.height) == "[.|.]"
            before = observed.height, observed.nodes_at(0)
            step(observed, "evict_newest" if chance.random() < newest else "evict", 0, 1, 0)
            across += two_children and before[0] > observed.height
            heights.add(observed.height)
    assert heights >= {0, 1, 2}
    assert across >= 4


# How many combines -------------------------------------------------------------------------------


class Counted:
    """A long window of times: it counts events, because to concatenate them takes too long."""

    def __init__(self, size: int) -> None:
        self.counting = CountingMonoid(COUNT)
        subject = Subject(self.counting.aggregation)
        [self.event] = subject.lift_all([1])
        self.window = PlainWindow(finger_tree, subject)
        self.window.insert_sorted(list(range(size)), [self.event] * size)
        self.counting.taken()

    def insert_at_time(self, time: float) -> int:
        self.window.insert_at_time(time, self.event)
        return self.counting.taken()

    def evict_many(self, count: int) -> int:
        self.window.evict_many(count)
        return self.counting.taken()


@pytest.mark.parametrize("size", [100, 1000, 2**13])
def test_in_order_a_round_takes_a_constant_number_of_combines(size):
    """On average, whatever the size; less than the card says."""
    counted = Counted(size)
    rounds = range(size, 3 * size)
    inserts = [counted.insert_at_time(time) for time in rounds]
    evicts = [counted.evict_many(1) for _time in rounds]
    assert sum(inserts) < 4 * len(rounds)
    assert sum(evicts) < 8 * len(rounds)
    # The slowest goes up the tree and down again: nine for a node, and as many for its spine.
    assert max(inserts + evicts) <= 18 * math.log2(4 * size) / math.log2(3)


@pytest.mark.parametrize("exponent", range(13))
def test_d_places_out_of_order_take_o_log_d_combines(exponent):
    """Amortized, over a thousand events that are each d places late, in a window that slides."""
    late = 2**exponent
    counted = Counted(2**14)
    inserts = evicts = 0
    for time in range(2**14, 2**14 + 1000):
        counted.insert_at_time(time)
        inserts += counted.insert_at_time(time - late + 0.5)
        evicts += counted.evict_many(1) + counted.evict_many(1)
    assert inserts / 1000 <= 12 + 3 * math.log2(late)
    assert evicts / 2000 < 8


def test_many_at_once_share_what_they_combine():
    """A run of events takes fewer combines at once than one by one, wherever it belongs."""
    for late in (0, 10, 1000):
        for count in (4, 64, 256):
            times = [2**11 - late + place / count for place in range(count)]
            one_by_one, at_once = Counted(2**11), Counted(2**11)
            single = sum(map(one_by_one.insert_at_time, times))
            at_once.window.insert_sorted(times, [at_once.event] * count)
            taken = at_once.counting.taken()
            assert taken <= 20 + 3 * math.log2(late + 1) + 1.25 * count
            assert count < 64 or 2 * taken < single


def test_many_leave_at_once_for_o_log_m_combines():
    for count in [2**exponent for exponent in range(11)]:
        counted = Counted(2**11)
        assert counted.window.older_than(count) == count
        assert counted.counting.taken() == 0
        assert counted.evict_many(count) <= 12 + 4 * math.log2(count)


def test_the_newest_k_take_o_log_k_combines():
    counted = Counted(2**13)
    for count in [2**exponent for exponent in range(14)]:
        counted.window.query_range(count)
        assert counted.counting.taken() <= 8 + 5 * math.log2(count)


# Compiled ----------------------------------------------------------------------------------------


def any_order(
    columns: Any, validities: Any, answers: Any, defined: Any, ring: Any, state: Any, times: Any,
    ages: Any, newest: Any, begin: int, stop: int,
) -> tuple[Any, int]:  # fmt: skip
    """Answer each row over the events so far that are not older than it allows.

    `newest` says after which rows the newest event leaves.
    """
    for row in range(begin, stop):
        state = insert_at_time(state, ring, times[row], lift_row(columns, validities, row))
        gone = older_than(state, ring, times[row] - ages[row])
        if gone > 0:
            state = evict_many(state, ring, gone)
        lower_row(answers, defined, row, query(state, ring))
        if newest[row]:
            state = evict_at(state, ring, state.end - state.front - 1)
    return state, stop


@pytest.mark.compiled
def test_kernels_take_events_in_any_order():
    """Numbers, and rows of an array whose order matters."""
    chance = np.random.default_rng(8)
    numbers, ages = chance.integers(-99, 99, 600) / 8, chance.integers(0, 400, 600)
    times, newest = np.arange(600) - chance.integers(0, 60, 600), chance.random(600) < 0.2
    parts = [Part(each.monoid_for((Kind.FLOAT,)), (0,)) for each in (wr.sum, LINES)]
    product = Product(parts)
    kernel = Kernel(any_order, finger_tree.FUNCTIONS, product, checked=False)
    memory = KernelMemory(product)
    ring = finger_tree.allocate(memory, 1024)
    answers = tuple(np.zeros(600) for _ in parts)
    defined = tuple(np.zeros(600, np.bool_) for _ in parts)
    state = empty_state(finger_tree, product, ring)
    written = (numbers,), (), answers, defined
    kernel(*memory.workspace(), *written, ring, state, times, ages, newest, 0, 600)
    for row, (held, _left) in enumerate(in_turn(times, ages, newest)):
        for part, found in zip(parts, answers, strict=True):
            total = reduce(part.monoid.combine, map(part.monoid.lift, numbers[held]))
            assert found[row] == part.monoid.lower(total), row


def in_turn(times: Any, ages: Any, newest: Any) -> Iterator[tuple[list[int], list[int]]]:
    """The rows that each row of `any_order` answers for, by time, and those that are left."""
    held: list[int] = []
    for row, time in enumerate(times):
        held = [each for each in [*held, row] if times[each] >= time - ages[row]]
        held.sort(key=lambda each: (times[each], each))
        yield held, (held := held[:-1] if newest[row] else held)


@pytest.mark.compiled
def test_kernels_keep_all_invariants():
    """After each row, in trees that shrink to one leaf and grow again."""
    chance = np.random.default_rng(9)
    numbers = chance.integers(-99, 99, 900)
    ages = np.where(np.arange(900) % 150 < 100, 200, chance.integers(0, 60, 900))
    times, newest = np.arange(900) - chance.integers(0, 60, 900), chance.random(900) < 0.3
    monoid = wr.max.monoid_for((Kind.INTEGER,))
    product = Product([Part(monoid, (0,))])
    kernel = Kernel(any_order, finger_tree.FUNCTIONS, product, checked=False)
    memory = KernelMemory(product)
    ring = finger_tree.allocate(memory, 1024)
    written = (numbers,), (), (np.zeros(900, np.int64),), (np.zeros(900, np.bool_),)
    state, heights = empty_state(finger_tree, product, ring), set()

    def load(array: Any, place: int) -> Any:
        fields = array if isinstance(array, tuple) else (array,)
        found = [int(each[place & (len(each) - 1)]) for each in fields]
        return found[0] if len(found) == 1 else tuple(found)

    def fold(events: Any) -> Any:
        return reduce(monoid.combine, events, monoid.identity)

    for row, (_held, left) in enumerate(in_turn(times, ages, newest)):
        limits = times, ages, newest, row, row + 1
        state, _row = kernel(*memory.workspace(), *written, ring, state, *limits)
        events = [monoid.lift(int(each)) for each in numbers[left]]
        finger_tree.check_invariants(state, ring, events, load, fold, operator.eq)
        heights.add(load(ring.places, HEIGHT))
    assert heights >= {0, 1, 2}
