"""Rows into slices by Spark's own aggregates, before they are shuffled and go to Python.

For periodic windows of time the slice of a row is arithmetic: it begins at the last edge of any
window at or before the row's time. Where Spark has aggregates that are the fields of a partial, it
combines the rows of each key and slice, and what is left is `slide` again: over the slices, as if
each were one event at the time at which it begins, with a lift that takes the fields as they are.

    events                 (key, time, x)
    Spark's aggregates     (key, slice, count(x), sum(x), ...)
    windrow                (key, window_start, window_end, mean(x), ...)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, DateType, DoubleType, LongType, StructField, StructType

from windrow.algebra.aggregation import Input
from windrow.algebra.kinds import Kind
from windrow.algebra.ordering import rank
from windrow.planning.resolve import Feature
from windrow.planning.slide import SlidePlan
from windrow.runtime import columns as arrow
from windrow.runtime.answering import times_to_arrow
from windrow.spark.looks import are_slices_dense
from windrow.windows import EveryTime, TimeWindow

Column = Any

_MICROSECONDS_PER_DAY = 86_400_000_000
_LOW_BITS = 2**32 - 1

# What a lift makes of the fields of a slice ------------------------------------------------------


def itself(field: Any) -> Any:
    """One field."""
    return field


def two(first: Any, second: Any) -> Any:
    """Two fields."""
    return (first, second)


def three(first: Any, second: Any, third: Any) -> Any:
    """Three fields."""
    return (first, second, third)


def two_ranks(smallest: Any, largest: Any) -> Any:
    """Two floats, by rank."""
    return (rank(smallest), rank(largest))


# Spark's aggregates for fields -------------------------------------------------------------------


@dataclass(frozen=True)
class _Aggregate:
    """An aggregate of Spark that is a field of partials.

    Attributes:
        of: from a column to the aggregate of it.
        type: what comes out; None for what went in.
    """

    of: Callable[[Column], Column]
    type: DataType | None = None


_FIELDS = {
    "count": _Aggregate(F.count, LongType()),
    "max": _Aggregate(F.max),
    "min": _Aggregate(F.min),
    "sum": _Aggregate(lambda x: F.sum(x.cast("double")), DoubleType()),
    # Halves, as windrow adds up integers: no sum overflows that is not an answer.
    "sum_high": _Aggregate(lambda x: F.sum(F.shiftright(x.cast("long"), 32)), LongType()),
    "sum_low": _Aggregate(lambda x: F.sum(x.cast("long").bitwiseAND(F.lit(_LOW_BITS))), LongType()),
}

_FLOATS: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
    "sum": (("sum",), itself),
    "mean": (("sum", "count"), two),
    "value_range": (("min", "max"), two_ranks),
}
_INTEGERS: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
    "sum": (("sum_high", "sum_low"), two),
    "mean": (("sum_high", "sum_low", "count"), three),
    "value_range": (("min", "max"), two),
}
# No moments: Spark's sum and variance of a slice do not tell its mean to the last digit, so that a
# variance far from zero would lose digits that windrow's own partial keeps.
_ANY: dict[str, tuple[tuple[str, ...], Callable[..., Any] | None]] = {
    "count": (("count",), itself),
    # The extreme of extremes is lifted as any value.
    "max": (("max",), None),
    "min": (("min",), None),
}


def _fields_of(
    feature: Feature, schema: pa.Schema
) -> tuple[tuple[str, ...], Callable[..., Any] | None] | None:
    """The aggregates of Spark that are a feature's partial, and its lift; or None."""
    aggregation = feature.aggregation
    if aggregation.custom or not (feature.compiled or aggregation.name == "count"):
        return None
    kinds = [Kind.of(schema.field(column).type) for column in feature.columns]
    by_kind = _FLOATS if Kind.FLOAT in kinds else _INTEGERS
    return by_kind.get(aggregation.name, _ANY.get(aggregation.name))


# A plan over slices ------------------------------------------------------------------------------


def can_slice(plan: SlidePlan) -> bool:
    """Whether all windows are periodic in time, and Spark has the fields of all partials."""
    return all(
        isinstance(window, TimeWindow) and isinstance(window.every, EveryTime)
        for window in plan.windows.values()
    ) and all(_fields_of(feature, plan.schema) is not None for feature in plan.features)


class Sliced:
    """The slices of a DataFrame, and what `slide` has to do with them."""

    def __init__(self, frame: Any, schema: StructType, plan: SlidePlan) -> None:
        """The columns of the frame are those that the plan reads, under the schema's names."""
        self._source = plan
        self._frame = frame
        places = {name: index for index, name in enumerate(plan.columns)}
        self._fields = {name: schema.fields[index] for name, index in places.items()}
        #: the aggregates, by the names of their columns
        self._aggregates: dict[str, tuple[Column, DataType]] = {}
        features = tuple(map(self._merging, plan.features))
        arrow_fields = [plan.schema.field(name) for name in plan.key]
        self.plan = replace(
            plan,
            order=(self._slice,),
            features=features,
            schema=pa.schema([*arrow_fields, pa.field(self._slice, plan.order_type)]),
        )

    @property
    def _slice(self) -> str:
        """A name that no key has."""
        return "slice" + "_" * max(map(len, ("", *self._source.key)))

    def _merging(self, feature: Feature) -> Feature:
        """The feature over the fields of slices."""
        found = _fields_of(feature, self._source.schema)
        assert found is not None
        names, lift = found
        columns = tuple(self._aggregate(name, feature.columns) for name in names)
        inputs = tuple(Input(name) for name in names)
        monoid = feature.monoid if lift is None else replace(feature.monoid, lift=lift)
        return replace(
            feature,
            aggregation=replace(feature.aggregation, inputs=inputs),
            columns=columns,
            monoid=monoid,
            compiled=True,
        )

    def _aggregate(self, name: str, columns: Sequence[str]) -> str:
        field = self._fields[columns[0]] if columns else None
        label = f"{self._slice}_{name}_{field.name if field else ''}"
        aggregate = _FIELDS[name]
        of = F.lit(1) if field is None else F.col(field.name)
        data_type = aggregate.type or (field.dataType if field else LongType())
        self._aggregates[label] = aggregate.of(of), data_type
        return label

    @property
    def nullable(self) -> set[str]:
        """Columns that may hold nulls: a slice may hold no values, and still it counts them."""
        counts = f"{self._slice}_count_"
        return {name for name in self._aggregates if not name.startswith(counts)}

    @property
    def schema(self) -> StructType:
        """The columns of the slices."""
        keys = [self._fields[name] for name in self._source.key]
        added = [StructField(name, each) for name, (_, each) in self._aggregates.items()]
        return StructType([*keys, StructField(self._slice, LongType()), *added])

    @property
    def is_dense(self) -> bool:
        """Whether slices have so many rows that they are worth combining before a shuffle."""
        return are_slices_dense(self._frame, self._keys, self._begin)

    def frame(self) -> Any:
        """A row for each key and slice, in no order."""
        order = self._fields[self._source.order[0]].name
        aggregates = [each.alias(name) for name, (each, _) in self._aggregates.items()]
        present = self._frame.where(F.col(order).isNotNull())
        return present.groupBy(*self._keys, self._begin.alias(self._slice)).agg(*aggregates)

    @property
    def _keys(self) -> list[str]:
        return [self._fields[name].name for name in self._source.key]

    @property
    def _begin(self) -> Column:
        """Where the slice of a row begins."""
        order = self._fields[self._source.order[0]]
        time = F.unix_micros(F.col(order.name))
        if isinstance(order.dataType, DateType):
            time = F.unix_date(F.col(order.name)).cast("long") * _MICROSECONDS_PER_DAY
        return _slice_of(time, self._source)


def at_begin(batch: pa.RecordBatch, plan: SlidePlan) -> pa.RecordBatch:
    """A batch of slices as events at the times at which the slices begin."""
    (name,) = plan.order
    tick = arrow.nanoseconds_per_tick(plan.order_type) // 1_000
    place = batch.schema.get_field_index(name)
    times = batch[name].to_numpy() // tick
    return batch.set_column(place, name, times_to_arrow(times, plan.order_type))


def _slice_of(time: Column, plan: SlidePlan) -> Column:
    """Where the slice of a time begins, in microseconds: at the last edge of any window."""
    edges = set()
    for window in plan.windows.values():
        assert isinstance(window, TimeWindow)
        assert isinstance(window.every, EveryTime)
        slide = window.every.time // 1_000
        for edge in (window.every.offset, window.every.offset + window.range):
            edges.add((edge // 1_000 % slide, slide))
    last = [time - F.pmod(time - F.lit(edge), F.lit(slide)) for edge, slide in sorted(edges)]
    return F.greatest(*last) if len(last) > 1 else last[0]
