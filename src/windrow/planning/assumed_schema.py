"""A schema for plans without data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa

from windrow.algebra.aggregation import Input, Measure
from windrow.algebra.kinds import Kind
from windrow.planning.features import measures_of
from windrow.planning.over_plan import names_given
from windrow.windows import Windows, named


def assumed_schema(
    key: str | Sequence[str] | None,
    order: str | Sequence[str] | None,
    windows: Windows,
    aggs: Measure | Iterable[Measure],
) -> pa.Schema:
    """The columns that a call names: times to order by, floats to compute with."""
    types: dict[str, pa.DataType] = {}
    for name in names_given("order", order):
        types.setdefault(name, pa.timestamp("us", "UTC"))
    for name in names_given("key", key):
        types.setdefault(name, pa.int64())
    for window in named(windows).values():
        for column, data_type in window.assumed_types().items():
            types.setdefault(column, data_type)
    asked = [measure for window in named(windows).values() for measure in window.measures]
    for measure in (*measures_of(aggs, ()), *asked):
        for column, entry in zip(measure.columns, measure.aggregation.inputs, strict=False):
            types.setdefault(column, _input_type(entry))
        if measure.condition is not None:
            for column, data_type in measure.condition.guesses().items():
                types.setdefault(column, data_type)
    return pa.schema(list(types.items()))


def _input_type(entry: Input) -> pa.DataType:
    for kind, data_type in (
        (Kind.FLOAT, pa.float64()),
        (Kind.TEMPORAL, pa.timestamp("us")),
        (Kind.INTEGER, pa.int64()),
        (Kind.BOOLEAN, pa.bool_()),
    ):
        if kind in entry.accepts:
            return data_type
    return pa.string()
