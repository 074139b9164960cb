"""Parameters of aggregations: what they make, and what is refused when the call is made."""

import inspect
import math
from datetime import timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from windrow.aggregations import OFFERED

# Every parameter of the catalogue, of every type --------------------------------------------------


def is_number(given: Any) -> bool:
    if not isinstance(given, int | float | np.integer | np.floating) or isinstance(given, bool):
        return False
    return abs(given) < 10**308 if isinstance(given, int) else math.isfinite(given)


def is_count(given: Any) -> bool:
    return isinstance(given, int | np.integer) and given is not True and 0 < given < 2**63


def is_share(given: Any) -> bool:
    return is_number(given) and isinstance(given, float | np.floating) and 0 < given < 1


def are_shares(given: Any) -> bool:
    several = given if isinstance(given, list | tuple | np.ndarray) else [given]
    return len(several) > 0 and all(is_number(each) and 0 <= each <= 1 for each in several)


#: what parameters take, by name, or by aggregation and name; of others it is only asked that each
#: value is taken, or refused by the parameter's name
RIGHT = {
    "lag.n": is_count,
    "lead.n": is_count,
    "population": lambda given: isinstance(given, bool | np.bool_),
    "sketch": lambda given: isinstance(given, bool | np.bool_),
    "n": lambda given: is_count(given) or (type(given) is int and given == -1),
    "k": is_count,
    "limit": lambda given: given is None or is_count(given),
    "capacity": is_count,
    "error": is_share,
    "confidence": is_share,
    "q": are_shares,
    "interpolation": lambda given: type(given) is str and given == "lower",
    "method": lambda given: type(given) is str and given == "dense",
    "descending": lambda given: isinstance(given, bool | np.bool_),
    "half_life": lambda given: isinstance(given, timedelta) or (is_number(given) and given > 0),
    "threshold": lambda given: is_number(given) or type(given) is Decimal or given is math.inf,
    "key": lambda given: callable(given) or isinstance(given, str) or given is None,
}
POOL = [
    True, False, 0, 1, 3, -1, 0.5, 1.5, -0.5, math.nan, math.inf, 10**400, 10**5000, "no", "",
    b"1", None, [], [0.5], [0.1, 1], (), {3}, {}, object(), 1j, Decimal("0.5"), timedelta(1),
    np.int64(2), np.float64(0.25), np.float32(0.5), np.True_, np.array([0.5, 0.25]), [0.5, "p"],
    [True], math.cos, "lower", "dense",
]  # fmt: skip
EVERY_PARAMETER = [
    pytest.param(aggregation, name, id=f"{aggregation.name}-{name}")
    for aggregation in OFFERED
    if aggregation.variant is not None
    for name in inspect.signature(aggregation.variant).parameters
]


@pytest.mark.parametrize(("aggregation", "name"), EVERY_PARAMETER)
def test_a_parameter_of_another_type_is_refused_by_its_name(aggregation: Any, name: str) -> None:
    needed = inspect.signature(aggregation.variant).parameters.values()
    missing = [each.name for each in needed if each.default is each.empty and each.name != name]
    others = {each: 0.5 if each == "q" else 3 for each in missing}
    right = RIGHT.get(f"{aggregation.name}.{name}", RIGHT.get(name))
    for given in POOL:
        if right is None:
            assert is_taken_or_refused(aggregation, name, {**others, name: given}), given
            continue
        unsaid = given is None and aggregation is wr.moment_sketch
        if right(given) or unsaid:
            columns = ["x", "y"][: 1 + (given is None)] if name == "key" else []
            assert aggregation(*columns, **others, **{name: given}).aggregation.is_complete, given
            continue
        with pytest.raises(wr.InvalidArgument) as refusal:
            aggregation(**others, **{name: given})
        assert str(refusal.value).startswith(f"{name}: "), given


def is_taken_or_refused(aggregation: Any, name: str, parameters: dict[str, Any]) -> bool:
    try:
        return bool(aggregation(**parameters).aggregation.is_complete)
    except wr.InvalidArgument as refusal:
        return str(refusal).startswith(f"{name}: ")


def test_numbers_of_numpy_are_numbers() -> None:
    assert wr.top_k("x", np.int32(3)) == wr.top_k("x", k=3)
    assert wr.variance("x", population=np.True_) == wr.variance("x", population=True)
    assert wr.approx_quantile("x", np.array([0.5, 1])) == wr.approx_quantile("x", [0.5, 1.0])


# What is refused, and how -------------------------------------------------------------------------


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
        (lambda: wr.top_k("x", k={3}), "k: a whole number of 1 or more is needed, not {3}"),
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
        (
            lambda: wr.approx_distinct("x", 0.0007),
            "error: 0.0007 would take more than 2^21 registers, the most of a sketch; give 0.00072 "
            "or more, or count exactly",
        ),
        (
            lambda: wr.bloom("x", capacity=10**12),
            "capacity: 1000000000000 makes partials of 1.09 TiB each, and a window holds many; "
            "they are to be of at most 16 MiB; give the number of different values of one window",
        ),
        (lambda: wr.count_min("x", error=1e-12), "error: 1e-12 makes partials of 72.8 TiB each"),
        (lambda: wr.count_min("x", error=5e-324), "error: 5e-324 makes partials of"),
        (lambda: wr.BloomFilter("a"), "data: the bytes of an answer of wr.bloom are needed, not"),
        (lambda: wr.CountMin(None), "data: the bytes of an answer of wr.count_min are needed"),
        (lambda: wr.BloomFilter(memoryview(b"a")), "data: 1 bytes that are no Bloom filter"),
        (lambda: wr.BloomFilter(b"\0\0\0\1" + 8 * b"\0"), "data: 12 bytes that are no Bloom"),
        (lambda: wr.bloom("x", error=0.1), "bloom(...): capacity is missing"),
        (lambda: wr.count_min("x", confidence=2), "confidence: a number between 0 and 1 is needed"),
        (
            lambda: wr.frequent_items("x", True),
            "k: a whole number of 1 or more is needed, not True",
        ),
        (lambda: wr.Window(wr.bloom), "needs its parameters, as in bloom('value', capacity=1000)"),
        (lambda: wr.Window(wr.nth), "nth(...) needs its parameters, as in nth('value', n=2)"),
        (lambda: wr.top_k("x"), "top_k(...) needs its parameters, as in top_k('value', k=3)"),
        (lambda: wr.top_k(), "top_k(...) needs its parameters, as in top_k('value', k=3)"),
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
        (wr.rate("x", "x"), "duration, temporal"),
        (wr.mode("nested"), "boolean, decimal, duration, float, integer, temporal, text"),
    ],
)
def test_a_column_that_it_cannot_take_is_refused(measure: Any, taken: str) -> None:
    table = pa.table({"x": [1.0], "text": ["a"], "nested": [[1]]})
    with pytest.raises(wr.InvalidArgument, match=f"cannot take a column of type .*{taken}$"):
        wr.over(table, windows=wr.rows(2), aggs=measure)


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("n", [127, 128, 200, -127, -128, -200])
def test_the_nth_of_many(n: int) -> None:
    """Partials are rows of a few positions, and tuples of many."""
    table = pa.table({"x": pa.array([None if row % 7 == 0 else row for row in range(280)])})
    found = wr.over(table, windows=wr.rows(230), aggs=wr.nth("x", n=n).alias("nth"))
    for row, answer in enumerate(found["nth"].to_pylist()):
        window = [each for each in range(max(row - 229, 0), row + 1) if each % 7]
        expected = window[n - 1 if n > 0 else n] if len(window) >= abs(n) else None
        assert answer == expected


@pytest.mark.usefixtures("interpreted")
def test_sizes_follow_the_window_where_they_can() -> None:
    """Room for so many values no machine has."""
    huge = 2**63 - 1
    aggs = {
        "nth": wr.nth("x", n=huge), "nth_last": wr.nth("x", n=-huge), "top": wr.top_k("x", huge),
        "newest": wr.collect("x", limit=huge), "first": wr.collect_distinct("x", limit=huge),
        "mode": wr.mode("x", limit=huge), "items": wr.frequent_items("x", huge, 5e-324),
        "median": wr.approx_quantile("x", 0.5, error=5e-324),
    }  # fmt: skip
    measures = [measure.alias(name) for name, measure in aggs.items()]
    last = wr.over(pa.table({"x": [3, 1]}), windows=wr.rows(2), aggs=measures).to_pylist()[-1]
    items = [{"item": item, "count": 1, "error": 0} for item in (3, 1)]
    assert last == {
        "x": 1, "nth": None, "nth_last": None, "top": [3, 1], "newest": [3, 1], "first": [3, 1],
        "mode": 3, "items": items, "median": 1,
    }  # fmt: skip
