"""`as_of` over a stream from the rows of keys: each query once, when its moment is final.

Events that became final go behind the kept rows of their keys, as in `over`. Queries that became
final with them are answered over both, and are not kept. Then those rows stay that windows of later
moments may hold.

      kept rows of a key        new events      queries         wr.time(...)
      [ a  b  c  d         ]  + [ e  f ]      + [ Q  Q ]
              [ c  d  e  f ]    kept: what a moment at the frontier reaches back to
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

import numpy as np
import pyarrow as pa

from windrow.engine.as_of_block import AsOfKernels
from windrow.engine.as_of_table import answers_to
from windrow.errors import InvalidArgument
from windrow.planning.as_of_plan import AsOfPlan
from windrow.stream.asked_rows import AskedRows
from windrow.stream.group import Array
from windrow.stream.header import GroupState
from windrow.stream.row_layout import RowLayout
from windrow.stream.rows.kept_rows import KeptRows, Needed, OpenBins
from windrow.stream.rows.rows_group import RowsGroup
from windrow.stream.state import ShardBlocks
from windrow.windows.edges import Edge
from windrow.windows.extents import Span
from windrow.windows.key_rows import KeyRows, later
from windrow.windows.key_runs import NEVER
from windrow.windows.reach import EARLIEST


class AsOfRows(RowsGroup):
    """All windows of a plan, over the events of a stream as of the moments of another."""

    final = "for each query, when the watermark reaches its moment"
    why = "events wait for queries, whose moments say where windows begin and end"

    def __init__(self, number: int, rows: AskedRows, nullable: AbstractSet[str]) -> None:
        """`nullable` names the columns of events that may hold nulls."""
        self._asked, self._plan = rows, rows.plan
        _require_final(self._plan)
        self._kernels = AsOfKernels(self._plan, nullable)
        inputs = [name for feature in self._plan.features for name in feature.reads]
        kept = [*inputs, self._plan.order[0]]
        layout = RowLayout.of(self._plan.key, self._plan.order, kept, rows.types, {})
        super().__init__(number, list(self._plan.windows), layout)
        self._begins = [self._begin(name) for name in self._plan.windows]

    def move(
        self, state: GroupState, blocks: ShardBlocks, events: pa.RecordBatch, frontier: int
    ) -> list[pa.Table]:
        """Answer the queries before a frontier."""
        span = Span(state.frontier, frontier)
        state.frontier = frontier
        kept = KeptRows(blocks, self.number, self.layout)
        told, asked = self._asked.split(events)
        answers: list[pa.Table] = []
        for part in kept.parts(told, frontier, asked):
            tables, needed = self.answer(part, span)
            answers += tables
            kept.keep(part, needed)
        kept.bins.close()
        return answers

    def answer(self, part: OpenBins, span: Span) -> tuple[list[pa.Table], Needed]:
        """The new queries with their answers."""
        needed = self._needed(part.rows, span.frontier)
        asked = part.asked
        if asked is None or not asked.num_rows:
            return [], needed
        queries, events = pa.Table.from_batches([asked]), pa.table(dict(part.rows.columns))
        found = answers_to(queries, events, self._kernels)
        for field, column in zip(self._plan.output_fields, found, strict=True):
            queries = queries.append_column(field, column)
        return [queries], needed

    def _needed(self, rows: KeyRows, frontier: int) -> Needed:
        """What queries at the frontier or later need; all rows are before it."""
        fronts, expiries = [rows.stops], [np.full(rows.count, frontier)]
        for begin in self._begins:
            front, expiry = _reached(begin, rows, frontier)
            fronts.append(front)
            expiries.append(np.where(front < rows.stops, expiry, frontier))
        return Needed(
            np.minimum.reduce(fronts),
            np.full(rows.count, NEVER),
            np.maximum.reduce(expiries),
            {},
        )

    def _begin(self, name: str) -> Edge:
        """Where a window begins, at the earliest if a calendar says so."""
        begin, _end = self._plan.edges_of(name)
        if begin.since is None:
            return begin
        back = self._plan.windows[name].most_ticks_back(self._plan.tick)
        assert back is not None
        return Edge(ticks=-back)


def _reached(begin: Edge, rows: KeyRows, frontier: int) -> tuple[Array, Array]:
    """Of each key, the oldest row that later moments see, and until when they do."""
    if begin.is_at_end:
        return rows.starts, np.full(rows.count, NEVER)
    if begin.rows:
        counted = np.minimum(-begin.rows, rows.stops - rows.starts)
        return rows.stops - counted, np.full(rows.count, NEVER)
    oldest = max(frontier + begin.ticks + 1, EARLIEST)
    return rows.first_not_before(oldest), later(rows.last_times, -begin.ticks)


def _require_final(plan: AsOfPlan) -> None:
    """Refuse windows that end behind their moment."""
    for name in plan.windows:
        _begin, end = plan.edges_of(name)
        if end.ticks > 0 or end.rows > 0:
            raise InvalidArgument(
                f"windows: {name!r} ends after its moment, and a stream answers a query when its "
                "moment is final; ask at the later moment, with a window that reaches back from it"
            )
