"""What windows are called, and which are refused."""

from datetime import timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from windrow.engine.slide_batches import slide_batches
from windrow.planning.choose import Wish
from windrow.planning.slide_plan import resolve_slide
from windrow.windows import RowsWindow, TimeWindow, named

HOUR = 3_600_000_000_000


def test_windows_hold_what_they_were_given() -> None:
    assert wr.rows(100) == RowsWindow(100)
    assert wr.rows(np.int64(100)) == RowsWindow(100)
    assert type(wr.rows(np.int64(100)).range) is int
    assert wr.time("1 hour") == wr.time(timedelta(hours=1)) == TimeWindow(HOUR)
    assert wr.time("1 hour", closed="both") == TimeWindow(HOUR, closed="both")
    assert wr.time("1 hour", ties="peers") == TimeWindow(HOUR, ties="peers")


@pytest.mark.parametrize(
    ("window", "name"),
    [
        (wr.rows(1), "rows_1"),
        (wr.rows(100), "rows_100"),
        (wr.time("1 hour"), "time_1_hour"),
        (wr.time("60 minutes"), "time_1_hour"),
        (wr.time("90 seconds"), "time_90_seconds"),
        (wr.time("1 hour 30 minutes"), "time_90_minutes"),
        (wr.time(timedelta(microseconds=1500)), "time_1500_microseconds"),
        (wr.time("1 hour", closed="both", ties="peers"), "time_1_hour"),
    ],
)
def test_default_names(window: Any, name: str) -> None:
    assert window.default_name == name
    assert named(window) == named([window]) == named((window,)) == {name: window}


def test_given_names_win() -> None:
    windows = {"short": wr.rows(2), "1h": wr.time("1 hour")}
    assert named(windows) == windows
    assert list(named(windows)) == ["short", "1h"]


TABLE = pa.table({"k": ["a"], "t": [1], "x": [2.0]})


@pytest.mark.parametrize(
    ("given", "over", "slid"),
    [
        (lambda window: window, ["sum_x"], []),
        (lambda window: [window], ["sum_x"], []),
        (lambda window: {"w": window}, ["sum_x_w"], ["window"]),
        (lambda window: [window, wr.rows(5, window.every and 1)], ["sum_x_rows_2", "sum_x_rows_5"],
         ["window"]),
    ],
    ids=["bare", "a list of one", "named", "several"],
)  # fmt: skip
def test_results_tell_windows_apart_by_name(given: Any, over: list[str], slid: list[str]) -> None:
    """A name that you give is in the result; so are all if there are several."""
    asked: dict[str, Any] = {"key": "k", "order": "t", "aggs": wr.sum("x")}
    assert wr.over(TABLE, windows=given(wr.rows(2)), **asked).column_names == [*"ktx", *over]
    answers = wr.slide(TABLE, windows=given(wr.rows(2, every=1)), **asked)
    assert answers.column_names == [*slid, "k", "window_start", "window_end", "sum_x"]
    batches = TABLE.to_batches()
    plan = resolve_slide(TABLE.schema, windows=given(wr.rows(2, every=1)), **asked, wish=Wish(),
                         changes_only=False)  # fmt: skip
    found = [each for each in slide_batches(batches, plan, set()) if each is not None]
    assert {tuple(each.column_names) for each in found} == {tuple(answers.column_names)}
    assert plan.output_schema.names == answers.column_names


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: wr.rows(0), "range: a window holds at least 1 row, not 0"),
        (lambda: wr.rows(-5), "range: a window holds at least 1 row, not -5"),
        (lambda: wr.rows(2.5), "range: a number of rows is an integer, not 2.5"),
        (lambda: wr.rows("5"), "range: a number of rows is an integer, not '5'"),
        (lambda: wr.rows(True), "range: a number of rows is an integer, not True"),
        (lambda: wr.rows(None), "range: say how many rows, or give before="),
        (
            lambda: wr.time("0 seconds"),
            "range: a window's range is more than zero, not '0 seconds'",
        ),
        (lambda: wr.time("-1 hour"), "range: a window's range is more than zero, not '-1 hour'"),
        (lambda: wr.time(timedelta(0)), "range: a window's range is more than zero, not"),
        (lambda: wr.time("1 month"), "range: '1 month' has no fixed length"),
        (lambda: wr.time(3600), "range: a duration is a string such as '10 minutes'"),
        (lambda: wr.rows(5, before=2), "range: it goes without before= and after="),
        (lambda: wr.rows(before=-1), "before: it is 0 rows or more, not -1"),
        (lambda: wr.rows(after=2.5), "after: a number of rows is an integer, not 2.5"),
        (lambda: wr.rows(5, current=0), "current: True or False, not 0"),
        (lambda: wr.rows(after=2, current=False), "current: with before= and after= the current"),
        (lambda: wr.rows(5, 2, current=False), "current, before, after: they are for wr.over"),
        (lambda: wr.rows(before=5, every=2), "current, before, after: they are for wr.over"),
        (lambda: wr.time(), "range: say how long it is, or give before="),
        (lambda: wr.time("1 hour", after="1 hour"), "range: it goes without before= and after="),
        (lambda: wr.time(before="-1 hour"), "before: it is zero or more, not '-1 hour'"),
        (lambda: wr.time(after="0 seconds"), "before, after: at least one of them is more than"),
        (lambda: wr.time(after="1 hour", ties="peers"), "ties: with before= and after= a window"),
        (lambda: wr.time("1 hour", every=5, closed="left"), "closed, ties, before, after: they"),
        (lambda: wr.time("1 hour", closed="in"), "closed: 'right', 'left', 'both' or 'neither', "),
        (lambda: wr.time("1 hour", closed=None), "closed: 'right', 'left', 'both' or 'neither', "),
        (lambda: wr.time("1 hour", ties=True), "ties: 'rows' or 'peers', not True"),
        (lambda: named([]), "windows: at least one window is needed"),
        (lambda: named({}), "windows: at least one window is needed"),
        (lambda: named(None), "windows: give a window such as wr.rows(100)"),
        (lambda: named(100), "windows: give a window such as wr.rows(100)"),
        (lambda: named("1 hour"), "windows: give a window such as wr.rows(100)"),
        (lambda: named(["1 hour"]), "windows: '1 hour' is no window; use wr.rows(...)"),
        (lambda: named({"a": 100}), "windows: 100 is no window; use wr.rows(...)"),
        (lambda: named({5: wr.rows(5)}), "windows: a window's name is a non-empty string, not 5"),
        (lambda: named({"": wr.rows(5)}), "windows: a window's name is a non-empty string, not ''"),
        (lambda: named([wr.rows(5), wr.rows(5)]), "windows: two windows are called 'rows_5'; name"),
    ],
)
def test_windows_that_cannot_be(call: Any, message: str) -> None:
    with pytest.raises(wr.InvalidArgument) as caught:
        call()
    assert str(caught.value).startswith(message)
    assert isinstance(caught.value, wr.WindrowError)
