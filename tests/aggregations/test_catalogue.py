"""Every aggregation of the catalogue answers what an independent computation answers."""

import math
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.aggregations.expected import EXPECTED, PAIRED, agree
from tests.support.examples import examples
from windrow.aggregations import CATALOGUE, OFFERED
from windrow.algebra.aggregation import Aggregation
from windrow.algebra.kinds import Kind
from windrow.testing import Subject, kinds_accepted
from windrow.testing.strategies import inputs_of

EVERY_KIND = [
    pytest.param(aggregation, kinds, id=f"{aggregation.name}-{kinds[0].value}")
    for aggregation in CATALOGUE.values()
    for kinds in kinds_accepted(aggregation)
]


def test_every_aggregation_is_computed_here_in_another_way():
    assert EXPECTED.keys() | PAIRED.keys() == CATALOGUE.keys()
    assert not EXPECTED.keys() & PAIRED.keys()


@pytest.mark.parametrize(("aggregation", "kinds"), EVERY_KIND)
@examples(5)
@given(data=st.data())
def test_what_it_answers(aggregation, kinds, data):
    if aggregation.name in PAIRED:
        rows = data.draw(st.lists(inputs_of(aggregation, kinds), min_size=1, max_size=9))
        subject, expected = Subject(aggregation, kinds), PAIRED[aggregation.name](rows)
        compiled_run = aggregation is wr.longest_increasing_run and subject.monoid.is_numeric
        if compiled_run and overflows(expected[2]):
            with pytest.raises(OverflowError):
                subject.answer(rows)
            return
        assert agree(as_values(subject, subject.answer(rows), rows), expected)
        return
    first = Aggregation(
        "first input", aggregation.inputs[:1], lambda _: aggregation.monoid_for(kinds)
    )
    values = data.draw(st.lists(inputs_of(first, kinds[:1]), min_size=1, max_size=9))
    several = len(kinds) > 1
    subject = Subject(aggregation, kinds)
    inputs = [(value, place) for place, value in enumerate(values)] if several else values
    expected = EXPECTED[aggregation.name](values)
    if exceeds_64_bits(subject, expected):
        with pytest.raises((OverflowError, wr.AggregateOverflow)):
            subject.answer(inputs)
        return
    found = subject.answer(inputs)
    if found is not None and kinds[0] is not Kind.ANY and aggregation.inputs[0].carried:
        found = values[found]  # a position stands for the value at it
    assert agree(comparable(found, subject), expected)


def as_values(subject: Subject, found: Any, rows: list[Any]) -> Any:
    """The members of a struct, which are positions of rows and ticks."""
    members = subject.monoid.members
    if found is None or not members or subject.kinds[0] is Kind.ANY:
        return found
    values = list(found)
    for place, member in enumerate(members):
        if member.carried is not None:
            values[place] = rows[found[place]][member.carried]
        elif subject.kinds[1].in_ticks and member.name != "length":
            moment = subject.kinds[1] is Kind.TEMPORAL and member.name != "duration"
            begin = EPOCH if moment else timedelta(0)
            values[place] = begin + timedelta(microseconds=int(found[place]))
    return values


EPOCH = datetime(1970, 1, 1)
CHECKED = ("sum", "sum_distinct", "product", "sum_of_squares", "value_range", "change")


def overflows(number: Any) -> bool:
    return isinstance(number, int) and not -(2**63) <= number < 2**63


def exceeds_64_bits(subject: Subject, expected: Any) -> bool:
    whole = subject.kinds[0] in (Kind.INTEGER, Kind.BOOLEAN)
    checked = subject.aggregation.name in CHECKED
    return whole and checked and not -(2**63) <= expected < 2**63


def comparable(found: Any, subject: Subject) -> Any:
    """Times are microseconds; what looks at them gives microseconds back."""
    (kind, *others), carried = subject.kinds, subject.aggregation.inputs[0].carried
    if others or not kind.in_ticks or carried:
        return found
    output = subject.monoid.output((pa.array(kind.examples).type,))
    if pa.types.is_struct(output):
        return [in_time(each, field.type) for each, field in zip(found, output, strict=True)]
    return in_time(found, output)


def in_time(found: Any, data_type: pa.DataType) -> Any:
    ticks = found.item() if isinstance(found, np.generic) else found
    if pa.types.is_boolean(data_type):
        return bool(ticks)
    return pa.array([ticks], data_type)[0].as_py()


# Overflow ---------------------------------------------------------------------------------------


@pytest.fixture(params=["interpreted", pytest.param("compiled", marks=pytest.mark.compiled)])
def either_way(request: pytest.FixtureRequest) -> None:
    """Kernels as plain Python, and as machine code."""
    if request.param == "interpreted":
        request.getfixturevalue("interpreted")


def over(aggregation: Aggregation, values: list[Any], rows: int = 2, type: Any = None) -> list[Any]:
    table = pa.table({"n": pa.array(values, type)})
    found = wr.over(table, windows=wr.rows(rows), aggs=aggregation("n").alias("answer"))
    return found["answer"].to_pylist()


BIG = 2**62


@pytest.mark.usefixtures("either_way")
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
def test_integers_that_leave_64_bits_raise():
    with pytest.raises(wr.AggregateOverflow, match="a sum left the range of 64-bit integers"):
        over(wr.sum, [BIG, BIG])
    with pytest.raises(wr.AggregateOverflow, match="a sum left the range"):
        over(wr.sum, [-BIG, -BIG - 1])
    with pytest.raises(wr.AggregateOverflow, match="a product left the range of 64-bit integers"):
        over(wr.product, [2**32, 2**31])
    with pytest.raises(wr.AggregateOverflow, match="a range of values left the range"):
        over(wr.value_range, [-BIG, BIG])


@pytest.mark.usefixtures("either_way")
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
def test_the_ends_of_64_bits_do_not():
    assert over(wr.sum, [-BIG, -BIG]) == [-BIG, -(2**63)]
    assert over(wr.sum, [BIG - 1, BIG]) == [BIG - 1, 2**63 - 1]
    assert over(wr.product, [-(2**32), 2**31]) == [-(2**32), -(2**63)]
    assert over(wr.value_range, [-BIG, BIG - 1]) == [0, 2**63 - 1]


@pytest.mark.usefixtures("either_way")
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
def test_passing_through_an_overflow_is_none():
    """The window's own answer fits; partials on the way to it do not."""
    found = over(wr.sum, [0, -BIG, -BIG, BIG, -5, BIG], rows=6)
    assert found == [0, -BIG, -(2**63), -BIG, -BIG - 5, -5]
    assert over(wr.sum, [BIG, -1, -BIG, 7, BIG], rows=3) == [BIG, BIG - 1, -1, -BIG + 6, 7]
    # A flip of the window combines the factors on the right first: 2^64 before the zero joins.
    assert over(wr.product, [0, 2**32, 2**31, 0, 5], rows=4) == [0, 0, 0, 0, 0]


def test_a_product_of_many_large_factors_and_a_zero_is_zero():
    """As floats the factors overflow to infinity, and infinity times zero is no number."""
    subject = Subject(wr.product, (Kind.INTEGER,))
    assert subject.answer([2**62] * 40 + [0]) == 0
    with pytest.raises(OverflowError):
        subject.answer([2**62] * 40)


def test_decimals_are_exact_to_38_digits_and_then_raise():
    nines, one_less = Decimal("9" * 38), Decimal("9" * 37 + "8")
    assert over(wr.sum, [one_less, Decimal(1)], type=pa.decimal128(38, 0)) == [one_less, nines]
    with pytest.raises(wr.AggregateOverflow, match=r"an answer of sum\(n\) does not fit"):
        over(wr.sum, [nines, nines], type=pa.decimal128(38, 0))


# Accuracy ---------------------------------------------------------------------------------------


def test_the_mean_of_many_small_negative_integers():
    """Both halves of the sum are large then and nearly cancel; the mean was -0.99999976."""
    partial = Subject(wr.mean, (Kind.INTEGER,)).monoid.lift(-1)
    count = 2**22 + 1
    many = tuple(field * count for field in partial)
    assert Subject(wr.mean, (Kind.INTEGER,)).monoid.lower(many) == -1.0


@pytest.mark.parametrize(
    ("values", "expected"), [([2**62, 2**62, 2], (2**63 + 2) / 3), ([-(2**63)] * 3, -(2.0**63))]
)
def test_the_mean_of_integers_whose_sum_overflows(values, expected):
    assert Subject(wr.mean, (Kind.INTEGER,)).answer(values) == expected


def test_the_geometric_mean_of_the_largest_floats():
    largest = np.finfo(float).max
    assert Subject(wr.geometric_mean).answer([largest] * 3) == pytest.approx(largest, rel=1e-11)
    assert Subject(wr.geometric_mean).answer([5e-324] * 3) == pytest.approx(5e-324)


# What is said of them ---------------------------------------------------------------------------


@pytest.mark.parametrize("aggregation", CATALOGUE.values(), ids=CATALOGUE)
def test_every_aggregation_says_what_it_is(aggregation):
    assert aggregation.summary


@pytest.mark.parametrize("aggregation", OFFERED, ids=repr)
def test_every_aggregation_is_offered_under_its_name(aggregation):
    assert getattr(wr, aggregation.name) is aggregation
    assert aggregation.name in wr.__all__


# Sending them -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "aggregation",
    [
        *OFFERED,
        *CATALOGUE.values(),
        wr.arg_max("x", key=math.cos).aggregation,
        wr.count("x").over_distinct().aggregation,
    ],
    ids=repr,
)
def test_every_aggregation_can_be_sent_to_a_task(aggregation):
    """One that kept what makes its variants could not: no cache of functions can be pickled."""
    cloudpickle = pytest.importorskip("pyspark.cloudpickle")
    assert cloudpickle.loads(cloudpickle.dumps(aggregation)).name == aggregation.name
