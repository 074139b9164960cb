"""Windows that do not end at their row: what pandas, Polars and DuckDB answer, and their spans."""

from itertools import pairwise
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.examples import examples
from tests.support.over import oracle
from tests.support.over.strategies import ROWS_WINDOWS, time_windows
from windrow.planning.choose import Wish
from windrow.planning.over_plan import resolve_over
from windrow.planning.placement import place_over
from windrow.windows.bounds import Bounding, Bounds
from windrow.windows.key_runs import NEVER
from windrow.windows.setting import Setting
from windrow.windows.sorted_rows import SortedRows
from windrow.windows.spans import Spanning
from windrow.work import sizes

pytestmark = pytest.mark.usefixtures("interpreted")

SECONDS = [0, 2, 3, 3, 3, 5, 9, 10, 10, 17]
VALUES = [1.0, 2.0, None, 8.0, 16.0, 32.0, None, 128.0, 256.0, 512.0]
TABLE = pa.table({"t": pa.array(SECONDS, pa.timestamp("s")), "x": VALUES, "id": range(10)})
FRAME = pd.DataFrame({"x": VALUES}, index=pd.to_datetime(SECONDS, unit="s"))


def answers(window: Any, measure: Any = None) -> list[Any]:
    found = wr.over(TABLE, order=["t", "id"], windows=window, aggs=(measure or wr.sum("x")))
    return found.column(found.num_columns - 1).to_pylist()


@pytest.mark.parametrize("closed", ["right", "left", "both", "neither"])
def test_pandas_rolling_over_time(closed: str) -> None:
    # Where the window leaves the row's time out, pandas leaves all rows of that time out.
    ties = "rows" if closed in ("right", "both") else "peers"
    window = wr.time("5 seconds", closed=closed, ties=ties)
    expected = FRAME["x"].rolling("5s", closed=closed, min_periods=1).sum()
    assert answers(window) == expected.astype(object).where(expected.notna(), None).to_list()


def test_pandas_centred_rows() -> None:
    expected = FRAME["x"].rolling(5, center=True, min_periods=1).max().to_list()
    assert answers(wr.rows(before=2, after=2), wr.max("x")) == expected


def test_pandas_shifted_rows() -> None:
    expected = FRAME["x"].shift().rolling(3, min_periods=1).count().astype(int).to_list()
    assert answers(wr.rows(3, current=False), wr.count("x")) == [0, *expected[1:]]


@pytest.mark.parametrize("closed", ["right", "left", "both", "neither"])
def test_polars_windows_around(closed: str) -> None:
    frame = pl.from_arrow(TABLE)
    assert isinstance(frame, pl.DataFrame)
    name: Any = "none" if closed == "neither" else closed
    grouped = frame.rolling("t", period="6s", offset="-4s", closed=name)
    expected = grouped.agg(pl.col("x").count())["x"].to_list()
    window = wr.time(before="4 seconds", after="2 seconds", closed=closed)
    assert answers(window, wr.count("x")) == expected


FRAMES = {
    "ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING": wr.rows(3, current=False),
    "ROWS BETWEEN 2 PRECEDING AND 3 FOLLOWING": wr.rows(before=2, after=3),
    "ROWS BETWEEN CURRENT ROW AND 3 FOLLOWING": wr.rows(after=3),
    "RANGE BETWEEN INTERVAL 3 SECONDS PRECEDING AND CURRENT ROW": wr.time(
        "3 seconds", closed="both", ties="peers"
    ),
    "RANGE BETWEEN INTERVAL 3 SECONDS PRECEDING AND CURRENT ROW EXCLUDE GROUP": wr.time(
        "3 seconds", closed="left", ties="peers"
    ),
    "RANGE BETWEEN INTERVAL 3 SECONDS PRECEDING AND INTERVAL 2 SECONDS FOLLOWING": wr.time(
        before="3 seconds", after="2 seconds", closed="both"
    ),
}


@pytest.mark.parametrize("frame", FRAMES)
def test_duckdb_frames(frame: str) -> None:
    table = TABLE  # noqa: F841  DuckDB finds it by its name
    order = "t, id" if frame.startswith("ROWS") else "t"
    asked = f"SELECT sum(x) OVER (ORDER BY {order} {frame}) FROM table ORDER BY id"
    expected = [
        row[0] for row in duckdb.sql(asked.replace("FROM table", 'FROM "table"')).fetchall()
    ]
    assert answers(FRAMES[frame]) == expected


def test_threads_and_parts_of_spans() -> None:
    windows = [
        wr.rows(3, current=False),
        wr.rows(before=2, after=3),
        wr.time("3 seconds", closed="left", ties="peers"),
        wr.time(before="3 seconds", after="2 seconds"),
    ]
    asked: dict[str, Any] = {"order": ["t", "id"], "windows": windows, "aggs": wr.sum("x")}
    expected = wr.over(TABLE, **asked)
    with sizes.using(cores=4, smallest_piece=1, spanned_rows=2, window_capacity=1):
        assert wr.over(TABLE, **asked) == expected


def test_tables_on_spark_are_not_given_to_spark_as_trailing() -> None:
    windows = wr.time("3 seconds", closed="left")
    asked: dict[str, Any] = {"key": "id", "order": "t", "windows": windows, "aggs": wr.sum("x")}
    assert place_over(resolve_over(TABLE.schema, **asked, wish=Wish())).where != "spark"


# Spans -------------------------------------------------------------------------------------------


@st.composite
def bounded(draw: st.DrawFn) -> tuple[Any, list[list[int]], int]:
    """A window, the times of each key, and a seed of cuts."""
    window = draw(ROWS_WINDOWS | time_windows(pa.timestamp("s")))
    keys = st.lists(st.integers(0, 9), min_size=1, max_size=8).map(sorted)
    return window, draw(st.lists(keys, min_size=1, max_size=3)), draw(st.integers(1, 5))


@given(bounded())
@examples(50)
def test_spans_in_tables_and_batches(case: tuple[Any, list[list[int]], int]) -> None:
    window, keys, step = case
    times = [time for key in keys for time in key]
    starts = np.cumsum([0, *map(len, keys)])[:-1]
    nanoseconds = [time * 10**9 for time in times]
    expected: list[list[int]] = []
    for start, key in zip(starts.tolist(), keys, strict=True):
        group = list(range(start, start + len(key)))
        places = range(len(key))
        expected += [oracle.in_window(window, group, place, nanoseconds, {}) for place in places]
    size = len(times)
    assert held(bounds_of(window, times, np.append(starts, NEVER)).spans(size)) == expected
    found: list[list[int]] = []
    spanning, bounding = Spanning(), bounding_of(window)
    marks = sorted({*range(0, size, step), size})
    if window.ahead(10**9).ticks == 0:  # batches end between peers (see `whole_peers`)
        marks = [m for m in marks if m in (0, size) or m in starts or times[m] != times[m - 1]]
    for begin, stop in pairwise([*marks, size]):
        runs = np.append(starts[(starts >= begin) & (starts < stop)] - begin, NEVER)
        rows = rows_of(times[begin:stop], runs, ends=begin == stop)
        found += held(bounding.of(rows).next_spans(spanning, rows))
    assert found == expected


def held(spans: Any) -> list[list[int]]:
    """The rows of each window."""
    firsts, stops = spans.arrays
    return [list(range(first, stop)) for first, stop in zip(firsts, stops, strict=True)]


def bounding_of(window: Any) -> Bounding:
    return window.bounding(Setting("w", "t", pa.timestamp("s"), None))  # type: ignore[arg-type, no-any-return]


def bounds_of(window: Any, times: list[int], runs: Any) -> Bounds:
    return bounding_of(window).of(rows_of(times, runs, ends=True))


def rows_of(times: list[int], runs: Any, ends: bool) -> SortedRows:
    columns = {"t": pa.array(times, pa.timestamp("s"))}
    return SortedRows(columns, runs, len(times), "t", ends=ends)
