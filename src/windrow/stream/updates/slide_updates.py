"""`slide` over a stream with `emit="updates"`: a group for each window (see `revised_windows`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet

import pyarrow as pa

from windrow.engine.feature_columns import FeatureColumns
from windrow.engine.maps import Maps
from windrow.engine.order_column import in_order_type
from windrow.errors import InvalidArgument
from windrow.planning.over_plan import column_types
from windrow.planning.share import share
from windrow.planning.slide_plan import SlidePlan
from windrow.slicing import Slices
from windrow.slicing.calendar_slices import CalendarSlices
from windrow.stream.description import arranged
from windrow.stream.updates.open_cells import OpenCells
from windrow.stream.updates.open_events import OpenEvents, why_events
from windrow.stream.updates.revised_windows import RevisedWindows
from windrow.stream.updates.updates_query import UpdatesQuery
from windrow.stream.updates.window_contents import WindowContents
from windrow.windows import ticks
from windrow.windows.schedules import CalendarTimes, ClockSchedule, Schedule


class SlideUpdates(UpdatesQuery):
    """The windows of a plan over a stream, answered at once."""

    def __init__(
        self, plan: SlidePlan, nullable: AbstractSet[str], shards: int, allowed: int = 0
    ) -> None:
        """Refuse what cannot be revised.

        Args:
            plan: what is asked.
            nullable: the columns that may hold nulls.
            shards: among how many shards the keys are spread.
            allowed: how far behind the watermark events still count, in milliseconds.
        """
        self._plan = plan = arranged(plan)
        _require_revisable(plan)
        types = column_types(plan.schema, plan.columns) | {plan.order[0]: plan.order_type}
        tick = ticks.nanoseconds_per_tick(plan.order_type)
        groups = list(_groups(plan, tick, types, nullable))
        super().__init__(plan, types, groups, shards, allowed)

    def _prepared(self, columns: dict[str, pa.Array]) -> dict[str, pa.Array]:
        order = self._plan.order[0]
        return columns | {order: in_order_type(columns[order], self._plan)}


def _groups(
    plan: SlidePlan, tick: int, types: Mapping[str, pa.DataType], nullable: AbstractSet[str]
) -> Iterator[RevisedWindows]:
    """A group for each window: with slices of its own, it has few cells for an answer."""
    contents = _contents(plan, types, nullable)
    for number, (name, window) in enumerate(plan.windows.items()):
        slices: Slices | CalendarSlices
        schedule: Schedule
        if window.calendar is not None:
            timezone = window.calendar.timezone
            slices = CalendarSlices(plan.calendar_slices[timezone], timezone, tick)
            schedule = CalendarTimes(window.calendar, tick)
        else:
            assert window.period is not None
            period = window.period.in_ticks(name, tick)
            (shared,) = share([period]).groups
            slices, schedule = shared.slices, ClockSchedule(period)
        yield RevisedWindows(number, name, plan, contents(name, slices), slices, schedule)


def _contents(
    plan: SlidePlan, types: Mapping[str, pa.DataType], nullable: AbstractSet[str]
) -> Callable[[str, Slices | CalendarSlices], WindowContents]:
    """A function that makes what a window of some slices holds: cells, or else events."""
    if why_events(plan):
        return lambda name, _slices: OpenEvents(name, plan, types, nullable)
    features = FeatureColumns(plan.features, nullable, as_given=True)
    maps = Maps(plan.key, column_types(plan.schema, plan.columns), features)
    return lambda name, slices: OpenCells(name, plan, features, maps, slices)


def _require_revisable(plan: SlidePlan) -> None:
    """Refuse windows and options whose answers cannot be revised."""
    for name, window in plan.windows.items():
        by_clock = window.period is not None and window.period.unit == "time"
        if not by_clock and window.calendar is None:
            raise InvalidArgument(
                f"emit: 'updates' needs windows by a clock or a calendar, as wr.time('1 hour', "
                f"every='1 minute'), and {name!r} is cut by its events; leave emit= out"
            )
    for given, argument in ((plan.changes_only, "changes_only"), (plan.fills, "empty")):
        if given:
            raise InvalidArgument(
                f"{argument}: depends on the answer before, which may still change; leave it out "
                "with emit='updates'"
            )
