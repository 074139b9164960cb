"""Rows into slices before the shuffle, so that few rows are sorted and go to Python.

`windrow.engine.slice_partials` says what slices are, and what `slide` over them is. There are two
ways to combine the rows of a slice:

- By Spark's own aggregates, if they are the fields of all partials: one row for each key and slice.
  Not for calendar windows, because Spark's time zone database may differ from Python's.
- By windrow's kernels, if partials are numbers and do not depend on the order of rows: one row for
  each key and slice of a batch.

    events                 (key, time, x)
    slices                 (key, slice, count(x), sum(x), ...)
    answers                (key, window_start, window_end, mean(x), ...)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import DataType, DateType, DoubleType, LongType, StructField, StructType

from windrow.algebra.kinds import Kind
from windrow.algebra.ordering import rank
from windrow.engine.slice_partials import (
    SlicePartials,
    has_partials,
    has_slices,
    itself,
    over_fields,
    over_slices,
    several,
    slice_edges,
    slice_name,
)
from windrow.planning.features import Feature
from windrow.planning.placement import is_plain
from windrow.planning.slide_plan import SlidePlan
from windrow.spark.batch.samples import are_slices_dense
from windrow.spark.bridge.answer_columns import answers_in_bulk
from windrow.spark.bridge.arrow_batches import map_partitions
from windrow.spark.bridge.source import Source

Column = Any

_MICROSECONDS_PER_DAY = 86_400_000_000
_LOW_BITS = 2**32 - 1


def slices_of(source: Source, plan: SlidePlan, nullable: AbstractSet[str]) -> SlicesFirst | None:
    """The slices of a source that has the columns that the plan reads; None if it has no slices."""
    if why_no_slices(plan) is not None:
        return None
    if _is_in_spark(plan):
        return SparkSlices(source, plan)
    return PythonSlices(source, plan, nullable)


def why_no_slices(plan: SlidePlan) -> str | None:
    """Why rows cannot be combined into slices before the shuffle; None if they can."""
    if not has_slices(plan):
        return (
            "slices are made before the shuffle only if a clock or a calendar says when all "
            "windows begin and end"
        )
    if not _is_in_spark(plan) and not has_partials(plan):
        return (
            "slices are made before the shuffle only if partials are numbers and do not depend on "
            "the order of rows"
        )
    return None


def _is_in_spark(plan: SlidePlan) -> bool:
    """Whether Spark can tell slices, and has aggregates that are the partials of all features."""
    if plan.calendars:
        return False
    return all(_fields_of(feature, plan.schema) is not None for feature in plan.features)


class SlicesFirst(ABC):
    """The slices of a DataFrame, and the plan of `slide` over them."""

    #: `slide` over slices
    plan: SlidePlan
    #: who combines the rows of a slice, for people
    combines: str

    def __init__(self, source: Source, plan: SlidePlan) -> None:
        """`source` has the columns that the plan reads, in the plan's order."""
        self._source, self._rows = source, plan
        self._fields = dict(zip(plan.columns, source.schema.fields, strict=True))

    @property
    @abstractmethod
    def nullable(self) -> set[str]:
        """The columns of fields that may hold nulls."""

    @property
    @abstractmethod
    def _types(self) -> dict[str, DataType]:
        """The columns of fields."""

    @abstractmethod
    def frame(self) -> Any:
        """Rows for the keys and slices, in no order."""

    @property
    def schema(self) -> StructType:
        """The columns of the slices."""
        keys = [self._fields[name] for name in self._rows.key]
        fields = [StructField(name, each) for name, each in self._types.items()]
        return StructType([*keys, StructField(slice_name(self._rows), LongType()), *fields])

    @property
    def are_dense(self) -> bool:
        """Whether they have so many rows that making them before the shuffle pays; runs a job."""
        return are_slices_dense(self._source.frame, self._keys, self._begin)

    @property
    def _keys(self) -> list[str]:
        return [self._fields[name].name for name in self._rows.key]

    @property
    def _begin(self) -> Column:
        """Where the slice of a row begins, in microseconds: at the last edge of any window.

        By calendars, about there: with the day in UTC.
        """
        order = self._fields[self._rows.order[0]]
        time = F.unix_micros(F.col(order.name))
        if isinstance(order.dataType, DateType):
            time = F.unix_date(F.col(order.name)).cast("long") * _MICROSECONDS_PER_DAY
        edges = slice_edges(self._rows)
        if self._rows.calendars:
            edges.append((0, _MICROSECONDS_PER_DAY))
        last = [time - F.pmod(time - F.lit(edge), F.lit(slide)) for edge, slide in edges]
        return F.greatest(*last) if len(last) > 1 else last[0]


# By windrow's kernels ----------------------------------------------------------------------------


class PythonSlices(SlicesFirst):
    """Slices that windrow's kernels make of batches; a key and slice may come several times."""

    combines = "windrow's kernels, batch by batch"

    def __init__(self, source: Source, plan: SlidePlan, nullable: AbstractSet[str]) -> None:
        super().__init__(source, plan)
        self._nullable = nullable
        self._partials = SlicePartials(plan, nullable)
        self.plan = self._partials.plan

    @property
    def nullable(self) -> set[str]:
        """The fields of partials that do not show by themselves that they hold no values."""
        return self._partials.nullable

    @property
    def _types(self) -> dict[str, DataType]:
        return {name: from_arrow_type(each) for name, each in self._partials.types.items()}

    def frame(self) -> Any:
        """Rows for the keys and slices of each batch."""
        plan, nullable, names = self._rows, self._nullable, self.schema.names

        def combine(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch | None]:
            partials = SlicePartials(plan, nullable)

            def combined(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
                yield partials.of(batch.rename_columns(plan.columns)).rename_columns(names)

            yield from answers_in_bulk(batches, combined)

        source, read = self._source, self._source.schema.names
        title = "windrow slide: partials of slices"
        return map_partitions(source.frame, read, source.checked(combine, read), self.schema, title)


# By Spark's own aggregates -----------------------------------------------------------------------


def two_ranks(smallest: Any, largest: Any) -> Any:
    """The partial of `value_range` for floats: the ranks of both extremes."""
    return (rank(smallest), rank(largest))


@dataclass(frozen=True)
class _Aggregate:
    """An aggregate of Spark that is a field of partials.

    Attributes:
        of: from a column to its aggregate.
        type: the type of the result; None for that of the column.
    """

    of: Callable[[Column], Column]
    type: DataType | None = None


_FIELDS = {
    "count": _Aggregate(F.count, LongType()),
    "max": _Aggregate(F.max),
    "min": _Aggregate(F.min),
    "sum": _Aggregate(lambda x: F.sum(x.cast("double")), DoubleType()),
    # In two halves, as windrow adds integers: a sum overflows only if the answer does.
    "sum_high": _Aggregate(lambda x: F.sum(F.shiftright(x.cast("long"), 32)), LongType()),
    "sum_low": _Aggregate(lambda x: F.sum(x.cast("long").bitwiseAND(F.lit(_LOW_BITS))), LongType()),
}

_FLOATS: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
    "sum": (("sum",), itself),
    "mean": (("sum", "count"), several),
    "value_range": (("min", "max"), two_ranks),
}
_INTEGERS: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
    "sum": (("sum_high", "sum_low"), several),
    "mean": (("sum_high", "sum_low", "count"), several),
    "value_range": (("min", "max"), several),
}
# No moments: Spark's sum and variance of a slice do not give its mean to the last digit. A variance
# far from zero would lose digits that windrow's own partial keeps.
_ANY: dict[str, tuple[tuple[str, ...], Callable[..., Any] | None]] = {
    "count": (("count",), itself),
    # The maximum of a slice is lifted like any value.
    "max": (("max",), None),
    "min": (("min",), None),
}


def _fields_of(
    feature: Feature, schema: pa.Schema
) -> tuple[tuple[str, ...], Callable[..., Any] | None] | None:
    """The aggregates of Spark that make up a feature's partial, and its lift; or None."""
    aggregation = feature.aggregation
    compiled = feature.compiled or aggregation.name == "count"
    if not is_plain(feature) or not compiled:
        return None
    kinds = [Kind.of(schema.field(column).type) for column in feature.columns]
    if Kind.DURATION in kinds and aggregation.name in ("sum", "mean"):
        return None  # Spark has no ticks of an interval
    by_kind = _FLOATS if Kind.FLOAT in kinds else _INTEGERS
    return by_kind.get(aggregation.name, _ANY.get(aggregation.name))


class SparkSlices(SlicesFirst):
    """Slices that Spark makes; each key and slice comes once."""

    combines = "Spark's own aggregates"

    def __init__(self, source: Source, plan: SlidePlan) -> None:
        super().__init__(source, plan)
        #: the aggregates, by the names of their columns
        self._aggregates: dict[str, tuple[Column, DataType]] = {}
        self.plan = over_slices(plan, tuple(map(self._merging, plan.features)))

    @property
    def nullable(self) -> set[str]:
        """All fields but counts: a slice without values has a count of 0."""
        counts = f"{slice_name(self._rows)}_count_"
        return {name for name in self._aggregates if not name.startswith(counts)}

    @property
    def _types(self) -> dict[str, DataType]:
        return {name: each for name, (_, each) in self._aggregates.items()}

    def frame(self) -> Any:
        """A row for each key and slice."""
        order = self._fields[self._rows.order[0]].name
        aggregates = [each.alias(name) for name, (each, _) in self._aggregates.items()]
        present = self._source.frame.where(F.col(order).isNotNull())
        begin = self._begin.alias(slice_name(self._rows))
        return present.groupBy(*self._keys, begin).agg(*aggregates)

    def _merging(self, feature: Feature) -> Feature:
        """The feature over the fields of slices."""
        found = _fields_of(feature, self._rows.schema)
        assert found is not None
        names, lift = found
        columns = [self._aggregate(name, feature.columns) for name in names]
        monoid = feature.monoid if lift is None else replace(feature.monoid, lift=lift)
        return over_fields(feature, columns, monoid)

    def _aggregate(self, name: str, columns: Sequence[str]) -> str:
        field = self._fields[columns[0]] if columns else None
        label = f"{slice_name(self._rows)}_{name}_{field.name if field else ''}"
        aggregate = _FIELDS[name]
        of = F.lit(1) if field is None else F.col(field.name)
        data_type = aggregate.type or (field.dataType if field else LongType())
        self._aggregates[label] = aggregate.of(of), data_type
        return label
