"""Aggregations about the current row: lag, lead, previous, and how long ago a condition held."""

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import windrow as wr
from tests.support.stream.model import Memory
from windrow.planning.choose import Wish
from windrow.planning.over_plan import resolve_over
from windrow.stream.over_stream import StreamOver

pytestmark = pytest.mark.usefixtures("interpreted")

ROWS = 200


def table() -> pa.Table:
    chance = np.random.default_rng(17)
    return pa.table(
        {
            "k": chance.integers(0, 3, ROWS),
            "ts": pa.array(np.cumsum(chance.integers(0, 3, ROWS)), pa.timestamp("s")),
            "x": pa.array(chance.integers(0, 9, ROWS) / 2, mask=chance.random(ROWS) < 0.3),
            "text": pa.array(chance.choice(["a", "b"], ROWS), mask=chance.random(ROWS) < 0.3),
            "flag": pa.array(chance.random(ROWS) < 0.3, mask=chance.random(ROWS) < 0.2),
        }
    )


def asked(windows: Any, *aggs: Any, **more: Any) -> dict[str, list[Any]]:
    found = wr.over(table(), key="k", order="ts", windows=windows, aggs=list(aggs), **more)
    return found.to_pydict()  # type: ignore[no-any-return]


def shifted(column: str, rows: int) -> list[Any]:
    """By pandas: the value so many rows later in the same key."""
    frame = table().select(["k", column]).to_pandas(types_mapper=pd.ArrowDtype)
    return pa.array(frame.groupby("k")[column].shift(rows)).to_pylist()  # type: ignore[no-any-return]


# Against pandas ----------------------------------------------------------------------------------


@pytest.mark.parametrize("window", [wr.rows(200), wr.expanding(), wr.time("1 day")], ids=repr)
def test_lag_is_that_of_pandas(window: Any) -> None:
    """Also of a lag whose partials are tuples, and of texts."""
    lags = [wr.lag("x"), wr.lag("x", n=3), wr.lag("text", 2), wr.lag("x", 130)]
    found = asked(window, *lags)
    for measure, (column, n) in zip(
        lags, [("x", 1), ("x", 3), ("text", 2), ("x", 130)], strict=True
    ):
        assert found[measure.name] == shifted(column, n), measure


def test_lead_is_that_of_pandas() -> None:
    found = asked(wr.rows(before=0, after=199), wr.lead("x"), wr.lead("text", n=4))
    assert found["lead_x"] == shifted("x", -1)
    assert found["lead_4_text"] == shifted("text", -4)
    assert asked(wr.rows(after=2), wr.lead("x", 2))["lead_2_x"] == shifted("x", -2)


def test_previous_is_the_filled_lag_of_pandas() -> None:
    frame = table().select(["k", "x"]).to_pandas()
    filled = frame.groupby("k")["x"].ffill().groupby(frame["k"]).shift()
    assert (
        asked(wr.rows(200), wr.previous("x"))["previous_x"]
        == pa.array(filled, from_pandas=True).to_pylist()
    )


def test_ohlc_is_that_of_pandas() -> None:
    found = wr.slide(
        table(), order="ts", windows=wr.time("10 seconds", every="10 seconds"), aggs=wr.ohlc("x")
    )
    frame = table().to_pandas().set_index("ts")["x"].resample("10s").ohlc().dropna()
    candles = [row for row in found["ohlc_x"].to_pylist() if row is not None]
    assert candles == frame.to_dict("records")


def test_sums_and_means_of_durations_are_those_of_pandas() -> None:
    chance = np.random.default_rng(3)
    ticks = pa.array(chance.integers(-(2**40), 2**40, ROWS), mask=chance.random(ROWS) < 0.2)
    data = table().append_column("d", ticks.cast(pa.duration("ns")))
    tumbling = wr.time("10 seconds", every="10 seconds")
    found = wr.slide(data, order="ts", windows=tumbling, aggs=[wr.sum("d"), wr.mean("d")])
    groups = data.to_pandas().set_index("ts")["d"].resample("10s")
    starts = found["window_start"].to_pandas()
    for name, expected in {"sum_d": groups.sum(), "mean_d": groups.mean()}.items():
        assert found[name].type == pa.duration("ns")
        assert found[name].to_pandas().tolist() == expected.loc[starts].tolist()


def test_a_mean_of_durations_is_exact_where_their_sum_is_none_of_64_bits() -> None:
    ticks = [2**63 - 1, 2**63 - 2, -(2**63), -(2**63)]
    data = pa.table({"d": pa.array(ticks).cast(pa.duration("ns"))})
    found = wr.over(data, windows=wr.rows(2), aggs=wr.mean("d"))["mean_d"]
    # Cut off toward zero: 2^63 - 1.5, -1.
    assert found.cast(pa.int64()).to_pylist() == [2**63 - 1, 2**63 - 2, -1, -(2**63)]
    with pytest.raises(wr.AggregateOverflow, match="a sum left the range"):
        wr.over(data, windows=wr.rows(2), aggs=wr.sum("d"))


# Conditions --------------------------------------------------------------------------------------


def since(rows: list[int], held: list[Any]) -> int | None:
    """The place of the newest row that is true, from the end."""
    return next((ago for ago, row in enumerate(reversed(rows)) if held[row]), None)


def test_since_a_condition_held() -> None:
    """Of a column, and of a text that says the same; a row without a time is in no window."""
    data = table().to_pydict()
    texts = {"flag": data["flag"], "x > 2": [x is not None and x > 2 for x in data["x"]]}
    for text, held in texts.items():
        count, time, by_order = (
            wr.count_since_last(text, alias="c"),
            wr.time_since_last(text, "ts", alias="t"),
            wr.time_since_last(text, alias="by_order"),
        )
        found = asked(wr.rows(5), count, time, by_order)
        assert found["by_order"] == found["t"]
        for row in range(ROWS):
            same_key = [each for each in range(row + 1) if data["k"][each] == data["k"][row]][-5:]
            ago = since(same_key, held)
            assert found["c"][row] == ago
            then = None if ago is None else data["ts"][row] - data["ts"][same_key[-1 - ago]]
            assert found["t"][row] == then


def test_a_condition_leaves_rows_without_a_value() -> None:
    """They count as rows, and the last value before the current row is one of the others."""
    data = pa.table({"t": range(6), "x": [1, 2, 3, 4, 5, 6], "ok": [True, False] * 3})
    aggs = [wr.lag("x", 2), wr.previous("x"), wr.count_since_last("x > 1")]
    found = wr.over(
        data, order="t", windows=wr.rows(4), aggs=[each.where("ok") for each in aggs]
    ).to_pydict()
    assert found["lag_2_x"] == [None, None, 1, None, 3, None]
    assert found["previous_x"] == [None, 1, 1, 3, 3, 5]
    assert found["count_since_last"] == [None, None, 0, 1, 0, 1]


def test_a_condition_leaves_rows_without_a_value_in_plain_python_too() -> None:
    """One such lift called itself."""
    lags = [wr.lag("x", 130), wr.rank("x")]
    aggs = [each.where("flag").alias(each.name) for each in lags]
    found = asked(wr.rows(200), *aggs)
    data = table().to_pydict()
    kept = [x if flag else None for x, flag in zip(data["x"], data["flag"], strict=True)]
    frame = pd.DataFrame({"k": data["k"], "x": pd.array(kept, pd.ArrowDtype(pa.float64()))})
    assert found["lag_130_x"] == pa.array(frame.groupby("k")["x"].shift(130)).to_pylist()
    assert [each is None for each in found["rank_x"]] == [each is None for each in kept]


def test_windows_of_elements() -> None:
    window = wr.Window([wr.lag("x"), wr.previous("x"), wr.count_since_last("ok")])
    window.insert_many([{"x": 1, "ok": True}, {"x": None, "ok": None}, {"x": 3, "ok": False}])
    assert window.query() == {"lag_x": None, "previous_x": 1, "count_since_last_ok": 2}
    window.evict()
    assert window.query() == {"lag_x": None, "previous_x": None, "count_since_last_ok": None}
    timed = wr.Window(wr.time_since_last())
    timed.insert_many([(True, dt.datetime(2024, 1, 1)), (False, dt.datetime(2024, 1, 2))])
    assert timed.query() == dt.timedelta(days=1)
    ahead = wr.Window(wr.lead(n=2))
    ahead.insert_many([1, 2, 3, 4])
    assert ahead.query() == 3


def test_stores_keep_how_long_ago_a_condition_held() -> None:
    store = wr.stores.MemoryStore()
    types = [pa.bool_(), pa.timestamp("s")]
    window = wr.Window.open(store, "since", wr.time_since_last(), types=types)
    at = dt.datetime(2024, 1, 1)
    window.insert_many([(True, at), (None, at + dt.timedelta(hours=1))])
    window.flush()
    again = wr.Window.open(store, "since")
    again.insert(False, at + dt.timedelta(hours=3))
    assert again.query() == dt.timedelta(hours=3)
    again.evict()
    assert again.query() is None
    with pytest.raises(wr.InvalidArgument, match=r"aggregation: a condition on columns is for"):
        wr.Window.open(store, "text", wr.time_since_last("x > 2", "t"))


def test_a_plan_without_data_knows_of_times() -> None:
    aggs = [wr.time_since_last("x > 2", "at"), wr.rate("x", "at")]
    assert "time_since_last" in str(wr.plan(windows=wr.rows(5), order="t", aggs=aggs))


def test_on_a_stream_lead_is_answered_when_its_row_has_come() -> None:
    data = table().set_column(
        1, "ts", pa.array(np.arange(1000, 1000 + ROWS) * 10**6).view(pa.timestamp("us", "UTC"))
    )
    question: dict[str, Any] = {
        "key": "k", "order": "ts", "windows": wr.rows(before=0, after=2),
        "aggs": [wr.lead("text"), wr.lead("x", 2), wr.lead("x", 2).where("flag").alias("some")],
    }  # fmt: skip
    plan = resolve_over(data.schema, **question, wish=Wish())
    stream, storage = StreamOver(plan, {"x", "text", "flag"}, shards=1), Memory()
    answers = []
    for begin in range(0, ROWS, 50):
        came = data.slice(begin, 50)
        answers += stream.advance(storage, [came], (999 + begin) * 1000).answers
    answers += stream.advance(storage, [], 10**7).answers
    found = pa.concat_tables(answers).to_pylist()
    expected = {row["ts"]: row for row in wr.over(data, **question).to_pylist()}
    # The last two rows of each of the three keys wait for others.
    assert len(found) == ROWS - 6
    for row in found:
        assert expected[row["ts"]] == {**expected[row["ts"]], **row}


# What is refused ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("window", "measure", "message"),
    [
        (wr.rows(3), wr.lag("x", 5), "aggs: lag_5 needs a window of 6 rows or more, and 'rows_3'"),
        (wr.rows(3, current=False), wr.lag("x"), "aggs: lag looks back from the current row, and"),
        (wr.time("1 hour", closed="left"), wr.previous("x"), "previous looks back from the"),
        (wr.time("1 hour", ties="peers"), wr.count_since_last("flag"), "does not end there; give"),
        (wr.rows(before=2, after=2), wr.lag("x"), "'rows_2_before_2_after' does not end there"),
        (wr.rows(5), wr.lead("x", 2), "does not begin there; give it wr.rows(before=0, after=2)"),
        (wr.time(before="0s", after="1 hour"), wr.lead("x"), "does not begin there; give it"),
        (wr.rows(before=0, after=1), wr.lead("x", 2), "lead_2 needs a window of 3 rows or more"),
    ],
    ids=str,
)  # fmt: skip
def test_windows_without_the_row_are_refused(window: Any, measure: Any, message: str) -> None:
    with pytest.raises(wr.InvalidArgument) as refusal:
        asked(window, measure)
    assert message in str(refusal.value)


def test_calls_that_are_refused() -> None:
    tumbling = wr.rows(3, every=3)
    with pytest.raises(wr.InvalidArgument, match=r"aggs: lead looks ahead from a row, and answers"):
        wr.slide(table(), order="ts", windows=tumbling, aggs=wr.lead("x"))
    with pytest.raises(wr.InvalidArgument, match=r"aggs: lag_3 needs a window of 4 rows"):
        wr.slide(table(), order="ts", windows=tumbling, aggs=wr.lag("x", 3))
    with pytest.raises(wr.InvalidArgument, match=r"^condition: .* in 'flag ='"):
        wr.count_since_last("flag =")
    with pytest.raises(wr.InvalidArgument, match=r"write time_since_last\('condition', 'time'\)"):
        wr.over(table(), windows=wr.rows(3), aggs=wr.time_since_last("flag"))
