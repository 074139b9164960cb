"""The data that a window is laid over, as far as the window has to know it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from windrow.errors import InvalidArgument
from windrow.windows.ticks import nanoseconds_per_tick

Array = np.ndarray[Any, Any]


class Counts(Protocol):
    """Counts how many rows a policy leaves in each row's window, along one stream of rows."""

    def of(
        self,
        columns: Mapping[str, pa.Array],
        starts: Array,
        size: int,
        asked_from: Array | None = None,
    ) -> Array:
        """The counts of the next rows; `starts` are those at which a new key begins.

        Rows of a key before its `asked_from` are known to stay: the policy is not asked.
        """


def _allow(_answers: int) -> None:
    """Refuse no number of answers."""


@dataclass(frozen=True)
class Setting:
    """What a window is laid over.

    Attributes:
        name: the window's, for messages.
        order: the column that orders rows, if there is one.
        time_type: the type of the order column in whose ticks times are measured.
        counts: from a policy to what counts the rows that it leaves; it takes kernels, which the
            engine has.
        require: refuses so many answers before there is room for them.
    """

    name: str
    order: str | None
    time_type: pa.DataType | None
    counts: Callable[[Any], Counts]
    require: Callable[[int], None] = _allow

    @property
    def tick(self) -> int:
        """What one step of time means, in nanoseconds."""
        assert self.time_type is not None
        return nanoseconds_per_tick(self.time_type)

    def require_times(self, times: Array, behind: int, ahead: int) -> None:
        """Refuse a window that would begin or end where the order column's type has no times."""
        if not len(times):
            return
        assert self.time_type is not None
        limit = 2 ** (self.time_type.bit_width - 1)
        self.require_fit(-limit <= int(times.min()) - behind and int(times.max()) + ahead < limit)

    def require_fit(self, fits: bool) -> None:
        """Refuse a window if not all times at which it begins or ends fit the order column."""
        if not fits:
            raise InvalidArgument(
                f"windows: {self.name!r} begins or ends at times that {self.order!r}, which is "
                f"{self.time_type}, cannot hold; give a shorter window, or cast the column to a "
                "coarser unit"
            )
