"""Order statistics and different values of `wr.over`: pandas, DuckDB and monoids agree."""

from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import windrow as wr
from windrow.algorithms import value_orders
from windrow.compiler.array_loops import compiled_loop
from windrow.work import sizes

pytestmark = pytest.mark.compiled

ROWS = 3000


@pytest.fixture(scope="module")
def events() -> pa.Table:
    """Values with ties, nulls and NaN, of two keys."""
    random = np.random.default_rng(7)
    x = np.round(random.normal(size=ROWS), 1)
    x[random.random(ROWS) < 0.02] = np.nan
    return pa.table(
        {
            "id": np.arange(ROWS),
            "k": random.integers(0, 2, ROWS),
            "x": pa.array(x, mask=random.random(ROWS) < 0.1),
            "y": random.normal(size=ROWS),
            "n": random.integers(0, 40, ROWS),
            "s": [f"s{each}" for each in random.integers(0, 30, ROWS)],
        }
    )


def answers(events: pa.Table, measure: Any, window: Any = None, **arguments: Any) -> Any:
    found = wr.over(
        events, order="id", windows=window or wr.rows(50), aggs=measure.alias("a"), **arguments
    )
    return found["a"].to_pandas()


# Others' answers ----------------------------------------------------------------------------------


@pytest.mark.parametrize("interpolation", ["linear", "lower", "higher", "nearest", "midpoint"])
def test_quantiles_are_those_of_pandas(events: pa.Table, interpolation: str) -> None:
    rolling = events["y"].to_pandas().rolling(50, min_periods=1)
    for share in (0.0, 0.25, 0.9, 1.0):
        found = answers(events, wr.quantile("y", share, interpolation=interpolation))
        expected = rolling.quantile(share, interpolation=interpolation)
        pd.testing.assert_series_equal(found, expected, check_names=False, rtol=1e-12)


@pytest.mark.parametrize("method", ["min", "max", "average"])
@pytest.mark.parametrize("descending", [False, True])
def test_ranks_are_those_of_pandas(events: pa.Table, method: str, descending: bool) -> None:
    rolling = events["n"].to_pandas().rolling(50, min_periods=1)
    expected = rolling.rank(method=method, ascending=not descending)
    found = answers(events, wr.rank("n", method=method, descending=descending)).astype(float)
    pd.testing.assert_series_equal(found, expected, check_names=False)


def test_medians_modes_and_distinct_counts_are_those_of_duckdb(events: pa.Table) -> None:
    window = "over (partition by k order by id rows between 20 preceding and 5 following)"
    asked = {
        "median_y": (wr.median("y"), "median(y)"),
        "median_n": (wr.median("n"), "median(n)"),
        "quantile": (wr.quantile("y", 0.3), "quantile_cont(y, 0.3)"),
        "different": (wr.count_distinct("x"), "count(distinct x)"),
        "texts": (wr.count_distinct("s"), "count(distinct s)"),
        "total": (wr.sum_distinct("n"), "sum(distinct n)"),
        "mean": (wr.mean("n").over_distinct(), "avg(distinct n)"),
    }
    aggs = [measure.alias(name) for name, (measure, _sql) in asked.items()]
    found = wr.over(
        events, key="k", order="id", windows=wr.rows(before=20, after=5), aggs=aggs
    ).select(list(asked))
    columns = ", ".join(f"{sql} {window} as {name}" for name, (_measure, sql) in asked.items())
    expected = duckdb.sql(f"select {columns} from events order by id").to_arrow_table()
    for name in asked:
        ours, theirs = (each[name].to_pandas().astype(float) for each in (found, expected))
        pd.testing.assert_series_equal(ours, theirs, rtol=1e-12)
    frequencies = duckdb.sql(
        f"select mode(n) {window} as mode, list(n) {window} as held from events order by id"
    ).to_arrow_table()
    modes = wr.over(
        events, key="k", order="id", windows=wr.rows(before=20, after=5), aggs=wr.mode("n")
    )["mode_n"].to_pylist()
    for ours, theirs, held in zip(modes, *frequencies.to_pydict().values(), strict=True):
        assert held.count(ours) == held.count(theirs)
        assert all(
            held.index(ours) <= held.index(n) for n in held if held.count(n) == held.count(ours)
        )


# The monoids' answers -----------------------------------------------------------------------------

MEASURES = [
    wr.median("x"),
    wr.quantile("x", [0.2, 0.7], interpolation="lower").where("n > 10"),
    wr.quantile("s", 0.3, interpolation="nearest"),
    wr.rank("x", method="dense").where("n > 10"),
    wr.percent_rank("s"),
    wr.mode("s"),
    wr.count_distinct("x").where("n > 10"),
    wr.sum_distinct("n"),
    wr.ohlc("n").over_distinct(),
]


@pytest.mark.parametrize("window", [wr.rows(37), wr.expanding()], ids=repr)
def test_blocks_and_threads_answer_what_monoids_answer(events: pa.Table, window: Any) -> None:
    few = events.slice(0, 400)
    arguments = {"key": "k", "order": "id", "aggs": MEASURES}
    longer = wr.rows(400) if window == wr.expanding() else window
    expected = wr.over(few, **arguments, windows=longer, algorithm="recompute")
    with sizes.using(cores=3, smallest_piece=16, smallest_sorted=8):
        found = wr.over(few, **arguments, windows=window)
    assert str(found.to_pylist()) == str(expected.to_pylist())  # NaN too


# Sorting ------------------------------------------------------------------------------------------


def sorted_rows(keys: Any) -> Any:
    size = len(keys)
    room, spare = np.empty((2, size), np.int64)
    places, rows = np.empty((2, size), np.int32)
    counts = np.empty(value_orders.COUNTS, np.int64)
    sort = compiled_loop(value_orders.sort_places)
    counted = np.empty(0, np.bool_)
    assert sort(keys, counted, 0, size, room, spare, counts, places, rows) == size
    assert (places[rows] == np.arange(size)).all()
    return rows


@pytest.mark.parametrize(
    "spread",
    [
        lambda random, size: random.integers(0, 5, size),
        lambda random, size: random.integers(-(2**63), 2**63 - 1, size),
        # One far away, and the others alike in their highest bits: all bits are sorted by.
        lambda random, size: np.append(random.integers(0, 10**6, size - 1), 2**62),
        lambda random, size: np.append(random.integers(-(10**6), 0, size - 1), -(2**63)),
    ],
)
def test_rows_are_sorted_by_key_and_then_by_age(spread: Any) -> None:
    for size in (1, 2, 3000):
        keys = np.ascontiguousarray(spread(np.random.default_rng(size), size), np.int64)
        assert (sorted_rows(keys) == np.argsort(keys, kind="stable")).all()


# Which algorithm ----------------------------------------------------------------------------------


def test_the_plan_names_the_algorithm_and_others_can_be_asked_for(events: pa.Table) -> None:
    arguments: dict[str, Any] = {"order": "id", "windows": wr.rows(5), "aggs": [wr.median("x")]}
    plan = wr.plan(events, **arguments)
    assert plan.groups[0].choices["rows_5"].algorithm.NAME == "value_counts"
    assert "median(x): compiled, from the counts of values" in str(plan)
    named = wr.over(events, **arguments, algorithm="value_counts")
    assert named["median_x"].to_pylist()[:1] == named["x"].to_pylist()[:1]
    slow = wr.plan(events, **arguments, algorithm="two_stacks_lite")
    assert slow.groups[0].choices["rows_5"].algorithm.NAME == "two_stacks_lite"


def test_what_it_cannot_serve_is_refused(events: pa.Table) -> None:
    arguments: dict[str, Any] = {"order": "id", "algorithm": "value_counts"}
    with pytest.raises(wr.NotApplicable, match="value_counts cannot serve sum: its answers depend"):
        wr.over(events, windows=wr.rows(5), aggs=wr.sum("x"), **arguments)
    with pytest.raises(wr.NotApplicable, match=r"value_counts is for wr\.over and wr\.slide alone"):
        wr.Window(wr.median(), algorithm="value_counts")
    with pytest.raises(wr.NotApplicable, match="does not end there: only value_counts"):
        wr.over(
            events, order="id", windows=wr.rows(before=2, after=2), aggs=wr.rank("x"),
            algorithm="recompute",
        )  # fmt: skip


def test_a_row_outside_its_window_is_ranked_among_the_others() -> None:
    table = pa.table({"t": range(5), "x": [3, 1, 2, None, 2]})
    window = wr.rows(3, current=False)
    found = wr.over(table, order="t", windows=window, aggs=[wr.rank("x"), wr.percent_rank("x")])
    assert found["rank_x"].to_pylist() == [None, 1, 2, None, 2]
    assert found["percent_rank_x"].to_pylist() == [None, 0.0, 0.5, None, 0.5]


def test_a_mode_of_too_many_values_raises() -> None:
    table = pa.table({"t": range(5), "x": [3, 1, 2, 2, 2]})
    with pytest.raises(wr.AggregateOverflow, match="a window holds more than limit=2 different"):
        wr.over(table, order="t", windows=wr.rows(3), aggs=wr.mode("x", limit=2))
