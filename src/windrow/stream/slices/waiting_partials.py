"""Waiting events, many of which wait as one partial: where no aggregation asks for their order.

Until a slice is final, events of it may come in any order, and between those that are there. If the
order does not matter to any aggregation, they can be combined all the same: into cells, one for
each key and joint slice (see `waiting`). A cell does not grow with its events.

      events    k a  1:02  x 5     k a  1:07  x 3     k b  1:04  x 9      a slice: 1:00 to 1:10
      cells     k a  1:00  sum 8                      k b  1:00  sum 9

A batch's events become cells if that leaves half as many numbers or fewer. If not,
they wait as they are: a cell has the partials of all aggregations, which is more than one event.
To look at a batch is to group its events, so after one whose events stay as they are, some batches
are not looked at. Queues that are merged are looked at again. So a slice whose events come a few at
a time gets cells, too.

Invariants, beside those of `waiting`:

1. A block holds events or cells, and its kind says which.
2. In a block of cells, each key and joint slice has at most one. The cells of a key rise by slice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa

from windrow.engine.maps import SLICE, GroupedEvents, Maps
from windrow.engine.order_column import in_own_type
from windrow.planning.slide_plan import SlidePlan
from windrow.stream import sizes
from windrow.stream.group import Array, Columns
from windrow.stream.header import WaitingState
from windrow.stream.state import KEY, OPEN_CELLS, WAITING, ShardBlocks
from windrow.stream.waiting import WaitingEvents

#: a line of the description of a query whose events may wait as cells
IN_ANY_ORDER = "events wait in any order"


def waits_in_any_order(plan: SlidePlan) -> bool:
    """Whether the order of events matters to no aggregation."""
    return all(feature.monoid.traits.commutative for feature in plan.features)


def are_cells(batch: pa.RecordBatch) -> bool:
    """Whether a batch of what waited is of cells: events say which of their columns are the key."""
    return KEY not in (batch.schema.metadata or {})


class WaitingPartials(WaitingEvents):
    """What waits in a shard, while one batch is worked on: events, and cells of events."""

    def __init__(
        self,
        blocks: ShardBlocks,
        schema: pa.Schema,
        state: WaitingState,
        begins_of: Callable[[Columns], Array],
        plan: SlidePlan,
        maps: Maps,
    ) -> None:
        """As `WaitingEvents`; `maps` are those of the plan's aggregations."""
        super().__init__(blocks, schema, state, begins_of)
        self._plan, self._maps = plan, maps

    def _arrived(self, batch: pa.RecordBatch, begins: Array) -> tuple[pa.RecordBatch, Array]:
        if self._state.unseen:
            self._state.unseen -= 1
            return batch, begins
        found = self._condensed(batch, begins)
        if not are_cells(found[0]):
            self._state.unseen = sizes.current().batches_unseen
        return found

    def _condensed(self, batch: pa.RecordBatch, begins: Array) -> tuple[pa.RecordBatch, Array]:
        if are_cells(batch):
            return batch, begins
        found = self._grouped(batch, begins)
        numbers = len(found.begins) * len(self._maps.schema)
        if numbers * sizes.current().cells_gain > batch.num_rows * batch.num_columns:
            return batch, begins
        cells = self._lifted(batch, found)
        return cells, self._begins(cells)

    def _batch(self, batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
        some = [each for each in batches if each.num_rows]
        cells = [each for each in some if are_cells(each)]
        events = super()._batch([each for each in some if not are_cells(each)])
        if not cells:
            return events
        if events.num_rows:
            found = self._grouped(events, self._begins(events))
            cells.append(self._lifted(events, found))
        return cells[0] if len(cells) == 1 else self._maps.joined(cells)

    def _grouped(self, events: pa.RecordBatch, begins: Array) -> GroupedEvents:
        return self._maps.events(_columns(events), [pa.array(begins)], begins)

    def _lifted(self, events: pa.RecordBatch, found: GroupedEvents) -> pa.RecordBatch:
        """The cells of events by joint slice."""
        return self._maps.of_grouped(in_own_type(_columns(events), self._plan), found)

    def _begins(self, batch: pa.RecordBatch) -> Array:
        return batch[SLICE].to_numpy() if are_cells(batch) else super()._begins(batch)

    def _kind(self, batch: pa.RecordBatch) -> int:
        return OPEN_CELLS if are_cells(batch) else WAITING

    def _schema_of(self, kind: int) -> pa.Schema:
        return self._maps.schema if kind == OPEN_CELLS else super()._schema_of(kind)


def _columns(events: pa.RecordBatch) -> dict[str, pa.Array]:
    return dict(zip(events.schema.names, events.columns, strict=True))
