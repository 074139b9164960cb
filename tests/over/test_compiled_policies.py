"""Slide policies by kernels, and in plain Python where there is no kernel."""

import math

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from tests.support.over.policies import POLICIES, expected, table

pytestmark = pytest.mark.compiled


@pytest.mark.parametrize("name", ["events", "sum", "run", "joined"])
def test_compiled(name):
    """By kernels, with windows that outgrow their first room, nulls and several keys."""
    chance = np.random.default_rng(8)
    numbers = [None if n > 12 else int(n) for n in chance.integers(0, 14, 1500)]
    found = wr.over(
        table(numbers, 2), key="key", order="t", windows=POLICIES[name][0], aggs=[wr.count()]
    )
    assert found["count"].to_pylist() == list(map(len, expected(name, numbers, 2)))


def test_a_large_window_slides_at_once():
    """Half a million events leave for one, and the answers are those of what stays."""
    numbers = np.zeros(2**20)
    numbers[2**19] = 1
    rows = pa.table({"t": np.arange(2**20), "x": numbers})
    found = wr.over(rows, order="t", windows=wr.policies.since_max("x"), aggs=[wr.count()])
    counts = found["count"].to_numpy()
    assert (counts[: 2**19] == np.arange(1, 2**19 + 1)).all()
    assert (counts[2**19 :] == np.arange(1, 2**19 + 1)).all()


def test_a_window_of_time():
    times = [0, 10, 59, 60, 61, 200]
    rows = pa.table({"t": pa.array(times, pa.timestamp("s")), "x": times})
    by_policy = wr.over(
        rows, order="t", windows=wr.policies.at_most_span("1 minute", "t"), aggs=[wr.collect("x")]
    )
    by_time = wr.over(rows, order="t", windows=wr.time("1 minute"), aggs=[wr.collect("x")])
    assert by_policy["collect_x"] == by_time["collect_x"]
    own = wr.policy(lambda total, oldest: (total - oldest).seconds >= 60, of=wr.max("t"))
    by_own = wr.over(rows.slice(0, 5), order="t", windows=own, aggs=[wr.collect("x")])
    assert by_own["collect_x"].to_pylist() == by_time["collect_x"].to_pylist()[:5]


def test_numbers_that_are_none():
    """NaN and infinity are too large for any limit, and larger than any maximum."""
    numbers = [1.0, 2.0, math.nan, 3.0, math.inf, 4.0]
    rows = pa.table({"t": range(6), "x": numbers})
    windows = {"sum": wr.policies.at_most_sum(5, "x"), "max": wr.policies.since_max("x")}
    found = wr.over(rows, order="t", windows=windows, aggs=[wr.count()])
    assert found["count_sum"].to_pylist() == [1, 2, 0, 1, 0, 1]
    assert found["count_max"].to_pylist() == [1, 1, 1, 2, 3, 4]


def test_what_cannot_be_compiled_runs_as_plain_python():
    texts = wr.policy(lambda total, oldest: f"{oldest:.0f}" < f"{total:.0f}", of=wr.max("x"))
    rows = table([1, 5, 2, 3])
    with pytest.warns(wr.PlainPythonWarning, match="a policy runs as plain Python"):
        found = wr.over(rows, order="t", windows=texts, aggs=[wr.count()])
    assert found["count"].to_pylist() == [1, 1, 2, 3]


def test_what_is_carried_is_asked_for_by_value():
    """Kernels carry positions in the place of values; a policy gets the values."""
    same = wr.policy(lambda total, oldest: total != oldest, of=wr.last("name"))
    rows = pa.table({"t": range(5), "name": list("aabba")})
    found = wr.over(rows, order="t", windows=same, aggs=[wr.collect("name")])
    assert found["collect_name"].to_pylist() == [["a"], ["a"] * 2, ["b"], ["b"] * 2, ["a"]]


def test_adaptive():
    """A window forgets what was before a change, and nothing while there is none."""
    chance = np.random.default_rng(3)
    numbers = np.concatenate([chance.normal(0, 1, 2000), chance.normal(4, 1, 500)])
    rows = pa.table({"t": range(2500), "x": numbers})
    policy = wr.policies.adaptive("x", risk=1e-6)
    found = wr.over(rows, order="t", windows=policy, aggs=[wr.count(), wr.mean("x")])
    counts = found["count"].to_pylist()
    assert counts[:2000] == list(range(1, 2001))
    assert counts[-1] < 600
    assert abs(found["mean_x"].to_pylist()[-1] - 4) < 0.3
    window = wr.Window(wr.count(), policy=wr.policies.adaptive(risk=1e-6))
    held = []
    for number in numbers.tolist():
        window.insert(number)
        held.append(len(window))
    assert held == counts
