"""Python's own: a dict of arrays, a list of dicts. The answer is a `pyarrow.Table`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from windrow.errors import InvalidArgument


def table_of_arrays(arrays: Mapping[Any, Any]) -> pa.Table:
    """A dict of columns: arrays of numpy or Arrow, series, or lists."""
    columns: dict[str, Any] = {}
    for name, values in arrays.items():
        if not isinstance(name, str):
            raise InvalidArgument(f"data: the names of columns are strings, not {name!r}")
        columns[name] = _column(name, values)
    sizes = {name: len(column) for name, column in columns.items()}
    if len(set(sizes.values())) > 1:
        shown = ", ".join(f"{name!r} has {size}" for name, size in sizes.items())
        raise InvalidArgument(f"data: columns need the same number of rows; {shown}")
    return pa.table(columns)


def table_of_rows(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """A list of dicts, one for each row; what a row does not name is null."""
    names = dict.fromkeys(name for row in rows for name in row)
    return table_of_arrays({name: [row.get(name) for row in rows] for name in names})


def _column(name: str, values: Any) -> pa.Array | pa.ChunkedArray:
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    try:
        if hasattr(values, "__arrow_c_stream__"):
            return pa.chunked_array(values)
        if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
            raise TypeError(f"{values!r} is no array")
        return pa.array(values)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise InvalidArgument(
            f"data: the column {name!r} cannot be read; give an array or a list of values of one "
            f"type: {error}"
        ) from None
