"""The strategies make what they promise, the awkward cases among it."""

import math
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

import windrow as wr
from tests.support.examples import examples
from windrow.algebra.kinds import Kind
from windrow.testing.strategies import inputs_of, tables, traces, values, well_conditioned

COLUMN_KINDS = [kind for kind in Kind if kind is not Kind.ANY]
LOOKING = settings(max_examples=3000, phases=[Phase.generate])


def can_be(strategy: Any, condition: Callable[[Any], bool]) -> bool:
    """Whether such a value is made; it raises if none is found."""
    find(strategy, condition, settings=LOOKING)
    return True


@pytest.mark.parametrize("kind", COLUMN_KINDS)
@examples(5)
@given(data=st.data())
def test_values_are_of_their_kind(kind, data):
    table = data.draw(tables({"x": kind}, most_rows=5))
    assert Kind.of(table.schema.field("x").type) is kind


@pytest.mark.parametrize(
    "condition",
    [math.isnan, math.isinf, lambda x: x == 0 and math.copysign(1, x) < 0, lambda x: x > 1e299],
)
def test_floats_are_awkward(condition):
    assert can_be(values(Kind.FLOAT), condition)


@given(
    st.lists(well_conditioned(Kind.FLOAT).filter(math.isfinite), max_size=100).map(sorted),
    st.randoms(),
)
def test_sums_of_well_conditioned_floats_are_exact(floats, chance):
    exact = sum(floats)
    chance.shuffle(floats)
    assert sum(floats) == exact == math.fsum(floats)
    assert math.isfinite(math.prod(floats))


@examples(15)
@given(tables({"x": Kind.FLOAT, "n": Kind.INTEGER}, nulls=False, distinct_order=True))
def test_tables_without_nulls_and_ties(table):
    assert table.schema.names == ["key", "ts", "x", "n"]
    assert all(column.null_count == 0 for column in table.columns)
    assert len(set(table["ts"].to_pylist())) == table.num_rows


def test_tables_with_nulls_ties_gaps_and_no_order():
    kinds = tables({"x": Kind.FLOAT})

    def moments(table: pa.Table) -> list[int]:
        return table["ts"].cast("int64").to_pylist()

    assert can_be(kinds, lambda table: table["x"].null_count and table["key"].null_count)
    assert can_be(kinds, lambda table: len(set(moments(table))) < table.num_rows)
    assert can_be(kinds, lambda table: moments(table) != sorted(moments(table)))
    assert can_be(
        kinds, lambda table: table.num_rows and max(moments(table)) - min(moments(table)) > 10**7
    )


def test_traces_grow_and_empty():
    steps = traces(st.integers())
    assert can_be(steps, lambda trace: sum(len(step.inputs) for step in trace) > 40)
    for name in ("insert", "insert_many", "evict", "evict_many", "query", "clear"):
        assert can_be(steps, lambda trace, name=name: any(step.name == name for step in trace))


def test_inputs_fit_the_aggregation():
    assert can_be(inputs_of(wr.concat), lambda given: isinstance(given, str))
    assert can_be(inputs_of(wr.arg_max, nulls=True), lambda given: given[0] is None)
    assert can_be(inputs_of(wr.max, (Kind.INTEGER,)), lambda given: given == -(2**63))


@examples(15)
@given(inputs_of(wr.mean, (Kind.FLOAT,)))
def test_inputs_of_what_is_rounded_are_not_huge(given):
    assert not 1e6 < abs(given) < math.inf
