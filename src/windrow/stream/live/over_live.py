"""`over` from live windows: windows of rows that stay in memory as they are, one for each key.

For a stream in one process that keeps no checkpoint: nothing has to become bytes, so nothing is
gathered and folded again for a batch (see `engine/live_windows.py`). Events that are final go
through the windows of their keys, and come out in the order of time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

import pyarrow as pa

from windrow.compiler.kernel import Kernel
from windrow.engine.feature_columns import FeatureColumns
from windrow.engine.live_keys import LiveKeys
from windrow.engine.live_windows import LiveWindows, over_live
from windrow.engine.maps import has_partials_of_numbers
from windrow.planning.over_plan import OverPlan
from windrow.planning.stream_plan import GroupPlan
from windrow.slicing import Slices
from windrow.stream.group import WindowGroup
from windrow.stream.header import GroupState
from windrow.stream.live.arrived import arrived, no_position
from windrow.stream.live_blocks import LiveBlocks
from windrow.stream.state import ShardBlocks
from windrow.windows.reach import UNLIMITED


def is_live(plan: OverPlan) -> bool:
    """Whether live windows can answer all windows of a plan: they hold no events by position."""
    return (
        all(window.newest is not None for window in plan.windows.values())
        and has_partials_of_numbers(plan.features)
        and not any(feature.carried for feature in plan.features)
    )


class _Kept:
    """What is kept of one shard."""

    def __init__(self, features: FeatureColumns, extents: Mapping[str, int]) -> None:
        self.keys = LiveKeys()
        self.windows = {
            name: LiveWindows(features.product, extent) for name, extent in extents.items()
        }


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
        self._extents = {
            name: min(window.newest or UNLIMITED, UNLIMITED)
            for name, window in plan.windows.items()
        }
        self._kernel = Kernel(over_live, (), self._features.product, self._features.checked)

    def describe(self) -> GroupPlan:
        """Live windows."""
        return GroupPlan(
            self.names,
            way="live windows: the partials of each key's newest rows, in memory",
            why="the windows are of rows, the partials of aggregations are numbers, and no "
            "checkpoint has to keep them",
            reads="the windows of the keys that have new events",
            writes="the windows of the keys that have new events",
            final="for each event, when the watermark reaches its time",
        )

    def due(self, state: GroupState, blocks: ShardBlocks, oldest: int | None) -> Iterator[int]:
        """When the oldest waiting event is final."""
        if oldest is not None:
            yield oldest + 1

    def move(
        self, state: GroupState, blocks: ShardBlocks, events: pa.RecordBatch, frontier: int
    ) -> list[pa.Table]:
        """Answer the events before a frontier."""
        state.frontier = frontier
        size = events.num_rows
        if not size:
            return []
        assert isinstance(blocks, LiveBlocks)
        kept = blocks.object(self.number, lambda: _Kept(self._features, self._extents))
        came = arrived(events, self._plan.key, self._plan.order, kept.keys)
        columns, keys, rows, cuts = came
        block = self._features.compiled_block(columns, size, 0)
        answers = {}
        for name, windows in kept.windows.items():
            room = answers[name] = self._features.answers(size)
            windows.answer(self._kernel, block, (room.values, room.defined), keys, rows, cuts)
        for output, added in zip(self._plan.outputs, self._plan.output_fields, strict=True):
            columns[added.name] = self._features.column(
                self._plan, output.window, output.feature, answers[output.window], no_position
            )
        return [pa.table(columns)]
