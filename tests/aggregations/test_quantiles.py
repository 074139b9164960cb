"""Quantiles and frequent items are as accurate as they say, and as those of DataSketches."""

import functools
import math
from collections import Counter
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import datasketches
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.examples import examples
from windrow.aggregations.quantile_rows import check_invariants
from windrow.aggregations.quantiles import width_for
from windrow.algebra.kinds import Kind

CHANCE = np.random.default_rng(21)
MANY = 20_000
SHARES = [0.01, 0.1, 0.5, 0.9, 0.99]


def folded(measure: Any, values: list[Any], kind: Kind = Kind.FLOAT, pieces: int = 1) -> Any:
    """The answer, by folding values in pieces and then those, as windows and slices do."""
    monoid = measure.aggregation.monoid_for((kind,))
    totals = []
    for first in range(pieces):
        total = monoid.identity
        for value in values[first * len(values) // pieces : (first + 1) * len(values) // pieces]:
            total = monoid.combine(total, monoid.lift(value))
        totals.append(total)
    total = monoid.identity
    for each in totals:
        total = monoid.combine(total, each)
    return monoid.lower(total)


def slid(measure: Any, values: Any, pieces: int = 1) -> Any:
    """The same by a kernel: the slices of a window are folded, and then combined."""
    table = pa.table({"id": range(len(values)), "x": values})
    window = wr.rows(len(values), every=len(values) // pieces)
    found = wr.slide(table, order="id", windows=window, aggs=measure.aggregation("x").alias("x"))
    return found["x"].to_pylist()[pieces - 1]


SHAPES = {
    "normal": CHANCE.normal(size=MANY),
    "rising": np.arange(MANY, dtype=float),
    "falling": -np.arange(MANY, dtype=float),
    "to and fro": np.where(np.arange(MANY) % 2, 1.0, -1.0) * np.arange(MANY),
    "few": CHANCE.integers(0, 5, MANY).astype(float),
    "far": 1e15 + CHANCE.lognormal(size=MANY),
}


@pytest.mark.compiled
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("pieces", [1, 40])
def test_ranks_are_wrong_by_no_more_than_was_asked(shape, pieces):
    values = SHAPES[shape]
    found = slid(wr.approx_quantile(q=SHARES), values, pieces)
    ordered = np.sort(values)
    for share, value in zip(SHARES, found, strict=True):
        below = np.searchsorted(ordered, value, side="left") / MANY
        up_to = np.searchsorted(ordered, value, side="right") / MANY
        assert below - 0.01 <= share <= up_to + 0.01


@pytest.mark.compiled
def test_as_accurate_as_datasketches():
    """With as many values kept: the mean error of 90 ranks. Theirs are drawn anew in each run."""
    shares = [0.25, 0.5, 0.75]
    measure = wr.approx_quantile(q=shares, error=0.03)
    ours, theirs = [], []
    for _ in range(30):
        values = CHANCE.random(3000)
        library = datasketches.kll_doubles_sketch(87)
        library.update(values)
        for errors, found in (
            (ours, slid(measure, values)),
            (theirs, library.get_quantiles(shares)),
        ):
            ranks = [np.mean(values <= each) for each in found]
            errors.append(np.mean(np.abs(np.subtract(ranks, shares))))
    assert np.mean(ours) < 1.5 * np.mean(theirs)


@pytest.mark.parametrize("share", [0.0, 0.07, 0.5, 0.95, 1.0])
def test_few_values_are_answered_exactly(share):
    values = CHANCE.normal(size=100)
    place = max(0, round(share * 100) - 1)
    assert folded(wr.approx_quantile(q=share), values.tolist()) == np.sort(values)[place]


def test_quantiles_are_values_of_the_column_and_of_its_type():
    days = [date(2024, 1, 1) + timedelta(days=number) for number in range(9)]
    table = pa.table(
        {
            "id": range(9),
            "day": days,
            "price": [Decimal(number) / 4 for number in range(9)],
            "name": list("abcdefghi"),
            "big": [2**62 + number for number in range(9)],
        }
    )
    aggs = [wr.approx_quantile(name, 0.5) for name in ("day", "price", "name", "big")]
    last = wr.over(table, order="id", windows=wr.rows(9), aggs=aggs).to_pylist()[-1]
    assert [last[each.name] for each in aggs] == [days[4], Decimal(1), "e", 2**62 + 4]
    both = wr.over(table, order="id", windows=wr.rows(3), aggs=wr.approx_quantile("big", [0, 1]))
    assert both["approx_quantiles_0_1_big"].to_pylist()[-1] == [2**62 + 6, 2**62 + 8]


@pytest.mark.compiled
def test_equal_work_gives_equal_answers():
    values = SHAPES["normal"]
    for pieces in (1, 40):
        once, again = (slid(wr.approx_quantile(q=SHARES), values, pieces) for _ in range(2))
        assert once == again


@given(
    st.lists(st.lists(st.integers(-9, 9) | st.just(2**63 - 1), min_size=1, max_size=40), max_size=9)
)
@examples(10)
def test_rows_keep_their_invariants_and_do_not_care_which_comes_first(runs):
    measure = wr.approx_quantile(q=[0.0, 0.3, 0.5, 1.0], error=0.3)
    monoid = measure.aggregation.monoid_for((Kind.INTEGER,))
    width = width_for(0.3)
    total, seen = monoid.identity, []
    for run in runs:
        own = functools.reduce(monoid.combine, map(monoid.lift, run))
        check_invariants(own, width)
        total, turned = monoid.combine(total, own), monoid.combine(own, total)
        check_invariants(total, width)
        assert monoid.lower(total) == monoid.lower(turned)
        seen += run
        answer = monoid.lower(total)
        assert (answer[0], answer[-1]) == (min(seen), max(seen))
        assert set(answer) <= set(seen)
        if len(seen) <= width:
            assert answer[2] == sorted(seen)[math.ceil(len(seen) / 2) - 1]


# Frequent items ----------------------------------------------------------------------------------


@pytest.mark.compiled
@pytest.mark.parametrize("pieces", [1, 25])
def test_bounds_hold_the_exact_counts_and_none_is_missing(pieces):
    values = (CHANCE.zipf(1.2, MANY) % 5000).tolist()
    exact = Counter(values)
    found = slid(wr.frequent_items(k=20, error=0.005), values, pieces)
    assert found
    for entry in found:
        assert entry["count"] - entry["error"] <= exact[entry["item"]] <= entry["count"]
        assert entry["error"] <= 0.005 * MANY
    heavy = {item for item, count in exact.items() if count > 0.02 * MANY}
    assert heavy <= {entry["item"] for entry in found}
    counts = [entry["count"] for entry in found]
    assert counts == sorted(counts, reverse=True)


@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=9), min_size=1, max_size=9))
@examples(15)
def test_rows_of_counters_are_the_dicts(runs):
    """Numbers in rows and other values in dicts are counted and answered in the same way."""
    aggregation = wr.frequent_items(k=3, error=0.25).aggregation
    rows, dicts = (aggregation.monoid_for((kind,)) for kind in (Kind.INTEGER, Kind.TEXT))
    totals = [
        functools.reduce(
            monoid.combine,
            [functools.reduce(monoid.combine, map(monoid.lift, run)) for run in runs],
            monoid.identity,
        )
        for monoid in (rows, dicts)
    ]
    assert rows.lower(totals[0]) == dicts.lower(totals[1])


def test_bounds_are_as_close_as_those_of_datasketches():
    values = [f"item {number}" for number in (CHANCE.zipf(1.1, MANY) % 5000).tolist()]
    library = datasketches.frequent_strings_sketch(7)
    for value in values:
        library.update(value)
    theirs = library.get_frequent_items(datasketches.NO_FALSE_NEGATIVES)
    off = max(upper - lower for _item, _estimate, lower, upper in theirs)
    # Theirs keeps up to three quarters of 128 counters.
    found = folded(wr.frequent_items(k=10, error=1 / 96), values, Kind.TEXT)
    assert max(entry["error"] for entry in found) <= 1.1 * off


def test_the_few_that_there_are_come_with_their_exact_counts():
    table = pa.table({"id": range(6), "x": ["a", "b", None, "b", "c", "b"]})
    found = wr.over(table, order="id", windows=wr.rows(6), aggs=wr.frequent_items("x", 2))
    assert found["frequent_items_2_x"].to_pylist()[-1] == [
        {"item": "b", "count": 3, "error": 0},
        {"item": "a", "count": 1, "error": 0},
    ]
