"""What cannot be right is refused when the call is made, in words that name the argument."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

import windrow as wr

TABLE = pa.table(
    {
        "user": ["ann", "bob"],
        "ts": pa.array([1, 2], pa.timestamp("us", "UTC")),
        "amount": [1.0, 2.0],
        "window": [1, 2],
        "tags": [["a"], []],
    }
)
GOOD: dict[str, Any] = {
    "key": "user",
    "order": "ts",
    "windows": wr.rows(2, every=1),
    "aggs": wr.max("amount"),
}

#: what to change in a good call, and how the message begins
BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no every": (
        {"windows": wr.rows(2)},
        "windows: 'rows_2' does not say when it answers; give every=, as in wr.time('1 hour', "
        "every='1 minute') or wr.rows(1000, every=100), or use wr.over",
    ),
    "no every in one": (
        {"windows": {"a": wr.rows(2, every=1), "b": wr.time("1 hour")}},
        "windows: 'b' does not say when it answers",
    ),
    "no every in delta": (
        {"windows": wr.delta("amount", 2)},
        "windows: 'delta_amount_2' does not say when it answers",
    ),
    "delta of strings": (
        {"windows": wr.delta("user", 2, every=1)},
        "windows: delta('user', ...) needs a column of numbers, not string",
    ),
    "delta of nothing": (
        {"windows": wr.delta("amout", 2, every=1)},
        "windows: there is no column 'amout'; there are user, ts",
    ),
    "punctuated by numbers": (
        {"windows": wr.punctuated("amount")},
        "windows: punctuated('amount') needs a boolean column, not double",
    ),
    "punctuated by nothing": (
        {"windows": wr.punctuated("end")},
        "windows: there is no column 'end'; there are user, ts",
    ),
    "key unknown": ({"key": "usr"}, "key: there is no column 'usr'; there are user, ts"),
    "order unknown": ({"order": "time"}, "order: there is no column 'time'; there are user, ts"),
    "order missing": ({"order": None}, "order: name the column that orders the events"),
    "order nested": ({"order": "tags"}, "order: 'tags' is list<"),
    "aggs unknown": ({"aggs": wr.max("amout")}, "aggs: there is no column 'amout'; there are user"),
    "time over numbers": (
        {"order": "amount", "windows": wr.session("1 hour")},
        "order: a time window measures by a timestamp or a date, and 'amount' is double",
    ),
    "clock over strings": (
        {"order": "user", "windows": wr.rows(2, every="1 hour")},
        "order: a time window measures by a timestamp or a date, and 'user' is string",
    ),
    "answer named as a bound": (
        {"aggs": wr.max("amount").alias("window_end")},
        "aggs: two columns of the result would be called 'window_end'; rename one with .alias",
    ),
    "answer named as the key": (
        {"aggs": wr.max("amount").alias("user")},
        "aggs: two columns of the result would be called 'user'; rename one with .alias",
    ),
    "answer named window": (
        {"windows": [wr.rows(2, every=1), wr.rows(3, every=1)],
         "aggs": wr.max("amount").alias("window")},
        "aggs: two columns of the result would be called 'window'; rename one with .alias",
    ),
    "key named window": (
        {"windows": [wr.rows(2, every=1), wr.rows(3, every=1)], "key": "window"},
        "key: the result has a column 'window' of its own; rename the key's",
    ),
    "algorithm unknown": ({"algorithm": "fastest"}, "algorithm: 'fastest' is not known; there are"),
    "no data": ({"data": 5}, "data: "),
}  # fmt: skip


@pytest.mark.parametrize("bad", BAD)
def test_bad_arguments_are_named(bad: str) -> None:
    changed, message = BAD[bad]
    arguments = {"data": TABLE, **GOOD, **changed}
    with pytest.raises(wr.WindrowError) as raised:
        wr.slide(arguments.pop("data"), **arguments)
    assert str(raised.value).startswith(message)


def test_one_window_leaves_the_name_window_free() -> None:
    assert wr.slide(TABLE, **{**GOOD, "key": "window"}).column_names[0] == "window"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: wr.time("1 month", every="1 day"), "range: '1 month' has no fixed length"),
        (lambda: wr.time("1 day", every="1 month"), "every: '1 month' has no fixed length"),
        (lambda: wr.session("1 year"), "gap: '1 year' has no fixed length"),
        (
            lambda: wr.time("1 day", every=5, offset="1 hour"),
            "offset: it moves a clock; give every",
        ),
        (
            lambda: wr.time("1 day", offset="1 hour"),
            "offset: it moves a clock; give every= a durat",
        ),
        (lambda: wr.rows(5, every=0), "every: a window holds at least 1 row, not 0"),
        (lambda: wr.rows(5, every="0 seconds"), "every: a window's every is more than zero"),
        (lambda: wr.rows(5, every=1.5), "every: a number of rows is an integer, not 1.5"),
        (lambda: wr.delta("x", 0, every=1), "amount: it is more than zero, not 0"),
        (lambda: wr.delta("x", float("nan"), every=1), "amount: it is more than zero, not nan"),
        (
            lambda: wr.delta("x", float("inf"), every=1),
            "amount: a finite number is needed, not inf",
        ),
        (lambda: wr.delta("x", "5", every=1), "amount: a number is needed, not '5'"),
        (lambda: wr.punctuated(5), "column: the name of a column is needed, not 5"),
    ],
)
def test_bad_windows_are_refused_where_they_are_made(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(wr.InvalidArgument) as raised:
        make()
    assert str(raised.value).startswith(message)


def test_over_refuses_what_is_for_slide() -> None:
    with pytest.raises(wr.InvalidArgument, match=r"says every=, which is for wr[.]slide"):
        wr.over(TABLE, **GOOD)
