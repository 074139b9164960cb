"""Every algorithm with every aggregation answers what recomputation answers.

Both are discovered: an algorithm or an aggregation that is registered later is tested by what is
here. Pairs that an algorithm refuses must be refused when they are asked for.
"""

import contextlib
import types
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import windrow as wr
from tests.support.aggregations.suited import looks_ahead
from tests.support.examples import examples
from windrow.aggregations import CATALOGUE
from windrow.algebra.aggregation import Aggregation
from windrow.algebra.equality import close
from windrow.algebra.kinds import Kind
from windrow.algorithms import ALGORITHMS, recompute
from windrow.testing import (
    CountingMonoid,
    Operation,
    check_algorithm,
    check_window,
    kinds_apart,
)
from windrow.testing.strategies import inputs_of, traces
from windrow.testing.subject import quietly

#: not commutative, not invertible, not selective: order and grouping show in every partial
CONCATENATION = CountingMonoid().aggregation


def combined_apart() -> list[tuple[Aggregation, Any]]:
    """Aggregations and kinds of inputs that are combined in different ways, one of each."""
    found: dict[Any, tuple[Aggregation, Any]] = {}
    for aggregation in CATALOGUE.values():
        for kinds in kinds_apart(aggregation):
            monoid = aggregation.monoid_for(kinds)
            functions = (monoid.lift, monoid.combine, monoid.inverse, monoid.traits)
            found.setdefault(functions, (aggregation, kinds))
    return list(found.values())


AGGREGATIONS = [
    pytest.param(aggregation, kinds, id=f"{aggregation.name}-{kinds[0].value}")
    for aggregation, kinds in combined_apart()
]
OTHERS = [name for name in ALGORITHMS if name != "recompute"]


def refused(algorithm: str, aggregation: Aggregation) -> bool:
    try:
        wr.Window(aggregation, algorithm=algorithm, exact=False)
    except wr.NotApplicable:
        return True
    return False


# Element by element -----------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=ALGORITHMS)
@examples(30)
@given(trace=traces(st.integers(0, 99), most_steps=40))
def test_order_and_grouping(algorithm, trace):
    check_algorithm(algorithm, CONCATENATION, trace)


@pytest.mark.parametrize(("aggregation", "kinds"), AGGREGATIONS)
@examples(3)
@given(data=st.data())
def test_every_pair(aggregation, kinds, data):
    trace = data.draw(traces(inputs_of(aggregation, kinds, nulls=True), most_steps=20))
    for algorithm in ALGORITHMS.values():
        check_algorithm(algorithm, aggregation, trace, kinds)


@pytest.mark.parametrize("aggregation", CATALOGUE.values(), ids=CATALOGUE)
@examples(3)
@given(data=st.data())
def test_every_window(aggregation, data):
    trace = data.draw(traces(inputs_of(aggregation, nulls=True), most_steps=20))
    for algorithm in ALGORITHMS:
        # What is refused is checked, with its message, by test_every_pair.
        if not refused(algorithm, aggregation):
            check_window(aggregation, trace, algorithm)


#: numbers that compiled windows take
TYPES = {Kind.FLOAT: pa.float64(), Kind.INTEGER: pa.int64()}


#: not commutative: the first value, and how often the values change sign from one to the next
turns = wr.aggregation(
    name="turns",
    identity=(0.0, 0.0, 0),
    lift=lambda value: (value, value, 0),
    combine=lambda older, newer: (
        (older[0] if older[0] else newer[0]),
        (newer[1] if newer[1] else older[1]),
        older[2] + newer[2] + (1 if older[1] * newer[0] < 0 else 0),
    ),
    lower=lambda partial: partial[0] + partial[2],
)


def check_compiled(algorithm: str, aggregation: Aggregation, kinds: Any, trace: Any) -> None:
    """What is refused, or grows past 64 bits, is checked elsewhere."""
    with contextlib.suppress(wr.NotApplicable, wr.AggregateOverflow), quietly():
        check_window(aggregation, trace, algorithm, [TYPES[kind] for kind in kinds])


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@examples(5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_every_algorithm_in_a_compiled_window(algorithm, data):
    """Events wait in typed memory until somebody asks; one aggregation minds their order."""
    for aggregation, kind, values in (
        (turns, Kind.FLOAT, st.sampled_from([-1.5, 2.5, 4.0, -8.0])),
        (CATALOGUE["sum"], Kind.INTEGER, st.integers(-9, 9)),
        (CATALOGUE["max"], Kind.INTEGER, st.integers(-(2**63), 2**63 - 1)),
    ):
        trace = data.draw(traces(st.none() | values, most_steps=30))
        check_compiled(algorithm, aggregation, (kind,), trace)


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(
    ("aggregation", "kinds"), [each for each in AGGREGATIONS if set(each.values[1]) <= set(TYPES)]
)
@examples(2, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_every_aggregation_in_a_compiled_window(aggregation, kinds, data):
    trace = data.draw(traces(inputs_of(aggregation, kinds, nulls=True), most_steps=20))
    for algorithm in (None, data.draw(st.sampled_from(list(ALGORITHMS)))):
        check_compiled(algorithm, aggregation, kinds, trace)


@pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=ALGORITHMS)
def test_a_long_window_grows_and_shrinks(algorithm):
    """Past the ends of chunks and of every first capacity, and back."""
    trace = []
    for size in (3000, 10, 1500):
        trace.append(Operation("insert_many", tuple(range(size))))
        trace.append(Operation("evict_many", count=size - 5))
    checked = types.SimpleNamespace(**vars(algorithm))
    # Invariants are checked event by event elsewhere: here they would fold a million times.
    checked.check_invariants = lambda *_arguments: None
    check_algorithm(checked, wr.max, trace)


# Block by block ---------------------------------------------------------------------------------


def table(rows: int) -> pa.Table:
    chance = np.random.default_rng(3)
    return pa.table(
        {
            "key": pa.array(chance.integers(0, 3, rows)),
            "ts": pa.array(np.cumsum(chance.integers(0, 3, rows)), pa.timestamp("s")),
            # Above zero, so that even logarithms can be subtracted again.
            "x": pa.array(chance.integers(1, 99, rows) / 8, mask=chance.random(rows) < 0.1),
            "n": pa.array(chance.integers(-2, 3, rows)),
            "some": pa.array(chance.integers(-99, 99, rows), mask=chance.random(rows) < 0.2),
            "text": pa.array(chance.choice(["a", "b", ""], rows)),
            "flag": pa.array(chance.random(rows) < 0.5),
        }
    )


COLUMNS = {
    Kind.FLOAT: "x", Kind.INTEGER: "n", Kind.TEXT: "text", Kind.BOOLEAN: "flag", Kind.TEMPORAL: "ts"
}  # fmt: skip


def measure(aggregation: Aggregation) -> Any:
    """The aggregation of columns that it takes, of different ones if it takes several."""
    chosen: list[str] = []
    for entry in aggregation.inputs:
        accepted = [name for kind, name in COLUMNS.items() if kind in entry.accepts]
        chosen.append(next(name for name in accepted if name not in chosen))
    return aggregation(*chosen)


#: What every algorithm is asked interpreted, and its columns as recomputation answers them.
BLOCKS: dict[str, Any] = {
    "key": "key", "order": "ts",
    "windows": {"rows": wr.rows(5), "time": wr.time("30 seconds")},
}  # fmt: skip


@pytest.fixture(scope="module")
def recomputed_blocks() -> dict[str, list[Any]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NUMBA_DISABLE_JIT", "1")
        measures = [measure(each) for each in CATALOGUE.values() if not looks_ahead(each)]
        return wr.over(table(120), algorithm="recompute", aggs=measures, **BLOCKS).to_pydict()  # type: ignore[no-any-return]


def answered(algorithm: str, measures: list[Any]) -> dict[str, list[Any]]:
    """What an algorithm answers; what it serves alone, it may not serve in one pass with others."""
    try:
        # What is subtracted here has no infinities, and answers are compared up to rounding.
        found = wr.over(table(120), algorithm=algorithm, aggs=measures, exact=False, **BLOCKS)
    except wr.NotApplicable:
        if len(measures) == 1:
            return {}
        parts = [answered(algorithm, [each]) for each in measures]
        return {name: answers for part in parts for name, answers in part.items()}
    return found.to_pydict()  # type: ignore[no-any-return]


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("algorithm", OTHERS)
def test_every_pair_in_blocks(algorithm, recomputed_blocks):
    aggregations = [
        each
        for each in CATALOGUE.values()
        if not refused(algorithm, each) and not looks_ahead(each)
    ]
    found = answered(algorithm, list(map(measure, aggregations)))
    assert found
    for name, answers in found.items():
        assert close(answers, recomputed_blocks[name]), name


#: one that minds the order and carries a value, and one that is invertible
MEASURES = {"last": wr.last("some"), "sum": wr.sum("some")}
#: The longest windows outgrow their ring and move to a larger one.
KERNEL_WINDOWS = {
    "one": wr.rows(1), "few": wr.rows(7), "many": wr.rows(300),
    "short": wr.time("20 seconds"), "long": wr.time("1 hour"),
}  # fmt: skip


def of_kernels(algorithm: str, names: list[str]) -> dict[str, list[Any]]:
    """Answers of some measures in one pass."""
    answers = wr.over(
        table(3000), key="key", order="ts", windows=KERNEL_WINDOWS, algorithm=algorithm,
        aggs=[MEASURES[name] for name in names],
    )  # fmt: skip
    return answers.to_pydict()  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def recomputed_kernels() -> dict[str, list[Any]]:
    return of_kernels("recompute", list(MEASURES))


@pytest.mark.compiled
@pytest.mark.parametrize("algorithm", OTHERS)
def test_kernels_agree_with_recomputation(algorithm, recomputed_kernels):
    """Over rows and over time."""
    served = [name for name in MEASURES if not refused(algorithm, CATALOGUE[name])]
    assert served
    for name, answers in of_kernels(algorithm, served).items():
        assert answers == recomputed_kernels[name], name


# Refusals ---------------------------------------------------------------------------------------


@pytest.fixture
def picky(monkeypatch: pytest.MonkeyPatch) -> Any:
    """An algorithm for invertible aggregations, registered for one test."""
    algorithm = types.ModuleType("picky")
    vars(algorithm).update({name: each for name, each in vars(recompute).items() if name[0] != "_"})
    algorithm.NAME = "picky"
    algorithm.refuses = lambda traits, invertible: None if invertible else "it needs an inverse"
    monkeypatch.setitem(ALGORITHMS, "picky", algorithm)
    return algorithm


def test_a_pair_that_cannot_work_is_refused_by_both_names(picky):
    message = "picky cannot serve max: it needs an inverse"
    with pytest.raises(wr.NotApplicable, match=message):
        wr.Window(wr.max(), algorithm="picky")
    with pytest.raises(wr.NotApplicable, match=message):
        wr.over(table(3), windows=wr.rows(2), aggs=[wr.sum("n"), wr.max("n")], algorithm="picky")
    check_algorithm(picky, wr.max, [Operation("insert", (1,))])
    check_algorithm(picky, wr.sum, [Operation("insert", (1,))])
    window = wr.Window(wr.sum(), algorithm="picky")
    window.insert_many([1, 2])
    assert window.query() == 3


@pytest.mark.usefixtures("interpreted")
def test_what_is_served_alone_and_not_together_is_refused(picky):
    """Two selective aggregations in one pass are not selective: the answers were wrong."""
    picky.refuses = lambda traits, invertible: None if traits.selective else "it is not selective"
    both = [wr.max("n"), wr.min("n")]
    for each in both:
        wr.over(table(3), windows=wr.rows(2), aggs=each, algorithm="picky")
    with pytest.raises(
        wr.NotApplicable, match=r"picky cannot serve max\(n\), min\(n\) in one pass"
    ):
        wr.over(table(3), windows=wr.rows(2), aggs=both, algorithm="picky")


def test_the_suite_itself_finds_a_wrong_algorithm(picky):
    """Evicting from the wrong end, an answer of too many events, a broken invariant."""
    trace = [Operation("insert_many", (1, 2, 3)), Operation("evict"), Operation("evict")]
    check_algorithm(picky, wr.sum, trace)
    picky.refuses = lambda traits, invertible: None

    def evict_newest(state, ring):
        return state._replace(end=state.end - 1)

    original = picky.FUNCTIONS
    evict_newest.__name__ = "evict"
    picky.FUNCTIONS = tuple(evict_newest if f.__name__ == "evict" else f for f in original)
    with pytest.raises(
        AssertionError, match=r"after step 1, evict\(\): query\(\) is 3, recomputed 5"
    ):
        check_algorithm(picky, wr.sum, trace)
    with pytest.raises(AssertionError, match=r"query\(\) is 3, recomputed 5"):
        check_window(wr.sum, trace, "picky")
    # A maximum of 3, 1, 2 does not show which end was evicted from; the invariants do.
    unseen = [Operation("insert_many", (2, 3, 2)), Operation("evict")]
    with pytest.raises(AssertionError, match="invariant 2 at 0"):
        check_algorithm(picky, wr.max, unseen)


def test_a_trace_is_shown_as_it_would_be_written():
    steps = [Operation("insert", (1,)), Operation("evict"), Operation("evict_many", count=2)]
    assert repr(steps) == "[insert(1), evict(), evict_many(2)]"
