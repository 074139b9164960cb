"""Moments and regressions are accurate far from zero, in whatever way a window combines them."""

import math
import statistics
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from tests.support.aggregations.expected import EXPECTED, PAIRED
from windrow.aggregations import CATALOGUE
from windrow.algebra.aggregation import Aggregation
from windrow.algebra.kinds import Kind
from windrow.testing import Subject

OFFSETS = [0.0, 1e3, -1e6, 1e9, 1e12]
CHANCE = np.random.default_rng(1)
ONES = CHANCE.normal(size=2000)


def far(offset: float) -> np.ndarray:
    """Numbers that deviate by about 1; the bits that the offset cuts off are gone from all."""
    return offset + ONES


def groupings(aggregation: Aggregation, inputs: list[Any]) -> Iterator[float]:
    """The answer by folding event by event, and by combining halves of halves."""
    subject = Subject(aggregation, (Kind.FLOAT,) * len(aggregation.inputs))
    partials = subject.lift_all(inputs)
    yield subject.monoid.lower(subject.fold(partials))
    while len(partials) > 1:
        neighbours = zip(partials[::2], partials[1::2], strict=False)
        odd = partials[-1:] if len(partials) % 2 else []
        partials = [subject.combine(*pair) for pair in neighbours] + odd
    yield subject.monoid.lower(partials[0])


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("name", ["variance", "variance_pop", "stddev", "skewness", "kurtosis"])
def test_moments_far_from_zero(name, offset):
    values = far(offset).tolist()
    exact = float(EXPECTED[name](values))
    for found in groupings(CATALOGUE[name], values):
        # The skewness of a normal distribution is near zero: what cancels is as large as 1.
        assert found == pytest.approx(exact, rel=1e-12, abs=1e-12 if name == "skewness" else 0)


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("name", ["covariance", "covariance_pop", "correlation", "slope"])
def test_two_columns_far_from_zero(name, offset):
    other = (far(-offset) * 0.5 + CHANCE.normal(size=len(ONES))).tolist()
    rows = list(zip(far(offset).tolist(), other, strict=True))
    exact = float(PAIRED[name](rows))
    for found in groupings(CATALOGUE[name], rows):
        assert found == pytest.approx(exact, rel=1e-12)


def test_the_intercept_is_as_exact_as_the_slope_times_the_distance_to_zero():
    rows = list(zip((3 * far(1e6) + 7).tolist(), far(1e6).tolist(), strict=True))
    for found in groupings(wr.intercept, rows):
        assert found == pytest.approx(float(PAIRED["intercept"](rows)), abs=1e-12 * 3e6)


@pytest.mark.parametrize("value", [0.1, 1e9 + 0.125, 1e15, 1e308, -5e-324])
def test_equal_values_do_not_deviate(value):
    for aggregation in (wr.variance, wr.stddev):
        assert Subject(aggregation, (Kind.FLOAT,)).answer([value] * 64) == 0.0
    for aggregation in (wr.skewness, wr.kurtosis):
        assert Subject(aggregation, (Kind.FLOAT,)).answer([value] * 64) is None
    pairs = [(value, float(place)) for place in range(64)]
    assert Subject(wr.correlation, (Kind.FLOAT,) * 2).answer(pairs) is None
    assert Subject(wr.slope, (Kind.FLOAT,) * 2).answer(pairs) == 0.0


def test_large_numbers_deviate_by_what_their_distances_are():
    values = [1e300 + step * 1e285 for step in (0, 1, 3, 0)]
    subject = Subject(wr.variance, (Kind.FLOAT,))
    assert subject.answer(values) == math.inf  # squares of 1e285
    small = [1e150 + step * 1e135 for step in (0, 1, 3, 0)]
    exact = float(statistics.variance(map(Fraction, small)))
    assert subject.answer(small) == pytest.approx(exact, rel=1e-12)


def test_a_correlation_does_not_leave_one():
    rows = [(0.1 * place, 0.3 * place) for place in range(100)]
    for found in groupings(wr.correlation, rows):
        assert found <= 1.0
        assert found == pytest.approx(1.0)


# Times ------------------------------------------------------------------------------------------

BEGIN = datetime(2024, 5, 1)
SECONDS = [0, 1, 3, 4, 9]
HEIGHTS = [1.0, 3.5, 7.0, 9.25, 20.0]
BY_SECOND = float(PAIRED["slope"](list(zip(HEIGHTS, SECONDS, strict=True))))


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(
    ("data_type", "unit"),
    [(pa.timestamp("s"), 1), (pa.timestamp("ms"), 1), (pa.timestamp("us", "UTC"), 1),
     (pa.timestamp("ns"), 1), (pa.duration("ms"), 1), (pa.date32(), 86_400),
     (pa.date64(), 86_400)],
    ids=str,
)  # fmt: skip
def test_slopes_and_rates_are_per_second_whatever_the_unit_is(data_type, unit):
    if pa.types.is_duration(data_type):
        times: list[Any] = [timedelta(seconds=second) for second in SECONDS]
    elif pa.types.is_date(data_type):
        times = [date(2024, 5, 1) + timedelta(days=second) for second in SECONDS]
    else:
        times = [BEGIN + timedelta(seconds=second) for second in SECONDS]
    table = pa.table({"h": HEIGHTS, "t": pa.array(times, data_type)})
    found = wr.over(table, windows=wr.rows(5), aggs=[wr.slope("h", "t"), wr.rate("h", "t")])
    assert found["slope_h_t"].to_pylist()[-1] == pytest.approx(BY_SECOND / unit, rel=1e-12)
    assert found["rate_h_t"].to_pylist()[-1] == pytest.approx(19 / 9 / unit, rel=1e-12)


@pytest.mark.parametrize("zone", [None, UTC])
def test_a_window_of_python_times(zone):
    window = wr.Window(wr.slope())
    rates = wr.Window(wr.rate())
    for height, second in zip(HEIGHTS, SECONDS, strict=True):
        moment = (BEGIN + timedelta(seconds=second)).replace(tzinfo=zone)
        window.insert(height, moment)
        rates.insert(height, moment)
    assert window.query() == pytest.approx(BY_SECOND, rel=1e-12)
    assert rates.query() == pytest.approx(19 / 9, rel=1e-12)
