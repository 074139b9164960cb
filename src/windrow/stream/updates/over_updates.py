"""`over` over a stream with `emit="updates"`: one group of rows (see `revised_rows`)."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from windrow.errors import InvalidArgument
from windrow.planning.over_plan import OverPlan, column_types
from windrow.stream.description import arranged
from windrow.stream.rows.over_ahead import ends_behind
from windrow.stream.streamed import require_streamed
from windrow.stream.updates.revised_rows import RevisedRows
from windrow.stream.updates.updates_query import UpdatesQuery
from windrow.windows import ticks


class OverUpdates(UpdatesQuery):
    """The windows of a plan over a stream, answered at once."""

    def __init__(
        self, plan: OverPlan, nullable: AbstractSet[str], shards: int, allowed: int = 0
    ) -> None:
        """Refuse what cannot be revised.

        Args:
            plan: what is asked.
            nullable: the columns that may hold nulls.
            shards: among how many shards the keys are spread.
            allowed: how far behind the watermark events still count, in milliseconds.
        """
        plan = arranged(plan)
        types = column_types(plan.schema, plan.schema.names)
        require_streamed(plan, types)
        _require_revisable(plan)
        super().__init__(plan, types, [RevisedRows(0, plan, types, nullable)], shards, allowed)


def _require_revisable(plan: OverPlan) -> None:
    """Refuse windows whose events a late one may change without being among them."""
    order_type = plan.schema.field(plan.order[0]).type
    tick = ticks.nanoseconds_per_tick(order_type)
    for name, window in plan.windows.items():
        by_count = window.rows_back is not None or window.holds_all
        by_age = window.ticks_back(tick) is not None
        if ends_behind(window, order_type) or not (by_count or by_age):
            raise InvalidArgument(
                "emit: 'updates' needs windows of rows, of time, or wr.expanding(), that end at "
                f"their row, and {name!r} is none of these; leave emit= out"
            )
