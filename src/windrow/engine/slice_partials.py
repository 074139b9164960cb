"""`slide` in two steps: partials of slices, made wherever their rows are, and windows over them.

    rows        (key, time, x)
    partials    (key, slice, field_0, field_1, ...)
    windows     (key, window_start, window_end, answer)

For windows by a clock or a calendar, arithmetic gives the slice of a row: it begins at the last
edge of any window at or before the row's time. If the order of the rows in a slice does not matter,
any of them can be combined, in any batch of any task. The second step is `slide` again, over
partials: each is an event at the time at which its slice begins, and its lift takes the fields as
they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.algebra import arrays
from windrow.algebra.aggregation import Input
from windrow.algebra.monoid import Monoid
from windrow.engine import columns as arrow
from windrow.engine.feature_columns import FeatureColumns
from windrow.engine.maps import SLICE, Maps, has_partials_of_numbers
from windrow.engine.named_failures import kernels_named
from windrow.engine.order_column import in_order_type, times_to_arrow
from windrow.planning.features import Feature
from windrow.planning.over_plan import column_types
from windrow.planning.slide_plan import SlidePlan
from windrow.slicing.calendar_slices import CalendarSlices
from windrow.windows import ticks

Array = np.ndarray[Any, Any]

# Lifts of the second step ------------------------------------------------------------------------


def itself(field: Any) -> Any:
    """A partial of one field."""
    return field


def several(*fields: Any) -> Any:
    """A partial of several fields."""
    return fields


# Slices ------------------------------------------------------------------------------------------


def has_slices(plan: SlidePlan) -> bool:
    """Whether a clock or a calendar says when all windows begin and end."""
    return all(
        plan.unit_of(name) == "time" or window.calendar is not None
        for name, window in plan.windows.items()
    )


def slice_name(plan: SlidePlan) -> str:
    """A name for the column of slices that no column of the key has."""
    return "slice" + "_" * max(map(len, ("", *plan.key)))


def slice_edges(plan: SlidePlan) -> list[tuple[int, int]]:
    """Where slices by clocks begin, in microseconds: at each edge plus multiples of its slide."""
    edges = set()
    for window in plan.windows.values():
        period = window.period
        if period is None:
            continue
        slide = period.slide // 1_000
        for edge in (period.offset, period.offset + period.range):
            edges.add((edge // 1_000 % slide, slide))
    return sorted(edges)


def calendar_slices(plan: SlidePlan) -> list[CalendarSlices]:
    """The slices of calendars, in microseconds."""
    return [
        CalendarSlices(slices, timezone, 1_000) for timezone, slices in plan.calendar_slices.items()
    ]


def at_begin(batch: pa.RecordBatch, plan: SlidePlan) -> pa.RecordBatch:
    """Turn slices, given by their begins in microseconds, into events at those times."""
    (name,) = plan.order
    place = batch.schema.get_field_index(name)
    times = batch[name].to_numpy() // _microseconds_per_tick(plan)
    return batch.set_column(place, name, times_to_arrow(times, plan.order_type))


def _microseconds_per_tick(plan: SlidePlan) -> int:
    return ticks.nanoseconds_per_tick(plan.order_type) // 1_000


def over_slices(plan: SlidePlan, features: tuple[Feature, ...]) -> SlidePlan:
    """The plan of the second step."""
    keys, name = [plan.schema.field(name) for name in plan.key], slice_name(plan)
    schema = pa.schema([*keys, pa.field(name, plan.order_type)])
    return replace(plan, order=(name,), features=features, schema=schema)


# Partials ----------------------------------------------------------------------------------------


def has_partials(plan: SlidePlan) -> bool:
    """Whether all partials are a few numbers that do not depend on the order of rows."""
    return has_partials_of_numbers(plan.features) and all(
        feature.monoid.traits.commutative
        and feature.monoid.blockwise is None
        and not feature.carried
        for feature in plan.features
    )


def over_fields(feature: Feature, columns: Sequence[str], monoid: Monoid) -> Feature:
    """A feature of the second step, whose monoid lifts the fields of slices from columns."""
    return replace(
        feature,
        aggregation=replace(feature.aggregation, inputs=tuple(map(Input, columns))),
        columns=tuple(columns),
        monoid=monoid,
        compiled=True,
        condition=None,
        called=str(feature),
    )


class SlicePartials:
    """The first step of a plan that `has_slices` and `has_partials`."""

    def __init__(self, plan: SlidePlan, nullable: AbstractSet[str]) -> None:
        """`nullable` names the columns that may hold nulls."""
        self._source = plan
        self._features = FeatureColumns(plan.features, nullable)
        self._maps = Maps(plan.key, column_types(plan.schema, plan.columns), self._features)
        self._edges, self._calendars = slice_edges(plan), calendar_slices(plan)
        #: for each column of a field: the field's place, and the place of the count of values if
        #: the field is null without values
        self._fields: dict[str, tuple[int, int | None]] = {}
        #: the second step
        self.plan = over_slices(plan, tuple(map(self._merging, plan.features)))

    @property
    def types(self) -> dict[str, pa.DataType]:
        """The columns of the fields."""
        fields = self._features.product.fields
        return {
            name: pa.from_numpy_dtype(np.dtype(fields[place].dtype))
            for name, (place, _count) in self._fields.items()
        }

    @property
    def nullable(self) -> set[str]:
        """The columns of fields that may hold nulls."""
        return {name for name, (_place, count) in self._fields.items() if count is not None}

    def of(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The partials of the slices of a batch: keys, slices, fields."""
        plan, order = self._source, self._source.order[0]
        columns = {name: arrow.whole(batch[name]) for name in plan.columns}
        present = arrays.present(columns[order])
        if present is not None:
            mask = pa.array(present)
            columns = {name: column.filter(mask) for name, column in columns.items()}
        times = ticks.times(in_order_type(columns[order], plan)) * _microseconds_per_tick(plan)
        begins = [times - (times - edge) % slide for edge, slide in self._edges]
        begins += [each.starts(each.slice_of(times)) for each in self._calendars]
        slices = np.maximum.reduce(begins)
        with kernels_named(self._features.compiled):
            cells = self._maps.of_events(columns, [order], slices)
        keys = [cells[name] for name in self._maps.keys]
        names = [*plan.key, *self.plan.order, *self._fields]
        return pa.RecordBatch.from_arrays([*keys, cells[SLICE], *self._columns(cells)], names)

    def _columns(self, cells: pa.RecordBatch) -> list[pa.Array]:
        def values(place: int) -> Array:
            return cells[f"field_{place}"].to_numpy()  # type: ignore[no-any-return]

        return [
            pa.array(values(place), mask=None if count is None else values(count) == 0)
            for place, count in self._fields.values()
        ]

    def _merging(self, feature: Feature) -> Feature:
        """The feature over the fields of slices."""
        product, index = self._features.product, self._features.compiled.index(feature)
        counter = product.counter_of(index)
        count = None if counter is None else product.fields_of(counter)[0]
        columns = []
        for place in product.fields_of(index):
            name = "_".join([slice_name(self._source), str(place), str(count or "")])
            self._fields[name] = place, count
            columns.append(name)
        part = product.parts[index]
        monoid = replace(
            part.monoid,
            lift=several if isinstance(part.monoid.identity, tuple) else itself,
            # A slice may hold no values; then one slice is not enough for an answer.
            defined=replace(
                part.monoid.defined,
                one_value_is_enough=part.monoid.defined.one_value_is_enough and not part.nullable,
            ),
        )
        return over_fields(feature, columns, monoid)
