"""The times of a compiled window's events, as integers of 64 bits in the same order.

The first times decide what the others are: integers, floats, or times of one type. A float
becomes its bits: those of negative ones are turned round, so that integers compare as floats do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from windrow.algebra.kinds import Kind
from windrow.engine.columns import whole
from windrow.errors import InvalidArgument

Array = np.ndarray[Any, Any]
_MOST = 2**63 - 1


class TypedTimes:
    """Times as integers.

    >>> times = TypedTimes()
    >>> bool(times.numbers([0.5, 1.5], 2)[0] > times.number(-0.5))
    True
    >>> times.number("noon")
    Traceback (most recent call last):
    windrow.errors.InvalidArgument: times: those of the window are double, and 'noon' is none
    """

    def __init__(self) -> None:
        self._type: pa.DataType | None = None

    def number(self, time: Any) -> int:
        """One time."""
        if type(time) is int and self._type == pa.int64() and -_MOST <= time <= _MOST:
            return time
        return int(self.numbers([time])[0])

    def numbers(self, times: Any, events: int = 1) -> Array:
        """The times of so many events; if one is wrong, none is taken."""
        column = _column(times)
        if len(column) != events:
            raise InvalidArgument(f"times: give one for each event, {events}, not {len(column)}")
        if column.null_count:
            raise InvalidArgument("times: a time is null")
        wanted = self._type or _type_for(column.type)
        found = _cast(column, wanted)
        if pa.types.is_floating(wanted):
            numbers = _bits(found.to_numpy())
        else:
            numbers = found.view(pa.int64()).to_numpy()
        if len(numbers):
            self._type = wanted
        return numbers


def _column(times: Any) -> pa.Array:
    try:
        if hasattr(times, "__arrow_c_stream__") or isinstance(times, pa.ChunkedArray):
            return whole(pa.chunked_array(times))
        return times if isinstance(times, pa.Array) else pa.array(times)
    except (TypeError, pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise InvalidArgument(
            f"times: give an array or a list of times of one type: {error}"
        ) from None
    except OverflowError:
        raise InvalidArgument("times: an integer does not fit 64 bits") from None


def _type_for(given: pa.DataType) -> pa.DataType:
    """The type of 64 bits for times of a type."""
    if pa.types.is_integer(given) or pa.types.is_null(given):
        return pa.int64()
    if pa.types.is_floating(given):
        return pa.float64()
    if pa.types.is_date(given):
        return pa.date64()
    if pa.types.is_time(given):
        return pa.time64("ns")
    if Kind.of(given).in_ticks:
        return given
    raise InvalidArgument(
        f"times: those of a compiled window are numbers or times, not {given}; leave out types="
    )


def _cast(column: pa.Array, wanted: pa.DataType) -> pa.Array:
    given = column.type
    alike = Kind.of(given) is Kind.of(wanted) and _zone(given) == _zone(wanted)
    widened = pa.types.is_integer(given) and pa.types.is_floating(wanted)
    if len(column) == 0 or alike or widened:
        try:
            return column.cast(wanted)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            pass
    shown = repr(column[0].as_py()) if len(column) == 1 else f"these, which are {given},"
    verb = "is none" if len(column) == 1 else "are not"
    raise InvalidArgument(f"times: those of the window are {wanted}, and {shown} {verb}")


def _zone(given: pa.DataType) -> bool | None:
    """Whether times are of a zone."""
    return given.tz is not None if pa.types.is_timestamp(given) else None


def _bits(floats: Array) -> Array:
    if bool(np.isnan(floats).any()):
        raise InvalidArgument("times: nan is no time")
    bits = (floats + 0.0).view(np.int64)  # -0.0 becomes 0.0
    return np.where(bits < 0, bits ^ np.int64(_MOST), bits)
