"""`over` over a stream: in which way the windows of a plan are kept.

All windows of a plan are kept in the same way, because every event is answered once, for all of
them. The first way that fits is taken (README.md compares the ways):

1. windows of time, of aggregations whose partials are numbers: partials of slices (`slices/`)
2. windows of rows, of such aggregations: counted rows (`counts/`)
3. anything else: rows (`rows/`)
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from windrow.engine.feature_columns import FeatureColumns
from windrow.engine.maps import Maps, has_partials_of_numbers
from windrow.errors import InvalidArgument
from windrow.planning.over_plan import OverPlan, column_types
from windrow.stream.counts.over_counts import OverCounts, counts_rows
from windrow.stream.description import arranged
from windrow.stream.group import WindowGroup
from windrow.stream.query import StreamQuery
from windrow.stream.rows.over_rows import OverRows
from windrow.stream.slices.over_slices import OverSlices
from windrow.windows.ahead import HERE


class StreamOver(StreamQuery):
    """The windows of a plan over a stream."""

    def __init__(self, plan: OverPlan, nullable: AbstractSet[str], shards: int) -> None:
        """`nullable` names the columns that may hold nulls."""
        _require_no_others(plan)
        plan = arranged(plan)
        types = column_types(plan.schema, plan.schema.names)
        if _has_partials(plan):
            features = FeatureColumns(plan.features, nullable)
            maps = Maps(plan.key, types, features)
            group: WindowGroup = OverSlices(plan, types[plan.order[0]], features, maps)
        else:
            group = (OverCounts if counts_rows(plan) else OverRows)(plan, types, nullable)
        super().__init__(plan, types, [group], shards)


def _require_no_others(plan: OverPlan) -> None:
    """Refuse windows that do not end at their row or with its peers."""
    for name, window in plan.windows.items():
        if window.ahead(1) != HERE and not window.peers:
            raise InvalidArgument(
                f"windows: {name!r} does not end at its row, and streams do not answer such "
                "windows yet; use closed='right' or 'both', and no current=, before= or after="
            )


def _has_partials(plan: OverPlan) -> bool:
    """Whether partials of slices of time can answer all windows."""
    in_time = [
        window.behind(1) is not None and not window.peers for window in plan.windows.values()
    ]
    return all(in_time) and has_partials_of_numbers(plan.features)
