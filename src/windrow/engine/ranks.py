"""Columns as integers in the order of their values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.algebra import arrays

Array = np.ndarray[Any, Any]


def ranks(column: pa.Array) -> Array:
    """Integers in the order of the column's values: nulls first, NaN last, as Spark sorts."""
    data_type = column.type
    if pa.types.is_temporal(data_type) and not pa.types.is_interval(data_type):
        column = column.view(pa.int64() if data_type.bit_width == 64 else pa.int32())
    if pa.types.is_floating(column.type):
        return float_ranks(column)
    if pa.types.is_integer(column.type) and not column.null_count and column.type != pa.uint64():
        return arrays.values(column)
    if pa.types.is_null(column.type):
        return np.zeros(len(column), np.int64)
    places = pc.rank(column, "ascending", tiebreaker="dense").cast(pa.int64())
    if column.null_count:
        places = pc.if_else(column.is_null(), 0, places)  # ranks begin at 1
    return places.to_numpy()  # type: ignore[no-any-return]


def float_ranks(column: pa.Array) -> Array:
    """Integers in the order of floats: nulls first, NaN last, and -0.0 is 0.0."""
    numbers = column.cast(pa.float64()).to_numpy(zero_copy_only=False) + 0.0
    bits = np.where(np.isnan(numbers), np.float64("nan"), numbers).view(np.int64)
    ranks = bits ^ ((bits >> 63) & np.int64(2**63 - 1))
    if column.null_count:
        ranks[pc.is_null(column).to_numpy(zero_copy_only=False)] = np.iinfo(np.int64).min
    return ranks
