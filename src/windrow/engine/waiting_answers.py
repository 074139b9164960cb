"""Answers of `over` that wait for the answers of other windows to the same rows.

A window that ends behind its row answers it later than others do:

    wr.rows(3)            answered  [ a b c d e f ]
    wr.rows(after=2)                [ a b c d ]        complete: a to d; e and f wait
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

import pyarrow as pa

from windrow.planning.over_plan import OverPlan


class WaitingAnswers:
    """The answers of a plan's windows, joined row by row as soon as all windows have them."""

    def __init__(self, plan: OverPlan) -> None:
        """Nothing waits yet."""
        self._outputs, self._schema = plan.outputs, pa.schema(plan.output_fields)
        self._pieces: dict[str, deque[list[pa.Array]]] = {name: deque() for name in plan.windows}
        self._answered = dict.fromkeys(plan.windows, 0)
        self._given = 0

    def add(self, window: str, columns: list[pa.Array]) -> None:
        """The answers of a window to the rows that follow, in the order of its outputs."""
        size = len(columns[0])
        if size:
            self._pieces[window].append(columns)
            self._answered[window] += size

    def short_of(self, rows: int) -> list[str]:
        """The windows that have not answered so many rows."""
        return [name for name, answered in self._answered.items() if answered < rows]

    def complete(self) -> Iterator[pa.RecordBatch]:
        """The rows that all windows have answered; nothing if there are none."""
        size = min(self._answered.values()) - self._given
        if not size:
            return
        self._given += size
        columns = {name: iter(self._taken(name, size)) for name in self._pieces}
        found = [next(columns[output.window]) for output in self._outputs]
        yield pa.RecordBatch.from_arrays(found, schema=self._schema)

    def _taken(self, window: str, size: int) -> Iterable[pa.Array]:
        """The first answers of a window; they wait no more."""
        pieces, taken = self._pieces[window], []
        while size:
            piece = pieces.popleft()
            used = min(len(piece[0]), size)
            taken.append([column.slice(0, used) for column in piece])
            if used < len(piece[0]):
                pieces.appendleft([column.slice(used) for column in piece])
            size -= used
        if len(taken) == 1:
            return taken[0]
        return [pa.concat_arrays(each) for each in zip(*taken, strict=True)]
