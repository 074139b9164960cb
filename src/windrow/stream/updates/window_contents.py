"""What open windows hold: either partials (`open_cells.py`), or events (`open_events.py`).

Both are batches of rows, sorted by key and time, with these columns in front:

      slice | key_0 .. | ...

`slice` is a time in ticks: when the slice of a cell begins, or when an event was.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from windrow.engine.maps import SLICE
from windrow.stream.group import Array


@dataclass(frozen=True)
class Arranged:
    """Contents with those of a key together, by time.

    Attributes:
        places: for each arranged row, its place in the contents.
        starts: the arranged rows at which a new key begins (see `windrow.windows.key_runs`).
        times: the time of each.
        answers: the answers of spans of arranged rows, from each first to before its stop, as a
            column for the place of a feature; spans rise within a key.
    """

    places: Array
    starts: Array
    times: Array
    answers: Callable[[Array, Array], Callable[[int], pa.Array]]


class WindowContents(ABC):
    """What the open windows of a group hold."""

    #: the columns
    schema: pa.Schema
    #: those of the key
    keys: Sequence[str]
    #: what is kept, as lines of the query's description
    kept: Sequence[str]
    #: the same in words, in short, and why
    what: str
    short: str
    why: str

    @property
    def empty(self) -> pa.RecordBatch:
        """Of no events."""
        return pa.RecordBatch.from_pylist([], self.schema)

    @abstractmethod
    def of_events(self, events: pa.RecordBatch) -> pa.RecordBatch:
        """What is kept of new events."""

    @abstractmethod
    def merged(self, older: pa.RecordBatch, newer: pa.RecordBatch) -> tuple[pa.RecordBatch, Array]:
        """Both, sorted by key and time, and which of it is new or has changed."""

    @abstractmethod
    def arranged(self, held: pa.RecordBatch) -> Arranged:
        """The contents, ready to be answered from."""

    def times(self, held: pa.RecordBatch) -> Array:
        """The time of each row."""
        return held[SLICE].to_numpy()  # type: ignore[no-any-return]
