"""Events that became final, as live windows take them: where they lie, key by key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from windrow.engine.live_keys import LiveKeys
from windrow.engine.sorting import arrange
from windrow.stream.group import Array


class Arrived(NamedTuple):
    """The final events of a batch, in the order of time.

    Attributes:
        columns: their columns.
        keys: the numbers of their keys, each once.
        rows: the rows of the first key, in order, then those of the next, and so on.
        cuts: where the rows of each key begin in `rows`, and in the end their number.
    """

    columns: dict[str, pa.Array]
    keys: Array
    rows: Array
    cuts: Array


def arrived(
    events: pa.RecordBatch, key: Sequence[str], order: Sequence[str], known: LiveKeys
) -> Arrived:
    """Arrange events: they are moved only if they did not come in order."""
    size = events.num_rows
    in_time, _starts = arrange([], [events[name] for name in order], size)
    if in_time is not None:
        events = events.take(pa.array(in_time))
    columns = dict(zip(events.schema.names, events.columns, strict=True))
    keys = [columns[name] for name in key]
    by_key, starts = arrange(keys, [], size)
    rows = np.arange(size) if by_key is None else by_key.astype(np.int64)
    cuts = np.append(starts[:-1], size)
    heads = pa.array(rows[cuts[:-1]])
    numbers = known.numbers([column.take(heads) for column in keys], len(heads))
    return Arrived(columns, numbers, rows, cuts)


def no_position(_name: str, _positions: pa.Array) -> pa.Array:
    """Stands for what finds values by position: no answer of a live window is one of these."""
    raise AssertionError("an answer of a live window is not a value of another row")
