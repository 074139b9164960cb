"""A query with `emit="updates"`: answers at once, and their revisions.

Events do not wait: each batch's events go to every group, which answers what they change. What is
final is decided `allowed_lateness` behind the watermark:

      late, dropped     |    corrects answers     |     in time
      ------------------|-------------------------|------------------ event time
                     frontier  <-- allowed --  watermark
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

import pyarrow as pa

from windrow.planning.over_plan import OverPlan
from windrow.planning.slide_plan import SlidePlan
from windrow.stream.batch_result import BatchResult
from windrow.stream.group import WindowGroup
from windrow.stream.header import GroupState, ShardHeader
from windrow.stream.query import StreamQuery
from windrow.stream.state import NONE, ShardBlocks

#: a line of the description of such a query
EMIT = "emit=updates"


class RevisingGroup(WindowGroup):
    """Windows whose answers are given at once, and revised."""

    def move(
        self, state: GroupState, blocks: ShardBlocks, events: pa.RecordBatch, frontier: int
    ) -> list[pa.Table]:
        """Take events, and answer the windows that they change or that are final by now."""
        return self.revise(state, blocks, events, frontier)

    @abstractmethod
    def revise(
        self,
        state: GroupState,
        blocks: ShardBlocks,
        events: pa.RecordBatch,
        frontier: int,
        silent: bool = False,
    ) -> list[pa.Table]:
        """As `move`; nobody gets `silent` answers, so that the next one is the first."""


class UpdatesQuery(StreamQuery):
    """A plan over a stream, answered at once."""

    def __init__(
        self,
        plan: SlidePlan | OverPlan,
        types: Mapping[str, pa.DataType],
        groups: Sequence[RevisingGroup],
        shards: int,
        allowed: int,
    ) -> None:
        """As `StreamQuery`; `allowed` is how far behind the watermark events count, in ms."""
        self._allowed = allowed
        super().__init__(plan, types, groups, shards)

    def _frontiers(self, watermark: int, header: ShardHeader) -> list[int]:
        return super()._frontiers(watermark - self._allowed, header)

    def _due(self, blocks: ShardBlocks, header: ShardHeader) -> int | None:
        due = super()._due(blocks, header)
        return None if due is None else due + self._allowed

    def _take_history(
        self,
        blocks: ShardBlocks,
        header: ShardHeader,
        batches: Iterable[pa.Table],
        step: BatchResult,
    ) -> None:
        # Nobody gets these answers, so that the next one of a window is its first.
        self._revise(
            blocks, header.groups, batches, NONE, [NONE] * len(header.groups), step, silent=True
        )

    def _move(
        self,
        blocks: ShardBlocks,
        header: ShardHeader,
        batches: Iterable[pa.Table],
        late: int,
        final: int,
        step: BatchResult,
    ) -> None:
        latest = max(self._frontiers(late, header))
        now = self._frontiers(final, header)
        step.answers += self._revise(blocks, header.groups, batches, latest, now, step)

    def _revise(
        self,
        blocks: ShardBlocks,
        states: Sequence[GroupState],
        batches: Iterable[pa.Table],
        late: int,
        now: Sequence[int],
        step: BatchResult,
        silent: bool = False,
    ) -> list[pa.Table]:
        """Take events that are not before `late`, and move all groups to their frontiers."""
        arrived = self._arrived(batches, late, step)
        events = pa.RecordBatch.from_pylist([], self._waiting_schema)
        if arrived is not None:
            columns, _times = arrived
            events = pa.RecordBatch.from_arrays(
                [columns[name] for name in self._waiting_schema.names], schema=self._waiting_schema
            )
        answers: list[pa.Table] = []
        groups = cast("Sequence[RevisingGroup]", self._groups)
        for group, state, frontier in zip(groups, states, now, strict=True):
            if events.num_rows or frontier > state.frontier:
                answers += group.revise(state, blocks, self._held(group, events), frontier, silent)
        return answers
