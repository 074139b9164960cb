"""A result depends only on the events in its window, and is as accurate as these allow."""

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.examples import examples
from tests.support.over import oracle
from windrow.aggregations import CATALOGUE
from windrow.algebra.kinds import Kind

pytestmark = [
    pytest.mark.usefixtures("interpreted"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]

ORDINARY = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0]
NUMERIC = [
    name for name, aggregation in CATALOGUE.items()
    if len(aggregation.inputs) == 1 and Kind.FLOAT in aggregation.inputs[0].accepts
    and not aggregation.current
]  # fmt: skip


def answers(values: Any, *aggs: Any, window: Any) -> list[Any]:
    table = pa.table({"x": values})
    return wr.over(table, windows=window, aggs=aggs or wr.sum("x")).columns[-1].to_pylist()  # type: ignore[no-any-return]


# What has left is gone --------------------------------------------------------------------------


@pytest.mark.parametrize("extent", [1, 2, 3, 5])
@pytest.mark.parametrize("poison", [math.nan, math.inf, -math.inf, 1e300, -1e308, 5e-324], ids=repr)
def test_nothing_remains_of_what_has_left_the_window(poison: float, extent: int) -> None:
    poisoned = pa.table({"x": [*ORDINARY, poison, -poison, *ORDINARY]})
    aggs = [CATALOGUE[name]("x") for name in NUMERIC]
    answer = wr.over(poisoned, windows=wr.rows(extent), aggs=aggs)
    after = len(ORDINARY) + 2
    # Row by row in a table of its own, so that no window ever held anything else.
    for row in range(after + extent - 1, poisoned.num_rows):
        own = poisoned.slice(row - extent + 1, extent)
        alone = wr.over(own, windows=wr.rows(extent), aggs=aggs).slice(extent - 1)
        for measure in aggs:
            found, expected = answer[measure.name][row].as_py(), alone[measure.name][0].as_py()
            # Both round, each in its own order; the poison would show as far more than this.
            assert found == expected or math.isclose(
                found, expected, rel_tol=1e-15, abs_tol=1e-15
            ), f"{measure.name} in row {row}: {found!r} is not {expected!r}"


def test_nothing_remains_of_a_time_window_either() -> None:
    values = [1e300, -1e300, math.nan, 0.1, 0.2, 0.3]
    times = pa.array([0, 1, 2, 100, 101, 200], pa.timestamp("s"))
    answer = wr.over(
        pa.table({"t": times, "x": values}),
        order="t",
        windows=wr.time("10 seconds"),
        aggs=[wr.sum("x"), wr.variance("x", population=True)],
    )
    assert answer["sum_x"].to_pylist()[3:] == [0.1, 0.1 + 0.2, 0.3]
    assert answer["variance_pop_x"].to_pylist()[5] == 0.0


# Floats are as accurate as from scratch ---------------------------------------------------------

# Every size a float can have, short of those whose sums or squares are infinite.
ANY_SIZE = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e150, max_value=1e150)


@given(st.lists(ANY_SIZE, min_size=1, max_size=40), st.integers(1, 12))
@examples(30)
def test_sums_of_floats_of_any_size(values: list[float], extent: int) -> None:
    for row, found in enumerate(answers(values, window=wr.rows(extent))):
        window = values[max(0, row - extent + 1) : row + 1]
        within = len(window) * oracle.EPSILON * math.fsum(map(abs, window))
        assert abs(found - math.fsum(window)) <= within


@given(st.lists(ANY_SIZE, min_size=1, max_size=30), st.integers(1, 12))
@examples(15)
def test_moments_of_floats_of_any_size(values: list[float], extent: int) -> None:
    table = pa.table({"x": values})
    names = ["mean", "variance", "variance_pop", "stddev", "stddev_pop"]
    answer = wr.over(table, windows=wr.rows(extent), aggs=[CATALOGUE[name]("x") for name in names])
    for name in names:
        for row, found in enumerate(answer[f"{name}_x"].to_pylist()):
            window = values[max(0, row - extent + 1) : row + 1]
            assert oracle.agree(oracle.AGGREGATES[name](window), found), f"{name} in row {row}"


def test_a_long_stream_does_not_drift() -> None:
    values = np.random.default_rng(0).normal(size=20_000) * 1e6
    values[::100] *= 1e9
    found = np.array(answers(values, window=wr.rows(10)))
    expected = np.array([math.fsum(values[max(0, i - 9) : i + 1]) for i in range(len(values))])
    largest = np.array([np.abs(values[max(0, i - 9) : i + 1]).sum() for i in range(len(values))])
    assert (np.abs(found - expected) <= 10 * oracle.EPSILON * largest).all()


def test_the_variance_of_large_numbers_close_together() -> None:
    # The textbook formula, sum of squares minus square of the sum, answers 0 or less here.
    values = [1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16]
    assert answers(values, wr.variance("x"), window=wr.rows(4))[-1] == 30.0


def test_minus_zero_equals_zero() -> None:
    assert answers([0.0, -0.0], wr.max_count("x"), window=wr.rows(2)) == [1, 2]
    assert answers([-0.0, 0.0], wr.min_count("x"), window=wr.rows(2)) == [1, 2]


def test_nan_is_larger_than_any_number_and_equals_itself() -> None:
    values = [math.inf, math.nan, math.nan, -math.inf]
    assert answers(values, wr.min("x"), window=wr.rows(2))[:2] == [math.inf, math.inf]
    assert answers(values, wr.max_count("x"), window=wr.rows(3)) == [1, 1, 2, 2]
    assert math.isnan(answers(values, wr.max("x"), window=wr.rows(4))[-1])


# What subtracts is asked for with `exact=False` --------------------------------------------------

SUBTRACTING = ["subtract_on_evict", "slick_deque", "slick_deque_inv"]


@pytest.mark.parametrize("algorithm", SUBTRACTING)
def test_floats_are_not_subtracted_unless_that_is_said(algorithm: str) -> None:
    """An infinity that has left would stay in every answer behind it."""
    table = pa.table({"t": [1, 2, 3, 4], "x": [1.0, math.inf, 2.0, 3.0], "n": [1, 2, 3, 4]})
    calls: list[Callable[..., Any]] = [
        partial(wr.over, table, windows=wr.rows(2)),
        partial(wr.slide, table, windows=wr.rows(2, every=1)),
        partial(wr.plan, table, windows=wr.rows(2)),
        partial(wr.over, table, windows=wr.policies.at_most_events(2)),
    ]
    for call in calls:
        asked: Any = partial(call, order="t", algorithm=algorithm)
        asked(aggs=wr.sum("n"))
        asked(aggs=[wr.mean("n"), wr.count("x")])
        for aggs in (wr.sum("x"), [wr.sum("n"), wr.mean("x")], wr.geometric_mean("n")):
            with pytest.raises(wr.NotApplicable, match=r"leaves something behind; exact=False adm"):
                asked(aggs=aggs)
            asked(aggs=aggs, exact=False)


@pytest.mark.parametrize("algorithm", SUBTRACTING)
@pytest.mark.parametrize("measures", [wr.sum(), wr.mean(), [wr.sum("x"), wr.count("x")]])
def test_floats_are_not_subtracted_in_a_window(algorithm: str, measures: Any) -> None:
    """The values tell their type when they come."""
    rows = isinstance(measures, list)
    window = wr.Window(measures, algorithm=algorithm)
    for number in (True, 4, Fraction(1, 2), np.int32(5), None):
        window.insert({"x": number} if rows else number)
    answer = window.query()
    for number in (2.5, math.inf, np.float64(1), Decimal("0.1")):
        with pytest.raises(wr.NotApplicable, match=r"insert: .* integers, .* or exact=False to"):
            window.insert({"x": number} if rows else number)
    assert (window.query(), len(window)) == (answer, 5)
    admitting = wr.Window(measures, algorithm=algorithm, exact=False)
    admitting.insert({"x": 2.5} if rows else 2.5)
    assert len(admitting) == 1


@pytest.mark.parametrize("algorithm", SUBTRACTING)
def test_what_rounds_even_integers_is_not_subtracted(algorithm: str) -> None:
    for aggregation in (wr.geometric_mean, wr.harmonic_mean, wr.weighted_mean):
        with pytest.raises(wr.NotApplicable, match="exact=False admits it"):
            wr.Window(aggregation(), algorithm=algorithm)


# Integers are exact, and overflow raises --------------------------------------------------------


def test_sums_of_integers_reach_the_ends_of_64_bits() -> None:
    assert answers([2**62, 2**62 - 1, -(2**62)], window=wr.rows(2)) == [2**62, 2**63 - 1, -1]
    assert answers([-(2**62), -(2**62)], window=wr.rows(2)) == [-(2**62), -(2**63)]


def test_a_sum_may_leave_64_bits_on_the_way() -> None:
    # Each half of the window lies outside, the whole inside; so do the first rows, as no window.
    values = [None, 2**63 - 1, -(2**63), -(2**63), 2**63 - 1, 2]
    times = pa.array([0, 1, 1, 1, 1, 2], pa.timestamp("s"))
    answer = wr.over(
        pa.table({"t": times, "x": values}),
        order="t",
        windows=wr.time("5 seconds", ties="peers"),
        aggs=wr.sum("x"),
    )
    assert answer["sum_x"].to_pylist() == [None, -2, -2, -2, -2, 0]


@pytest.mark.parametrize(
    ("values", "measure"),
    [
        ([2**63 - 1, 1], wr.sum("x")),
        ([-(2**63), -1], wr.sum("x")),
        ([2**32, 2**31], wr.product("x")),
        ([2**62, 2**62, 2**62, 2**62], wr.product("x")),
        ([-(2**63), -1], wr.product("x")),
        ([-(2**63), 0], wr.value_range("x")),
        ([-1, 2**63 - 1], wr.value_range("x")),
    ],
)
def test_integers_that_overflow_raise(values: list[int], measure: Any) -> None:
    with pytest.raises(wr.AggregateOverflow, match="64-bit integers"):
        answers(values, measure, window=wr.rows(4))


def test_a_product_with_a_zero_is_zero_however_large_its_factors() -> None:
    assert answers([2**62, 0, 2**62, 0], wr.product("x"), window=wr.rows(3))[1:] == [0, 0, 0]


def test_the_mean_of_integers_does_not_overflow() -> None:
    assert answers([2**63 - 1] * 4, wr.mean("x"), window=wr.rows(4)) == [2.0**63] * 4
    assert answers([-(2**63), 2**63 - 1], wr.mean("x"), window=wr.rows(2))[1] == -0.5


def test_an_unsigned_integer_that_does_not_fit_raises() -> None:
    with pytest.raises(wr.InvalidArgument, match="uint64"):
        answers(pa.array([2**63], pa.uint64()), window=wr.rows(2))


def test_decimals_are_exact() -> None:
    # Found: Python's own context rounds decimals to 28 digits.
    large, tiny = Decimal("12345678901234567890123456789012.345678"), Decimal("0.000001")
    values = pa.array([large, tiny, tiny], pa.decimal128(38, 6))
    assert answers(values, window=wr.rows(3))[-1] == Decimal(
        "12345678901234567890123456789012.345680"
    )
    assert answers(values, wr.value_range("x"), window=wr.rows(3))[-1] == Decimal(
        "12345678901234567890123456789012.345677"
    )


def test_a_range_of_decimals_may_need_one_more_digit() -> None:
    # Found: the answer was to be of the column's own type, which could not hold it.
    values = pa.array([Decimal("-9.99"), Decimal("9.99")], pa.decimal128(3, 2))
    assert answers(values, wr.value_range("x"), window=wr.rows(2))[-1] == Decimal("19.98")


@pytest.mark.parametrize(
    ("data_type", "digits"), [(pa.decimal128(38, 0), 38), (pa.decimal256(76, 0), 76)], ids=str
)
def test_decimals_that_overflow_raise(data_type: pa.DataType, digits: int) -> None:
    values = pa.array([Decimal("9" * digits), Decimal(1)], data_type)
    with pytest.raises(wr.AggregateOverflow, match=r"an answer of sum\(\w+\) does not fit decimal"):
        answers(values, window=wr.rows(2))
