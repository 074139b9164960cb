"""`wr.slide` on tables gives what the design says, whatever the table and the question."""

from dataclasses import replace
from datetime import datetime
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.examples import examples
from tests.support.over import oracle as values
from tests.support.over.strategies import VALUES, Query, applicable, measure
from tests.support.slide import oracle
from tests.support.slide.served import served_by
from tests.support.slide.strategies import queries
from windrow.algebra.kinds import plain_type
from windrow.algorithms import ALGORITHMS
from windrow.work import sizes

# Interpreted, numbers are numpy's, which warn where a kernel is silent.
pytestmark = [
    pytest.mark.usefixtures("interpreted"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]


def check(query: Query, **further: Any) -> None:
    asked = {name: value for name, value in further.items() if name == "changes_only"}
    expected = oracle.slide(query.table, **query.arguments, **asked)
    if any(values.overflows(answer[m.name]) for answer in expected for m in query.aggs):
        with pytest.raises(wr.AggregateOverflow):
            wr.slide(query.table, **query.arguments, **further)
        return
    result = wr.slide(query.table, **query.arguments, **further)
    names = [*query.key, "window_start", "window_end", *(m.name for m in query.aggs)]
    assert result.column_names == ["window", *names]
    for each in query.aggs:
        if each.aggregation.name in ("max", "last", "arg_max", "first", "min"):
            carried = query.table.schema.field(each.columns[-1]).type
            assert result.schema.field(each.name).type == plain_type(carried)
    oracle.assert_agrees(expected, result, query.key)


@given(queries())
@examples(100)
def test_any_question_about_any_table(query: Query) -> None:
    check(query)


@pytest.mark.parametrize("value_type", VALUES, ids=str)
def test_every_aggregation_of_every_type(value_type: pa.DataType) -> None:
    @given(queries(value_type, applicable(value_type)))
    @examples(5)
    def run(query: Query) -> None:
        check(query)

    run()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_gives_the_same_answers(algorithm: str) -> None:
    names = served_by(algorithm)
    assert names

    @given(queries(pa.int32(), ["count"], nulls=False), st.sampled_from(names))
    @examples(10)
    def run(query: Query, name: str) -> None:
        windows = query.windows
        if algorithm == "slick_deque_non_inv":  # it selects one value, and does not count as well
            windows = {each: window.with_min_rows(None) for each, window in windows.items()}
        query = replace(query, windows=windows, aggs=[measure(name)])
        check(query, algorithm=algorithm, exact=False)

    run()


def test_an_algorithm_that_serves_each_but_not_all_is_refused() -> None:
    table = pa.table({"t": [1, 2], "x": [1, 2]})
    with pytest.raises(wr.NotApplicable, match="in one pass"):
        wr.slide(
            table, order="t", windows=wr.rows(2, every=1), aggs=[wr.max("x"), wr.min("x")],
            algorithm="slick_deque_non_inv",
        )  # fmt: skip


@given(queries())
@examples(30)
def test_pieces_for_threads_give_the_same_answers(query: Query) -> None:
    with sizes.using(cores=4, smallest_piece=2):
        check(query)


# Floats that round differently are equal or not by their last bit, which the oracle does not know.
@given(queries(pa.int32(), ["max", "count", "sum", "arg_max", "collect"]))
@examples(30)
def test_changes_only_leaves_out_what_was_answered_before(query: Query) -> None:
    check(query, changes_only=True)


# By hand ------------------------------------------------------------------------------------------


def seconds(*numbers: int | None) -> pa.Array:
    return pa.array(numbers, pa.int64()).cast(pa.timestamp("s"))


def answered(result: pa.Table) -> list[tuple[Any, ...]]:
    """Begins and ends as numbers, and the answer."""
    bounds = [result[name].cast(pa.int64()).to_pylist() for name in ("window_start", "window_end")]
    return list(zip(*bounds, result.columns[-1].to_pylist(), strict=True))


def test_windows_of_a_clock_are_aligned_to_the_epoch_also_before_it() -> None:
    table = pa.table({"t": seconds(-3, 4), "x": [1, 2]})
    window = wr.time("4 seconds", every="2 seconds")
    assert answered(wr.slide(table, order="t", windows=window, aggs=wr.sum("x"))) == [
        (-6, -2, 1), (-4, 0, 1), (2, 6, 2), (4, 8, 2),
    ]  # fmt: skip


def test_windows_between_two_ticks_are_named_in_a_finer_unit() -> None:
    # Found: slides were rounded up to whole ticks, and so were other windows than asked for.
    table = pa.table({"t": seconds(0, 1), "x": [1, 2]})
    window = wr.time("1 second", every="500 milliseconds")
    result = wr.slide(table, order="t", windows=window, aggs=wr.sum("x"))
    assert result.schema.field("window_start").type == pa.timestamp("ms")
    assert answered(result) == [(-500, 500, 1), (0, 1000, 1), (500, 1500, 2), (1000, 2000, 2)]
    dates = pa.table({"t": pa.array([0, 1], pa.int32()).cast(pa.date32()), "x": [1, 2]})
    days = wr.slide(dates, order="t", windows=wr.time("2 days", every="1 day"), aggs=wr.sum("x"))
    assert days["window_start"].cast(pa.int32()).to_pylist() == [-1, 0, 1]
    noon = wr.slide(dates, order="t", windows=wr.session("36 hours"), aggs=wr.sum("x"))
    assert answered(noon) == [(0, 86_400 + 36 * 3600, 3)]


def test_aggregations_of_times_keep_their_unit_where_windows_begin_between_two_ticks() -> None:
    # Found: they were computed in the finer unit of the windows, and `m4` failed.
    table = pa.table({"t": seconds(0, 1, 2, 3), "x": [0.0, 10.0, 20.0, 30.0]})
    aggs = [
        wr.max("t"),
        wr.value_range("t"),
        wr.rate("x", "t"),
        wr.slope("x", "t"),
        wr.m4("x", "t"),
    ]
    windows = {
        "clock": wr.time("4 seconds", every="500 milliseconds"), "rows": wr.rows(4, every=4)
    }  # fmt: skip
    result = wr.slide(table, order="t", windows=windows, aggs=aggs)
    for row in result.filter(
        pa.compute.equal(result["value_range_t"].cast(pa.int64()), 3)
    ).to_pylist():
        assert row["max_t"] == datetime(1970, 1, 1, 0, 0, 3)
        assert row["rate_x_t"] == row["slope_x_t"] == 10
        assert row["m4_x_t"]["last_time"] == row["max_t"]
    assert result.schema.field("max_t").type == pa.timestamp("s")
    assert result.schema.field("value_range_t").type == pa.duration("s")


def test_events_without_a_time_lie_in_no_window_of_time() -> None:
    # Found: they were counted at the epoch.
    table = pa.table({"t": seconds(None, 5, None, 6), "x": [1, 2, 4, 8]})
    windows = {
        "clock": wr.time("10 seconds", every="10 seconds"),
        "trailing": wr.time("10 seconds", every=2),
        "session": wr.session("2 seconds"),
        "rows by clock": wr.rows(4, every="10 seconds"),
        "rows": wr.rows(4, every=4),
    }
    result = wr.slide(table, order="t", windows=windows, aggs=wr.sum("x"))
    assert dict(zip(result["window"].to_pylist(), result["sum_x"].to_pylist(), strict=True)) == {
        "clock": 10, "trailing": 10, "session": 10, "rows by clock": 10, "rows": 15,
    }  # fmt: skip


def test_events_without_a_measure_lie_in_no_window_of_differences() -> None:
    table = pa.table({"t": range(4), "d": [1.0, float("nan"), None, 5.0], "x": [1, 2, 4, 8]})
    window = wr.delta("d", 10, every=1)
    result = wr.slide(table, order="t", windows=window, aggs=wr.sum("x"))
    assert result["sum_x"].to_pylist() == [1, 9]


def test_a_session_goes_on_where_the_gap_is_just_reached() -> None:
    # Found by agreement with Spark: the row exactly one gap later began a new session.
    table = pa.table({"t": seconds(0, 2, 5), "x": [1, 2, 4]})
    result = wr.slide(table, order="t", windows=wr.session("2 seconds"), aggs=wr.sum("x"))
    assert answered(result) == [(0, 4, 3), (5, 7, 4)]


def test_an_aggregation_of_ones_own() -> None:
    longest = wr.aggregation(
        name="longest", identity="", lift=lambda text: text,
        combine=lambda older, newer: newer if len(newer) > len(older) else older,
        lower=lambda partial: partial,
    )  # fmt: skip
    table = pa.table({"t": range(6), "s": ["a", "bb", "c", None, "ddd", "e"]})
    result = wr.slide(table, order="t", windows=wr.rows(3, every=2), aggs=longest("s"))
    assert result.columns[-1].to_pylist() == ["bb", "bb", "ddd"]


def test_an_empty_table_has_no_answers() -> None:
    table = pa.table(
        {"k": pa.array([], pa.string()), "t": seconds(), "x": pa.array([], pa.int64())}
    )
    windows = [wr.rows(3, every=2), wr.time("1 hour", every="1 minute"), wr.session("1 hour")]
    result = wr.slide(table, key="k", order="t", windows=windows, aggs=wr.sum("x"))
    assert result.num_rows == 0
    assert result.schema.field("window_start").type == pa.timestamp("s")
    assert result.column_names == ["window", "k", "window_start", "window_end", "sum_x"]


@pytest.mark.parametrize("far", [2**63 - 1, -(2**63)])
def test_windows_beyond_the_ends_of_time_are_refused(far: int) -> None:
    table = pa.table({"t": pa.array([far], pa.timestamp("us")), "x": [1]})
    for window in (wr.time("1 hour", every="1 second"), wr.rows(2, every="1 second")):
        with pytest.raises(wr.InvalidArgument, match="begins or ends at times that 't'"):
            wr.slide(table, order="t", windows=window, aggs=wr.sum("x"))


def test_windows_longer_than_64_bits_hold_everything() -> None:
    table = pa.table({"t": pa.array([1, 2], pa.timestamp("ns")), "x": [1, 2]})
    result = wr.slide(table, order="t", windows=wr.time("99999999 days", every=1), aggs=wr.sum("x"))
    assert result["sum_x"].to_pylist() == [1, 3]


def test_differences_beyond_64_bits_are_refused() -> None:
    # Found: they wrapped around.
    table = pa.table({"t": [1, 2], "d": [-(2**62) - 2, 2**62], "x": [1, 2]})
    with pytest.raises(wr.InvalidArgument, match="lie further apart than 64 bits can measure"):
        wr.slide(table, order="t", windows=wr.delta("d", 5, every=1), aggs=wr.sum("x"))
