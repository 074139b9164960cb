"""What people and programs read of a plan."""

import inspect
import json
from typing import Any

import pyarrow as pa
import pytest

import windrow as wr
from tests.support.stream.model import Memory
from windrow.stream.plan_stream import query_of
from windrow.stream.state import CELLS_SCHEMA, MAPS_SCHEMA, ROWS_SCHEMA, kind_of


def test_a_plan_says_what_was_chosen_why_and_what_not():
    plan = wr.plan(
        key="user",
        order="ts",
        windows={"100": wr.rows(100), "1h": wr.time("1 hour")},
        aggs=[wr.max("amount"), wr.mean("amount"), wr.collect("amount")],
    )
    text = str(plan)
    assert text.startswith("over: 2 windows, for each user, ordered by ts\n\nmax(amount)")
    assert "max(amount), mean(amount): compiled, in one pass; a partial is 3 numbers" in text
    assert "collect(amount): plain Python" in text
    assert "by the cost table" in text
    assert "not subtract_on_evict or slick_deque_inv: it has no inverse" in text
    assert "How many events 1h will hold is not known; 4,096 are assumed." in text
    assert max(map(len, text.splitlines())) <= 100


def test_a_plan_for_programs():
    plan = wr.plan(
        key="k",
        order="ts",
        windows={"6": wr.rows(6, every=2), "8": wr.rows(8, every=4), "s": wr.session("1 hour")},
        aggs=wr.max("x"),
    )
    found = plan.to_dict()
    assert found == json.loads(json.dumps(found))
    assert found["call"] == "slide"
    assert found["slices"] == [["6", "8"], ["s"]]
    assert found["groups"][0]["windows"]["6"]["events"] == 5
    assert found["groups"][0]["windows"]["6"]["ruled_out"]["subtract_on_evict"]


def test_a_plan_draws_the_slices_that_windows_share():
    windows = {"a": wr.rows(6, every=2), "b": wr.rows(8, every=4)}
    text = str(wr.plan(order="ts", windows=windows, aggs=wr.max("x")))
    diagram = """\
Slices
  a and b: composite slide 4, 2 slices, at most 4 in a window

    edges  0   2   4
           |---|---|
    a          3   3
    b              4
"""
    assert diagram in text


def test_a_plan_says_when_windows_are_cut_apart():
    """A long window with a long slide is not to be cut by the slices of a short one."""
    windows = {"fine": wr.rows(1000, every=1), "coarse": wr.rows(1_000_000, every=10_000)}
    plan = wr.plan(order="ts", windows=windows, aggs=wr.max("x"))
    assert plan.to_dict()["slices"] == [["coarse"], ["fine"]]
    assert "a plan has at most 65,536, so there are 2 groups" in str(plan)


def test_a_composite_slide_that_never_ends_is_not_drawn():
    windows = {f"q{n}": wr.rows(1000 * n + 7, every=100 * n + 1) for n in range(1, 20)}
    text = str(wr.plan(order="ts", windows=windows, aggs=wr.max("x")))
    assert "marked as events come" in text
    assert "and 11 more windows" in text


def test_windows_that_are_cut_apart_answer_as_alone():
    table = pa.table({"t": range(2000), "x": [float(i * 7919 % 101) for i in range(2000)]})
    windows = {
        "fine": wr.rows(3, every=1),
        "coarse": wr.rows(10**6, every=10_00),
        "ticks": wr.rows(50, every=7),
    }
    together = wr.slide(table, order="t", windows=windows, aggs=wr.max("x"))
    alone = [
        wr.slide(table, order="t", windows={name: window, "other": wr.rows(1, every=2000)},
                 aggs=wr.max("x"))
        for name, window in windows.items()
    ]  # fmt: skip
    kept = pa.concat_tables([each.filter(pa.compute.field("window") != "other") for each in alone])
    assert together == kept


def test_types_come_from_the_data():
    table = pa.table({"ts": [1], "n": [1], "x": pa.array([None], pa.float64())})
    plan = wr.plan(table, order="ts", windows=wr.rows(10), aggs=[wr.sum("n")])
    assert "Without data" not in str(plan)
    assert plan.groups[0].partial_bytes == 16  # an integer sum keeps two halves
    nulls = wr.plan(table, order="ts", windows=wr.rows(10), aggs=[wr.sum("x")])
    assert nulls.groups[0].partial_bytes == 16  # a count beside the sum


def test_a_plan_on_spark_says_where_it_runs(spark):
    frame = spark.range(3).selectExpr("id AS k", "id AS t", "double(id) AS x")
    few = wr.plan(frame, key="k", order="t", windows=wr.rows(10), aggs=wr.max("x"))
    assert few.to_dict()["placement"]["where"] == "spark"
    assert "On Spark: Spark's own window operator answers it" in str(few)
    assert few.groups == ()  # windrow's algorithms do not run
    many = wr.plan(frame, key="k", order="t", windows=wr.rows(1000), aggs=wr.max("x"))
    assert "On Spark: windrow's tasks answer it, in chunks" in str(many)


def test_a_policy_is_part_of_the_work():
    windows = {"since": wr.policies.since_max("x"), "rows": wr.rows(9)}
    steps = wr.plan(order="ts", windows=windows, aggs=wr.sum("x")).steps
    assert "ask the policy of since after every row, in its own tree" in steps


def test_a_plan_takes_all_arguments_of_the_calls():
    for call in (wr.over, wr.slide):
        missing = inspect.signature(call).parameters.keys() - inspect.signature(wr.plan).parameters
        assert not missing


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"lateness": "soon"}, "lateness: 'soon' is no duration"),
        ({"lateness": "1 microsecond"}, "lateness: give a number of milliseconds"),
        ({"shards": 0}, "shards: give an integer of at least 1, not 0"),
        ({"shards": 2}, "shards: without a key there is one window"),
        ({"history": 5}, "history: give a Spark DataFrame, as data is, not int"),
        ({"schema": 5}, "schema: states the columns of a Spark DataFrame"),
        ({"max_answers": 5}, "max_answers: is for wr.slide"),
        ({"changes_only": True}, "changes_only: is for wr.slide"),
        ({"data": pa.table({"t": [1], "x": [1]}), "shards": 1}, "shards: is for streams"),
        ({"data": pa.table({"t": [1], "x": [1]}), "schema": 5}, "schema: is for Spark DataFrames"),
    ],
)
def test_a_plan_refuses_what_the_call_refuses(given, message):
    with pytest.raises(wr.InvalidArgument) as raised:
        wr.plan(**{"order": "t", "windows": wr.rows(2), "aggs": wr.max("x"), **given})
    assert str(raised.value).startswith(message)


STREAM: dict[str, Any] = {"key": "k", "order": "t", "lateness": "5 seconds", "shards": 4}
SLICES, ROWS, COUNTED = "slices: a partial", "rows: the events", "counted rows: the newest"


@pytest.mark.parametrize(
    ("asked", "way", "why"),
    [
        (
            {"windows": wr.time("1 hour", every="1 minute"), "aggs": wr.max("x")},
            SLICES,
            "a clock or a calendar says when windows begin and end",
        ),
        ({"windows": wr.time("1 hour"), "aggs": wr.max("x")}, SLICES, "the windows are of time"),
        ({"windows": wr.rows(64), "aggs": wr.max("x")}, COUNTED, "the windows are of many rows"),
        ({"windows": wr.rows(63), "aggs": wr.max("x")}, ROWS, "no window has 64 rows or more"),
        (
            {"windows": wr.rows(64), "aggs": [wr.max("x"), wr.collect("x")]},
            ROWS,
            "the partials of collect(x) are not a few numbers",
        ),
        (
            {"windows": [wr.rows(64), wr.time("1 hour")], "aggs": wr.max("x")},
            ROWS,
            "the call has windows of time and of rows",
        ),
        (
            {"windows": wr.time("1 hour", ties="peers"), "aggs": wr.max("x")},
            SLICES,
            "the windows are of time",
        ),
        (
            {"windows": wr.rows(64, current=False), "aggs": wr.max("x")},
            COUNTED,
            "the windows are of many rows",
        ),
        (
            {"windows": wr.time(before="1 hour", after="1 minute"), "aggs": wr.max("x")},
            ROWS,
            "events wait for the rows that",
        ),
        (
            {"windows": {"visit": wr.session("1 hour"), "h": wr.time("1 hour")},
             "aggs": wr.max("x"), "call": "over"},
            ROWS,
            "the events, and not a range, say where visit begins",
        ),
        (
            {"windows": wr.rows(64, every=8), "aggs": wr.max("x")},
            ROWS,
            "the events, and not a range and slide in time alone",
        ),
        (
            {"windows": wr.time("1 hour", every="1 minute"), "aggs": wr.max("x"),
             "changes_only": True},
            ROWS,
            "changes_only compares every answer",
        ),
    ],
)  # fmt: skip
def test_a_plan_of_a_stream_names_the_way_that_its_query_keeps_state(asked, way, why):
    plan = wr.plan(**STREAM, **asked)
    (group,) = plan.stream.groups
    assert group.way.startswith(way)
    assert group.why.startswith(why)
    # What the query writes says the same.
    query = query_of(plan.resolved, set(), 4)
    storage = Memory()
    query.advance(storage, [], watermark=0)
    kinds = {kind_of(number) for number in storage}
    expected = {SLICES: {CELLS_SCHEMA}, ROWS: {ROWS_SCHEMA}, COUNTED: {ROWS_SCHEMA, MAPS_SCHEMA}}
    assert kinds & {CELLS_SCHEMA, ROWS_SCHEMA, MAPS_SCHEMA} == expected[way]


def test_a_plan_of_a_stream_for_people():
    windows = {"hour": wr.time("1 hour", every="1 minute"), "visit": wr.session("30 minutes")}
    text = str(wr.plan(**STREAM, windows=windows, aggs=wr.max("x")))
    assert text.startswith("slide on a stream: 2 windows, for each k, ordered by t\n")
    for line in (
        "4 shards of keys: shards= says so",
        "hour: slices: a partial for each key and slice, in a tree over blocks of slices",
        "visit: rows: the events of each key that answers to come may need",
        "watermark: 5 seconds behind the newest t of the batches before, as lateness= says",
        "hour: at the end of a window, when the watermark reaches it",
        "late: events that the watermark of their batch has reached; one that comes exactly",
        "history: none; the first windows hold what has come so far",
        "    window visit=session('30 minutes')\n",
    ):
        assert line in text
    assert "a key\n" not in text  # what windows keep in memory is not the state of a stream
    assert max(map(len, text.splitlines())) <= 100


def test_a_plan_of_a_stream_for_programs():
    windows = wr.time("1 hour", every="1 minute")
    found = wr.plan(**STREAM, windows=windows, aggs=wr.max("x")).to_dict()
    assert found == json.loads(json.dumps(found))
    assert found["placement"] is None
    stream = found["stream"]
    assert (stream["shards"], stream["history"]) == (4, None)
    assert stream["checkpoint"][0] == "shards=4"
    assert stream["late"].startswith("events whose slice ends by the watermark of their batch")
    assert {"windows", "way", "why", "reads", "writes", "final"} == stream["groups"][0].keys()
    table = wr.plan(key="k", order="t", windows=windows, aggs=wr.max("x"))
    assert table.to_dict()["stream"] is None
    assert "stream" not in str(table)


def test_what_is_not_known_of_a_stream_without_data():
    asked = {"key": "k", "order": "t", "windows": wr.rows(2), "aggs": wr.max("x")}
    late = wr.plan(**asked, lateness="0 seconds")
    assert late.stream.shards is None
    assert late.stream.why_shards.startswith("as many as spark.sql.shuffle.partitions says")
    assert late.stream.checkpoint[0] == "the number of shards"
    shards = wr.plan(**asked, shards=3)
    assert shards.stream.watermark == "data has to have one on t, or the call to say lateness="
    with pytest.raises(wr.InvalidArgument, match="order: events of a stream have no order"):
        wr.plan(key="k", windows=wr.rows(2), aggs=wr.max("x"), shards=3)


def test_windows_of_a_stream_share_fewer_slices():
    """A table marks edges between its bounds; a stream marks those of a composite slide."""
    windows = {f"w{n}": wr.time(f"{n} seconds", every=f"{n} milliseconds") for n in (991, 997)}
    asked = {"order": "t", "windows": windows, "aggs": wr.max("x")}
    assert wr.plan(**asked).to_dict()["slices"] == [["w991", "w997"]]
    stream = wr.plan(**asked, lateness="5 seconds")
    assert sorted(map(sorted, stream.to_dict()["slices"])) == sorted(
        sorted(group.windows) for group in stream.stream.groups
    )


@pytest.mark.spark
def test_a_plan_of_a_streaming_dataframe(streaming):
    stream = streaming.readStream.format("rate").load()
    asked = {"order": "timestamp", "windows": wr.time("1 minute", every="1 second"),
             "aggs": wr.max("value")}  # fmt: skip
    plan = wr.plan(stream, **asked, lateness="5 seconds", max_answers=60)
    assert plan.stream.why_shards == "without a key there is one window"
    keyed = wr.plan(stream, key="value", **asked, lateness="5 seconds")
    assert keyed.stream.shards == 2
    assert keyed.stream.why_shards.startswith("spark.sql.shuffle.partitions says so")
    past = streaming.sql("SELECT now() AS timestamp, 1L AS value")
    marked = stream.withWatermark("timestamp", "3 seconds")
    own = wr.plan(marked, **asked, history=past)
    assert own.stream.watermark == "that of data on timestamp, 3 seconds behind the newest event"
    assert own.stream.late.startswith(
        "events whose slice ends by the watermark of the batch before"
    )
    assert own.stream.history.startswith("is read before the first batch")
    assert "columns with nulls=[value]" in own.stream.checkpoint
    table = streaming.createDataFrame([(1,)], "value int")
    for wrong, message in (
        ({}, "lateness: say how late events may come"),
        ({"lateness": "5 seconds", "shards": 3}, "shards: without a key"),
        ({"lateness": "5 seconds", "history": table}, "history: there is no column 'timestamp'"),
        ({"lateness": "5 seconds", "max_answers": 59}, "windows: every event gives"),
        ({"lateness": "5 seconds", "key": "nobody"}, "key: there is no column 'nobody'"),
    ):
        for call in (wr.plan, wr.slide):
            with pytest.raises(wr.InvalidArgument) as raised:
                call(stream, **{**asked, **wrong})
            assert str(raised.value).startswith(message)
