"""Subtract-on-Evict: costs (Shein et al. 2018, §2.2), refusals, what floats leave behind."""

import math
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from windrow.aggregations import CATALOGUE
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Monoid, Traits
from windrow.algorithms import subtract_on_evict
from windrow.algorithms.plain_memory import CHUNK, PLAIN_SLOTS
from windrow.engine.plain_window import PlainWindow
from windrow.testing import CountingMonoid, check_algorithm
from windrow.testing.strategies import traces


class Runs:
    """Runs of letters, from which the oldest can be cut off: invertible, not commutative."""

    def __init__(self) -> None:
        self.combines = self.inverses = 0

    def identity(self) -> str:
        return ""

    def combine(self, older: str, newer: str) -> str:
        self.combines += 1
        return older + newer

    def inverse(self, total: str, oldest: str) -> str:
        assert total.startswith(oldest)
        self.inverses += 1
        return total[len(oldest) :]

    def same(self, left: str, right: str) -> bool:
        return left == right

    def taken(self) -> tuple[int, int]:
        """Combines and inverses since this was last asked."""
        taken = self.combines, self.inverses
        self.combines = self.inverses = 0
        return taken


class Followed:
    """A window of letters, and how it is described."""

    def __init__(self, letters: str = "") -> None:
        self.runs, self.events = Runs(), list(letters)
        self.window = PlainWindow(subtract_on_evict, self.runs)
        for letter in letters:
            self.window.insert(letter)
        self.runs.taken()

    def check(self) -> None:
        assert self.window.query() == "".join(self.events)
        subtract_on_evict.check_invariants(
            self.window.state, self.window.ring, self.events, PLAIN_SLOTS["load"], "".join,
            str.__eq__,
        )  # fmt: skip
        expected = len(self.events) + 1
        assert subtract_on_evict.stored_partials(self.window.state) == expected

    def insert(self, letter: str) -> tuple[int, int]:
        self.events.append(letter)
        self.window.insert(letter)
        return self.runs.taken()

    def evict(self) -> tuple[int, int]:
        del self.events[0]
        self.window.evict()
        return self.runs.taken()

    def evict_many(self, count: int) -> tuple[int, int]:
        del self.events[:count]
        self.window.evict_many(count)
        return self.runs.taken()


# Operations -------------------------------------------------------------------------------------


def test_state_by_state():
    followed = Followed()
    totals = []
    for step in ["c", "d", "e", None, "f", None, None, None, "g"]:
        taken = followed.insert(step) if step else followed.evict()
        followed.check()
        totals.append((followed.window.state.total, taken))
    assert totals == [
        ("c", (1, 0)), ("cd", (1, 0)), ("cde", (1, 0)), ("de", (0, 1)), ("def", (1, 0)),
        ("ef", (0, 1)), ("f", (0, 1)), ("", (0, 0)), ("g", (1, 0)),
    ]  # fmt: skip


def test_a_slide_takes_two_operations_and_a_query_none():
    followed = Followed("abcdefgh")
    for letter in "ijklmnopqrstuvwxyz":
        assert followed.evict() == (0, 1)
        assert followed.insert(letter) == (1, 0)
        followed.window.query()
        assert followed.runs.taken() == (0, 0)
        followed.check()


@pytest.mark.parametrize("size", [1, 2, 7, 8, 600])
def test_many_events_leave_by_the_cheaper_way(size):
    letters = [chr(97 + index % 26) for index in range(size)]
    for count in range(1, size + 1, max(1, size // 40)):
        followed = Followed("".join(letters))
        combines, inverses = followed.evict_many(count)
        assert combines + inverses == min(count, size - count)
        assert 0 in (combines, inverses)
        followed.check()
        # Chunks that were left are dropped as others are passed, two for each.
        for _ in range(3 * CHUNK):
            followed.window.insert("z")
            followed.window.evict()
        assert len(followed.window.ring) <= (size - count) // CHUNK + 2


@given(trace=traces(st.integers(-9, 9), most_steps=60))
def test_invariants(trace):
    counting = CountingMonoid(wr.sum.monoid_for((Kind.INTEGER,)))
    check_algorithm(subtract_on_evict, counting.aggregation, trace)


# Refusals ---------------------------------------------------------------------------------------


def test_what_has_no_inverse_is_refused_by_name():
    message = "subtract_on_evict cannot serve max: it has no inverse"
    with pytest.raises(wr.NotApplicable, match=message):
        wr.Window(wr.max(), algorithm="subtract_on_evict")
    table = pa.table({"x": [1, 2, 3]})
    with pytest.raises(wr.NotApplicable, match=message):
        wr.over(table, windows=wr.rows(2), aggs=[wr.sum("x"), wr.max("x")],
                algorithm="subtract_on_evict")  # fmt: skip


def test_exactly_what_has_an_inverse_is_served():
    served = {
        name
        for name, aggregation in CATALOGUE.items()
        for monoid in [aggregation.monoid_for((Kind.ANY,) * len(aggregation.inputs))]
        if subtract_on_evict.refuses(monoid.traits, monoid.inverse is not None) is None
    }
    assert {"sum", "count", "mean", "geometric_mean"} <= served
    assert served.isdisjoint({"max", "min", "arg_max", "max_count", "first", "last"})


# Floats -----------------------------------------------------------------------------------------


def test_a_nan_stays_in_the_total_until_the_window_is_empty():
    window = wr.Window(wr.sum(), algorithm="subtract_on_evict", exact=False)
    window.insert_many([math.nan, 1.0, 2.0])
    window.evict()
    assert math.isnan(window.query())
    window.evict_many(1)  # of two, so that the rest is combined from scratch
    assert window.query() == 2.0
    window.insert_many([1e300, 3.0])
    window.evict()
    window.evict()
    assert window.query() != 3.0
    window.evict()
    window.insert(3.0)
    assert window.query() == 3.0


def test_nulls_are_counted_and_not_subtracted():
    window = wr.Window(wr.sum(), algorithm="subtract_on_evict")
    answers: list[Any] = []
    for value in [None, 2, None, None, 5]:
        window.insert(value)
        if len(window) > 2:
            window.evict()
        answers.append(window.query())
    assert answers == [None, 2, 2, None, 5]


def test_an_inverse_of_ones_own_is_used():
    xor = CountingMonoid(replace(_xor(), inverse=lambda total, oldest: total ^ oldest)).aggregation
    window = wr.Window(xor, algorithm="subtract_on_evict")
    window.insert_many([5, 3, 6])
    window.evict()
    assert window.query() == 3 ^ 6


def _xor() -> Monoid:
    return Monoid(
        identity=0,
        lift=lambda value: value,
        combine=lambda older, newer: older ^ newer,
        lower=lambda partial: partial,
        output=lambda _types: pa.int64(),
        traits=Traits(exact=True),
    )
