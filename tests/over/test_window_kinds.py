"""Windows of differences, up to marks and up to gaps, in `wr.over`: what can be read off.

Random tables with all kinds of windows in one call are in test_table.py, their batches in
test_batches.py: `strategies.queries` draws them.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from tests.support.over.oracle import assert_agrees
from tests.support.over.strategies import Query
from windrow.algorithms import ALGORITHMS
from windrow.engine.over_batches import over_batches
from windrow.planning.choose import Wish
from windrow.planning.over_plan import resolve_over
from windrow.windows import Window

NAMES = ["a", "b", "c", "d", "e", "f"]


def seen(window: Window, order: str = "t", **columns: Any) -> list[str | None]:
    """The names of the rows that each row sees, oldest first."""
    size = len(next(iter(columns.values())))
    columns.setdefault("t", pa.array(range(size), pa.timestamp("s")))
    table = pa.table({**columns, "name": NAMES[:size]})
    return wr.over(table, order=order, windows=window, aggs=wr.concat("name"))[
        "concat_name"
    ].to_pylist()


def test_an_event_that_has_left_does_not_come_back() -> None:
    assert seen(wr.delta("m", 3), m=[0, 2, 3, 0, 2, 9]) == ["a", "ab", "bc", "bcd", "bcde", "f"]


def test_an_older_event_that_is_near_keeps_newer_ones() -> None:
    # c lies 5 behind d, but events leave oldest first, and b stays.
    assert seen(wr.delta("m", 5), m=[0, 8, 5, 10]) == ["a", "b", "bc", "bcd"]


def test_an_event_without_a_measure_is_in_no_window() -> None:
    expected = ["a", None, "ac", None, "ce"]
    assert seen(wr.delta("m", 2), m=[1, None, 2, None, 3]) == expected
    assert seen(wr.delta("m", 2), m=[1.0, math.nan, 2.0, None, 3.0]) == expected


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of numpy, where a kernel is silent
def test_infinities_are_infinitely_far_from_numbers_and_at_no_distance_from_each_other() -> None:
    infinity = math.inf
    measures = [-infinity, -infinity, 1.0, infinity, infinity, 2.0]
    assert seen(wr.delta("m", 5), m=measures) == ["a", "ab", "c", "d", "de", "def"]


def test_parts_of_a_whole_number() -> None:
    # Less than 1.5 behind is, for integers, less than 2.
    assert seen(wr.delta("m", 1.5), m=[0, 1, 2, 4]) == ["a", "ab", "bc", "d"]
    assert seen(wr.delta("m", 0.25), m=[0.0, 0.0, 0.125, 0.25]) == ["a", "ab", "abc", "cd"]


def test_a_mark_closes_its_window_and_the_next_event_begins_another() -> None:
    marks = [False, True, None, False, True, True]
    assert seen(wr.punctuated("p"), p=marks) == ["a", "ab", "c", "cd", "cde", "f"]


def test_a_session_ends_with_a_longer_gap() -> None:
    times = pa.array([0, 2, 4, 7, 7, 9], pa.timestamp("s"))
    expected = ["a", "ab", "abc", "d", "de", "def"]
    assert seen(wr.session("2 seconds"), t=times) == expected
    assert seen(wr.session("2999 milliseconds"), t=times) == expected
    assert seen(wr.session("3 seconds"), t=times)[-1] == "abcdef"


def test_an_event_without_a_time_is_in_no_session() -> None:
    times = pa.array([None, 1, None, 0], pa.timestamp("s"))
    assert seen(wr.session("1 second"), t=times) == [None, "db", None, "d"]


def test_answers_of_nobody_cannot_overflow() -> None:
    table = pa.table({"t": pa.nulls(3, pa.timestamp("s")), "m": pa.nulls(3, pa.int64())})
    table = table.append_column("x", pa.array([2**62] * 3))
    windows = {"s": wr.session("1 second"), "d": wr.delta("m", 1)}
    aggs = [wr.sum("x"), wr.count("x"), wr.count()]
    answer = wr.over(table, order="t", windows=windows, aggs=aggs)
    for window in windows:
        assert answer[f"sum_x_{window}"].to_pylist() == [None] * 3
        assert answer[f"count_x_{window}"].to_pylist() == [0] * 3
        assert answer[f"count_{window}"].to_pylist() == [0] * 3


@pytest.mark.compiled
def test_ones_own_aggregation_is_not_asked_about_no_values() -> None:
    mean = wr.aggregation(
        name="own_mean",
        identity=(0.0, 0.0),
        lift=lambda value: (value, 1.0),
        combine=lambda older, newer: (older[0] + newer[0], older[1] + newer[1]),
        lower=lambda partial: partial[0] / partial[1],
    )
    table = pa.table({"m": [1, None, 2, 9], "x": [1.0, 2.0, 3.0, 4.0]})
    answer = wr.over(table, windows=wr.delta("m", 3), aggs=mean("x"))
    assert answer["own_mean_x"].to_pylist() == [1.0, None, 2.0, 4.0]


def random_query(seed: int) -> Query:
    """A table of three keys with a measure that drifts up, and one window of each kind."""
    random = np.random.default_rng(seed)
    size = 80
    measure = np.cumsum(random.integers(-2, 4, size)).astype(float)
    table = pa.table(
        {
            "k": random.integers(0, 3, size),
            "t": pa.array(np.cumsum(random.integers(0, 4, size)), pa.timestamp("s")),
            "m": pa.array(measure, mask=random.random(size) < 0.2),
            "p": random.random(size) < 0.2,
            "x": random.integers(-9, 10, size),
        }
    )
    windows = {
        "rows": wr.rows(5),
        "time": wr.time("9 seconds"),
        "delta": wr.delta("m", 6),
        "marks": wr.punctuated("p"),
        "session": wr.session("6 seconds"),
    }
    return Query(table, ["k"], ["t"], windows, [wr.sum("x"), wr.count("x")])


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_serves_every_kind_of_window(algorithm: str) -> None:
    for seed in range(4):
        query = random_query(seed)
        if algorithm == "slick_deque_non_inv":  # serves what selects one of its values, alone
            query = replace(query, aggs=[wr.max("x")])
        answer = wr.over(query.table, **query.arguments, algorithm=algorithm)
        assert_agrees(query.expected(), answer)


def test_an_empty_table() -> None:
    query = random_query(0)
    arguments = {**query.arguments, "aggs": [wr.sum("x"), wr.collect("x")]}
    answer = wr.over(query.table.slice(0, 0), **arguments)
    assert (answer.num_rows, answer.num_columns) == (0, 15)


FAR_APART = pa.table({"i": range(3), "m": [-(2**62), 0, 2**62]})


def test_whole_numbers_too_far_apart_to_measure() -> None:
    arguments: dict[str, Any] = {
        "key": None, "order": "i", "windows": wr.delta("m", 1), "aggs": wr.count()
    }  # fmt: skip
    message = "windows: the values of 'm' lie further apart than 64 bits can measure"
    with pytest.raises(wr.InvalidArgument, match=message):
        wr.over(FAR_APART, **arguments)
    plan = resolve_over(FAR_APART.schema, **arguments, wish=Wish())
    (batch,) = FAR_APART.to_batches()
    answers = over_batches([batch.slice(0, 2), batch.slice(2)], plan, set())
    next(answers)
    with pytest.raises(wr.InvalidArgument, match=message):
        next(answers)
