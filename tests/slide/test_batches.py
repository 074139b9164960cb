"""Batches of a sorted stream, as Spark hands them over, get the answers of the whole table."""

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.examples import examples
from tests.support.over import oracle as values
from tests.support.over.batches import SIZES, cut, in_order
from tests.support.over.strategies import Query, measure
from tests.support.slide import oracle
from tests.support.slide.batches import stream
from tests.support.slide.served import served_by
from tests.support.slide.strategies import queries
from windrow.algorithms import ALGORITHMS
from windrow.engine.slide_batches import SlidingWindows
from windrow.planning.choose import Wish
from windrow.planning.slide_plan import resolve_slide
from windrow.work import sizes as work_sizes

ROWS_OF_ARRAYS = ("top_3", "bottom_2", "nth_2", "nth_last_3")

pytestmark = [
    pytest.mark.usefixtures("interpreted"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]


def check(query: Query, sizes: list[int], **further: Any) -> None:
    table = in_order(query)
    asked = {name: value for name, value in further.items() if name == "changes_only"}
    expected = oracle.slide(table, **query.arguments, **asked)
    if any(values.overflows(answer[m.name]) for answer in expected for m in query.aggs):
        with pytest.raises(wr.AggregateOverflow):
            stream(table, sizes, query.arguments, **further)
        return
    answer = stream(table, sizes, query.arguments, **further)
    assert answer.schema == wr.slide(table, **query.arguments).schema
    oracle.assert_agrees(expected, answer, query.key)


@given(queries(), SIZES)
@examples(40)
def test_batches_give_the_answers_of_the_table(query: Query, sizes: list[int]) -> None:
    check(query, sizes)


@given(
    queries(pa.int32(), ["count"], timed=False),
    st.sampled_from([each for each in ALGORITHMS if served_by(each, ROWS_OF_ARRAYS)]),
    st.sampled_from(ROWS_OF_ARRAYS),
    SIZES,
)
@examples(30)
def test_windows_hold_rows_of_arrays_for_themselves(
    query: Query, algorithm: str, name: str, sizes: list[int]
) -> None:
    # Found: the windows of a stream held their partials in the same rows of a workspace.
    several = {**query.windows, "a": wr.rows(5, every=2), "b": wr.rows(9, every=3)}
    asked = replace(query, windows=several, aggs=[measure(name)])
    check(asked, sizes, wish=Wish(algorithm))


# Floats that round differently are equal or not by their last bit, which the oracle does not know.
@given(queries(pa.int32(), ["max", "count", "sum", "arg_max", "collect"]), SIZES)
@examples(15)
def test_changes_are_seen_across_batches(query: Query, sizes: list[int]) -> None:
    check(query, sizes, changes_only=True)


@given(queries(), SIZES)
@examples(15)
def test_batches_with_many_answers_are_split(query: Query, sizes: list[int]) -> None:
    with work_sizes.using(most_answers=3, slice_capacity=2, window_capacity=2):
        check(query, sizes)


@given(st.integers(1, 20), SIZES)
@examples(5)
def test_what_is_kept_is_the_window(extent: int, sizes: list[int]) -> None:
    # Falling values: the largest is the oldest of the window, many batches back.
    size = 100
    names = [f"n{row}" for row in range(size)]
    table = pa.table(
        {"t": pa.array(range(size), pa.timestamp("s")), "v": range(size, 0, -1), "name": names}
    )
    windows = {
        "rows": wr.rows(extent, every=3), "clock": wr.time(f"{extent} seconds", every="2 seconds"),
        "trailing": wr.time(f"{extent} seconds", every=2),
        "rows by clock": wr.rows(extent, every="3 seconds"),
    }  # fmt: skip
    plan = resolve_slide(
        table.schema, key=None, order="t", windows=windows, wish=Wish(), changes_only=False,
        aggs=[wr.arg_max("v", "name"), wr.concat("name"), wr.median("v")],
    )  # fmt: skip
    sliding = SlidingWindows(plan, set())
    for batch in cut(table, sizes):
        list(sliding.advance(batch))
        # Rows, the clock and the others have slices of their own.
        assert sliding.slices_kept <= 3 * (extent + 4)
        assert sliding.rows_held <= extent + 4
