"""`over` from totals: every event once, with all events of its key so far.

For aggregations whose partials are numbers. When events become final:

1. They are put in order by key, and each becomes a cell.
2. Each of them is answered from the total of its key and the new cells up to it.
3. Totals and new cells are folded into the new totals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

import numpy as np
import pyarrow as pa

from windrow.engine.feature_columns import FeatureColumns
from windrow.engine.maps import Maps
from windrow.planning.over_plan import OverPlan
from windrow.planning.stream_plan import GroupPlan
from windrow.slicing import Slices
from windrow.stream.cell_windows import CellWindows
from windrow.stream.group import Array, WindowGroup
from windrow.stream.header import GroupState
from windrow.stream.state import TOTALS_SCHEMA, ShardBlocks
from windrow.stream.totals.stored_totals import OpenTotals, StoredTotals
from windrow.windows import ticks
from windrow.windows.key_runs import NEVER

#: the first column of a total: when the oldest of its events was, in ticks
FIRST = "first"


class OverTotals(WindowGroup):
    """Windows of a plan that hold all events so far; a slice is a tick of the order column."""

    of_moments = True

    def __init__(
        self,
        number: int,
        plan: OverPlan,
        types: Mapping[str, pa.DataType],
        nullable: AbstractSet[str],
    ) -> None:
        """`types` are those of the columns of an event; `nullable` names those with nulls."""
        features = FeatureColumns(plan.features, nullable, as_given=True)
        self.number, self.names, self.slices = number, list(plan.windows), Slices(1, (0,))
        self._plan, self._maps = plan, Maps(plan.key, types, features, FIRST)
        self.layouts = {TOTALS_SCHEMA: self._maps.schema}
        self.kept = [f"totals of {', '.join(self.names)}", *self._maps.description]
        self._windows = CellWindows(plan, features, self._maps)

    def describe(self) -> GroupPlan:
        """Totals of keys."""
        return described(self.names, "for each event, when the watermark reaches its time")

    def move(
        self, state: GroupState, blocks: ShardBlocks, events: pa.RecordBatch, frontier: int
    ) -> list[pa.Table]:
        """Answer the events before a frontier."""
        state.frontier = frontier
        if not events.num_rows:
            return []
        stored = StoredTotals(blocks, self.number, self._maps.schema, self._maps.keys)
        answers = []
        for part in stored.parts(events, self._plan.key, self._plan.order, frontier):
            columns = dict(zip(part.events.schema.names, part.events.columns, strict=True))
            times = ticks.times(columns[self._plan.order[0]])
            new = self._maps.of_runs(columns, times, np.arange(len(times)))
            answers.append(self._answered(part, new))
            totals = self._maps.fold([part.totals, new])
            stored.keep(part, totals, np.full(totals.num_rows, NEVER))
        stored.bins.close()
        return answers

    def _answered(self, part: OpenTotals, new: pa.RecordBatch) -> pa.Table:
        """The new events with their answers."""
        results = {
            name: self._windows.answers(name, 1, [part.totals], new, _none_behind)
            for name in self.names
        }
        table = pa.Table.from_batches([part.events])
        for output, added in zip(self._plan.outputs, self._plan.output_fields, strict=True):
            table = table.append_column(added, results[output.window][output.feature])
        return table


def _none_behind(firsts: Array) -> Array:
    """No cell of a key lies behind another, so a window holds them all."""
    return np.zeros_like(firsts)


def described(names: Sequence[str], final: str) -> GroupPlan:
    """How totals are kept, for `wr.plan`."""
    return GroupPlan(
        names,
        way="totals: one partial of each key, of all its events so far",
        why="nothing leaves the windows, and the partials of aggregations are numbers",
        reads="the header, the waiting events that become final, and the partials of the bins of "
        "their keys",
        writes="the header, the new events, and the partials of these bins",
        final=final,
    )
