"""`min_rows=`: answers are null until a window holds enough, as in pandas and Polars."""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import windrow as wr
from windrow.planning.choose import Wish
from windrow.planning.over_plan import resolve_over
from windrow.planning.placement import place_over
from windrow.windows import Window
from windrow.windows.calls import call_of_window

RANDOM = np.random.default_rng(17)
SIZE = 300
TABLE = pa.table(
    {
        "t": pa.array(np.sort(RANDOM.integers(0, 500, SIZE)), pa.timestamp("s", "UTC")),
        "x": pa.array(np.round(RANDOM.normal(size=SIZE), 3), mask=RANDOM.random(SIZE) < 0.3),
        "p": pa.array(RANDOM.random(SIZE) < 0.1),
    }
)
KINDS: dict[str, Callable[..., Window]] = {
    "rows": lambda **given: wr.rows(5, **given),
    "time": lambda **given: wr.time("10s", **given),
    "delta": lambda **given: wr.delta("x", 2, **given),
    "punctuated": lambda **given: wr.punctuated("p", **given),
    "around": lambda **given: wr.rows(before=1, after=2, **given),
    "left out": lambda **given: wr.time("10s", closed="left", **given),
    "expanding": lambda **given: wr.expanding(**given),
    "whole": lambda **given: wr.whole(**given),
    "calendar": lambda **given: wr.calendar("1d", timezone="Europe/Berlin", **given),
    "session": lambda **given: wr.session("2s", **given),
    "policy": lambda **given: wr.policies.at_most_events(5, **given),
}


def answers(window: Any, *aggs: Any, table: pa.Table = TABLE) -> list[list[Any]]:
    found = wr.over(table, order="t", windows=window, aggs=list(aggs))
    return [found[each.name].to_pylist() for each in aggs]


def test_waiting_is_that_of_pandas_and_polars() -> None:
    """`min_periods` and `min_samples` count values; for a count, pandas counts rows and masks."""
    series = TABLE.to_pandas().set_index("t")["x"]
    for kind, rolling in (
        ("rows", series.rolling(5, min_periods=3)),
        ("time", series.rolling("10s", min_periods=3)),
    ):
        (total,) = answers(KINDS[kind](min_rows=3, of="values"), wr.sum("x"))
        (count,) = answers(KINDS[kind](min_rows=3), wr.count("x"))
        for found, wanted in ((total, rolling.sum()), (count, rolling.count())):
            np.testing.assert_allclose(np.array(found, float), wanted.to_numpy(), atol=1e-9)
    (total,) = answers(KINDS["rows"](min_rows=3, of="values"), wr.sum("x"))
    rolled = pl.Series(TABLE["x"].to_pylist()).rolling_sum(5, min_samples=3).to_list()
    assert [each is None for each in total] == [each is None for each in rolled]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("of", ["rows", "values"])
def test_every_kind_waits(kind: str, of: str) -> None:
    """What an answer waits for is the count of the same window."""
    whole = KINDS[kind]()
    counted = wr.count() if of == "rows" else wr.count("x")
    total, least = answers(whole, wr.sum("x"), counted)
    (found,) = answers(KINDS[kind](min_rows=3, of=of), wr.sum("x"))
    assert found == [
        value if count >= 3 else None for value, count in zip(total, least, strict=True)
    ]
    assert None in found or kind == "whole"
    assert any(value is not None for value in found)


def test_values_are_those_of_the_watched_columns_where_the_condition_holds() -> None:
    table = pa.table(
        {
            "t": [1, 2, 3, 4, 5],
            "x": [1.0, None, 3.0, 4.0, 5.0],
            "y": [1.0, 2.0, None, 1.0, 0.0],
            "s": ["a", "b", None, None, "e"],
        }
    )
    window = wr.rows(5, min_rows=2, of="values")
    both, one, text, sketched, large = answers(
        window,
        wr.covariance("x", "y"),
        wr.arg_max("x", "s"),
        wr.max("s"),
        wr.approx_distinct("s"),
        wr.sum("x").where("x > 3"),
        table=table,
    )
    assert both == [None, None, None, 0.0, pytest.approx(-5 / 6)]
    assert one == [None, None, None, None, "e"]  # carried from a row whose text is null
    assert text == [None, "b", "b", "b", "e"]
    assert sketched == [None, 2, 2, 2, 3]
    assert large == [None, None, None, None, 9.0]


def test_slide_keeps_the_rows_of_masked_answers() -> None:
    table = pa.table({"t": [1, 2, 3, 4], "x": [5, 5, 5, 5]})
    asked: dict[str, Any] = {
        "order": "t", "windows": wr.rows(3, every=1, min_rows=3), "aggs": [wr.max("x"), wr.count()],
    }  # fmt: skip
    found = wr.slide(table, **asked)
    assert found.column_names == ["window_start", "window_end", "max_x", "count"]
    assert found["max_x"].to_pylist() == [None, None, 5, 5]
    assert found["count"].to_pylist() == [None, None, 3, 3]
    changes = wr.slide(table, **asked, changes_only=True)
    assert changes["window_end"].to_pylist() == [1, 3]


def test_windows_tell_it_apart() -> None:
    window = wr.rows(5, min_rows=3)
    assert window == wr.rows(5).with_min_rows(3) != wr.rows(5)
    assert wr.rows(5, min_rows=3) != wr.rows(5, min_rows=3, of="values")
    assert window.default_name == "rows_5"
    assert call_of_window(window) == "rows(5, min_rows=3)"
    assert call_of_window(wr.expanding(min_rows=3)) == "expanding(min_rows=3)"
    joined = wr.policies.since_max("x") | wr.policies.at_most_events(3)
    assert call_of_window(joined.with_min_rows(2, of="values")).endswith("min_rows=2, of='values')")


def test_a_plan_says_it() -> None:
    text = str(wr.plan(order="t", windows={"w": wr.rows(9, min_rows=3)}, aggs=wr.max("x")))
    assert "max(x), rows for min_rows: compiled" in text
    assert "The answers of w are null until it holds 3 rows (min_rows)." in text


def test_what_spark_answers_itself_waits_too() -> None:
    """It knows the count of rows and of a column; not where a condition holds."""

    def where(*aggs: Any, of: str) -> str:
        asked: dict[str, Any] = {"key": "p", "order": "t", "windows": wr.rows(2, min_rows=2, of=of)}
        return place_over(resolve_over(TABLE.schema, aggs=aggs, wish=Wish(), **asked)).where

    assert where(wr.max("x"), of="rows") == "spark"
    assert where(wr.max("x"), of="values") == "spark"
    assert where(wr.max("x").where("p"), of="values") != "spark"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: wr.rows(3, min_rows=4), "min_rows: a window of 3 rows never holds 4; give at"),
        (lambda: wr.rows(before=1, after=1, min_rows=4), "min_rows: a window of 3 rows never"),
        (lambda: wr.rows(3, min_rows=0), "min_rows: it is at least 1, not 0; leave it out"),
        (lambda: wr.time("1h", min_rows=2.5), "min_rows: a number of rows is an integer, not 2.5"),
        (lambda: wr.session("1h", min_rows=True), "min_rows: a number of rows is an integer, not"),
        (lambda: wr.rows(3, of="values"), "of: it says what min_rows= counts; give min_rows=, too"),
        (lambda: wr.rows(3, min_rows=2, of="x"), "of: 'rows' or 'values', not"),
        (
            lambda: wr.policies.since_max("x", min_rows=2) | wr.policies.since_max("y"),
            "min_rows: two policies that are joined wait for the same; say it of both, as in",
        ),
        (
            lambda: wr.Window(wr.max(), policy=wr.policies.since_max(min_rows=2)),
            "policy: min_rows= is for wr.over and wr.slide; ask for len() of a wr.Window",
        ),
    ],
)
def test_what_is_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(wr.InvalidArgument) as caught:
        call()
    assert str(caught.value).startswith(message)
