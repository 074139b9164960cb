"""`wr.slide(empty="emit")`: the windows without events between a key's first and last."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import windrow as wr
from tests.support.examples import examples
from tests.support.over.batches import SIZES, in_order
from tests.support.over.strategies import Query
from tests.support.slide import oracle
from tests.support.slide.batches import stream as in_batches
from tests.support.slide.strategies import queries
from tests.support.stream.model import (
    BINS_SMALL,
    MILLISECOND,
    THE_END,
    Memory,
    accepted,
    arrived,
    length,
)
from tests.support.stream.strategies import Stream, clocks, streams
from windrow.planning.choose import Wish
from windrow.planning.slide_plan import resolve_slide
from windrow.stream import sizes
from windrow.stream.slide_stream import StreamSlide
from windrow.stream.state import LEDGER, NODE, ROWS, WAITING, WINDOWS, kind_of
from windrow.windows import CalendarWindow, TimeWindow
from windrow.work import sizes as work_sizes

pytestmark = [
    pytest.mark.usefixtures("interpreted"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]
SPARSE = pa.table(
    {
        "k": ["a", "a", "b", "a", "b", "a"],
        "t": pa.array([1, 2, 7, 30, 31, 100], pa.timestamp("s", "UTC")),
        "x": [1.0, 2.0, None, 4.0, 5.0, 6.0],
    }
)
ASKED: dict[str, Any] = {"key": "k", "order": "t", "aggs": [wr.sum("x"), wr.count(), wr.max("x")]}


def by_clock(query: Query) -> Query:
    """The windows of a query that may be without events."""
    kept = {
        name: each
        for name, each in query.windows.items()
        if isinstance(each, TimeWindow | CalendarWindow)
    }
    assume(kept)
    return replace(query, windows=kept)


@given(queries(pa.int32(), ["count", "sum", "last", "collect"]), st.booleans())
@examples(30)
def test_tables(query: Query, changes_only: bool) -> None:
    query = by_clock(query)
    asked: dict[str, Any] = {**query.arguments, "changes_only": changes_only, "empty": "emit"}
    found = wr.slide(query.table, **asked)
    oracle.assert_agrees(oracle.slide(query.table, **asked), found, query.key)


@given(queries(pa.int32(), ["count", "sum", "last"]), SIZES, st.booleans(), st.integers(1, 4))
@examples(30)
def test_batches(query: Query, cuts: list[int], changes_only: bool, most: int) -> None:
    """A gap may be longer than a piece of answers, and lie between two batches."""
    query = by_clock(query)
    table = in_order(query)
    further: dict[str, Any] = {"changes_only": changes_only, "empty": "emit"}
    with work_sizes.using(most_answers=most):
        found = in_batches(table, cuts, query.arguments, **further)
    oracle.assert_agrees(oracle.slide(table, **query.arguments, **further), found, query.key)


COMPARED = ("count", "max", "first", "arg_max")


@given(
    streams(clocks, COMPARED) | streams(clocks, ("collect", "count")), st.booleans(), st.booleans()
)
@examples(30)
def test_streams(stream: Stream, changes_only: bool, small: bool) -> None:
    """Windows without events come with the next answer of their key, each once."""
    further: dict[str, Any] = {"changes_only": changes_only, "empty": "emit"}
    schema = stream.batches[0][0].schema
    plan = resolve_slide(schema, **stream.arguments, wish=Wish(), **further)
    day = length(plan.order_type)
    by_rows = changes_only or any(each.aggregation.name == "collect" for each in stream.aggs)
    events, expected_late = (
        arrived(stream, lambda time: time + day) if by_rows else accepted(stream)
    )
    expected = oracle.slide(events, **stream.arguments, **further)
    storage, late, timer = Memory(), 0, None
    tables = [plan.output_schema.empty_table()]
    with sizes.using(**({**BINS_SMALL, "totals_in_a_bin": 2} if small else {})):
        for batch, watermark in [*stream.batches, (schema.empty_table(), THE_END)]:
            if batch.num_rows or (timer is not None and timer <= watermark):
                shard = StreamSlide(plan, set(schema.names), shards=1)
                step = shard.advance(storage, [batch], watermark)
                tables += step.answers
                late, timer = late + step.late, step.timer
            ended = sum(answer["window_end"] <= watermark * MILLISECOND for answer in expected)
            assert sum(table.num_rows for table in tables) <= (ended if watermark else 0)
    assert late == expected_late
    oracle.assert_agrees(expected, pa.concat_tables(tables), stream.key)
    kinds = {kind_of(number) for number in storage}
    if expected:
        # The last window of a key stays for good, and nothing else of it.
        assert kinds >= {LEDGER if by_rows else WINDOWS}
        assert not kinds & {NODE, ROWS, WAITING}


def test_the_answers_are_those_of_pandas() -> None:
    """`resample` has all periods between the first and the last."""
    found = wr.slide(SPARSE, windows=wr.time("5s", every="5s"), **ASKED, empty="emit").to_pandas()
    frame = SPARSE.to_pandas().set_index("t")
    for key, rows in frame.groupby("k"):
        ours = found[found["k"] == key].set_index("window_start")
        resampled = rows["x"].resample("5s")
        pd.testing.assert_series_equal(
            ours["sum_x"], resampled.sum(min_count=1), check_names=False, check_freq=False
        )
        assert ours["count"].tolist() == resampled.size().tolist()
        assert (ours["window_end"] - ours.index == pd.Timedelta("5s")).all()


def test_the_months_between() -> None:
    times = pd.to_datetime(["2024-01-31 23:30", "2024-05-01 00:10"]).tz_localize("Europe/Berlin")
    table = pa.table({"t": pa.array(times, pa.timestamp("us", "Europe/Berlin")), "x": [1, 2]})
    months = wr.calendar("1 month")
    found = wr.slide(table, order="t", windows=months, aggs=wr.sum("x"), empty="emit").to_pandas()
    wanted = pd.date_range("2024-01-01", "2024-05-01", freq="MS", tz="Europe/Berlin")
    assert found["window_start"].tolist() == wanted.tolist()
    assert found["sum_x"].fillna(0).tolist() == [1, 0, 0, 0, 2]


def test_windows_of_rows_have_none() -> None:
    windows = {"clock": wr.time("2s", every="1s"), "rows": wr.rows(2, every=1)}
    found = wr.slide(SPARSE, windows=windows, **ASKED, empty="emit")
    without = wr.slide(SPARSE, windows=windows["rows"], **ASKED)
    rows = found.filter(pa.compute.field("window") == "rows").drop_columns("window")
    assert rows.to_pylist() == without.to_pylist()


def test_a_count_of_too_few_is_null() -> None:
    window = wr.time("5s", every="5s", min_rows=1)
    found = wr.slide(SPARSE, windows=window, **ASKED, empty="emit")
    assert set(found["count"].to_pylist()) == {None, 1, 2}


def test_max_answers_counts_them() -> None:
    asked: dict[str, Any] = {"windows": wr.time("1s", every="1s"), **ASKED, "empty": "emit"}
    assert wr.slide(SPARSE, **asked, max_answers=125).num_rows == 125
    with pytest.raises(wr.InvalidArgument, match="'time_1_second' 125 answers, more than the 124"):
        wr.slide(SPARSE, **asked, max_answers=124)


def test_a_long_gap_does_not_take_a_batchs_memory() -> None:
    """Of 10 million windows without events, a piece has as many as a batch may answer."""
    times = np.array([0, 10_000_000])
    table = pa.table({"t": pa.array(times, pa.timestamp("s")), "x": [1.0, 2.0]})
    asked: dict[str, Any] = {
        "key": None, "order": "t", "windows": wr.time("1s", "1s"), "aggs": wr.sum("x"),
    }  # fmt: skip
    found = in_batches(table, [1, 1], asked, empty="emit")
    assert found.num_rows == 10_000_001
    assert max(len(chunk) for chunk in found["sum_x"].chunks) <= work_sizes.current().most_answers


def test_a_plan_says_it() -> None:
    asked: dict[str, Any] = {
        "order": "t", "windows": wr.time("1h", every="1s"), "aggs": wr.count(), "empty": "emit",
    }  # fmt: skip
    said = "Windows of time_1_hour without events are answered too, between a key's first and last"
    assert said in " ".join(str(wr.plan(**asked)).split())
    text = " ".join(str(wr.plan(**asked, lateness="1s")).split())
    assert "the keys with answers the bins of last windows" in text
    assert "windows without events, with the next answer of their key" in text


@pytest.mark.parametrize(
    ("further", "message"),
    [
        ({"empty": "all"}, "empty: 'skip' or 'emit', not 'all'"),
        ({"windows": wr.session("1h")}, "empty: 'emit' answers the windows without events of a"),
        ({"windows": wr.rows(5, every="1h")}, "empty: 'emit' answers the windows without events"),
        ({"windows": {"w": wr.expanding(every="1h")}}, "empty: 'emit' answers the windows without"),
    ],
)
def test_what_is_refused(further: dict[str, Any], message: str) -> None:
    given_so: dict[str, Any] = {"windows": wr.time("1h", "1h"), **ASKED, "empty": "emit"}
    with pytest.raises(wr.InvalidArgument) as caught:
        wr.slide(SPARSE, **{**given_so, **further})
    assert str(caught.value).startswith(message)
    with pytest.raises(wr.InvalidArgument, match=r"^empty: is for wr\.slide"):
        wr.plan(windows=wr.rows(5), **ASKED, empty="emit", call="over")
