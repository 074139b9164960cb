"""A group: windows of a query that share slices, and the way in which their state is kept.

There are four ways, one folder each: `slices/`, `rows/`, `counts/` and `totals/`; and `live/`,
where state never becomes bytes. README.md compares them. A query hands every group the events that
have become final for it. The group answers what they complete, and keeps what answers to come need.
In `updates/`, groups get events as they come, and revise their answers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from windrow.planning.stream_plan import GroupPlan
from windrow.slicing import Slices
from windrow.slicing.calendar_slices import CalendarSlices
from windrow.stream.header import GroupState
from windrow.stream.state import ShardBlocks

Array: TypeAlias = "np.ndarray[Any, Any]"
Columns = Mapping[str, pa.Array]

#: the frontier of a stream that has ended: 64 bits reach no further
FURTHEST = 2**63 - 2


class WindowGroup(ABC):
    """Windows that share slices.

    Attributes:
        number: which of the query's groups it is.
        names: the names of its windows.
        slices: the slices, in ticks of the order column.
        layouts: the schemas of its blocks, by the kind of block that stores them.
        kept: what its blocks hold of final events, line by line, for the query's description.
    """

    number: int
    names: Sequence[str]
    slices: Slices | CalendarSlices
    layouts: Mapping[int, pa.Schema]
    kept: Sequence[str]
    #: whether a slice is a moment: a tick of the order column
    of_moments = False

    def holds(self, times: Array) -> Array | None:
        """Which events some window holds, by their times; None for all."""
        return None

    @abstractmethod
    def describe(self) -> GroupPlan:
        """How the group keeps its state, what a batch costs, and when answers are final."""

    def due(self, state: GroupState, blocks: ShardBlocks, oldest: int | None) -> Iterator[int]:
        """How far time has to be final for the next answers, in ticks; nothing if none wait.

        By default, so far that the oldest waiting event is final: `oldest` is when the slice of it
        begins, None without one.
        """
        if oldest is not None:
            yield oldest + 1

    @abstractmethod
    def move(
        self, state: GroupState, blocks: ShardBlocks, events: pa.RecordBatch, frontier: int
    ) -> list[pa.Table]:
        """Make the slices before a frontier final, and return the answers that this completes.

        `events` are those from the group's frontier before to this one, in any order; events of
        the same time are in the order of arrival.
        """
