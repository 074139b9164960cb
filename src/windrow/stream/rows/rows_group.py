"""What `slide` and `over` share where they answer from the rows of keys.

When events become final, they go behind the kept rows of their keys. Windows run over both as over
a table, for the answers that have become final. Then the rows are kept that answers to come may
hold (see `kept_rows`).

Windows of rows, time, differences, marks and gaps need only the newest rows of a key: they end up
as if they had seen all rows, as long as the rows in the window are among them. This holds for
differences too, because whatever makes a row leave makes all rows leave that lie further behind. A
policy may ask about anything, so the ledger says how many rows it left in the window, and it is not
asked about them again.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

import pyarrow as pa

from windrow.planning.stream_plan import GroupPlan
from windrow.slicing import Slices
from windrow.stream.group import Array, WindowGroup
from windrow.stream.header import GroupState
from windrow.stream.row_layout import RowLayout, columns_kept
from windrow.stream.rows.kept_rows import KeptRows, Needed, OpenBins
from windrow.stream.state import LEDGER_SCHEMA, ROWS_SCHEMA, ShardBlocks
from windrow.windows.extents import Span


class RowsGroup(WindowGroup):
    """Windows that are answered from the rows of keys; a slice is a tick of the order column."""

    of_moments = True
    #: why partials do not suffice, in words
    why: str
    #: when an answer is final, in words
    final: str

    def __init__(self, number: int, names: list[str], layout: RowLayout) -> None:
        self.number, self.names = number, names
        self.slices = Slices(1, (0,))
        self.layout = layout
        self.layouts = {ROWS_SCHEMA: layout.rows}
        if len(layout.ledger) > len(layout.key):
            self.layouts |= {LEDGER_SCHEMA: layout.ledger}
        self.kept = [columns_kept(*self.layouts.values())]

    def describe(self) -> GroupPlan:
        """Rows of keys."""
        return GroupPlan(
            self.names,
            way="rows: the events of each key that answers to come may need, as they are",
            why=self.why,
            reads="the header, the waiting events that become final, and all rows of the bins "
            "whose keys have such events or an answer that is due",
            writes="the header, the new events, and for each of these bins a block of the rows "
            "that become final; a bin is rewritten when more than half of its rows are not needed "
            "any more",
            final=self.final,
        )

    def due(self, state: GroupState, blocks: ShardBlocks, oldest: int | None) -> Iterator[int]:
        """When the oldest waiting event is final, and when a bin has something to do."""
        yield from super().due(state, blocks, oldest)
        yield from KeptRows(blocks, self.number, self.layout).bins.due()

    def move(
        self, state: GroupState, blocks: ShardBlocks, events: pa.RecordBatch, frontier: int
    ) -> list[pa.Table]:
        """Answer what the events before a frontier make final."""
        span = Span(state.frontier, frontier)
        state.frontier = frontier
        kept = KeptRows(blocks, self.number, self.layout)
        answers: list[pa.Table] = []
        for part in kept.parts(events, frontier):
            tables, needed = self.answer(part, span)
            answers += tables
            kept.keep(part, needed)
        kept.bins.close()
        return answers

    @abstractmethod
    def answer(self, part: OpenBins, span: Span) -> tuple[list[pa.Table], Needed]:
        """The answers that became final, and what those to come need."""


def entered(numbers: Array) -> pa.Array:
    """Numbers of keys as the ledger has them: null for 0."""
    return pa.array(numbers, pa.int64(), mask=numbers == 0)
