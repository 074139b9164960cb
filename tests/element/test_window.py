"""`wr.Window`: the window as a data structure."""

import contextlib
import copy
import datetime
import gc
import math
import pickle
import weakref
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow as wr
from tests.support.examples import examples
from windrow.aggregations import CATALOGUE
from windrow.algebra.kinds import Kind
from windrow.algorithms import ALGORITHMS
from windrow.algorithms.plain_memory import CHUNK
from windrow.testing import check_window
from windrow.testing.strategies import inputs_of, traces
from windrow.work import sizes


def served_by(algorithm: str) -> Any:
    """An aggregation of numbers that the algorithm can serve: it may need a trait."""
    for aggregation in (wr.sum, wr.max):
        monoid = aggregation.monoid_for((Kind.ANY,))
        if ALGORITHMS[algorithm].refuses(monoid.traits, monoid.inverse is not None) is None:
            return aggregation
    raise AssertionError(f"{algorithm} serves neither sum nor max")


def filled(aggregation: Any, events: Any, **options: Any) -> wr.Window:
    window = wr.Window(aggregation, **options)
    window.insert_many(events)
    return window


# Operations -------------------------------------------------------------------------------------


@given(trace=traces(inputs_of(CATALOGUE["collect"], nulls=True), most_steps=60))
def test_any_interleaving_holds_the_events_in_order(trace):
    """Collected, the window shows all that it holds."""
    check_window(wr.collect, trace)


@given(trace=traces(inputs_of(CATALOGUE["arg_max"], nulls=True), most_steps=60))
def test_any_interleaving_with_two_inputs(trace):
    check_window(wr.arg_max, trace)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@settings(max_examples=5)
@given(data=st.data())
def test_code_of_its_own_answers_the_same(algorithm, data):
    """After some events, a window's functions are written into each other."""
    with sizes.using(events_before_code=2):
        for name in ("sum", "max", "collect", "variance"):
            trace = data.draw(traces(inputs_of(CATALOGUE[name], nulls=True), most_steps=20))
            with contextlib.suppress(wr.NotApplicable):
                check_window(CATALOGUE[name], trace, algorithm)


@settings(max_examples=4)
@given(st.lists(st.tuples(st.integers(0, 9), st.none() | st.integers(0, 9)), max_size=40))
def test_code_of_rows_and_policies_answers_the_same(events):
    rows = [{"x": x, "y": y} for x, y in events]
    policy = wr.policies.at_most_sum(20, "x") | wr.policies.at_most_events(7)
    measures = [wr.sum("y"), wr.max("x"), wr.count("y")]
    by_halves = wr.policies.at_most_events(5) | wr.policies.since_max()
    pairs = [
        (rows, wr.Window(measures, policy=policy)),
        ([y for _x, y in events], wr.Window(wr.sum(), policy=by_halves)),
        ([x for x, _y in events], wr.Window(wr.max(), policy=wr.policies.at_most_sum(12))),
    ]
    with sizes.using(events_before_code=2):
        swift = [
            wr.Window(measures, policy=policy),
            wr.Window(wr.sum(), policy=by_halves),
            wr.Window(wr.max(), policy=wr.policies.at_most_sum(12)),
        ]
    for (inserted, slow), other in zip(pairs, swift, strict=True):
        for event in inserted:
            slow.insert(event)
            other.insert(event)
            assert (other.query(), len(other)) == (slow.query(), len(slow))


def test_code_of_its_own_refuses_and_names_as_before():
    with sizes.using(events_before_code=1):
        window = filled(wr.mean(), [1, 2.5])
    for event, message in (((), "an event of mean is"), ((1, 2), "an event of mean is"),
                           (("a",), "mean takes")):  # fmt: skip
        with pytest.raises(wr.InvalidArgument, match=f"insert: {message}"):
            window.insert(*event)
    with pytest.raises(wr.InvalidArgument, match="range: 3 is not one of the ranges"):
        window.query(range=3)
    window.insert(np.float32(0.5))
    assert (window.query(), len(window)) == (4 / 3, 3)
    window.insert(10**400)
    with pytest.raises(wr.AggregateOverflow, match="mean: "):
        window.query()
    window.evict_many(4)
    with pytest.raises(wr.EmptyWindow):
        window.evict()
    window.clear()
    window.insert(7)
    assert (window.query(), len(window)) == (7, 1)


def test_insert_evict_query_len():
    window = wr.Window(wr.max())
    window.insert(4)
    window.insert(5)
    assert (window.query(), len(window)) == (5, 2)
    window.evict()
    window.evict()
    assert (window.query(), len(window)) == (None, 0)
    window.insert(3)
    assert (window.query(), len(window)) == (3, 1)


def test_many_at_once():
    window = filled(wr.sum(), range(10))
    window.evict_many(4)
    assert (window.query(), len(window)) == (4 + 5 + 6 + 7 + 8 + 9, 6)
    window.evict_many(0)
    window.insert_many([])
    window.insert_many(iter([1]))
    assert (window.query(), len(window)) == (40, 7)
    window.evict_many(np.int64(7))
    assert (window.query(), len(window)) == (None, 0)


def test_clear():
    window = filled(wr.sum(), [1, 2, 3])
    window.clear()
    assert (window.query(), len(window)) == (None, 0)
    window.insert(7)
    assert (window.query(), len(window)) == (7, 1)


def test_asking_changes_nothing():
    window = filled(wr.collect(), [1, 2])
    assert [window.query() for _ in range(3)] == [[1, 2]] * 3


def test_an_answer_is_not_changed_by_what_comes_later():
    window = filled(wr.collect(), [1, 2])
    answer = window.query()
    window.insert(3)
    window.evict()
    answer.append("mine")
    assert (answer, window.query()) == ([1, 2, "mine"], [2, 3])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_memory_follows_the_window(algorithm):
    """Evicted events are let go of, however long the window lives."""

    class Event:
        pass

    alive: weakref.WeakSet[Event] = weakref.WeakSet()
    try:
        window = wr.Window(wr.last(), algorithm=algorithm)
    except wr.NotApplicable:
        return  # it cannot serve last
    for _ in range(5):
        window.insert(Event())
    for _ in range(10 * CHUNK):
        event = Event()
        alive.add(event)
        window.insert(event)
        window.evict()
    gc.collect()
    assert len(window) == 5
    assert len(alive) <= 2 * CHUNK


def test_how_it_shows():
    assert repr(filled(wr.max(), [1, 2], algorithm="recompute")) == (
        "<Window of 2 events: max, recompute>"
    )


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=40),
    st.dictionaries(st.integers(0, 39), st.integers(10, 99), max_size=8),
    st.lists(st.integers(0, 38), max_size=3),
)
def test_the_parts_of_flat_fat(values, updates, leaving):
    """Update, prefix and suffix (Tangwongsan et al. 2015, §4), with holes in the window, too."""
    window = filled(wr.collect(), values, algorithm="flat_fat")
    for position in leaving:
        if position < len(values):
            window.evict_at(position)
            del values[position]
    updates = {place: value for place, value in updates.items() if place < len(values)}
    window.update(updates)
    for place, value in updates.items():
        values[place] = value
    assert window.query() == (values or None)
    for place in range(len(values)):
        assert window.prefix(place) == values[: place + 1]
        assert window.suffix(place) == values[place:]
    with pytest.raises(wr.EmptyWindow, match=f"prefix: no event is at {len(values)}"):
        window.prefix(len(values))


def test_only_flat_fat_has_parts():
    window = filled(wr.max(), [1, 2], algorithm="daba_lite")
    for ask in (window.prefix, window.suffix, lambda place: window.update({place: 3})):
        with pytest.raises(wr.NotApplicable, match=r"daba_lite has no .*; flat_fat can do it"):
            ask(1)
    with pytest.raises(wr.InvalidArgument, match="events: give a mapping from positions"):
        window.update([3])


# Errors -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_an_empty_window_has_nothing_to_evict(algorithm):
    window = wr.Window(served_by(algorithm), algorithm=algorithm)
    with pytest.raises(wr.EmptyWindow, match="evict: the window holds no events"):
        window.evict()
    window.insert(1)
    with pytest.raises(
        wr.EmptyWindow, match="evict_many: 2 events are to leave, but the window holds 1"
    ):
        window.evict_many(2)
    assert (window.query(), len(window)) == (1, 1)
    assert issubclass(wr.EmptyWindow, IndexError)


@pytest.mark.parametrize("count", [-1, 1.5, "2", None])
def test_a_number_of_events_that_is_none(count):
    window = filled(wr.sum(), [1, 2, 3])
    with pytest.raises(wr.InvalidArgument, match="count: a number of events is 0, 1, 2"):
        window.evict_many(count)
    assert window.query() == 6


@pytest.mark.parametrize(
    ("aggregation", "event", "message"),
    [
        (wr.max, (), r"insert: an event of max is \(value\), not \(\)"),
        (wr.max, (1, 2), r"insert: an event of max is \(value\), not \(1, 2\)"),
        (wr.arg_max, (1,), r"insert: an event of arg_max is \(value, at\), not \(1,\)"),
        (wr.count, (1, 2), r"insert: an event of count is \(value\), not \(1, 2\)"),
    ],
)
def test_an_event_of_the_wrong_number_of_values(aggregation, event, message):
    window = wr.Window(aggregation())
    with pytest.raises(wr.InvalidArgument, match=message):
        window.insert(*event)
    assert len(window) == 0


def test_an_event_that_cannot_be_combined_is_not_in_the_window():
    window = filled(wr.max(), [1, 2])
    with pytest.raises(wr.InvalidArgument, match="insert: max cannot take 'three' together with"):
        window.insert("three")
    assert (window.query(), len(window)) == (2, 2)
    window.insert(3)
    assert (window.query(), len(window)) == (3, 3)


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("types", [None, "float64"])
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_window_is_not_copied(types, copied):
    """A copy would insert into the window that it was copied from."""
    window = wr.Window(wr.max(), types=types)
    window.insert(1.0)
    with pytest.raises(wr.NotApplicable, match="a window is neither copied nor pickled"):
        copied(window)


def test_a_mapping_is_an_event_of_a_list_of_measures():
    with pytest.raises(wr.InvalidArgument, match=r"give the window a list of measures, as in \["):
        wr.Window(wr.max("x")).insert({"x": 4})


@pytest.mark.parametrize("types", [None, "float64"])
@pytest.mark.parametrize("aggregation", [wr.max(), wr.sum()])
def test_an_algorithm_that_cannot_serve_is_refused_in_the_same_words(types, aggregation):
    with pytest.raises(wr.NotApplicable) as refusal:
        wr.Window(aggregation, types=types, algorithm="subtract_on_evict").insert(0.5)
    assert "in one pass" not in str(refusal.value)


@pytest.mark.parametrize("types", [None, "float64"])
def test_a_policy_needs_an_algorithm_that_can_be_searched(types):
    message = (
        "policy: two_stacks cannot find how many events are to leave; log_monoid_tree, "
        "amortized_monoid_tree can"
    )
    with pytest.raises(wr.NotApplicable, match=message):
        wr.Window(
            wr.sum(), types=types, policy=wr.policies.at_most_events(3), algorithm="two_stacks"
        )


def test_what_is_no_aggregation_and_no_algorithm():
    with pytest.raises(wr.InvalidArgument, match=r"aggregation: give .* such as wr\.max\(\), not"):
        wr.Window(max)
    with pytest.raises(wr.InvalidArgument, match="algorithm: 'magic' is not known; there are"):
        wr.Window(wr.max(), algorithm="magic")


# Types ------------------------------------------------------------------------------------------

AWARE = datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)
ANY_VALUE = st.sampled_from(
    [
        None, 1, -2.5, True, math.nan, 10**400, Decimal("1.5"), Fraction(1, 3), 1j,
        "a", b"b", [1], (1, 2), ("a", 1), {"a": 1}, object(), np.int64(3), np.float32(0.5),
        np.bool_(True), np.datetime64("2024-01-01"), AWARE, AWARE.replace(tzinfo=None),
        AWARE.date(), AWARE.time(), datetime.timedelta(seconds=1), np.array([1, 2]),
    ]
)  # fmt: skip


@given(
    st.sampled_from(sorted(CATALOGUE)),
    st.lists(st.tuples(ANY_VALUE, ANY_VALUE), min_size=1, max_size=3),
)
@examples(80)
def test_values_are_refused_when_they_are_inserted(name, events):
    """Whatever the algorithm combines when: all of them refuse the same events, and then answer."""
    aggregation = CATALOGUE[name]
    outcomes = {}
    for algorithm in ALGORITHMS:
        try:
            window = wr.Window(aggregation, algorithm=algorithm, exact=False)
        except wr.NotApplicable:
            continue
        refusals = []
        for event in events:
            try:
                window.insert(*event[: len(aggregation.inputs)])
            except wr.InvalidArgument as refusal:
                refusals.append(str(refusal))
            except wr.AggregateOverflow:
                return  # of 10 ** 400, in an algorithm that combines at once
        with contextlib.suppress(wr.AggregateOverflow):
            window.query()
        assert len(window) == len(events) - len(refusals)
        outcomes[algorithm] = refusals
    assert len(set(map(tuple, outcomes.values()))) == 1, outcomes
    assert all(each.startswith(f"insert: {name} ") for each in outcomes["recompute"])


def test_what_is_refused_is_named():
    window = filled(wr.sum(), [1])
    with pytest.raises(wr.InvalidArgument, match=r"insert: sum takes boolean, decimal, .* not 'a'"):
        window.insert("a")
    with pytest.raises(wr.InvalidArgument, match="sum cannot take decimals and floats tog"):
        filled(wr.sum(), [1.5, Decimal(1)])
    with pytest.raises(
        wr.InvalidArgument, match=r"rate takes duration, temporal as time, not 'now'"
    ):
        wr.Window(wr.rate()).insert(1, "now")
    rows = wr.Window([wr.sum("x")], policy=wr.policies.at_most_sum(9, "y"))
    with pytest.raises(wr.InvalidArgument, match=r"insert: sum takes .* not 'a'"):
        rows.insert({"x": 1, "y": "a"})
    assert (rows.query(), len(rows)) == ({"sum_x": None}, 0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: wr.Window(wr.max()).insert_many(None), "events: give an array or a list of ev"),
        (lambda: filled(wr.max(), [1]).slide_many(None), "events: give an array or a list of ev"),
        (lambda: wr.Window(wr.max()).insert_many(5, times=[5]), "events: give an array or a list"),
        (lambda: wr.Window(wr.max()).insert_many([5], times=5), "times: give an array or a list"),
        (lambda: wr.Window(wr.max(), ranges=5), "ranges: give an array or a list of numbers"),
        (lambda: wr.Window(wr.max(), types=5), "types: 5 is no Arrow type"),
        (lambda: wr.Window(wr.max(), types="timestamp[s, tz=Europe]"), "types: there is no zone"),
        (lambda: wr.Window(wr.max(), ranges=[2]).query(range=[2]), r"range: \[2\] is not one of"),
    ],
)
def test_what_is_no_list_is_refused_by_the_name_of_its_argument(call, message):
    with pytest.raises(wr.InvalidArgument, match=message):
        call()


def test_events_of_an_iterator_have_times():
    window = wr.Window(wr.collect())
    window.insert_many(iter("abc"), times=[1, 2, 3])
    window.evict_older_than(2)
    assert window.query() == ["b", "c"]


def test_numbers_of_numpy_do_not_wrap_around():
    assert filled(wr.sum(), np.full(4, 2**62)).query() == 2**64


def test_failures_are_named():
    inverted = wr.aggregation(
        name="inverted",
        identity=0,
        lift=lambda value: 100 // value,
        combine=lambda older, newer: older + newer,
    )
    with pytest.raises(wr.DivisionByZero, match="inverted: integer division or modulo by zero"):
        filled(inverted(), [4, 0])
    with pytest.raises(wr.DivisionByZero, match="inverted: integer division"):
        filled([wr.sum("x"), inverted("x")], [{"x": 0}])
    with pytest.raises(wr.AggregateOverflow, match="mean: integer division result too large"):
        filled(wr.mean(), [10**400]).query()


# Values -----------------------------------------------------------------------------------------


def test_nulls_are_events_without_a_value():
    window = filled(wr.max(), [None, 3, None])
    assert (window.query(), len(window)) == (3, 3)
    window.evict_many(2)
    assert (window.query(), len(window)) == (None, 1)


@pytest.mark.parametrize(
    "name", sorted(set(CATALOGUE) - {"approx_distinct", "count", "count_distinct", "count_if"})
)
def test_no_values_have_no_aggregate(name):
    several = len(CATALOGUE[name].inputs) > 1
    window = filled(CATALOGUE[name](), [(None, 1) if several else None] * 3)
    assert window.query() is None
    window.clear()
    assert window.query() is None


def test_no_values_count_zero():
    assert wr.Window(wr.count()).query() == 0
    assert wr.Window(wr.approx_distinct()).query() == 0


def test_values_of_a_column_are_counted():
    """As in tables: `count("x")` counts the values of x, `count()` the events."""
    events = [{"x": None}, {"x": 1}, {"x": None}]
    window = filled([wr.count("x"), wr.count()], events)
    assert window.query() == {"count_x": 1, "count": 3}
    assert filled(wr.count("x"), [None, 1, None]).query() == 1
    assert filled(wr.count(), [None, 1, None]).query() == 3


def test_policies_count_the_values_of_a_column():
    two_values = wr.policy(lambda total, oldest: total - oldest >= 2, of=wr.count("x"))
    events = [{"x": value} for value in (1, None, 2, None, 3)]
    window = filled([wr.count()], events, policy=two_values)
    assert (window.query(), len(window)) == ({"count": 3}, 3)


def test_events_may_be_counted_without_a_value():
    window = wr.Window(wr.count())
    window.insert()
    window.insert("anything")
    assert window.query() == 2


def test_nan_is_larger_than_any_number():
    window = filled(wr.max(), [1.0, math.nan, math.inf])
    assert math.isnan(window.query())
    assert filled(wr.min(), [math.nan, 1.0]).query() == 1.0
    assert math.isnan(filled(wr.min(), [math.nan]).query())
    assert filled(wr.max_count(), [math.nan, 1.0, math.nan]).query() == 2
    window.evict_many(2)
    assert window.query() == math.inf


def test_arg_max_answers_the_first_of_equals_and_may_carry_a_null():
    window = filled(wr.arg_max(), [(1, "a"), (7, "b"), (7, "c"), (None, "d")])
    assert window.query() == "b"
    window.evict_many(2)
    assert window.query() == "c"
    assert filled(wr.arg_min(), [(2, None), (3, "x")]).query() is None
    assert filled(wr.arg_min(), [(2, "w"), (2, "x")]).query() == "w"


@pytest.mark.parametrize(
    "values",
    [
        ["b", "", "c"],
        [Decimal("1.10"), Decimal("-2"), Decimal("1.1")],
        [datetime.date(2012, 2, 22), datetime.date(2012, 2, 21), datetime.date(2012, 3, 1)],
        [(1, 2), (1, 1), (2, 0)],
        [True, False, True],
        [10**30, -(10**30), 0],
    ],
    ids=lambda values: type(values[0]).__name__,
)
def test_anything_that_can_be_compared(values):
    assert filled(wr.max(), values).query() == max(values)
    assert filled(wr.min(), values).query() == min(values)
    assert filled(wr.first(), values).query() == values[0]
    assert filled(wr.last(), values).query() == values[-1]


def test_integers_are_exact_whatever_their_size():
    window = filled(wr.sum(), [10**30, 1, -(10**30)])
    assert window.query() == 1
    assert filled(wr.product(), [2**80, 3]).query() == 3 * 2**80


# Exactness --------------------------------------------------------------------------------------


@pytest.mark.parametrize("gone", [math.nan, math.inf, -math.inf, 1e300, -1e300])
@pytest.mark.parametrize(
    ("aggregation", "remaining"),
    [
        (wr.sum, 0.75),
        (wr.mean, 0.25),
        (wr.product, 0.125 * 0.5 * 0.125),
        (wr.variance, 3 / 64),
        (CATALOGUE["stddev_pop"], math.sqrt(1 / 32)),
        (wr.geometric_mean, 2 ** (-7 / 3)),
        (wr.min, 0.125),
        (wr.max, 0.5),
        (wr.value_range, 0.375),
    ],
)
def test_after_it_has_left_nothing_of_a_value_remains(aggregation, remaining, gone):
    window = filled(aggregation(), [gone, 0.125, 0.5, 0.125])
    window.query()
    window.evict()
    assert window.query() == pytest.approx(remaining, rel=1e-15)


@given(
    values=st.lists(st.floats(-1e6, 1e6), min_size=20, max_size=40),
    huge=st.sampled_from([math.nan, math.inf, 1e300, -1e300, 1e16]),
)
def test_a_sum_is_as_accurate_as_adding_up_the_window(values, huge):
    """However often it slides, and whatever has been in it."""
    window = filled(wr.sum(), [huge, *values])
    window.evict()
    for value in values:
        window.evict()
        window.insert(value)
    exact = math.fsum(values)
    bound = len(values) * 2.0**-53 * math.fsum(map(abs, values))
    assert abs(window.query() - exact) <= bound
