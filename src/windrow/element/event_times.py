"""When the events of a window happened, for those that come with a time."""

from __future__ import annotations

import datetime
from collections import deque
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.element.arguments import iterated
from windrow.engine.columns import whole
from windrow.errors import InvalidArgument

Array = np.ndarray[Any, Any]


class EventTimes:
    """The times of a window's events, in blocks, oldest first.

    Nobody reports evictions of the oldest events: the number of events says how many times are
    still needed. So an event that enters without a time makes the times useless (`lose`), until the
    window is empty.

    >>> times = EventTimes()
    >>> times.extend(np.array([1, 2, 5]))
    >>> times.older_than(2, held=3), times.older_than(6, held=2)
    (1, 2)
    """

    def __init__(self) -> None:
        self._blocks: deque[Array] = deque()
        self._count = 0
        self._lost = False

    @property
    def are_kept(self) -> bool:
        """Whether there are times that an event without one would make useless."""
        return self._count > 0 and not self._lost

    def extend(self, times: Array) -> None:
        """Add times behind those that are there."""
        if len(times):
            self._blocks.append(times)
            self._count += len(times)

    def lose(self) -> None:
        """See that an event without a time has entered the window."""
        self._lost = True

    def drop(self, position: int, held: int) -> None:
        """Forget the time of the event at a position, which leaves; `held` are there before."""
        if not self.are_kept:
            return
        self._settle(held)
        (times,) = self._blocks = deque([np.concatenate(list(self._blocks))])
        self._blocks[0] = np.delete(times, position)
        self._count -= 1

    def checked(self, times: Any, count: int, held: int) -> Array:
        """The times of so many events that are to follow `held` others; they never go back."""
        self._settle(held)
        found = _array(times)
        if len(found) != count:
            raise InvalidArgument(f"times: give one for each event, {count}, not {len(found)}")
        last = [self._blocks[-1][-1:]] if self._blocks else []
        try:
            joined = np.concatenate([*last, found])
            in_order = bool((joined[1:] >= joined[:-1]).all())
        except (TypeError, ValueError) as error:
            raise InvalidArgument(f"times: they cannot be compared: {error}") from None
        if not in_order:
            raise InvalidArgument(
                "times: an event is earlier than the one before; wr.in_order(...) sorts events"
            )
        return found

    def older_than(self, time: Any, held: int) -> int:
        """How many of the `held` events happened before a time."""
        self._settle(held)
        count = 0
        for block in self._blocks:
            try:
                earlier = int(np.searchsorted(block, _moment(time, block)))
            except (TypeError, ValueError) as error:
                raise InvalidArgument(
                    f"time: {time!r} cannot be compared with the times of the events: {error}"
                ) from None
            count += earlier
            if earlier < len(block):
                break
        return count

    def _settle(self, held: int) -> None:
        """Forget the times of events that have left."""
        self._lost = self._lost and held > 0
        if held > self._count or self._lost:
            raise InvalidArgument(
                "times: not every event of the window has one; insert all with "
                "insert_many(values, times)"
            )
        gone = self._count - held
        while gone and gone >= len(self._blocks[0]):
            gone -= len(self._blocks.popleft())
        if gone:
            self._blocks[0] = self._blocks[0][gone:]
        self._count = held


def times_of(times: Any) -> list[Any]:
    """Times of any kind, in any order, as a list."""
    if hasattr(times, "__arrow_c_stream__") or isinstance(times, pa.Array | pa.ChunkedArray):
        column = times if isinstance(times, pa.Array) else whole(pa.chunked_array(times))
        return column.to_pylist()  # type: ignore[no-any-return]
    if isinstance(times, np.ndarray) and times.dtype.kind not in "mM":
        return times.tolist()  # type: ignore[no-any-return]
    return list(iterated("times", times, "times"))


def _array(times: Any) -> Array:
    """Times as an array; nulls and what is no time are refused."""
    if hasattr(times, "__arrow_c_stream__") or isinstance(times, pa.Array | pa.ChunkedArray):
        column = times if isinstance(times, pa.Array) else whole(pa.chunked_array(times))
        if column.null_count:
            raise InvalidArgument("times: a time is null")
        times = column.to_numpy(zero_copy_only=False)
    found = np.asarray(
        times if isinstance(times, np.ndarray) else list(iterated("times", times, "times"))
    )
    if found.ndim != 1 or found.dtype.kind not in "iufmMO":
        raise InvalidArgument(f"times: give an array or a list of times, not {found.dtype}")
    if found.dtype.kind in "fmM" and bool((found != found).any()):
        raise InvalidArgument("times: a time is missing")
    return found.copy()


def _moment(time: Any, block: Array) -> Any:
    """A moment as the times of a block are."""
    kind = block.dtype.kind
    if time is None or np.any(np.asarray(time != time)):  # NaN and NaT sort behind all times
        raise TypeError("it is missing")
    if kind == "M" and isinstance(time, datetime.datetime) and time.tzinfo is not None:
        # Arrow gives the moments of a column with a zone as numpy has them, in UTC.
        time = time.astimezone(datetime.UTC).replace(tzinfo=None)
    if kind in "iuf" and np.asarray(time).dtype.kind not in "biufO":
        raise TypeError("they are numbers")  # numpy would compare both as text
    return np.asarray(time, block.dtype) if kind in "mM" else time
