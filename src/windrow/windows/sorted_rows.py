"""Rows sorted by key and order, as windows see them: a table, a batch, or the rows of keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.algebra.arrays import validity
from windrow.errors import InvalidArgument
from windrow.windows.ticks import times

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class SortedRows:
    """Rows sorted by key and order.

    A table is one piece. Batches follow each other: rows of earlier batches have negative numbers.

    Attributes:
        columns: those that windows look at, among others.
        runs: the rows at which a new key begins (see `key_runs`).
        size: how many rows there are.
        order: the column that orders them, if there is one.
        time_type: the type whose ticks windows measure in, None for that of the order column.
        since: where the key of the row before these began; None if there is no row before.
        ends: whether no rows follow.
    """

    columns: Mapping[str, pa.Array]
    runs: Array
    size: int
    order: str | None = None
    time_type: pa.DataType | None = None
    since: int | None = None
    ends: bool = True

    @cached_property
    def times(self) -> Array:
        """The order column in ticks."""
        assert self.order is not None
        return times(in_time_type(self._order, self.order, self.time_type))

    @cached_property
    def timed(self) -> Array:
        """Which rows have a time."""
        return validity(self._order)

    @property
    def all_timed(self) -> bool:
        """Whether all rows have a time."""
        return not self._order.null_count

    @property
    def _order(self) -> pa.Array:
        assert self.order is not None
        return self.columns[self.order]

    @property
    def is_whole(self) -> bool:
        """Whether no rows come before or after."""
        return self.ends and self.since is None

    @cached_property
    def all_runs(self) -> Array:
        """The runs, that of the row before these among them."""
        return self.runs if self.since is None else np.append([self.since], self.runs)

    @property
    def open_start(self) -> int:
        """Where the last key begins: rows that follow may be of it."""
        if len(self.runs) > 1:
            return int(self.runs[-2])
        return 0 if self.since is None else self.since


def in_time_type(order: pa.Array, name: str, time_type: pa.DataType | None) -> pa.Array:
    """The order column of that name in a type in which windows begin and end at whole ticks."""
    if time_type is None:
        return order
    try:
        return order.cast(time_type)
    except pa.ArrowInvalid as error:
        raise InvalidArgument(
            f"windows: they begin or end between two ticks of {name!r}, which is "
            f"{order.type}, and {time_type} cannot hold its times: {error}"
        ) from None
