"""`slide` over a stream: which windows of a plan are kept in which way.

Windows by a clock or a calendar, of aggregations whose partials are numbers, are kept as partials
of slices (see `slices/`). If all windows are, and no aggregation asks for the order of events,
these may wait as partials, too. Windows that hold all events so far, of such aggregations, are kept
as totals (see `totals/`). All others are kept as rows (see `rows/`). README.md compares the ways.
Where state stays in one process and no checkpoint keeps it, one window by a clock is kept as live
windows (see `live/`).
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

import pyarrow as pa

from windrow.engine.feature_columns import FeatureColumns
from windrow.engine.maps import SLICE, Maps, has_partials_of_numbers
from windrow.engine.order_column import in_order_type
from windrow.planning.over_plan import column_types
from windrow.planning.share import share
from windrow.planning.slide_plan import SlidePlan
from windrow.slicing import Slices
from windrow.slicing.calendar_slices import CalendarSlices
from windrow.stream.description import arranged
from windrow.stream.group import Array, WindowGroup
from windrow.stream.header import WaitingState
from windrow.stream.live.slide_live import SlideLive, is_live
from windrow.stream.query import StreamQuery
from windrow.stream.rows.slide_rows import SlideRows
from windrow.stream.slices.slide_slices import SlideSlices
from windrow.stream.slices.waiting_partials import (
    WaitingPartials,
    are_cells,
    waits_in_any_order,
)
from windrow.stream.state import ShardBlocks
from windrow.stream.totals.slide_totals import SlideTotals
from windrow.stream.waiting import WaitingEvents
from windrow.windows import ticks
from windrow.windows.schedules import CalendarTimes, ClockSchedule, Schedule


class StreamSlide(StreamQuery):
    """The windows of a plan over a stream."""

    def __init__(
        self, plan: SlidePlan, nullable: AbstractSet[str], shards: int, live: bool = False
    ) -> None:
        """Choose the ways.

        Args:
            plan: what is asked.
            nullable: the columns that may hold nulls.
            shards: among how many shards the keys are spread.
            live: whether state stays in this process, and never becomes bytes.
        """
        self._plan = plan = arranged(plan)
        #: the maps of cells that events wait as; None if they wait as they are
        self._waiting_maps: Maps | None = None
        types = column_types(plan.schema, plan.columns) | {plan.order[0]: plan.order_type}
        tick = ticks.nanoseconds_per_tick(plan.order_type)
        sliced = list(_sliced(plan, tick))
        groups: list[WindowGroup] = []
        if live and is_live(plan):
            [(slices, windows)] = sliced
            groups.append(SlideLive(plan, nullable, slices, windows))
        elif sliced:
            features = FeatureColumns(plan.features, nullable, as_given=True)
            maps = Maps(plan.key, column_types(plan.schema, plan.columns), features)
            are_all = sum(len(windows) for _slices, windows in sliced) == len(plan.windows)
            any_order = are_all and waits_in_any_order(plan)
            self._waiting_maps = maps if any_order else None
            groups += [
                SlideSlices(number, plan, features, maps, slices, windows, any_order)
                for number, (slices, windows) in enumerate(sliced)
            ]
        totals = _with_totals(plan)
        if totals:
            groups.append(SlideTotals(len(groups), totals, plan, types, nullable))
        in_slices = [name for _slices, windows in sliced for name in windows]
        others = [name for name in plan.windows if name not in (*in_slices, *totals)]
        if others:
            groups.append(SlideRows(len(groups), others, plan, types, nullable))
        super().__init__(plan, types, groups, shards)

    def _waiting(self, blocks: ShardBlocks, state: WaitingState) -> WaitingEvents:
        if self._waiting_maps is None:
            return super()._waiting(blocks, state)
        return WaitingPartials(
            blocks, self._waiting_schema, state, self._joint_begins, self._plan, self._waiting_maps
        )

    def _moments(self, waited: pa.RecordBatch) -> Array:
        return waited[SLICE].to_numpy() if are_cells(waited) else super()._moments(waited)

    def _prepared(self, columns: dict[str, pa.Array]) -> dict[str, pa.Array]:
        order = self._plan.order[0]
        return columns | {order: in_order_type(columns[order], self._plan)}


def _with_totals(plan: SlidePlan) -> list[str]:
    """The windows that the totals of keys can answer."""
    if not has_partials_of_numbers(plan.features):
        return []
    return [name for name, window in plan.windows.items() if window.holds_all]


def _sliced(
    plan: SlidePlan, tick: int
) -> Iterator[tuple[Slices | CalendarSlices, dict[str, Schedule]]]:
    """The windows that partials of slices of time can answer, in groups that share slices."""
    if plan.changes_only or not has_partials_of_numbers(plan.features):
        return
    periods = {
        name: window.period.in_ticks(name, tick)
        for name, window in plan.windows.items()
        if window.period is not None and window.period.unit == "time"
    }
    names = list(periods)
    for shared in share(list(periods.values())).groups if periods else ():
        yield (
            shared.slices,
            {names[place]: ClockSchedule(periods[names[place]]) for place in shared.queries},
        )
    for timezone, calendars in plan.calendars.items():
        yield (
            CalendarSlices(plan.calendar_slices[timezone], timezone, tick),
            {name: CalendarTimes(each, tick) for name, each in calendars.items()},
        )
