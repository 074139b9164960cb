"""`over` from live windows: windows that stay in memory as they are, one for each key.

For a stream in one process that keeps no checkpoint: nothing has to become bytes, so nothing is
gathered and folded again for a batch (see `engine/live_windows.py`). Events that are final go
through the windows of their keys, and come out in the order of time.

The windows are of rows or of time, and end at their row. Keys whose rows have left all windows are
forgotten; a window of rows holds its rows for ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

import numpy as np
import pyarrow as pa

from windrow.engine.feature_columns import FeatureColumns
from windrow.engine.live_keys import LiveKeys
from windrow.engine.live_windows import LiveWindows, kernel_of
from windrow.engine.maps import has_partials_of_numbers
from windrow.planning.over_plan import OverPlan
from windrow.planning.stream_plan import GroupPlan
from windrow.slicing import Slices
from windrow.stream.group import WindowGroup
from windrow.stream.header import GroupState
from windrow.stream.live.arrived import arrived, no_position
from windrow.stream.live_blocks import LiveBlocks
from windrow.stream.state import ShardBlocks
from windrow.windows import Window, ticks
from windrow.windows.ahead import HERE
from windrow.windows.reach import UNLIMITED
from windrow.work.threads import in_threads

#: as many keys as this are kept without looking for those that are not needed
_FEW_KEYS = 1024
_NO_TIMES = np.empty(0, np.int64)


def is_live(plan: OverPlan, order_type: pa.DataType) -> bool:
    """Whether live windows can answer all windows of a plan: they hold no events by position."""
    tick = ticks.nanoseconds_per_tick(order_type)
    return (
        all(_is_live(window, tick) for window in plan.windows.values())
        and has_partials_of_numbers(plan.features)
        and not any(feature.carried for feature in plan.features)
    )


def _is_live(window: Window, tick: int) -> bool:
    """Whether a window ends at its row, and the number of rows or their age alone decides."""
    decided = window.newest is not None or window.behind(tick) is not None
    return decided and window.ahead(tick) == HERE


class _Kept:
    """What is kept of one shard."""

    def __init__(self, windows: Mapping[str, LiveWindows]) -> None:
        self.keys, self.windows = LiveKeys(), windows
        #: events since keys were last looked through
        self._events = 0

    def forget(self, events: int, frontier: int) -> None:
        """Forget keys whose rows have left all windows, as often as it costs little."""
        self._events += events
        known = len(self.keys)
        if known <= _FEW_KEYS or 2 * self._events < known:
            return
        self._events = 0
        each = [windows.is_needed(known, frontier) for windows in self.windows.values()]
        needed = np.flatnonzero(np.logical_or.reduce(each))
        if 2 * len(needed) <= known:
            self.keys = self.keys.only(needed)
            for windows in self.windows.values():
                windows.live.keep_only(needed)


class OverLive(WindowGroup):
    """All windows of a plan; a slice is a tick of the order column."""

    of_moments = True

    def __init__(
        self,
        number: int,
        plan: OverPlan,
        types: Mapping[str, pa.DataType],
        nullable: AbstractSet[str],
    ) -> None:
        """`types` are those of the columns of an event; `nullable` names those with nulls."""
        self.number, self.names, self.slices = number, list(plan.windows), Slices(1, (0,))
        self.layouts: dict[int, pa.Schema] = {}
        self.kept = ["live windows"]
        self._plan, self._features = plan, FeatureColumns(plan.features, nullable)
        tick = ticks.nanoseconds_per_tick(types[plan.order[0]])
        product, checked = self._features.product, self._features.checked
        #: for each window, how many rows it holds, or None and how many ticks
        self._limits = {
            name: (None, window.behind(tick) or 0)
            if window.newest is None
            else (min(window.newest, UNLIMITED), 0)
            for name, window in plan.windows.items()
        }
        self._kernels = {
            timed: kernel_of(product, checked, timed)
            for timed in {most is None for most, _extent in self._limits.values()}
        }

    def _empty(self) -> _Kept:
        product = self._features.product
        return _Kept({name: LiveWindows(product, *limits) for name, limits in self._limits.items()})

    def describe(self) -> GroupPlan:
        """Live windows."""
        return GroupPlan(
            self.names,
            way="live windows: the partials of the rows that each key's windows hold, in memory",
            why="the windows end at their row, the partials of aggregations are numbers, and no "
            "checkpoint has to keep them",
            reads="the windows of the keys that have new events",
            writes="the windows of the keys that have new events",
            final="for each event, when the watermark reaches its time",
        )

    def move(
        self, state: GroupState, blocks: ShardBlocks, events: pa.RecordBatch, frontier: int
    ) -> list[pa.Table]:
        """Answer the events before a frontier."""
        state.frontier = frontier
        size = events.num_rows
        if not size:
            return []
        assert isinstance(blocks, LiveBlocks)
        kept = blocks.object(self.number, self._empty)
        came = arrived(events, self._plan.key, self._plan.order, kept.keys)
        columns, keys, rows, cuts = came
        block = self._features.compiled_block(columns, size, 0)
        # Windows of rows do not ask for times.
        times = ticks.times(columns[self._plan.order[0]]) if True in self._kernels else _NO_TIMES
        answers, work = {}, []
        for name, windows in kept.windows.items():
            kernel = self._kernels[self._limits[name][0] is None]
            room = answers[name] = self._features.answers(size)
            found = room.values, room.defined
            work += windows.work(kernel, block, found, keys, rows, cuts, times)
        in_threads(lambda piece: piece(), work)
        kept.forget(size, frontier)
        for output, added in zip(self._plan.outputs, self._plan.output_fields, strict=True):
            columns[added.name] = self._features.column(
                self._plan, output.window, output.feature, answers[output.window], no_position
            )
        return [pa.table(columns)]
