"""`wr.Window` with events that come in any order, by their times."""

import datetime
from bisect import bisect_left, bisect_right
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import windrow as wr


def window(aggregation: Any = None) -> wr.Window:
    return wr.Window(aggregation or wr.concat(), algorithm="finger_tree")


@given(st.lists(st.tuples(st.sampled_from("itmoeq"), st.integers(-20, 20)), max_size=60))
def test_any_trace_answers_what_a_sorted_list_answers(steps):
    found, times, texts = window(), [], []
    for number, (name, time) in enumerate(steps):
        text = f"{number} "
        if name == "i" and times:
            found.insert(text)  # at the time of the newest
            times.append(times[-1])
            texts.append(text)
        elif name == "t":
            found.insert_at_time(time, text)
            place = bisect_right(times, time)
            times.insert(place, time)
            texts.insert(place, text)
        elif name == "m":
            some = [time, -time, time // 2, time]
            found.insert_many([f"{text}{index} " for index in range(4)], times=some)
            for index, each in enumerate(some):
                place = bisect_right(times, each)
                times.insert(place, each)
                texts.insert(place, f"{text}{index} ")
        elif name == "o" and times:
            found.evict_older_than(time)
            gone = bisect_left(times, time)
            del times[:gone], texts[:gone]
        elif name == "e" and times:
            found.evict()
            del times[0], texts[0]
        assert (found.query() or "", len(found)) == ("".join(texts), len(texts))
        count = min(abs(time), len(texts))
        assert (found.query_range(count) or "") == "".join(texts[len(texts) - count :])


@pytest.mark.parametrize(
    "times",
    [
        np.array([30, 10, 20]),
        np.array([0.3, 0.1, 0.2]),
        np.array(["2024-03", "2024-01", "2024-02"], "datetime64[s]"),
        pa.array([30, 10, 20], pa.timestamp("us")),
        [datetime.date(2024, 1, day) for day in (3, 1, 2)],
        ["c", "a", "b"],
    ],
    ids=["integers", "floats", "datetime64", "arrow", "dates", "text"],
)
def test_times_of_any_kind(times):
    found = window()
    found.insert_many("cab", times=times)
    assert found.query() == "abc"
    earliest = (times.to_pylist() if isinstance(times, pa.Array) else list(times))[2]
    found.insert_at_time(earliest, "B")
    found.evict_older_than(earliest)
    assert found.query() == "bBc"


def test_measures_of_rows_and_of_several_inputs_come_in_any_order():
    rows = window([wr.first("x"), wr.max("y")])
    rows.insert_at_time(2, {"x": 1, "y": 5})
    rows.insert_at_time(1, {"x": 2, "y": 4})
    assert rows.query() == {"first_x": 2, "max_y": 5}
    pairs = window(wr.arg_max())
    pairs.insert_many([(3, "late"), (3, "early")], times=[2, 1])
    pairs.insert_at_time(0, 2, "small")
    assert (pairs.query(), len(pairs)) == ("early", 3)


def test_events_without_times_and_wrong_times_are_refused_and_change_nothing():
    found = window()
    found.insert("a")
    refused = "1 events of the window have no times; insert all with insert_at_time"
    for call in (
        lambda: found.insert_at_time(1, "b"),
        lambda: found.insert_many("b", times=[1]),
        lambda: found.evict_older_than(1),
    ):
        with pytest.raises(wr.InvalidArgument, match=refused):
            call()
    found.clear()
    found.insert_at_time(5, "a")
    for time in ("x", None, (1, 2)):
        with pytest.raises(wr.InvalidArgument, match=r"time: .* cannot be compared with the times"):
            found.insert_at_time(time, "b")
    with pytest.raises(wr.InvalidArgument, match="time: nan is no time"):
        found.insert_at_time(float("nan"), "b")
    with pytest.raises(wr.InvalidArgument, match="times: they cannot be compared"):
        found.insert_many("bc", times=[1, "x"])
    with pytest.raises(wr.InvalidArgument, match="times: give one for each event, 2, not 1"):
        found.insert_many("bc", times=[1])
    with pytest.raises(wr.InvalidArgument, match="insert_many: concat takes text, not 7"):
        found.insert_many(["b", 7], times=[1, 2])
    with pytest.raises(wr.InvalidArgument, match="times: give an array or a list of times, not 7"):
        found.insert_many("b", times=7)
    assert (found.query(), len(found)) == ("a", 1)


def test_algorithms_of_events_in_order_are_refused():
    with pytest.raises(wr.NotApplicable, match="daba has no insert_at_time; finger_tree can"):
        wr.Window(wr.max(), algorithm="daba").insert_at_time(1, 2)


@pytest.mark.usefixtures("interpreted")
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from("itmoebs"), st.integers(-20, 20)), max_size=50))
def test_a_compiled_window_answers_what_a_plain_one_does(steps):
    """`s` slides by events without times, `b` inserts a block of them."""
    last = wr.aggregation(
        name="digits", identity=(0, 1), lift=lambda digit: (digit, 10),
        combine=lambda older, newer: (
            (older[0] * newer[1] + newer[0]) % 10007, older[1] * newer[1] % 10007
        ),
        lower=lambda partial: partial[0],
    )  # fmt: skip
    found = wr.Window(last(), types="int64", algorithm="finger_tree")
    plain = wr.Window(last(), algorithm="finger_tree")
    for number, (name, time) in enumerate(steps):
        value = number % 10
        for each in (found, plain):
            if name == "i" and len(each):
                each.insert(value)
            elif name == "t":
                each.insert_at_time(time, value)
            elif name == "m":
                each.insert_many([value, 3, 4], times=[time, -time, time // 2])
            elif name == "o" and len(each):
                each.evict_older_than(time)
            elif name == "e" and len(each):
                each.evict()
            elif name == "b" and len(each):
                each.insert_many([value, 7])
            elif name == "s" and len(each):
                each.slide_many([value, 1])
        assert (found.query() or 0, len(found)) == (plain.query() or 0, len(plain))


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(
    ("times", "others", "wrong"),
    [
        ([30, 10, 20], 15, "noon"),
        ([0.5, -0.5, 0.0], -0.25, None),
        (np.array(["2024-03", "2024-01", "2024-02"], "datetime64[s]"),
         datetime.datetime(2024, 1, 5), 7),
        (pa.array([30, 10, 20], pa.timestamp("us", "UTC")),
         datetime.datetime(1970, 1, 1, microsecond=15, tzinfo=datetime.UTC),
         datetime.datetime(2024, 1, 1)),
        ([datetime.date(2024, 1, day) for day in (9, 1, 5)], datetime.date(2024, 1, 3), 2**70),
    ],
    ids=["integers", "floats", "datetime64", "arrow", "dates"],
)  # fmt: skip
def test_times_of_compiled_windows(times, others, wrong):
    """Between the first and the second; what is no such time changes nothing."""
    found = wr.Window(wr.sum(), types="int64", algorithm="finger_tree")
    found.insert_many([100, 1, 10], times=times)
    found.insert_at_time(others, 1000)
    with pytest.raises(wr.InvalidArgument, match="times: "):
        found.insert_at_time(wrong, 5)
    left = []
    for _ in range(4):
        left.append(found.query())
        found.evict()
    assert left == [1111, 1110, 110, 100]


@pytest.mark.usefixtures("interpreted")
def test_what_compiled_windows_of_times_refuse():
    found = wr.Window(wr.sum(), types="int64", algorithm="finger_tree")
    found.insert(1)
    refused = "1 events of the window have no times; insert all with insert_at_time"
    for call in (
        lambda: found.insert_at_time(1, 2),
        lambda: found.insert_many([2], times=[1]),
        lambda: found.evict_older_than(1),
    ):
        with pytest.raises(wr.InvalidArgument, match=refused):
            call()
    found.clear()
    with pytest.raises(wr.InvalidArgument, match="times: give one for each event, 2, not 1"):
        found.insert_many([1, 2], times=[1])
    with pytest.raises(wr.InvalidArgument, match="times: those of a compiled window are numbers"):
        found.insert_at_time("noon", 1)
    with pytest.raises(wr.InvalidArgument, match="times: nan is no time"):
        found.insert_at_time(float("nan"), 1)
    with pytest.raises(wr.NotApplicable, match="daba has no insert_at_time; finger_tree can"):
        wr.Window(wr.max(), types="int64", algorithm="daba").insert_at_time(1, 2)
    assert (found.query(), len(found)) == (None, 0)


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("late", [0, 5, 400])
def test_a_block_enters_as_its_events_do(late):
    """Some of it among the events that are there, some behind them, with nulls and equal times."""
    chance = np.random.default_rng(late)
    before, times = chance.integers(0, 500, 300), 480 - late + chance.integers(0, 100, 200)
    numbers = pa.array(np.arange(200), mask=chance.random(200) < 0.2)
    windows = []
    for _ in range(2):
        window = wr.Window([wr.count("x"), wr.min("x")], types={"x": "int64"},
                           algorithm="finger_tree")  # fmt: skip
        window.insert_many({"x": np.arange(300) + 1000}, times=before)
        windows.append(window)
    block, single = windows
    block.insert_many({"x": numbers}, times=times)
    for number, time in zip(numbers.to_pylist(), times.tolist(), strict=True):
        single.insert_at_time(time, {"x": number})
    for _ in range(500):
        assert (block.query(), len(block)) == (single.query(), len(single))
        block.evict()
        single.evict()
