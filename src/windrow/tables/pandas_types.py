"""Answers as pandas columns: dtypes of the family that the columns they are made of have.

| an answer made of | has |
|---|---|
| numpy columns, or none | numpy's dtypes: NaN, NaT or None is missing |
| nullable columns, such as Int64 | nullable dtypes |
| Arrow-backed columns | Arrow-backed dtypes |
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

#: beyond it, floats do not hold every integer
_EXACT = 2**53


def answers_to_pandas(column: pa.ChunkedArray, dtypes: tuple[Any, ...]) -> Any:
    """An answer as pandas values; `dtypes` are those of the columns that it is made of."""
    import pandas as pd

    if any(isinstance(dtype, pd.ArrowDtype) for dtype in dtypes):
        return pd.ArrowDtype(column.type).__from_arrow__(column)
    nullable = _nullable(column.type, dtypes)
    if nullable is None and pa.types.is_integer(column.type) and column.null_count:
        lowest, highest = pc.min_max(column).as_py().values()
        if lowest is not None and not -_EXACT <= lowest <= highest <= _EXACT:
            nullable = _nullable_numbers()[column.type]
    if nullable is not None:
        return nullable.__from_arrow__(column)
    return column.to_pandas().array  # a series would be aligned by its index


def key_to_pandas(column: pa.ChunkedArray, dtype: Any) -> Any:
    """Values of a column as that column has them."""
    if hasattr(dtype, "__from_arrow__"):
        return dtype.__from_arrow__(column)
    return column.to_pandas().astype(dtype).array


def _nullable(data_type: pa.DataType, dtypes: tuple[Any, ...]) -> Any:
    """The nullable dtype for an answer; None if its columns are not nullable, or it has none."""
    import pandas as pd

    family = [dtype for dtype in dtypes if isinstance(dtype, pd.api.extensions.ExtensionDtype)]
    texts = [dtype for dtype in family if isinstance(dtype, pd.StringDtype)]
    if pa.types.is_string(data_type) or pa.types.is_large_string(data_type):
        return next(iter(texts), None)
    numbers = _nullable_numbers()
    if any(dtype in numbers.values() for dtype in family):
        return numbers.get(data_type)
    return None


def _nullable_numbers() -> dict[pa.DataType, Any]:
    import pandas as pd

    return {
        pa.bool_(): pd.BooleanDtype(),
        pa.int8(): pd.Int8Dtype(),
        pa.int16(): pd.Int16Dtype(),
        pa.int32(): pd.Int32Dtype(),
        pa.int64(): pd.Int64Dtype(),
        pa.uint8(): pd.UInt8Dtype(),
        pa.uint16(): pd.UInt16Dtype(),
        pa.uint32(): pd.UInt32Dtype(),
        pa.uint64(): pd.UInt64Dtype(),
        pa.float32(): pd.Float32Dtype(),
        pa.float64(): pd.Float64Dtype(),
    }
