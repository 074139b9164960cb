"""Hypothesis strategies: inputs of every kind, traces of operations, tables.

Two families of inputs, because rounding is not a mistake:

- `values(kind)`: all that a column of that kind can hold, the awkward first: NaN, infinities, -0.0,
  ties, the ends of 64 bits, huge offsets. For aggregations that are exact.
- `well_conditioned(kind)`: numbers that can be added in any order with next to no rounding. Every
  grouping of sums and products of them agrees, so any difference is a mistake. Not a number and the
  infinities are among them, because they absorb whatever they are grouped with.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa

from windrow.algebra.aggregation import Aggregation, Input
from windrow.algebra.kinds import Kind
from windrow.testing.conformance import Operation

try:
    from hypothesis import strategies as st
    from hypothesis.strategies import SearchStrategy
except ImportError as missing:
    raise ImportError(
        "windrow.testing.strategies needs hypothesis: pip install hypothesis"
    ) from missing

_BEGIN = datetime.datetime(2012, 2, 22)

_AWKWARD_FLOATS = [
    math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, 1e300, -1e300, 1e9 + 0.125, 2.0**53, 0.1,
]  # fmt: skip
_AWKWARD_INTEGERS = [0, 1, -1, 2**31, -(2**32), 2**53 + 1, 2**62, 2**63 - 1, -(2**63)]


def values(kind: Kind) -> SearchStrategy[Any]:
    """Anything that a column of this kind can hold, but for nulls."""
    return {
        Kind.BOOLEAN: st.booleans(),
        Kind.INTEGER: st.one_of(
            _ties(), st.sampled_from(_AWKWARD_INTEGERS), st.integers(-(2**63), 2**63 - 1)
        ),
        Kind.FLOAT: st.one_of(
            _ties().map(float), st.sampled_from(_AWKWARD_FLOATS), st.floats(width=64)
        ),
        Kind.TEMPORAL: st.integers(-(2**50), 2**50).map(
            lambda microseconds: _BEGIN + datetime.timedelta(microseconds=microseconds)
        ),
        Kind.DURATION: st.one_of(_ties(), st.integers(-(2**50), 2**50)).map(
            lambda microseconds: datetime.timedelta(microseconds=microseconds)
        ),
        Kind.DECIMAL: st.decimals(-(10**30), 10**30, places=4),
        Kind.TEXT: st.text("abcß水", max_size=3),
        Kind.NESTED: st.lists(st.integers(0, 2), max_size=2),
        Kind.ANY: st.one_of(_ties(), st.integers(), st.floats(), st.sampled_from(_AWKWARD_FLOATS)),
    }[kind]


def well_conditioned(kind: Kind) -> SearchStrategy[Any]:
    """Values whose sums and products come out nearly the same in every grouping.

    Floats are multiples of 1/8 below 1024, whose sums are exact, and the product of a hundred stays
    finite.
    """
    eighths = st.integers(-(2**13), 2**13).map(lambda number: number / 8)
    absorbing = st.sampled_from([math.nan, math.inf, -math.inf])
    integers = st.one_of(_ties(), st.integers(-1000, 1000))
    floats = st.one_of(_ties().map(float), eighths, eighths, absorbing)
    numbers: dict[Kind, SearchStrategy[Any]] = {
        Kind.INTEGER: integers,
        Kind.FLOAT: floats,
        Kind.DECIMAL: eighths.map(Decimal),
        Kind.ANY: st.one_of(integers, floats),
    }
    return numbers[kind] if kind in numbers else values(kind)


def _ties() -> SearchStrategy[int]:
    return st.integers(-2, 3)


def inputs_of(
    aggregation: Aggregation, kinds: Sequence[Kind] | None = None, *, nulls: bool = False
) -> SearchStrategy[Any]:
    """Inputs of an aggregation, on which its laws hold and any two ways to compute it agree.

    Args:
        aggregation: the aggregation; if it is declared exact, its inputs are as awkward as can be.
        kinds: the kinds of its inputs; by default `ANY`, as in `wr.Window`.
        nulls: whether some inputs are null.
    """
    kinds = (Kind.ANY,) * len(aggregation.inputs) if kinds is None else tuple(kinds)
    monoid = aggregation.monoid_for(kinds)
    exact, counts_nulls = monoid.traits.exact, monoid.absent is not None
    columns = []
    for entry, kind in zip(aggregation.inputs, kinds, strict=True):
        kind = _told_apart(entry, kind)
        column = values(kind) if exact else well_conditioned(kind)
        some_null = nulls or (entry.unknown and counts_nulls)
        columns.append(st.one_of(st.none(), column, column, column) if some_null else column)
    return columns[0] if len(columns) == 1 else st.tuples(*columns)


def _told_apart(entry: Input, kind: Kind) -> Kind:
    """A kind of values for an input of kind `ANY`: numbers, if it takes them."""
    if kind is not Kind.ANY or Kind.FLOAT in entry.accepts:
        return kind
    return next(each for each in Kind if each in entry.accepts)


def traces(
    inputs: SearchStrategy[Any], *, most_steps: int = 30, most_at_once: int = 12
) -> SearchStrategy[list[Operation]]:
    """Operations on a window in any order: it grows, shrinks, empties and refills.

    Args:
        inputs: the events to insert.
        most_steps: the number of operations.
        most_at_once: how many events `insert_many` and `evict_many` move.
    """
    insert = inputs.map(lambda given: Operation("insert", (given,)))
    evict = st.just(Operation("evict"))
    operations = st.one_of(
        insert,
        insert,
        evict,
        evict,
        _lists(inputs, most_at_once).map(lambda given: Operation("insert_many", tuple(given))),
        st.integers(0, most_at_once).map(lambda count: Operation("evict_many", count=count)),
        # A query is checked after every step; here it is to be seen that it changes nothing.
        st.sampled_from([*[Operation("query")] * 3, Operation("clear")]),
    )
    return _lists(operations, most_steps)


def _lists(elements: SearchStrategy[Any], most: int) -> SearchStrategy[list[Any]]:
    """Lists of any length, each as likely: those of `st.lists` are mostly short."""
    return st.integers(0, most).flatmap(
        lambda size: st.lists(elements, min_size=size, max_size=size)
    )


def tables(
    columns: Mapping[str, Kind],
    *,
    keys: int = 3,
    most_rows: int = 60,
    nulls: bool = True,
    conditioned: bool = True,
    distinct_order: bool = False,
) -> SearchStrategy[pa.Table]:
    """Tables with a key, an order and columns of the given kinds.

    The column `key` is text, null for some rows. The column `ts` is a timestamp in microseconds:
    mostly small steps, ties, and now and then a gap. Rows come in no order.

    Args:
        columns: the names and kinds of the value columns.
        keys: the number of different keys besides null.
        most_rows: the number of rows.
        nulls: whether keys and values may be null.
        conditioned: whether floats are such that sums of them do not depend on the grouping.
        distinct_order: whether no two rows have the same time.
    """

    @st.composite
    def table(draw: st.DrawFn) -> pa.Table:
        rows = draw(st.integers(0, most_rows))

        def column(elements: SearchStrategy[Any]) -> list[Any]:
            wanted = st.one_of(st.none(), elements, elements, elements) if nulls else elements
            drawn: list[Any] = draw(st.lists(wanted, min_size=rows, max_size=rows))
            return drawn

        steps = st.sampled_from([0, 1, 1, 2, 3, 7, 60_000_000] if not distinct_order else [1, 2, 7])
        ticks = draw(st.lists(steps, min_size=rows, max_size=rows))
        moments = [
            _BEGIN + datetime.timedelta(microseconds=sum(ticks[: index + 1]))
            for index in range(rows)
        ]
        shuffled = draw(st.permutations(moments))
        held = well_conditioned if conditioned else values
        named = st.integers(0, keys - 1).map("k{}".format)
        arrays = {
            "key": pa.array(column(named), pa.string()),
            "ts": pa.array(shuffled, pa.timestamp("us")),
        }
        for name, kind in columns.items():
            arrays[name] = pa.array(column(held(kind)), _TYPES[kind])
        return pa.table(arrays)

    return table()


_TYPES = {
    Kind.BOOLEAN: pa.bool_(),
    Kind.INTEGER: pa.int64(),
    Kind.FLOAT: pa.float64(),
    Kind.TEMPORAL: pa.timestamp("us"),
    Kind.DURATION: pa.duration("us"),
    Kind.DECIMAL: pa.decimal128(38, 4),
    Kind.TEXT: pa.string(),
    Kind.NESTED: pa.list_(pa.int64()),
}
