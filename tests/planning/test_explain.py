"""What people and programs read of a plan."""

import inspect
import json

import pyarrow as pa
import pytest

import windrow as wr


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
    assert "65,536 are the most a plan is to have, so there are 2 groups" in str(plan)


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
    frame = spark.createDataFrame([(1, 1, 1.0)], "k int, t int, x double")
    few = wr.plan(frame, key="k", order="t", windows=wr.rows(10), aggs=wr.max("x"))
    assert few.to_dict()["placement"]["where"] == "spark"
    assert "On Spark: Spark's own window operator answers it" in str(few)
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
        ({"lateness": "1 microsecond"}, "lateness: a number of milliseconds"),
        ({"shards": 0}, "shards: a number of at least 1, not 0"),
        ({"shards": 2}, "shards: without a key there is one window"),
        ({"history": 5}, "history: give a Spark DataFrame, as data is, not int"),
        ({"schema": 5}, "schema: states the columns of a Spark DataFrame"),
        ({"max_answers": 5}, "max_answers: is for wr.slide"),
        ({"changes_only": True}, "changes_only: is for wr.slide"),
        ({"data": pa.table({"t": [1], "x": [1]}), "shards": 1}, "shards: is for streaming Data"),
        ({"data": pa.table({"t": [1], "x": [1]}), "schema": 5}, "schema: is for Spark DataFrames"),
    ],
)
def test_a_plan_refuses_what_the_call_refuses(given, message):
    with pytest.raises(wr.InvalidArgument) as raised:
        wr.plan(**{"order": "t", "windows": wr.rows(2), "aggs": wr.max("x"), **given})
    assert str(raised.value).startswith(message)


def test_a_plan_of_a_stream_says_that_it_is_a_table_s():
    asked = {"key": "k", "order": "t", "windows": wr.rows(2), "aggs": wr.max("x")}
    streamed = wr.plan(**asked, lateness="5 seconds", shards=4)
    assert "This is the plan of a table. Over a stream, windows are kept in" in str(streamed)
    assert "stream" not in str(wr.plan(**asked))


@pytest.mark.spark
def test_a_plan_of_a_streaming_dataframe(spark):
    stream = spark.readStream.format("rate").load()
    asked = {"order": "timestamp", "windows": wr.time("1 minute", every="1 second"),
             "aggs": wr.max("value")}  # fmt: skip
    plan = wr.plan(stream, **asked, lateness="5 seconds", max_answers=60)
    assert "This is the plan of a table." in str(plan)
    table = spark.createDataFrame([(1,)], "value int")
    for wrong, message in (
        ({}, "lateness: say how late events may come"),
        ({"lateness": "5 seconds", "shards": 3}, "shards: without a key"),
        ({"lateness": "5 seconds", "history": table}, "history: there is no column 'timestamp'"),
        ({"lateness": "5 seconds", "max_answers": 59}, "windows: every event gives"),
    ):
        for call in (wr.plan, wr.slide):
            with pytest.raises(wr.InvalidArgument) as raised:
                call(stream, **asked, **wrong)
            assert str(raised.value).startswith(message)
