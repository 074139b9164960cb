"""`wr.Window(..., types=...)`: compiled, on numbers of known types."""

import datetime
import gc
import math
import weakref
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import windrow as wr
from windrow.compiler import event_calls
from windrow.element.single_events import ROOM

RUN = settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])


def filled(aggregation: Any, events: Any, types: Any = "float64", **options: Any) -> wr.Window:
    window = wr.Window(aggregation, types=types, **options)
    window.insert_many(events)
    return window


# Machine code -----------------------------------------------------------------------------------


@pytest.mark.compiled
def test_single_events_and_blocks_are_one_window():
    """Beyond the events that wait, and beyond the first room; as plain Python has it."""
    window = wr.Window(wr.max(), types="float64")
    plain = wr.Window(wr.max())
    chance = np.random.default_rng(1)
    for turn in range(12):
        values = chance.normal(size=ROOM).tolist()
        for value in values:
            window.insert(value)
            plain.insert(value)
        block = chance.normal(size=ROOM)
        window.insert_many(block)
        plain.insert_many(block)
        for _ in range(ROOM // 2 * (turn % 3)):
            window.evict()
            plain.evict()
        assert (window.query(), len(window)) == (plain.query(), len(plain))
        slid = chance.normal(size=50)
        assert window.slide_many(slid).to_pylist() == plain.slide_many(slid)
        window.evict_many(len(window) // 2)
        plain.evict_many(len(plain) // 2)
        assert (window.query(), len(window)) == (plain.query(), len(plain))


@pytest.mark.compiled
@pytest.mark.skipif(not event_calls.is_possible(), reason="objects of this Python lie otherwise")
def test_single_events_are_functions_of_machine_code():
    """Whatever they do not know themselves goes to the methods in Python."""
    window = wr.Window(wr.max(), types="int64")
    assert type(window.insert) is type(len)
    for value in (3, True, None, 2**62, np.int64(5)):
        window.insert(value)
    assert (window.query(), window.query(range=None), len(window)) == (2**62, 2**62, 5)
    for wrong in ((2**64,), ("7",), (), (1, 2)):
        with pytest.raises(wr.InvalidArgument):
            window.insert(*wrong)
    with pytest.raises(wr.InvalidArgument, match="range: a compiled window answers"):
        window.query(range=2)
    with pytest.raises(wr.InvalidArgument, match="count: "):
        window.evict_many(-1)
    with pytest.raises(wr.EmptyWindow, match="evict_many: 6 events are to leave, but the window h"):
        window.evict_many(6)
    window.evict_many(np.int64(1))
    window.evict_many(count=1)
    window.evict_many(2)
    window.evict()
    with pytest.raises(wr.EmptyWindow, match="evict: the window holds no events"):
        window.evict()
    assert (window.query(), len(window)) == (None, 0)


@pytest.mark.compiled
def test_functions_outlive_their_window_and_windows_leave_nothing():
    window = wr.Window(wr.max(), types="float64")
    insert, query = window.insert, window.query
    seen = weakref.ref(window._behind)
    gc.disable()
    try:
        del window
        assert seen() is None, "the window is part of a cycle, and its memory stays"
    finally:
        gc.enable()
    for value in [*np.random.default_rng(7).normal(size=5 * ROOM).tolist(), 9.0]:
        insert(value)
    assert query() == 9.0


@pytest.mark.compiled
def test_an_overflow_raises_and_the_window_goes_on():
    window = filled(wr.sum(), [2**62, 2**62], "int64")
    with pytest.raises(wr.AggregateOverflow, match="sum: a sum left the range of 64-bit integers"):
        window.query()
    assert len(window) == 2
    window.evict()
    window.insert(1)
    assert (window.query(), len(window)) == (2**62 + 1, 2)


def check_a_policy_that_fails() -> None:
    """Events that cannot enter wait; when no more can wait, every insertion says why."""
    policy = wr.policy(lambda newest, _oldest: 10 // int(500 - newest) < 0, of=wr.max())
    window = filled(wr.max(), [1, 2], "int64", policy=policy)
    window.insert(500)
    with pytest.raises(wr.DivisionByZero):
        window.query()
    for _ in range(ROOM - 2):
        window.insert(1)
    for _ in range(5):
        with pytest.raises(wr.DivisionByZero):
            window.insert(1)
    assert window._behind._single._desk[event_calls.COUNT] == ROOM
    window.clear()
    window.insert(4)
    assert (window.query(), len(window)) == (4, 1)


@pytest.mark.compiled
def test_machine_code_writes_nothing_behind_a_full_buffer():
    check_a_policy_that_fails()


# Interpreted ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("interpreted")
class TestInterpreted:
    @RUN
    @given(
        st.lists(st.none() | st.integers(-50, 50), min_size=1, max_size=40),
        st.lists(st.none() | st.integers(-50, 50), max_size=40),
        st.sampled_from(["sum", "max", "mean", "count_distinct", "stddev"]),
        st.sampled_from([None, "sequential_boundary", "flat_fat", "daba_lite"]),
    )
    def test_slides_as_evict_insert_query_do(self, first, slid, name, algorithm):
        aggregation = getattr(wr, name)
        if name == "count_distinct":
            aggregation = wr.approx_distinct
        window = filled(aggregation(), first, "int64", algorithm=algorithm)
        single = filled(aggregation(), first, "int64", algorithm="recompute")
        expected = []
        for value in slid:
            single.evict()
            single.insert(value)
            expected.append(single.query())
        assert window.slide_many(pa.array(slid, pa.int64())).to_pylist() == pytest.approx(expected)
        assert (window.query(), len(window)) == (pytest.approx(single.query()), len(single))

    def test_evictions_of_events_that_wait(self):
        window = wr.Window(wr.max(), types="int64")
        for value in (9, 8, 7, 6):
            window.insert(value)
        window.evict_many(2)
        window.evict()
        assert (window.query(), len(window)) == (6, 1)
        window.insert(5)
        window.evict_many(2)
        with pytest.raises(wr.EmptyWindow, match="evict: the window holds no events"):
            window.evict()
        assert (window.query(), len(window)) == (None, 0)
        with pytest.raises(wr.EmptyWindow, match="slide_many: the window holds no events"):
            window.slide_many([1])

    def test_nulls_are_events_without_a_value(self):
        window = filled(wr.max(), [None, 3, None], "int64")
        assert (window.query(), len(window)) == (3, 3)
        window.evict_many(2)
        assert (window.query(), len(window)) == (None, 1)
        window.insert(None)
        window.insert(2**63 - 1)
        assert (window.query(), len(window)) == (2**63 - 1, 3)

    def test_events_of_other_types(self):
        """Times, several inputs, answers that are structs, values that are hashed."""
        day = datetime.datetime(2024, 2, 29, tzinfo=datetime.UTC)
        assert filled(wr.max(), [day], pa.timestamp("us", "UTC")).query() == day
        window = wr.Window(wr.correlation(), types=["float64", "int32"])
        window.insert(1.5, 3)
        window.insert_many([(2.5, 5), (3.5, 7)])
        assert window.query() == pytest.approx(1.0)
        assert filled(wr.approx_distinct(), ["a", "b", "a"], "string").query() == 2
        counted = wr.Window(wr.count(), types="float64")
        counted.insert(None)
        counted.insert(math.nan)
        assert counted.query() == 2

    @pytest.mark.parametrize("value", ["4", 1j, 2.5, 2**63, (1,)])
    def test_what_is_no_integer_is_refused_at_the_call(self, value):
        window = filled(wr.sum(), [1], "int64")
        with pytest.raises(wr.InvalidArgument, match="events: the window's value is int64"):
            window.insert(value)
        assert (window.query(), len(window)) == (1, 1)

    def test_a_function_of_ones_own_fails_at_the_call(self):
        inverted = wr.aggregation(
            name="inverted",
            identity=0,
            lift=lambda value: 100 // value,
            combine=lambda older, newer: older + newer,
        )
        window = filled(inverted(), [4], "int64")
        with pytest.raises(wr.DivisionByZero, match="inverted: integer division or modulo by zero"):
            window.insert(0)
        assert (window.query(), len(window)) == (25, 1)

    def test_a_combine_that_fails_makes_the_window_useless_until_it_is_cleared(self):
        wrong = wr.aggregation(
            name="wrong",
            identity=0,
            lift=lambda value: value,
            combine=lambda older, newer: older + newer + 0 // int(newer - 13),
        )
        window = filled(wrong(), [1, 2], "int64", algorithm="two_stacks_lite")
        window.insert(13)
        for _ in range(2):
            with pytest.raises(wr.DivisionByZero, match="wrong: "):
                window.query()
        window.clear()
        window.insert(4)
        assert (window.query(), len(window)) == (4, 1)

    def test_a_buffer_that_is_full_takes_no_event(self):
        check_a_policy_that_fails()

    def test_a_policy_slides_it(self):
        policy = wr.policies.at_most_sum(10)
        window = wr.Window(wr.max(), types="int64", policy=policy)
        plain = wr.Window(wr.max(), policy=policy)
        for value in (4, 5, 3, 3, 9, 1):
            window.insert(value)
            plain.insert(value)
            assert (window.query(), len(window)) == (plain.query(), len(plain))
        window.insert_many([2, 2, 2, 2])
        plain.insert_many([2, 2, 2, 2])
        assert (window.query(), len(window)) == (plain.query(), len(plain))
        window.evict_many(len(window))
        with pytest.raises(wr.EmptyWindow):
            window.evict()

    def test_what_it_refuses(self):
        for options, message in (
            ({"types": "float65"}, "types: 'float65' is no Arrow type"),
            ({"types": ["int64", "int64"]}, r"types: max has the inputs \(value\); give a type"),
            ({"types": "int64", "ranges": [3]}, "ranges: a compiled window answers for all"),
        ):
            with pytest.raises(wr.WindrowError, match=message):
                wr.Window(wr.max(), **options)
        with pytest.raises(wr.NotApplicable, match="types: last answers with the value of an ev"):
            wr.Window(wr.last(), types="int64")
        with pytest.raises(wr.InvalidArgument, match="aggregation: give an aggregation such as"):
            wr.Window(["max"], types="int64")
        with pytest.raises(wr.InvalidArgument, match="aggregation: two answers would be called"):
            wr.Window([wr.max("x"), wr.max("x")], types="int64")
        window = filled(wr.max(), [1, 2], "int64", algorithm="flat_fat")
        with pytest.raises(wr.NotApplicable, match="insert_at: a compiled window takes and drops"):
            window.insert_at(0, 1)
        with pytest.raises(wr.InvalidArgument, match="range: a compiled window answers"):
            window.query(range=2)

    @RUN
    @given(
        st.lists(
            st.tuples(st.none() | st.integers(-9, 9), st.integers(-9, 9), st.booleans()),
            max_size=40,
        ),
        st.booleans(),
    )
    def test_several_measures_of_rows(self, rows, with_policy):
        """One window: rows one by one, in blocks, with the columns in another order."""
        measures = [wr.max("x"), wr.mean("y"), wr.sum("x").alias("total"), wr.count()]
        policy = wr.policies.at_most_sum(12, "y") if with_policy else None
        window = wr.Window(measures, types={"y": "float64", "x": "int64"}, policy=policy)
        plain = wr.Window(measures, policy=policy)
        for x, y, is_block in rows:
            if is_block:
                table = pa.table({"y": [y, y], "z": [0, 0], "x": pa.array([x, x], pa.int64())})
                window.insert_many(table)
                plain.insert_many([{"x": x, "y": y}] * 2)
            else:
                window.insert({"x": x, "y": y, "z": 1})
                plain.insert({"x": x, "y": y})
            if len(plain) > 7:
                window.evict()
                plain.evict()
            assert (window.query(), len(window)) == (plain.query(), len(plain))

    def test_answers_of_several_measures_are_a_table(self):
        window = wr.Window([wr.max("x"), wr.mean("y")], types="float64")
        window.insert_many({"x": [1.0, 5.0], "y": np.array([2.0, 4.0])}, times=[10, 20])
        answers = window.slide_many(pa.table({"x": [3.0, 2.0], "y": [0.0, 1.0]}))
        assert answers.to_pydict() == {"max_x": [5.0, 3.0], "mean_y": [2.0, 0.5]}
        with pytest.raises(wr.InvalidArgument, match="types: the columns of the events are 'x'"):
            wr.Window([wr.max("x")], types={"z": "float64"})

    def test_a_function_of_ones_own_fails_at_the_call_among_others(self):
        inverted = wr.aggregation(
            name="inverted", identity=0, lift=lambda value: 100 // value,
            combine=lambda older, newer: older + newer,
        )  # fmt: skip
        window = wr.Window([wr.max("x"), inverted("y")], types="int64")
        window.insert({"x": 0, "y": 4})
        with pytest.raises(wr.DivisionByZero, match="inverted: integer division or modulo by zero"):
            window.insert({"x": 1, "y": 0})
        assert (window.query(), len(window)) == ({"max_x": 0, "inverted_y": 25}, 1)

    def test_types_of_numpy(self):
        assert filled(wr.sum(), np.arange(4), np.int64).query() == 6
        assert filled(wr.sum(), np.arange(4.0), np.dtype("float32")).query() == 6.0


# Times ------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("interpreted")
@RUN
@given(
    st.lists(st.lists(st.integers(0, 3), max_size=6), max_size=8),
    st.integers(1, 9),
    st.sampled_from([None, "int64"]),
)
def test_events_older_than_a_time_leave(blocks, extent, types):
    window = wr.Window(wr.sum(), types=types)
    now, expected = 0, []
    for steps in blocks:
        times = (now + np.cumsum(steps, dtype=np.int64)).tolist()
        window.insert_many(times, times=times)
        expected += times
        now = expected[-1] if expected else 0
        window.evict_older_than(now - extent)
        expected = [time for time in expected if time >= now - extent]
        assert (window.query() or 0, len(window)) == (sum(expected), len(expected))
        if len(expected) > 3:
            window.evict()
            del expected[0]


@pytest.mark.parametrize("types", [None, "float64"])
def test_times_are_checked(types, interpreted):
    window = wr.Window(wr.max(), types=types)
    window.insert_many([1, 2], times=pa.array([0, 10], pa.timestamp("s")))
    for times, message in (
        ([5], "times: give one for each event, 2, not 1"),
        (np.array([3, 2], "datetime64[s]"), "times: an event is earlier than the one before"),
        (pa.array([None, 12], pa.timestamp("s")), "times: a time is null"),
        (["a", "b"], "times: give an array or a list of times"),
    ):
        with pytest.raises(wr.InvalidArgument, match=message):
            window.insert_many([3, 4], times=times)
    assert len(window) == 2
    window.evict_older_than(datetime.datetime(1970, 1, 1, 0, 0, 5))
    assert (window.query(), len(window)) == (2, 1)
    for time in ("soon", None, np.datetime64("NaT"), math.nan):
        with pytest.raises(wr.InvalidArgument, match=r"time: .* cannot be compared"):
            window.evict_older_than(time)
    window.insert(9)
    with pytest.raises(wr.InvalidArgument, match="times: not every event of the window has one"):
        window.evict_older_than(datetime.datetime(1970, 1, 2))


@pytest.mark.parametrize("types", [None, "float64"])
@pytest.mark.parametrize("time", [math.nan, None, "15", datetime.datetime(2024, 1, 1)])
def test_what_is_no_number_is_not_compared_with_numbers(types, time, interpreted):
    window = wr.Window(wr.max(), types=types)
    window.insert_many([1, 2], times=[10, 20])
    with pytest.raises(wr.InvalidArgument, match=r"time: .* cannot be compared"):
        window.evict_older_than(time)
    assert len(window) == 2


@pytest.mark.parametrize("types", [None, "float64"])
@pytest.mark.parametrize("operation", ["insert", "insert_many", "slide_many"])
def test_an_event_without_a_time_is_not_taken_for_one_with_a_time(types, operation, interpreted):
    """As many events as times: still, the times are not theirs."""
    window = wr.Window(wr.sum(), types=types)
    window.insert_many([1, 2, 4], times=[10, 20, 30])
    if operation != "slide_many":
        window.evict()
    getattr(window, operation)(8 if operation == "insert" else [8])
    assert len(window) == 3
    with pytest.raises(wr.InvalidArgument, match="times: not every event of the window has one"):
        window.evict_older_than(25)
    window.evict_many(3)
    window.insert_many([1, 2], times=[10, 20])
    window.evict_older_than(20)
    assert window.query() == 2


def test_an_event_that_leaves_from_the_middle_takes_its_time_along():
    window = wr.Window(wr.collect(), algorithm="flat_fat")
    window.insert_many("abcd", times=[10, 20, 30, 40])
    window.evict()
    window.evict_at(1)
    window.evict_older_than(30)
    assert window.query() == ["d"]
    window.insert_at(0, "e")
    with pytest.raises(wr.InvalidArgument, match="times: not every event of the window has one"):
        window.evict_older_than(0)
