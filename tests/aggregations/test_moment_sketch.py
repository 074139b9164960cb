"""Quantiles from ten moments are close where values are spread smoothly, and in range always."""

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from windrow.aggregations.moment_sketch import with_logarithms
from windrow.algebra.kinds import Kind

CHANCE = np.random.default_rng(4)
MANY = 3000
SHARES = [0.01, 0.1, 0.5, 0.9, 0.99]
SMOOTH = {
    "normal": CHANCE.normal(size=MANY),
    "normal at 1e9": 1e9 + CHANCE.normal(size=MANY),
    "uniform": CHANCE.random(MANY),
    "exponential": CHANCE.exponential(size=MANY),
    "lognormal": CHANCE.lognormal(sigma=2, size=MANY),
    "gamma": CHANCE.gamma(3, size=MANY),
    "two hills": np.where(
        CHANCE.random(MANY) < 0.4, CHANCE.normal(-5, 1, MANY), CHANCE.normal(5, 1, MANY)
    ),
}


def answer(values: Any, q: Any, halves: bool = False) -> Any:
    """Of all values, folded one by one or by halves of halves."""
    monoid = wr.moment_sketch(q=q).aggregation.monoid_for((Kind.FLOAT,))
    partials = [monoid.lift(event) for event in with_logarithms(pa.array(values))]
    while halves and len(partials) > 1:
        odd = partials[-1:] if len(partials) % 2 else []
        pairs = zip(partials[::2], partials[1::2], strict=False)
        partials = [monoid.combine(*pair) for pair in pairs] + odd
    total = monoid.identity
    for partial in partials:
        total = monoid.combine(total, partial)
    return monoid.lower(total)


@pytest.mark.parametrize("shape", SMOOTH)
def test_ranks_of_smooth_distributions_are_wrong_by_one_in_a_hundred_at_most(shape):
    values = SMOOTH[shape]
    for halves in (False, True):
        found = answer(values, SHARES, halves)
        ranks = [np.mean(values <= each) for each in found]
        assert np.abs(np.subtract(ranks, SHARES)).max() < 0.01


@pytest.mark.parametrize("shape", ["normal", "normal at 1e9", "gamma"])
def test_moments_do_not_depend_on_the_grouping(shape):
    values = SMOOTH[shape]
    middle, half = (values.min() + values.max()) / 2, (values.max() - values.min()) / 2
    exact = [np.mean(((values - middle) / half) ** power) for power in range(1, 11)]
    for halves in (False, True):
        assert answer(values, None, halves)["moments"] == pytest.approx(exact, abs=1e-9)


def test_quantiles_of_a_uniform_distribution_are_those_of_its_moments():
    """Of the density that is constant all moments are known: 1 / (power + 1) for even powers."""
    from windrow.aggregations.maximum_entropy import quantiles

    means = np.array([[0.0 if power % 2 else 1 / (power + 1) for power in range(11)]])
    assert quantiles(means, np.array(SHARES))[0] == pytest.approx(
        [2 * share - 1 for share in SHARES], abs=1e-6
    )


AWKWARD = {
    "one": [7.0],
    "equal": [3.0] * 50,
    "two": [0.0, 1.0],
    "few": [0.0, 0.0, 1.0, 2.0, 2.0, 2.0] * 20,
    "far out": [*np.linspace(0, 1, 100), 1e6],
    "huge": [1e300, -1e300, 1.0],
    "tiny": [5e-324, 0.0, 1e-310],
}


@pytest.mark.parametrize("shape", AWKWARD)
def test_awkward_values_are_answered_in_range_and_in_order(shape):
    values = AWKWARD[shape]
    found = answer(values, [0.0, *SHARES, 1.0])
    assert found == sorted(found)
    assert min(values) <= found[0]
    assert found[-1] <= max(values)


@pytest.mark.usefixtures("interpreted")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_leaves_no_quantile_and_leaves_with_its_event(bad):
    table = pa.table({"id": range(4), "x": [1.0, bad, 2.0, 3.0]})
    found = wr.over(table, order="id", windows=wr.rows(2), aggs=wr.moment_sketch("x", 0.5))
    answers = found["moment_sketch_0_5_x"].to_pylist()
    assert answers[0] == 1.0
    assert np.isnan(answers[1])
    assert np.isnan(answers[2])
    assert 2.0 <= answers[3] <= 3.0


@pytest.mark.usefixtures("interpreted")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_numbers_of_all_kinds():
    table = pa.table(
        {
            "id": range(3),
            "n": [1, 2, None],
            "flag": [True, False, True],
            "d": [Decimal(1), Decimal(2), Decimal(3)],
        }
    )
    aggs = [wr.moment_sketch(name) for name in ("n", "flag", "d")]
    last = wr.over(table, order="id", windows=wr.rows(3), aggs=aggs).to_pylist()[-1]
    assert [last[each.name]["count"] for each in aggs] == [2, 3, 3]
    assert [last[each.name]["max"] for each in aggs] == [2.0, 1.0, 3.0]
