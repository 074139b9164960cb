"""Times in plain Python: whole ticks, so that none is beyond Python's and none is rounded."""

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

import windrow as wr
from tests.support.aggregations.suited import rows_for
from windrow.aggregations import CATALOGUE
from windrow.algebra.aggregation import Aggregation
from windrow.algebra.equality import close
from windrow.algebra.kinds import Kind, in_ticks

pytestmark = pytest.mark.usefixtures("interpreted")

#: 36 billion years after 1970
FAR = 2**60
TICKS = [FAR + 3, None, 1, FAR + 2, 7, 1]
TYPES = [
    pa.timestamp("s"), pa.timestamp("ns", "UTC"), pa.duration("us"), pa.date32(), pa.date64(),
    pa.time32("ms"), pa.time64("ns"),
]  # fmt: skip


def column_of(data_type: pa.DataType) -> tuple[pa.Array, pa.Array]:
    """Times of a type, and their ticks."""
    whole = in_ticks(data_type)
    # Arrow refuses a date of milliseconds that is no whole day, and times beyond a day.
    unit = 86_400_000 if pa.types.is_date64(data_type) else 1
    near = pa.types.is_date(data_type) or pa.types.is_time(data_type)
    ticks = [tick and (tick - FAR * (near and tick >= FAR)) * unit for tick in TICKS]
    numbers = pa.array(ticks, whole)
    return numbers.view(data_type), numbers


def answered(measure: wr.Measure, *columns: pa.Array) -> pa.Array:
    table = pa.table(dict(zip(measure.columns, columns, strict=True)))
    window = rows_for(measure.aggregation, 4)
    return wr.over(table, windows=window, aggs=measure.alias("a"))["a"].combine_chunks()


def alone(aggregation: Aggregation) -> bool:
    """Whether it is of one column that may hold times or integers."""
    first, *others = aggregation.inputs
    return not others and {Kind.TEMPORAL, Kind.INTEGER} <= first.accepts


OF_TIMES = [each for each in CATALOGUE.values() if alone(each)]
LONG = [wr.top_k(k=200), wr.bottom_k(k=200), wr.nth(n=200), wr.nth(n=-200)]


@pytest.mark.parametrize(
    "aggregation", [*OF_TIMES, *(each.aggregation for each in LONG)], ids=lambda each: each.name
)
def test_answers_of_times_are_those_of_their_ticks(aggregation: Aggregation) -> None:
    for data_type in TYPES:
        times, ticks = column_of(data_type)
        found = answered(aggregation("x"), times)
        expected = answered(aggregation("x"), ticks)
        if aggregation.inputs[0].digest is None:
            assert found.cast(in_ticks(found.type)).to_pylist() == expected.to_pylist(), data_type


@pytest.mark.parametrize("data_type", TYPES, ids=str)
@pytest.mark.parametrize("each", ["x", "y"])
def test_lists_and_structs_of_times_are_kept(data_type: pa.DataType, each: str) -> None:
    times, _ = column_of(data_type)
    lists = pa.ListArray.from_arrays(pa.array(range(7)), times)
    column = lists if each == "x" else pa.StructArray.from_arrays([times, lists], ["t", "l"])
    for measure in (wr.collect("n"), wr.nth("n", 200), wr.last("n")):
        found = answered(measure, column)
        if measure.name == "last_n":
            assert found.equals(column)
        elif measure.name == "collect_n":
            assert found[3].values.equals(column[:4])


WITH_TIMES = [
    wr.slope("x", "t"), wr.intercept("x", "t"), wr.rate("x", "t"), wr.m4("x", "t"),
    wr.ewm_mean("x", "t", half_life="3 seconds"), wr.longest_increasing_run("x", "t"),
]  # fmt: skip


@pytest.mark.parametrize("measure", WITH_TIMES, ids=lambda each: each.name)
@pytest.mark.parametrize("data_type", TYPES, ids=str)
def test_decimals_by_times_are_as_floats_by_times(measure: Any, data_type: pa.DataType) -> None:
    times, _ = column_of(data_type)
    numbers = [1.5, 2.25, None, 7.5, 3.0, 3.125]
    decimals = pa.array([each and Decimal(each) for each in numbers], pa.decimal128(10, 3))
    found, expected = (answered(measure, each, times) for each in (decimals, pa.array(numbers)))

    def seen(answers: pa.Array) -> list[Any]:
        return [
            [float(each) if isinstance(each, Decimal) else each for each in flat(row)]
            for row in answers.cast(in_ticks(answers.type)).to_pylist()
        ]

    for one, other in zip(seen(found), seen(expected), strict=True):
        assert close(tuple(one), tuple(other))


def flat(row: Any) -> list[Any]:
    return list(row.values()) if isinstance(row, dict) else [row]


# Over different values ----------------------------------------------------------------------------

DIFFERENT = {
    Kind.BOOLEAN: pa.array([True, None, False]),
    Kind.INTEGER: pa.array([3, None, 2, -(2**20)]),
    Kind.FLOAT: pa.array([2.5, None, 1.5, 0.25]),
    Kind.DECIMAL: pa.array([Decimal("2.5"), None, Decimal("1.5")]),
    Kind.TEXT: pa.array(["b", None, "a", "c"]),
}
ONE_COLUMN = [
    each
    for each in CATALOGUE.values()
    if len(each.inputs) == 1 and not each.inputs[0].carried and not each.inputs[0].unknown
]


@pytest.mark.parametrize("aggregation", ONE_COLUMN, ids=lambda each: each.name)
def test_over_different_values_is_the_same_where_all_are_different(
    aggregation: Aggregation,
) -> None:
    (taken,) = aggregation.inputs
    columns = [column for kind, column in DIFFERENT.items() if kind in taken.accepts]
    if Kind.TEMPORAL in taken.accepts:
        near = [pa.timestamp("us"), pa.date32(), pa.duration("s")]
        types = TYPES if taken.digest is None else near  # hashes are those of Python's times
        columns += [column_of(each)[0].slice(4 * (each in near))[:5] for each in types]
    for column in columns:
        found = answered(aggregation("x").over_distinct(), column)
        expected = answered(aggregation("x"), column)
        assert found.type == expected.type
        one, other = (each.cast(in_ticks(each.type)).to_pylist() for each in (found, expected))
        assert all(map(aggregation.equal, one, other)), column.type


@pytest.mark.parametrize("data_type", TYPES, ids=str)
def test_of_times_each_different_one_is_taken_once(data_type: pa.DataType) -> None:
    times, _ticks = column_of(data_type)
    assert answered(wr.count("x").over_distinct(), times).to_pylist() == [1, 1, 2, 3, 3, 3]
    widest = answered(wr.value_range("x").over_distinct(), times)
    assert widest.equals(answered(wr.value_range("x"), times))


# A user's functions -------------------------------------------------------------------------------


def test_a_function_of_ones_own_is_told_which_times_it_cannot_get() -> None:
    listed = wr.aggregation(
        name="listed", identity=(), lift=lambda time: (time,), combine=lambda a, b: a + b,
        lower=len, output=pa.int64(),
    )  # fmt: skip
    near, far = pa.array([1, 2], pa.timestamp("s")), pa.array([1, FAR], pa.timestamp("s"))
    for measure in (listed("x"), wr.arg_max("x", "x", key=lambda time: time.day)):
        assert len(answered(measure, *[near] * len(measure.columns))) == 2
        for column in (far, pa.array([1, 1001], pa.time64("ns"))):
            with pytest.raises(wr.InvalidArgument, match=r"data: 'x' holds a time of .* datetime"):
                answered(measure, *[column] * len(measure.columns))
