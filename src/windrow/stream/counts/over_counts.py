"""`over` from counted rows: every event once, with the windows of rows that end at it or before.

For aggregations whose partials are numbers. When events become final:

1. They are put in order by key, and each becomes a cell.
2. Each of them is answered from three kinds of cells of its key: the rows among which windows of
   new events begin, maps for what all windows hold, and the new cells (see `counted_rows`).
3. The new rows are appended.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

import numpy as np
import pyarrow as pa

from windrow.engine.feature_columns import FeatureColumns
from windrow.engine.maps import has_partials_of_numbers
from windrow.planning.over_plan import OverPlan
from windrow.planning.stream_plan import GroupPlan
from windrow.slicing import Slices
from windrow.stream import sizes
from windrow.stream.cell_windows import CellWindows
from windrow.stream.counts.counted_bins import LEDGER_COLUMNS
from windrow.stream.counts.counted_keys import CountedKeys
from windrow.stream.counts.counted_rows import CountedRows
from windrow.stream.counts.row_maps import RowMaps
from windrow.stream.group import Array, WindowGroup
from windrow.stream.header import GroupState
from windrow.stream.row_layout import RowLayout, columns_kept, kept_columns
from windrow.stream.state import LEDGER_SCHEMA, MAPS_SCHEMA, ROWS_SCHEMA, ShardBlocks
from windrow.windows.reach import UNLIMITED


def counts_rows(plan: OverPlan) -> bool:
    """Whether partials of counted rows can answer all windows, and are worth it."""
    extents = _extents(plan)
    return (
        len(extents) == len(plan.windows)
        and max(extents) >= sizes.current().fewest_counted
        and has_partials_of_numbers(plan.features)
    )


def _extents(plan: OverPlan) -> list[int]:
    """For each window of rows, how many rows it holds, its own row among them or not."""
    back = [window.rows_back for window in plan.windows.values()]
    return [min(rows + 1, UNLIMITED) for rows in back if rows is not None]


class OverCounts(WindowGroup):
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
        features = FeatureColumns(plan.features, nullable, as_given=True)
        self.number, self.names, self.slices = number, list(plan.windows), Slices(1, (0,))
        self._plan, self._maps = plan, RowMaps(types, features)
        self._layout = RowLayout.of(plan.key, plan.order, kept_columns(plan), types, LEDGER_COLUMNS)
        maps = self._maps.maps
        self.kept = [columns_kept(self._layout.rows), *maps.description]
        self.layouts = {
            ROWS_SCHEMA: self._layout.rows,
            LEDGER_SCHEMA: self._layout.ledger,
            MAPS_SCHEMA: maps.schema,
        }
        self._extents = _extents(plan)
        self._windows = CellWindows(plan, features, maps)

    def describe(self) -> GroupPlan:
        """Counted rows."""
        return GroupPlan(
            self.names,
            way="counted rows: the newest rows of each key, with partials of them beside",
            why="the windows are of many rows, and the partials of aggregations are numbers",
            reads="the header, the waiting events that become final, for the bins of their keys "
            "the list of keys, the rows at which windows begin, and the partials of the rows "
            "behind them",
            writes="the header, the new events, and for each of these bins a block of the rows "
            "that become final with its partials; a bin is rewritten when more than half of its "
            "rows are not needed any more",
            final="for each event, when the watermark reaches its time",
        )

    def move(
        self, state: GroupState, blocks: ShardBlocks, events: pa.RecordBatch, frontier: int
    ) -> list[pa.Table]:
        """Answer the events before a frontier."""
        state.frontier = frontier
        if not events.num_rows:
            return []
        most = max(self._extents) - 1
        rows = CountedRows(blocks, self.number, self._layout, self._maps, most)
        answers = []
        for keys in rows.parts(events):
            answers.append(self._answered(rows, keys))
            rows.keep(keys)
        rows.bins.close()
        return answers

    def _answered(self, rows: CountedRows, keys: CountedKeys) -> pa.Table:
        """The new events with their answers."""
        came, there = keys.new_counts, keys.front.rows + keys.back
        new = rows.new_cells(keys)
        results = {}
        for name, extent in zip(self.names, self._extents, strict=True):
            # The first new event of a key holds the most old rows, and the last holds the least. Of
            # a key without new events nothing is held.
            most = np.where(came > 0, np.minimum(extent - 1, there), 0)
            least = np.minimum(np.maximum(extent - came, 0), most)
            held = rows.held(keys, least, most)
            results[name] = self._windows.answers(name, extent, held, new, _row_numbers)
        table = pa.Table.from_batches([keys.new.events])
        for output, added in zip(self._plan.outputs, self._plan.output_fields, strict=True):
            table = table.append_column(added.name, results[output.window][output.feature])
        return table


def _row_numbers(rows: Array) -> Array:
    """The number of each cell's first row, from how many rows the cells are of."""
    return np.cumsum(rows) - rows
