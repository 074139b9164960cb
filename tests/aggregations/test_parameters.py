"""Parameters of aggregations: what they make, and what is refused when the call is made."""

import math
from datetime import timedelta
from typing import Any

import pyarrow as pa
import pytest

import windrow as wr


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: wr.max("x", n=2), "max(...): no parameter is called n; it takes none"),
        (lambda: wr.variance("x", pop=True), "no parameter is called pop; it takes population"),
        (lambda: wr.nth("x", n=0), "n: 1 is the oldest value, 2 the next, -1 the newest"),
        (lambda: wr.nth("x", n=1.5), "n: 1 is the oldest value"),
        (lambda: wr.top_k("x", k=0), "k: a whole number of 1 or more is needed, not 0"),
        (lambda: wr.bottom_k("x", k="3"), "k: a whole number of 1 or more is needed, not '3'"),
        (lambda: wr.collect("x", limit=-1), "limit: a whole number of 1 or more"),
        (lambda: wr.mode("x", limit=True), "limit: a whole number of 1 or more"),
        (lambda: wr.longest_run_above("x", threshold="high"), "threshold: a number is needed"),
        (lambda: wr.ewm_mean("x", half_life=0), "half_life: a number of events above zero"),
        (lambda: wr.ewm_mean("x", half_life=math.inf), "half_life: it is finite"),
        (lambda: wr.ewm_mean("x", "t", half_life="soon"), "half_life: 'soon' is no duration"),
        (lambda: wr.ewm_mean("x", "t", half_life=timedelta(0)), "half_life: it is longer than"),
        (lambda: wr.ewm_mean("x", "t", half_life=3), "ewm_mean(...) takes 1 column (value), not 2"),
        (lambda: wr.ewm_mean("x", half_life="1 hour"), "takes 2 columns (value, time), not 1: x"),
        (lambda: wr.top_k("x", k={3}), "top_k(...): unhashable type: 'set'"),
        (lambda: wr.arg_max("x", "y", key=3), "key: a function of a value, or the name of a"),
        (lambda: wr.max("x", 3), "max(...): columns are given by name, as strings, not 3"),
        (lambda: wr.top_k("x", 3, 4), "top_k(...): columns are given by name, as strings, not 3"),
        (lambda: wr.top_k("x", 3, "y"), "top_k(...): columns are given by name, as strings, not 3"),
        (lambda: wr.top_k("x", 3, k=4), "top_k(...): k is given twice"),
        (lambda: wr.approx_quantile("x", 1.5), "q: numbers from 0 to 1 are needed, not 1.5"),
        (lambda: wr.approx_quantile("x", [0.5, "p"]), "q: numbers from 0 to 1 are needed, not 'p'"),
        (lambda: wr.moment_sketch("x", []), "q: at least one number from 0 to 1 is needed"),
        (lambda: wr.approx_distinct("x", 0), "error: a number between 0 and 1 is needed, not 0"),
        (lambda: wr.bloom("x", 0), "capacity: a whole number of 1 or more is needed, not 0"),
        (lambda: wr.bloom("x", 10, 1.0), "error: a number between 0 and 1 is needed, not 1.0"),
        (lambda: wr.count_min("x", confidence=2), "confidence: a number between 0 and 1 is needed"),
        (
            lambda: wr.frequent_items("x", True),
            "k: a whole number of 1 or more is needed, not True",
        ),
        (lambda: wr.Window(wr.bloom), "needs its parameters, as in bloom('value', capacity=1000)"),
        (lambda: wr.Window(wr.nth), "nth(...) needs its parameters, as in nth('value', n=2)"),
        (lambda: wr.Window(wr.top_k("x")), "needs its parameters, as in top_k('value', k=3)"),
    ],
)
def test_refused(call: Any, message: str) -> None:
    with pytest.raises(wr.InvalidArgument) as refusal:
        call()
    assert message in str(refusal.value)


def test_a_plan_names_what_is_missing() -> None:
    table = pa.table({"x": [1.0]})
    with pytest.raises(wr.InvalidArgument, match=r"nth\(\.\.\.\) needs its parameters"):
        wr.over(table, windows=wr.rows(2), aggs=wr.nth("x"))


def test_equal_parameters_make_the_same_aggregation() -> None:
    assert wr.top_k("x", k=3).aggregation is wr.top_k("y", k=3).aggregation
    assert wr.variance("x", population=False).aggregation is wr.variance
    assert wr.arg_max("x", key=math.cos).aggregation is wr.arg_max("y", key=math.cos).aggregation


def test_names_tell_the_parameters() -> None:
    named = {
        wr.variance("x", population=True).name: "variance_pop_x",
        wr.nth("x", n=2).name: "nth_2_x",
        wr.nth("x", n=-2).name: "nth_last_2_x",
        wr.top_k("x", k=3).name: "top_3_x",
        wr.collect("x", limit=5).name: "collect_5_x",
        wr.approx_quantile("x", 0.95).name: "approx_quantile_0_95_x",
        wr.approx_quantile("x", [0.5, 0.9]).name: "approx_quantiles_0_5_0_9_x",
        wr.frequent_items("x", 3).name: "frequent_items_3_x",
    }
    assert list(named) == list(named.values())


@pytest.mark.usefixtures("interpreted")
def test_what_is_to_be_largest() -> None:
    """Of cosine, of a square; with one column, two, times, and by another column."""
    table = pa.table(
        {
            "angle": [1.0, 6.0, 3.0, None],
            "name": ["a", "b", "c", "d"],
            "at": pa.array([3, 9, 1, 4], pa.timestamp("s")),
        }
    )
    aggs = {
        "cosine": wr.arg_max("angle", key=math.cos),
        "name": wr.arg_max("angle", "name", key=math.cos),
        "square": wr.arg_min("angle", "name", key=lambda angle: (angle - 2.5) ** 2),
        "latest": wr.arg_max("at", "name", key=lambda time: time.second),
        "shortest": wr.arg_min("name", key=lambda name: -ord(name)),
        "by_column": wr.arg_max("name", key="at"),
    }
    measures = [measure.alias(f"_{name}") for name, measure in aggs.items()]
    last = wr.over(table, windows=wr.rows(4), aggs=measures).to_pylist()[-1]
    assert [last[measure.name] for measure in measures] == [6.0, "b", "c", "b", "d", "b"]


def test_a_bound_keeps_the_newest_and_refuses_more_than_it_can_know() -> None:
    window = wr.Window(wr.collect(limit=2))
    window.insert_many([1, 2, 3])
    assert window.query() == [2, 3]
    counted = wr.Window(wr.mode(limit=2))
    counted.insert_many(["a", "b", "b"])
    assert counted.query() == "b"
    counted.insert("c")
    with pytest.raises(wr.AggregateOverflow, match="more than limit=2 different values"):
        counted.query()
    counted.evict()
    assert counted.query() == "b"
    with pytest.raises(wr.AggregateOverflow, match="more than limit=2 different values"):
        wr.over(pa.table({"c": [*"abc"]}), windows=wr.rows(3), aggs=wr.mode("c", limit=2))


def test_structs_are_dicts_in_a_window() -> None:
    window = wr.Window(wr.longest_increasing_run())
    window.insert_many([(5, 0), (1, 2), (2, 3), (4, 7), (4, 8)])
    assert window.query() == {"start": 2, "end": 7, "duration": 5, "length": 3}
    assert wr.Window(wr.m4()).query() is None


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(
    ("measure", "taken"),
    [
        (wr.count_if("text"), "boolean"),
        (wr.bit_and("x"), "integer"),
        (wr.slope("text", "x"), "decimal, float, integer"),
        (wr.rate("x", "x"), "temporal"),
        (wr.mode("nested"), "boolean, decimal, float, integer, temporal, text"),
    ],
)
def test_a_column_that_it_cannot_take_is_refused(measure: Any, taken: str) -> None:
    table = pa.table({"x": [1.0], "text": ["a"], "nested": [[1]]})
    with pytest.raises(wr.InvalidArgument, match=f"cannot take a column of type .*{taken}$"):
        wr.over(table, windows=wr.rows(2), aggs=measure)
