"""The planner's choices: what it may take, what it must not, and what the caller's wish changes."""

import pyarrow as pa
import pytest

import windrow as wr
from windrow.algorithms import ALGORITHMS
from windrow.algorithms.guarantees import Growth
from windrow.planning import costs


def chosen(aggs, windows=None, schema=None, **wish):
    data = None if schema is None else pa.schema(schema).empty_table()
    plan = wr.plan(data, order="ts", windows=windows or wr.rows(1000), aggs=aggs, **wish)
    (group,) = plan.groups
    (choice,) = group.choices.values()
    return choice


def test_floats_are_not_subtracted_unless_that_is_asked_for():
    exact = chosen(wr.sum("x"))
    assert not exact.algorithm.GUARANTEES.subtracts
    assert "exact=False" in exact.ruled_out["subtract_on_evict"]
    assert chosen(wr.sum("x"), exact=False).algorithm.NAME == "subtract_on_evict"


def test_integers_may_be_subtracted_always():
    schema = {"ts": pa.timestamp("us"), "n": pa.int64()}
    measured = {
        name for name in ALGORITHMS if costs.nanoseconds(name, ("sum",), 1000, costs.SLIDING)
    }
    assert chosen(wr.sum("n"), schema=schema).ruled_out.keys() == {
        "slick_deque_non_inv",
        "parallel_boundary",
        *(ALGORITHMS.keys() - measured),
    }


@pytest.mark.parametrize("aggregation", [wr.sum, wr.max, wr.stddev, wr.geometric_mean])
@pytest.mark.parametrize("events", [1, 100, 2**20, 2**30])
def test_latency_prefers_the_best_worst_case(aggregation, events):
    choice = chosen(aggregation("x"), wr.rows(events), prefer="latency")
    assert choice.algorithm.GUARANTEES.worst is Growth.CONSTANT


@pytest.mark.parametrize("aggregation", [wr.sum, wr.max, wr.stddev])
@pytest.mark.parametrize("events", [100, 2**20])
def test_memory_prefers_what_keeps_least(aggregation, events):
    choice = chosen(aggregation("x"), wr.rows(events), prefer="memory")
    assert choice.bytes <= 1.1 * events * choice.served.partial_bytes


@pytest.mark.parametrize("aggregation", [wr.sum, wr.max, wr.stddev, wr.geometric_mean])
@pytest.mark.parametrize("events", [2, 16, 5000, 2**20])
def test_throughput_is_near_the_least_cost_of_the_table(aggregation, events):
    choice = chosen(aggregation("x"), wr.rows(events))
    assert choice.nanoseconds <= 1.2 * min([choice.nanoseconds, *choice.others.values()])


@pytest.mark.parametrize("windows", [wr.rows(1), wr.rows(1000, every=1000), wr.rows(9, every=90)])
def test_a_window_with_nothing_to_combine_is_recomputed(windows):
    call = "over" if windows == wr.rows(1) else "slide"
    choice = chosen([wr.stddev("x")], windows, call=call)
    assert choice.algorithm.NAME == "recompute"
    assert choice.why == "a window of one has nothing to combine"


def test_every_algorithm_is_chosen_compared_or_ruled_out():
    choice = chosen([wr.max("x"), wr.collect("x")][:1])
    assert {choice.algorithm.NAME, *choice.others, *choice.ruled_out} == ALGORITHMS.keys()


def test_an_algorithm_that_cannot_be_right_is_refused():
    with pytest.raises(wr.NotApplicable, match="subtract_on_evict cannot serve max"):
        wr.plan(order="ts", windows=wr.rows(10), aggs=wr.max("x"), algorithm="subtract_on_evict")
    with pytest.raises(wr.NotApplicable, match=r"in one pass.*leave the algorithm to windrow"):
        wr.plan(
            order="ts",
            windows=wr.rows(10),
            aggs=[wr.max("x"), wr.min("x")],
            algorithm="slick_deque",
        )


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ({"prefer": "speed"}, "prefer: 'throughput', 'latency' or 'memory', not 'speed'"),
        ({"exact": 0}, "exact: True or False, not 0"),
        ({"algorithm": "magic"}, "algorithm: 'magic' is not known"),
        ({"call": "sort"}, "call: 'over', 'slide' or 'as_of', not 'sort'"),
    ],
)
def test_wishes_that_mean_nothing_are_refused(wish, message):
    with pytest.raises(wr.InvalidArgument, match=message):
        wr.plan(order="ts", windows=wr.rows(10), aggs=wr.max("x"), **wish)


@pytest.mark.parametrize("argument", ["key", "order"])
def test_columns_that_are_not_named_are_refused_without_data_too(argument):
    with pytest.raises(wr.InvalidArgument, match=f"{argument}: give the name of a column"):
        wr.plan(windows=wr.rows(10), aggs=wr.max("x"), **{argument: 3})


def test_calls_take_the_same_wishes():
    table = pa.table({"t": range(100), "x": [float(i % 7) for i in range(100)]})
    aggs = [wr.sum("x"), wr.mean("x")]
    expected = wr.over(table, order="t", windows=wr.rows(9), aggs=aggs, algorithm="recompute")
    for wish in ({"prefer": "latency"}, {"prefer": "memory"}, {"exact": False}):
        assert wr.over(table, order="t", windows=wr.rows(9), aggs=aggs, **wish) == expected
    sliding = wr.rows(9, every=4)
    assert wr.slide(table, order="t", windows=sliding, aggs=aggs, exact=False) == wr.slide(
        table, order="t", windows=sliding, aggs=aggs, algorithm="recompute"
    )


def test_a_window_is_planned_too():
    assert "daba_lite" in repr(wr.Window(wr.max(), prefer="latency"))
    assert "subtract" not in repr(wr.Window(wr.sum()))
    shared = wr.Window(wr.max(), ranges=(2, 3))
    assert "slick_deque" in repr(shared)


def test_costs_between_and_beyond_the_measured_windows():
    curve = {1: 1.0, 4: 3.0, 16: 4.0}
    assert [costs._interpolated(curve, events) for events in (1, 2, 4, 8, 16, 64)] == [
        1.0, 2.0, 3.0, 3.5, 4.0, 5.0,
    ]  # fmt: skip
    falling = {1: 5.0, 4: 3.0}
    assert costs._interpolated(falling, 1024) == 3.0


def test_what_was_not_measured_is_not_chosen(monkeypatch):
    """A new algorithm waits until `make bench BENCH_ARGS=algorithms` has measured it."""
    monkeypatch.delitem(costs._table()[costs.SLIDING]["max"], "two_stacks_lite")
    choice = chosen(wr.max("x"))
    assert choice.ruled_out["two_stacks_lite"] == "it was not measured"
