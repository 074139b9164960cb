"""Two-Stacks Lite: the paper's example, figures and theorem (Tangwongsan et al. 2021, §2.3, §4)."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from windrow.algorithms import two_stacks_lite
from windrow.algorithms.plain_memory import PLAIN_SLOTS
from windrow.engine.plain_window import PlainWindow
from windrow.testing import CountingMonoid, Operation, Subject
from windrow.testing.strategies import traces


def more(older: Any, newer: Any) -> Any:
    """Combine of maxcount, as §2.2 defines it."""
    if older[0] > newer[0]:
        return older
    if older[0] < newer[0]:
        return newer
    return (older[0], older[1] + newer[1])


MAX_COUNT = wr.aggregation(
    name="maxcount",
    identity=(-math.inf, 0),
    lift=lambda e: (e, 1),
    combine=more,
    lower=lambda v: v[1],
)


class Shown:
    """A window whose state is shown as in the figures."""

    def __init__(self, aggregation: Any) -> None:
        self.subject = Subject(aggregation)
        self.window = PlainWindow(two_stacks_lite, self.subject)

    def insert(self, *inputs: Any) -> None:
        for partial in self.subject.lift_all(inputs):
            self.window.insert(partial)

    @property
    def front(self) -> list[Any]:
        return self._slots(self.window.state.front, self.window.state.back)

    @property
    def back(self) -> list[Any]:
        return self._slots(self.window.state.back, self.window.state.end)

    @property
    def back_partial(self) -> Any:
        return self.window.state.back_partial

    def _slots(self, first: int, stop: int) -> list[Any]:
        load = PLAIN_SLOTS["load"]
        return [load(self.window.ring, position) for position in range(first, stop)]


# The example trace of §2.3 ----------------------------------------------------------------------


@pytest.mark.parametrize("aggregation", [MAX_COUNT, wr.max_count])
def test_the_maxcount_trace(aggregation):
    window = wr.Window(aggregation(), algorithm="two_stacks_lite")
    largest = wr.Window(wr.max(), algorithm="two_stacks_lite")

    def answers() -> tuple[Any, Any]:
        return largest.query(), window.query()

    for each in (window, largest):
        each.insert_many([4, 5, 3, 4, 0, 4, 4])
    assert answers() == (5, 1)
    for each in (window, largest):
        each.evict()
    assert answers() == (5, 1)
    for each in (window, largest):
        each.evict()
    assert answers() == (4, 3)
    for each in (window, largest):
        each.insert(2)
    assert answers() == (4, 3)
    for each in (window, largest):
        each.insert(6)
    assert answers() == (6, 1)


# Figure 3: maxcount, state by state. 4x3 in the figure is (4, 3) here -----------------------------


def test_figure_3():
    shown = Shown(MAX_COUNT)
    assert (shown.front, shown.back, shown.back_partial) == ([], [], (-math.inf, 0))

    # (B) to (H): seven insertions fill the back.
    running = [(4, 1), (5, 1), (5, 1), (5, 1), (5, 1), (5, 1), (5, 1)]
    inserted = [4, 5, 3, 4, 0, 4, 4]
    for count, value in enumerate(inserted, 1):
        shown.insert(value)
        assert shown.front == []
        assert shown.back == [(each, 1) for each in inserted[:count]]
        assert shown.back_partial == running[count - 1]

    # (I): the first eviction flips all seven, and drops the oldest.
    shown.window.evict()
    assert shown.front == [(5, 1), (4, 3), (4, 3), (4, 2), (4, 2), (4, 1)]
    assert (shown.back, shown.back_partial) == ([], (-math.inf, 0))

    # (J): the next one only drops.
    shown.window.evict()
    assert shown.front == [(4, 3), (4, 3), (4, 2), (4, 2), (4, 1)]
    assert shown.window.query() == (4, 3)

    # (K) to (O): insertions leave the front alone.
    shown.insert(2, 6, 5, 6, 1)
    assert shown.front == [(4, 3), (4, 3), (4, 2), (4, 2), (4, 1)]
    assert shown.back == [(2, 1), (6, 1), (5, 1), (6, 1), (1, 1)]
    assert shown.back_partial == (6, 2)
    assert shown.window.query() == (6, 2)

    # (P): one more.
    shown.insert(6)
    assert shown.back == [(2, 1), (6, 1), (5, 1), (6, 1), (1, 1), (6, 1)]
    assert shown.back_partial == (6, 3)
    assert shown.window.query() == (6, 3)


# Figure 4: any aggregation, state by state. cd..g in the figure is "cdefg" here -------------------


def test_figure_4_and_the_example_of_the_invariants():
    shown = Shown(wr.concat)
    shown.insert(*"abcdefg")
    assert (shown.front, shown.back, shown.back_partial) == ([], [*"abcdefg"], "abcdefg")
    shown.window.evict()
    assert (shown.front, shown.back) == (["bcdefg", "cdefg", "defg", "efg", "fg", "g"], [])
    assert shown.back_partial == ""
    shown.window.evict()
    assert shown.front == ["cdefg", "defg", "efg", "fg", "g"]

    # The example of the invariants: five elements in the front sublist, seven in the back.
    shown.insert(*"hijklmn")
    assert shown.front == ["cdefg", "defg", "efg", "fg", "g"]
    assert (shown.back, shown.back_partial) == ([*"hijklmn"], "hijklmn")
    assert shown.window.query() == "cdefghijklmn"

    # When the front is used up, the back is flipped in its turn.
    for _ in range(5):
        shown.window.evict()
    assert (shown.front, shown.back) == ([], [*"hijklmn"])
    shown.window.evict()
    assert shown.front == ["ijklmn", "jklmn", "klmn", "lmn", "mn", "n"]
    assert shown.window.query() == "ijklmn"


def test_evicting_many_combines_only_what_stays():
    shown = Shown(wr.concat)
    shown.insert(*"abcdef")
    shown.window.evict_many(4)
    assert (shown.front, shown.back, shown.back_partial) == (["ef", "f"], [], "")
    shown.insert(*"gh")
    shown.window.evict_many(1)
    assert (shown.front, shown.back) == (["f"], ["g", "h"])
    shown.window.evict_many(1)
    assert (shown.front, shown.back, shown.back_partial) == ([], ["g", "h"], "gh")
    shown.window.evict_many(2)
    assert (shown.front, shown.back, shown.back_partial) == ([], [], "")


# Theorem 7 --------------------------------------------------------------------------------------


def apply(step: Operation, window: PlainWindow, subject: Subject) -> None:
    if step.name.startswith("insert"):
        for partial in subject.lift_all(step.inputs):
            window.insert(partial)
    elif step.name == "evict" and len(window):
        window.evict()
    elif step.name == "evict_many":
        window.evict_many(min(step.count, len(window)))
    elif step.name == "clear":
        window.clear()
    elif step.name == "query":
        window.query()


@given(trace=traces(st.integers(), most_steps=60))
def test_theorem_7(trace):
    """One combine per insert and query, at most n and on average 1 per evict, n + 1 partials."""
    counting = CountingMonoid()
    subject = Subject(counting.aggregation)
    window = PlainWindow(two_stacks_lite, subject)
    inserted = evicting = 0
    for step in trace:
        before = len(window)
        apply(step, window, subject)
        taken = counting.taken()
        if step.name.startswith("insert"):
            assert taken == len(step.inputs)
            inserted += len(step.inputs)
        elif step.name == "query":
            assert taken == 1
        elif step.name == "evict":
            assert taken <= before
            evicting += taken
        elif step.name == "evict_many":
            assert taken <= len(window)
            evicting += taken
        else:
            assert taken == 0
        # Whatever the trace, every insertion has paid for the one time its event is flipped.
        assert evicting <= inserted
        assert two_stacks_lite.stored_partials(window.state) == len(window) + 1


def test_the_bound_of_an_eviction_is_nearly_reached():
    """A flip of n events combines each with its successor: n - 1 times."""
    counting = CountingMonoid()
    subject = Subject(counting.aggregation)
    window = PlainWindow(two_stacks_lite, subject)
    for partial in subject.lift_all(range(100)):
        window.insert(partial)
    counting.taken()
    window.evict()
    assert counting.taken() == 99
    for _ in range(99):
        window.evict()
        assert counting.taken() == 0


def test_a_sliding_window_combines_three_times_a_round_on_average():
    counting = CountingMonoid()
    subject = Subject(counting.aggregation)
    window = PlainWindow(two_stacks_lite, subject)
    for partial in subject.lift_all(range(50)):
        window.insert(partial)
    counting.taken()
    for partial in subject.lift_all(range(5000)):
        window.evict()
        window.insert(partial)
        window.query()
    assert counting.taken() == 5000 + 5000 + 100 * 49
