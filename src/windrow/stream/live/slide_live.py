"""`slide` from live windows: the slices of each key, in memory as they are.

For a stream in one process that keeps no checkpoint, and one window by a clock. Final events enter
the windows of their keys, and the windows that have ended are answered on the way (see
`engine/live_slides.py`). Keys that hold nothing any more are forgotten.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

import numpy as np
import pyarrow as pa

from windrow.engine.answer_tables import answered_table
from windrow.engine.feature_columns import FeatureColumns
from windrow.engine.live_keys import LiveKeys
from windrow.engine.live_slides import LiveSlides, kernel_of
from windrow.engine.live_windows import key_pieces
from windrow.engine.maps import has_partials_of_numbers
from windrow.engine.order_column import in_own_type, times_to_arrow
from windrow.planning.slide_plan import SlidePlan
from windrow.planning.stream_plan import GroupPlan
from windrow.slicing import Slices
from windrow.slicing.calendar_slices import CalendarSlices
from windrow.stream.group import Array, WindowGroup
from windrow.stream.header import GroupState
from windrow.stream.live.arrived import Arrived, arrived, no_position
from windrow.stream.live_blocks import LiveBlocks
from windrow.stream.state import NONE, ShardBlocks
from windrow.windows import ticks
from windrow.windows.schedules import ClockSchedule, Schedule
from windrow.work.threads import in_threads

_LAST = 2**63 - 1


def is_live(plan: SlidePlan) -> bool:
    """Whether live windows can answer a plan: one window by a clock, and answers that are new."""
    if len(plan.windows) != 1 or plan.fills or plan.changes_only:
        return False
    [window] = plan.windows.values()
    return (
        window.period is not None
        and window.period.unit == "time"
        and has_partials_of_numbers(plan.features)
        and not any(feature.carried for feature in plan.features)
    )


class _Kept:
    """What is kept of one shard."""

    def __init__(self, slides: LiveSlides) -> None:
        self.keys, self.slides = LiveKeys(), slides

    def forget(self) -> None:
        """Forget the keys that hold nothing, if they are many."""
        holding = self.slides.holding(len(self.keys))
        if holding is not None:
            self.keys = self.keys.only(holding)
            self.slides.live.keep_only(holding)


class SlideLive(WindowGroup):
    """One window by a clock."""

    def __init__(
        self,
        plan: SlidePlan,
        nullable: AbstractSet[str],
        slices: Slices | CalendarSlices,
        windows: Mapping[str, Schedule],
    ) -> None:
        """`nullable` names the columns that may hold nulls."""
        [(name, schedule)] = windows.items()
        assert isinstance(schedule, ClockSchedule)
        self.number, self.names, self.slices = 0, [name], slices
        self.layouts: dict[int, pa.Schema] = {}
        self.kept = ["live windows"]
        self._name, self._schedule, self._window = name, schedule, schedule.window
        self._plan, self._features = plan, FeatureColumns(plan.features, nullable)
        self._kernel = kernel_of(self._features.product, self._features.checked)

    def holds(self, times: Array) -> Array | None:
        """Which events do not lie in a gap between windows."""
        holds = self._schedule.holds(times)
        return None if holds.all() else holds

    def describe(self) -> GroupPlan:
        """Live windows."""
        return GroupPlan(
            self.names,
            way="live windows: the partials of each key's slices, in memory",
            why="a clock says when windows begin and end, the partials of aggregations are "
            "numbers, and no checkpoint has to keep them",
            reads="the windows of the keys that have new events or an answer",
            writes="the windows of the keys that have new events or an answer",
            final="at the end of a window, when the watermark reaches it",
        )

    def due(self, state: GroupState, blocks: ShardBlocks, oldest: int | None) -> Iterator[int]:
        """Nothing: a stream in one process asks with every batch."""
        return iter(())

    def move(
        self, state: GroupState, blocks: ShardBlocks, events: pa.RecordBatch, frontier: int
    ) -> list[pa.Table]:
        """Answer the windows that end by a frontier."""
        assert isinstance(blocks, LiveBlocks)
        kept = blocks.object(
            self.number, lambda: _Kept(LiveSlides(self._features.product, self._window))
        )
        before, state.frontier = state.frontier, frontier
        came = arrived(events, self._plan.key, self._plan.order, kept.keys)
        times = ticks.times(came.columns[self._plan.order[0]])
        slices = self.slices.starts(self.slices.slice_of(times))
        opening = self._window.first_open(frontier)
        if before != NONE:
            low = self._window.first_open(before)
        else:
            low = self._schedule.first_of(int(slices.min())) if len(slices) else opening
        # Beyond 64 bits nothing begins.
        high = min(opening - self._window.slide, _LAST - self._window.range - self._window.slide)
        answers = self._answers(kept, came, slices, (low, high, min(opening, _LAST)))
        kept.forget()
        return answers

    def _answers(
        self, kept: _Kept, came: Arrived, slices: Array, bounds: tuple[int, int, int]
    ) -> list[pa.Table]:
        """Let events enter, and answer windows; bounds are begins (see `slide_live`)."""
        slides, (low, high, _opening) = kept.slides, bounds
        keys, rows, cuts = came.keys, came.rows, came.cuts
        if low <= high:
            keys, cuts = slides.visited(keys, cuts, len(kept.keys))
        counts = slides.counts(keys, rows, cuts, slices, low, high)
        total = int(counts.sum())
        columns, validities = self._features.compiled_block(
            in_own_type(came.columns, self._plan), len(slices), 0
        )
        room, names = self._features.answers(total), np.empty(total, np.int64)
        live, window, places = slides.live, self._window, np.append(0, np.cumsum(counts))

        def answer(piece: tuple[int, int]) -> None:
            self._kernel(
                columns, validities, tuple(room.values), tuple(room.defined), names,
                live.ring[:-1], live.newer, live.ring[-1], live.marks, live.bases, live.rooms,
                keys, rows, cuts, slices, places,
                *bounds, window.range, window.slide, window.offset, *piece,
            )  # fmt: skip

        in_threads(answer, key_pieces(places + cuts, (total + len(rows)) * len(room.values)))
        if not total:
            return []
        found = kept.keys.columns(np.repeat(keys, counts))
        ends = [
            times_to_arrow(each, self._plan.order_type) for each in self._schedule.bounds(names)
        ]

        def result(place: int) -> pa.Array:
            return self._features.column(self._plan, self._name, place, room, no_position)

        named = dict(zip(self._plan.key, found, strict=True))
        return [answered_table(self._plan, self._name, named, (ends[0], ends[1]), result)]
