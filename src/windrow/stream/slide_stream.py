"""`slide` over a stream: which windows of a plan are kept in which way.

Periodic windows of time, of aggregations whose partials are numbers, are kept as partials of slices
(see `slices/`). Windows that hold all events so far, of such aggregations, are kept as totals (see
`totals/`). All others are kept as rows (see `rows/`). README.md compares the ways.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

import pyarrow as pa

from windrow.engine.feature_columns import FeatureColumns
from windrow.engine.maps import Maps, has_partials_of_numbers
from windrow.engine.order_column import in_order_type
from windrow.planning.over_plan import column_types
from windrow.planning.share import share
from windrow.planning.slide_plan import SlidePlan
from windrow.slicing import PeriodicWindow
from windrow.stream.description import arranged
from windrow.stream.group import WindowGroup
from windrow.stream.query import StreamQuery
from windrow.stream.rows.slide_rows import SlideRows
from windrow.stream.slices.slide_slices import SlideSlices
from windrow.stream.totals.slide_totals import SlideTotals
from windrow.windows import ticks


class StreamSlide(StreamQuery):
    """The windows of a plan over a stream."""

    def __init__(self, plan: SlidePlan, nullable: AbstractSet[str], shards: int) -> None:
        """`nullable` names the columns that may hold nulls."""
        self._plan = plan = arranged(plan)
        types = column_types(plan.schema, plan.columns) | {plan.order[0]: plan.order_type}
        tick = ticks.nanoseconds_per_tick(plan.order_type)
        periods = _with_partials(plan, tick)
        groups: list[WindowGroup] = []
        if periods:
            features = FeatureColumns(plan.features, nullable)
            maps = Maps(plan.key, column_types(plan.schema, plan.columns), features)
            names = list(periods)
            groups += [
                SlideSlices(
                    number, plan, features, maps, shared, [names[place] for place in shared.queries]
                )
                for number, shared in enumerate(share(list(periods.values())).groups)
            ]
        totals = _with_totals(plan)
        if totals:
            groups.append(SlideTotals(len(groups), totals, plan, types, nullable))
        others = [name for name in plan.windows if name not in (*periods, *totals)]
        if others:
            groups.append(SlideRows(len(groups), others, plan, types, nullable))
        super().__init__(plan, types, groups, shards)

    def _prepared(self, columns: dict[str, pa.Array]) -> dict[str, pa.Array]:
        order = self._plan.order[0]
        return columns | {order: in_order_type(columns[order], self._plan)}


def _with_totals(plan: SlidePlan) -> list[str]:
    """The windows that the totals of keys can answer."""
    if not has_partials_of_numbers(plan.features):
        return []
    return [name for name, window in plan.windows.items() if window.holds_all]


def _with_partials(plan: SlidePlan, tick: int) -> dict[str, PeriodicWindow]:
    """The windows that partials of slices of time can answer, in ticks."""
    if plan.changes_only or not has_partials_of_numbers(plan.features):
        return {}
    return {
        name: window.period.in_ticks(name, tick)
        for name, window in plan.windows.items()
        if window.period is not None and window.period.unit == "time"
    }
