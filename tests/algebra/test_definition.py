"""`wr.aggregation` refuses a wrong definition when it is made, and says what to change."""

import functools
import math
import operator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from windrow.algebra.kinds import Kind


def add(older: Any, newer: Any) -> Any:
    return older + newer


def refusal(**definition: Any) -> str:
    with pytest.raises(wr.InvalidAggregation) as refused:
        wr.aggregation(**{"name": "mine", "identity": 0, "combine": add, **definition})
    return str(refused.value)


def answer(aggregation: Any, events: list[Any]) -> Any:
    window = wr.Window(aggregation())
    window.insert_many(events)
    return window.query()


# Refused ----------------------------------------------------------------------------------------


def test_without_combine():
    assert refusal(combine=None) == (
        "aggregation 'mine' has no combine: give combine(older, newer), which returns the partial "
        "of two neighbouring runs of events"
    )


@pytest.mark.parametrize("name", ["", None, 3])
def test_without_a_name(name):
    assert refusal(name=name) == f"name: an aggregation needs a name, not {name!r}"


def test_an_identity_of_another_shape_than_lift_returns():
    assert refusal(identity=(0, 0), lift=lambda x: x) == (
        "identity of 'mine' is (0, 0) but lift returns 2.5: both must be partials of one shape"
    )
    assert refusal(identity=(0, 0), lift=lambda x: (x, x, 1)) == (
        "identity of 'mine' is (0, 0) but lift returns (2.5, 2.5, 1): both must be partials of one "
        "shape"
    )
    assert refusal(identity=0, lift=lambda x: [x]).startswith(
        "identity of 'mine' is 0 but lift returns [2.5]"
    )


def test_an_identity_that_is_none():
    assert refusal(identity=0, combine=operator.mul) == (
        "identity of 'mine' is 0, but combine(identity, 2.5) returns 0.0: combining with the "
        "identity must change nothing"
    )
    assert "combine(2.5, identity) returns -2.5" in refusal(combine=lambda a, b: b - a)


def test_a_combine_that_returns_another_shape():
    assert refusal(combine=lambda older, newer: (older, newer)) == (
        "combine of 'mine' returns (0, 2.5) where its arguments are partials like 2.5: it must "
        "return a partial of the same shape"
    )
    assert "combine of 'mine' returns None" in refusal(combine=lambda older, newer: None)
    assert "combine of 'mine' returns '02.5'" in refusal(combine=lambda a, b: str(a) + str(b))


def test_a_combine_that_fails():
    assert refusal(combine=lambda older, newer: older.total + newer) == (
        "combine of 'mine' fails: combine(0, 2.5) raises AttributeError: 'int' object has no "
        "attribute 'total'"
    )


def test_a_combine_that_changes_its_arguments():
    def gather(older: list[Any], newer: list[Any]) -> list[Any]:
        older += newer
        return older

    assert refusal(identity=[], lift=lambda x: [x], combine=gather) == (
        "combine of 'mine' changes its argument [] into [2.5]: it must leave its arguments alone "
        "and return a new value"
    )


@pytest.mark.parametrize(
    ("role", "function", "taken"),
    [
        ("combine", lambda only: only, "two partials, and it takes (only)"),
        ("lower", lambda: 0, "one partial, and it takes ()"),
        ("inverse", lambda a, b, c: a, "two partials, and it takes (a, b, c)"),
        ("defined", lambda a, b: True, "one partial, and it takes (a, b)"),
        ("lift", lambda: 0, "one argument for each column, and it takes ()"),
        ("lift", lambda x, *, key: x, "one argument for each column, and it takes (x, *, key)"),
    ],
)
def test_functions_of_the_wrong_number_of_arguments(role, function, taken):
    assert refusal(**{role: function}) == f"{role} of 'mine' must take {taken}"


@pytest.mark.parametrize("role", ["lift", "combine", "lower", "inverse", "defined"])
def test_what_is_no_function(role):
    assert refusal(**{role: 3}) == f"{role} of 'mine' must be a function, not 3"


def test_a_lower_that_fails():
    assert refusal(lower=lambda partial: partial[1]) == (
        "lower of 'mine' fails: lower(5.75) raises TypeError: 'float' object is not subscriptable"
    )


def test_a_lower_is_not_asked_where_there_is_no_answer():
    wr.aggregation(
        name="mine", identity=0, combine=add, lower=lambda p: 1 / 0, defined=lambda p: p > 100
    )


def test_an_inverse_of_another_shape():
    assert refusal(inverse=lambda total, oldest: (total, oldest)) == (
        "inverse of 'mine' returns (5.75, 2.5) where its arguments are partials like 5.75: it must "
        "return a partial of the same shape"
    )


def test_a_lift_that_takes_nothing_that_is_tried():
    assert refusal(lift=lambda row: row["price"]) == (
        "lift of 'mine' fails: lift(2.5) raises TypeError: 'float' object is not subscriptable; it "
        "fails on numbers, strings, times and lists alike: correct it, or give example=, one input "
        "that it takes"
    )
    mine = wr.aggregation(
        name="mine", identity=0, lift=lambda row: row["price"], combine=add, example={"price": 3}
    )
    assert answer(mine, [{"price": 4}, {"price": 5}]) == 9
    assert refusal(lift=lambda row: row["price"], example={"cost": 3}) == (
        "lift of 'mine' fails: lift({'cost': 3}) raises KeyError: 'price'"
    )


def test_the_complaint_is_about_the_values_that_the_functions_are_for():
    """Text goes furthest here: on numbers already lift fails."""
    assert refusal(identity="", lift=lambda x: x.lower(), combine=lambda a, b: len(a + b)) == (
        "combine of 'mine' returns 1 where its arguments are partials like 'b': it must return a "
        "partial of the same shape"
    )


def test_rows_of_another_type_than_the_identity():
    """A ring of integers would cut the floats off."""
    assert "but lift returns array([2.5, 0. ])" in refusal(
        identity=np.zeros(2, np.int64), lift=lambda x: np.array([x, 0.0])
    )


def test_answers_without_an_arrow_type_when_a_column_is_named():
    table = pa.table({"x": [1, 2, 3]})
    late = wr.aggregation(
        name="late", identity=0, combine=add, lower=lambda p: p if p > 5 else None
    )
    with pytest.raises(wr.InvalidArgument, match=r"aggs: late\('x'\).*give output=, the type"):
        wr.over(table, windows=wr.rows(2), aggs=late("x"))
    told = wr.aggregation(
        name="late", identity=0, combine=add, lower=lambda p: p if p > 3 else None,
        output=pa.int64(),
    )  # fmt: skip
    found = wr.over(table, windows=wr.rows(2), aggs=told("x"))
    assert found["late_x"].to_pylist() == [None, None, 5]


def test_a_column_that_the_functions_are_not_for():
    spread = wr.aggregation(name="spread", identity=0.0, lift=lambda x: x * 2.0, combine=add)
    with pytest.raises(wr.InvalidArgument) as refused:
        wr.over(pa.table({"who": ["a"]}), windows=wr.rows(2), aggs=spread("who"))
    assert str(refused.value).startswith(
        "aggs: spread('who') as spread_who cannot take columns of string: lift of 'spread' fails"
    )


# Accepted ---------------------------------------------------------------------------------------


def test_lift_and_lower_may_be_left_out():
    assert answer(wr.aggregation(name="total", identity=0, combine=add), [1, 2, 3]) == 6


def test_without_lift_the_values_may_be_text():
    """Values that lift hands through unchanged are not only numbers."""
    joined = wr.aggregation(name="joined", identity="", combine=operator.add)
    assert answer(joined, ["a", "b", "c"]) == "abc"


@pytest.mark.parametrize("lift", [float, int, abs, functools.partial(pow, exp=2), lambda *x: x[0]])
def test_lift_may_be_anything_that_takes_a_value(lift):
    mine = wr.aggregation(name="mine", identity=0, lift=lift, combine=add)
    assert len(mine.inputs) == 1
    assert answer(mine, [1, 1]) == 2


def test_arguments_with_a_default_are_no_columns():
    mine = wr.aggregation(name="mine", identity=0, lift=lambda x, by=2: x * by, combine=add)
    assert answer(mine, [1, 2]) == 6


def test_columns_may_be_of_different_kinds():
    longest = wr.aggregation(
        name="longest",
        identity=(0.0, ""),
        lift=lambda seconds, who: (seconds * 1.0, who.lower()),
        combine=lambda older, newer: newer if newer[0] > older[0] else older,
        lower=lambda partial: partial[1],
    )
    assert [entry.name for entry in longest.inputs] == ["seconds", "who"]
    table = pa.table({"s": [1.0, 3.0, 2.0], "w": ["A", "B", "C"]})
    found = wr.over(table, windows=wr.rows(2), aggs=longest("s", "w"))["longest_s_w"]
    assert found.to_pylist() == ["a", "b", "b"]


def test_objects_need_not_know_when_they_are_equal():
    class Bag:
        def __init__(self, items: tuple[Any, ...] = ()) -> None:
            self.items = items

    bag = wr.aggregation(
        name="bag",
        identity=Bag(),
        lift=lambda x: Bag((x,)),
        combine=lambda older, newer: Bag(older.items + newer.items),
        lower=lambda partial: len(partial.items),
    )
    assert answer(bag, [1, 2, 3]) == 3


def test_a_definition_is_tried_once_for_each_kind_of_column():
    tried = []

    def noted(value: Any) -> Any:
        tried.append(value)
        return value

    mine = wr.aggregation(name="mine", identity=0, lift=noted, combine=add)
    assert mine.monoid_for((Kind.FLOAT,)) is mine.monoid_for((Kind.FLOAT,))
    before = len(tried)
    mine.monoid_for((Kind.FLOAT,))
    assert len(tried) == before


def test_the_example_of_the_design():
    max_count = wr.aggregation(
        name="max_count",
        identity=(-math.inf, 0),
        lift=lambda x: (x, 1),
        combine=lambda older, newer: (
            older if older[0] > newer[0]
            else newer if newer[0] > older[0]
            else (older[0], older[1] + newer[1])
        ),
        lower=lambda partial: partial[1],
    )  # fmt: skip
    assert answer(max_count, [4, 5, 3, 5]) == 2
