"""`as_of` over a stream of events and queries: what a shard does with both."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import pyarrow as pa

from windrow.planning.as_of_plan import AsOfPlan
from windrow.stream.asked_rows import AskedRows
from windrow.stream.description import arranged
from windrow.stream.header import GroupState
from windrow.stream.query import StreamQuery
from windrow.stream.rows.as_of_rows import AsOfRows
from windrow.stream.state import ShardBlocks


class StreamAsOf(StreamQuery):
    """Queries of one stream, answered over the events of another."""

    def __init__(
        self, plan: AsOfPlan, queries: pa.Schema, nullable: AbstractSet[str], shards: int
    ) -> None:
        """Refuse here what a task would refuse later.

        Args:
            plan: what is asked.
            queries: the columns of a query.
            nullable: the columns of events that may hold nulls.
            shards: among how many shards the keys are spread.
        """
        self._result = [output.name for output in plan.outputs]
        self._rows = AskedRows(arranged(plan), queries)
        self._rows.require_alike()
        group = AsOfRows(0, self._rows, nullable)
        super().__init__(self._rows.plan, self._rows.types, [group], shards)

    def _answered(
        self,
        blocks: ShardBlocks,
        states: Sequence[GroupState],
        taken: Sequence[pa.RecordBatch],
        now: Sequence[int],
    ) -> list[pa.Table]:
        """The queries under their own names, with the answers."""
        asked = self._rows.asked
        names = [*asked.values(), *self._result]
        return [
            table.select(names).rename_columns([*asked, *self._result])
            for table in super()._answered(blocks, states, taken, now)
        ]
