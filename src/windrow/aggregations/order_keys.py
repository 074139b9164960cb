"""Numbers of any type as 64-bit integers in their order, and back.

Kernels read unsigned integers moved by 2^63, so that all of them fit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from windrow.algebra import arrays
from windrow.algebra.kinds import Kind
from windrow.algebra.ordering import unrank

_HALF = np.uint64(2**63)


def read_numbers(column: pa.Array) -> Any:
    """What a kernel reads of a column of numbers or times, the largest unsigned ones too."""
    if not pa.types.is_uint64(column.type):
        return arrays.values(column)
    unsigned = column.fill_null(0).to_numpy(zero_copy_only=False)
    return (unsigned ^ _HALF).view(np.int64)


def numbers_of(keys: Any, data_type: pa.DataType) -> pa.Array:
    """A column of a type from the keys of its values: integers as kernels read them, or ranks."""
    kind = Kind.of(data_type)
    if kind is Kind.FLOAT:
        return pa.array(unrank(keys)).cast(data_type)
    if pa.types.is_uint64(data_type):
        return pa.array(np.ascontiguousarray(keys).view(np.uint64) ^ _HALF)
    if kind.in_ticks:
        width = pa.int64() if data_type.bit_width == 64 else pa.int32()
        return pa.array(keys).cast(width).view(data_type)
    return pa.array(keys).cast(data_type)
