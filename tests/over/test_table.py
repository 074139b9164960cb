"""`wr.over` on tables gives what the design says, whatever the table and the question."""

from itertools import chain
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given

import windrow as wr
from tests.support.examples import examples
from tests.support.over import oracle
from tests.support.over.oracle import assert_agrees
from tests.support.over.strategies import VALUES, Query, applicable, queries
from windrow.work import sizes

# Interpreted, numbers are numpy's, which warn where a kernel is silent.
pytestmark = [
    pytest.mark.usefixtures("interpreted"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]


def overflows(expected: dict[str, list[Any]]) -> bool:
    return any(map(oracle.overflows, chain(*expected.values())))


def check(query: Query) -> None:
    expected = query.expected()
    if overflows(expected):
        with pytest.raises(wr.AggregateOverflow):
            wr.over(query.table, **query.arguments)
        return
    result = wr.over(query.table, **query.arguments)
    assert result.column_names == [*query.table.column_names, *expected]
    assert_agrees(query.table.to_pydict() | expected, result)


@given(queries())
@examples(80)
def test_any_question_about_any_table(query: Query) -> None:
    check(query)


@pytest.mark.parametrize("value_type", VALUES, ids=str)
def test_every_aggregation_of_every_type(value_type: pa.DataType) -> None:
    @given(queries(value_type, applicable(value_type)))
    @examples(5)
    def run(query: Query) -> None:
        check(query)

    run()


@given(queries())
@examples(15)
def test_recomputation_gives_the_same_answers(query: Query) -> None:
    query = query.without_current_rows()
    expected = query.expected()
    if not overflows(expected):
        result = wr.over(query.table, **query.arguments, algorithm="recompute")
        assert_agrees(expected, result)


@given(queries())
@examples(30)
def test_pieces_for_threads_give_the_same_answers(query: Query) -> None:
    expected = query.expected()
    with sizes.using(cores=4, smallest_piece=1, smallest_sorted=2):
        if overflows(expected):
            with pytest.raises(wr.AggregateOverflow):
                wr.over(query.table, **query.arguments)
        else:
            assert_agrees(expected, wr.over(query.table, **query.arguments))


def column(answer: pa.Table) -> list[Any]:
    return answer.columns[-1].to_pylist()  # type: ignore[no-any-return]


def test_an_empty_table_has_no_answers() -> None:
    table = pa.table({"t": pa.array([], pa.timestamp("us")), "x": pa.array([], pa.float64())})
    windows = {"r": wr.rows(3), "t": wr.time("1 hour"), "p": wr.time("1 hour", ties="peers")}
    answer = wr.over(
        table, key="x", order="t", windows=windows, aggs=[wr.max("x"), wr.collect("x")]
    )
    assert answer.num_rows == 0
    assert answer.schema.types[2:] == [pa.float64()] * 3 + [pa.list_(pa.float64())] * 3


def test_a_column_of_nothing_but_nulls() -> None:
    table = pa.table({"x": pa.nulls(3, pa.int64()), "untyped": pa.nulls(3)})
    assert column(wr.over(table, windows=wr.rows(2), aggs=wr.sum("x"))) == [None] * 3
    assert column(wr.over(table, windows=wr.rows(2), aggs=wr.count("x"))) == [0] * 3
    for aggregation in (wr.first, wr.last, wr.collect):
        assert column(wr.over(table, windows=wr.rows(2), aggs=aggregation("untyped"))) == [None] * 3
    by_nothing = wr.over(table, key="untyped", order="untyped", windows=wr.rows(2), aggs=wr.count())
    assert column(by_nothing) == [1, 2, 2]


def test_a_null_time_is_far_from_every_time() -> None:
    # Found: a null stood for a time 146 years before 1970, and a longer range reached it.
    table = pa.table({"t": pa.array([2, None, 1, None], pa.timestamp("ns")), "x": [1, 2, 3, 4]})
    answer = wr.over(table, order="t", windows=wr.time("100000 days"), aggs=wr.collect("x"))
    assert column(answer) == [[3, 1], [2], [3], [2, 4]]


@pytest.mark.parametrize("year", ["1678", "2262"])
def test_times_of_nanoseconds_reach_as_far_as_64_bits(year: str) -> None:
    moments = pa.array([f"{year}-01-01", f"{year}-01-02", f"{year}-01-03"]).cast(pa.timestamp("ns"))
    table = pa.table({"t": moments, "x": [1, 2, 3]})
    answer = wr.over(table, order="t", windows=wr.time("2 days"), aggs=wr.collect("x"))
    assert column(answer) == [[1], [1, 2], [2, 3]]


def test_times_too_far_apart_to_measure() -> None:
    table = pa.table({"t": pa.array([-(2**62) - 1, 2**62], pa.timestamp("ns")), "x": [1, 2]})
    with pytest.raises(wr.InvalidArgument, match=r"order: .* cast it to a coarser unit"):
        wr.over(table, order="t", windows=wr.time("1 hour"), aggs=wr.max("x"))


def test_the_distance_of_times_is_a_duration_and_of_days_a_number() -> None:
    table = pa.table(
        {
            "time": pa.array([1, 5], pa.time32("s")),
            "timestamp": pa.array([1, 5], pa.timestamp("ns", "UTC")),
            "date32": pa.array([1, 5], pa.int32()).view(pa.date32()),
            "date64": pa.array([1, 5], pa.int32()).view(pa.date32()).cast(pa.date64()),
        }
    )
    answer = wr.over(table, windows=wr.rows(2), aggs=map(wr.value_range, table.column_names))
    found = {field.name: field.type for field in answer.schema}
    assert found["value_range_time"] == pa.duration("s")
    assert found["value_range_timestamp"] == pa.duration("ns")
    assert found["value_range_date32"] == pa.int64()
    assert found["value_range_date64"] == pa.duration("ms")
    assert [int(each.cast(pa.int64())[1].as_py()) for each in answer.columns[4:]] == [
        4, 4, 4, 4 * 86_400_000
    ]  # fmt: skip


def test_a_row_with_a_null_in_any_input_of_ones_own_aggregation_is_skipped() -> None:
    weighted = wr.aggregation(
        name="weighted",
        identity=(0.0, 0.0),
        lift=lambda value, weight: (value * weight, weight),
        combine=lambda older, newer: (older[0] + newer[0], older[1] + newer[1]),
        lower=lambda partial: partial[0] / partial[1],
    )
    table = pa.table({"v": [1.0, None, 4.0, 5.0], "w": [1.0, 2.0, None, 3.0]})
    answer = wr.over(table, windows=wr.rows(2), aggs=weighted("v", "w"))
    assert column(answer) == [1.0, 1.0, None, 5.0]


@pytest.mark.parametrize(
    "data_type",
    [
        pa.string_view(),
        pa.binary_view(),
        pa.dictionary(pa.int8(), pa.string()),
        pa.run_end_encoded(pa.int32(), pa.string()),
        pa.uuid(),
    ],
    ids=str,
)
def test_encoded_columns_are_keys_order_and_values(data_type: pa.DataType) -> None:
    # Found: Arrow sorts and takes none of these; dictionaries came back in another type.
    texts = pa.array(["b" * 16, None, "a" * 16, "b" * 16])
    if pa.types.is_run_end_encoded(data_type):
        encoded = pa.compute.run_end_encode(texts)
    elif isinstance(data_type, pa.BaseExtensionType):
        encoded = pa.ExtensionArray.from_storage(data_type, texts.cast(data_type.storage_type))
    else:
        encoded = texts.cast(data_type)
    table = pa.table({"e": encoded, "i": [1, 2, 3, 4]})
    window = wr.rows(3)
    assert column(wr.over(table, key="e", windows=window, aggs=wr.sum("i"))) == [1, 2, 3, 5]
    assert column(wr.over(table, order="e", windows=window, aggs=wr.sum("i"))) == [6, 2, 5, 8]
    plain = wr.over(table, windows=window, aggs=[wr.arg_max("i", "e"), wr.max("e"), wr.first("e")])
    values = [value.encode() if value else None for value in texts.to_pylist()]
    expected = [values, [values[0]] * 4, [values[0], values[0], values[0], values[2]]]
    for answer, wanted in zip(plain.columns[2:], expected, strict=True):
        assert answer.cast(pa.large_binary()).to_pylist() == wanted
