"""Columns of times as whole ticks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.algebra.arrays import read_only
from windrow.errors import InvalidArgument

Array = np.ndarray[Any, Any]

_NANOSECONDS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}


def is_time(data_type: pa.DataType) -> bool:
    """Whether a column's values are times, which are whole ticks apart."""
    return bool(pa.types.is_timestamp(data_type) or pa.types.is_date(data_type))


def nanoseconds_per_tick(data_type: pa.DataType) -> int:
    """What one step of a time column means."""
    if pa.types.is_timestamp(data_type):
        return _NANOSECONDS[data_type.unit]
    return 86_400_000_000_000 if pa.types.is_date32(data_type) else 1_000_000


def times(column: pa.Array) -> Array:
    """A time column as integers; all nulls are one time, in runs of their own."""
    is_wide = column.type.bit_width == 64
    numbers = column.view(pa.int64()) if is_wide else column.view(pa.int32()).cast(pa.int64())
    oldest, newest = (each.as_py() for each in pc.min_max(numbers).values())
    if oldest is not None and newest - oldest >= 2**63:
        raise InvalidArgument(
            f"order: its times lie {newest - oldest} ticks of {column.type} apart, more than "
            "64 bits can measure; cast it to a coarser unit"
        )
    if numbers.null_count:
        numbers = pc.fill_null(numbers, 0)
    return read_only(numbers.to_numpy(zero_copy_only=False))
