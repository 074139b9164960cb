"""How far ahead of its row a window of `wr.over` ends.

    Ahead(rows=0)     at its row, which is its newest: HERE
    Ahead(rows=5)     five rows later
    Ahead(rows=-1)    at the row before: it leaves its own row out
    Ahead(ticks=60)   before the first row that is 60 ticks later, also if its own row is that one

A window also ends where its run does (see `bounds`). How far back it reaches is said from its own
row, wherever it ends (see `reach`).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Ahead:
    """How far ahead of its row a window ends.

    Attributes:
        rows: how many rows it holds behind its own; -1 leaves its own out.
        ticks: if given, time alone decides: the window ends before the first row that is so many
            ticks later. With 0 that is the first of its peers, with 1 the row behind the last.
    """

    rows: int = 0
    ticks: int | None = None

    @property
    def waits(self) -> bool:
        """Whether rows that are still to come may belong to the window of a row."""
        return self.rows > 0 if self.ticks is None else self.ticks > 0


#: at its row
HERE = Ahead()
