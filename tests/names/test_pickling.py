"""Measures, aggregations, windows and plans come out of pickle as they went in."""

import copy
import pickle
import subprocess
import sys
from datetime import timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark import cloudpickle

import windrow as wr
from windrow.aggregations import OFFERED, VARIANTS
from windrow.windows.calls import call_of_window


def add(older: Any, newer: Any) -> Any:
    return older + newer


def write_sum(older: Any, newer: Any, into: Any) -> None:
    into[:] = older + newer


def write_power(value: Any, into: Any) -> None:
    into[0], into[1] = value, value * value


def first(partial: Any) -> Any:
    return float(partial[0])


OWN = wr.aggregation(name="own_sum", identity=0.0, combine=add)
IN_PLACE = wr.aggregation(
    name="own_powers",
    identity=np.zeros(2),
    lift=write_power,
    combine=write_sum,
    lower=first,
    in_place=True,
)
MEASURES = [
    wr.top_k("x", 3).where("x > 1 and y is not null").alias("top"),
    wr.quantile("x", [0.25, 0.5], interpolation="lower"),
    wr.ewm_mean("x", "t", half_life=timedelta(seconds=30)),
    wr.variance("x", population=True).where("y"),
    wr.arg_max("x", "y", key=abs),
    wr.mean("x").over_distinct().alias("different"),
    wr.time_since_last("x > 2"),
    wr.approx_quantile("x", np.array([0.5])),
    OWN("x"),
    IN_PLACE("x").where("x < 3"),
]


@pytest.mark.parametrize("aggregation", [*OFFERED, *VARIANTS, OWN], ids=lambda each: each.name)
def test_an_aggregation_is_the_same_one(aggregation: wr.Aggregation) -> None:
    assert pickle.loads(pickle.dumps(aggregation)) is aggregation
    assert copy.deepcopy(aggregation) is aggregation


@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_a_measure_is_equal(measure: wr.Measure) -> None:
    for made in (pickle.loads(pickle.dumps(measure)), copy.copy(measure), copy.deepcopy(measure)):
        assert made == measure
        assert (repr(made), hash(made)) == (repr(measure), hash(measure))


def test_functions_without_names_need_cloudpickle() -> None:
    own = wr.aggregation(name="own", identity=0, combine=lambda older, newer: older + newer)("x")
    policy = wr.policy(lambda total, oldest: total - oldest >= 3, of=own)
    keyed = wr.arg_min("x", key=lambda value: -value)
    for each in (own, policy, keyed):
        with pytest.raises((pickle.PicklingError, AttributeError)):
            pickle.dumps(each)
    assert cloudpickle.loads(cloudpickle.dumps(own)) == own
    window = cloudpickle.loads(cloudpickle.dumps(policy))
    table = pa.table({"x": [1, 2, 3, 4]})
    answers = wr.over(table, windows=window, aggs=own)
    assert answers["own_x"].to_pylist() == [1, 3, 3, 4]


@pytest.mark.parametrize(
    "window",
    [
        wr.rows(3, min_rows=2, of="values"),
        wr.time("1h", every="10 minutes"),
        wr.time(before="1h", after="1 minute", closed="both"),
        wr.calendar("1 month", timezone="Europe/Berlin"),
        wr.expanding(),
        wr.whole(),
        wr.delta("x", 3),
        wr.session("1h"),
        wr.punctuated("y"),
        wr.policies.at_most_sum(10, "x"),
        wr.policies.at_most_span("1h", "t") | wr.policies.at_most_events(3),
        wr.policies.adaptive("x", risk=0.1, min_rows=3),
    ],
    ids=call_of_window,
)
def test_a_window_is_equal(window: Any) -> None:
    for made in (pickle.loads(pickle.dumps(window)), copy.deepcopy(window)):
        assert call_of_window(made) == call_of_window(window)
        assert type(made) is type(window)


def test_another_process_gives_the_same_answers() -> None:
    table = pa.table({"t": pa.array([1, 2, 3, 4], pa.timestamp("s")), "x": [3.0, 1.0, 2.0, 4.0]})
    aggs = [wr.top_k("x", 2).where("x > 1"), wr.ewm_mean("x", "t", half_life="2 seconds")]
    call = {"order": "t", "windows": wr.rows(3), "aggs": aggs}
    code = (
        "import pickle, sys, windrow as wr\n"
        "table, call = pickle.load(sys.stdin.buffer)\n"
        "sys.stdout.buffer.write(pickle.dumps((wr.over(table, **call), call['aggs'])))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=pickle.dumps((table, call)), capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()
    answers, came_back = pickle.loads(done.stdout)
    assert answers.equals(wr.over(table, **call))
    assert came_back == aggs


def test_a_plan_says_the_same() -> None:
    plan = wr.plan(order="t", key="k", windows=wr.rows(3), aggs=[wr.max("x"), wr.median("x")])
    made = cloudpickle.loads(cloudpickle.dumps(plan))
    assert str(made) == str(plan)
    assert made.to_dict() == plan.to_dict()
