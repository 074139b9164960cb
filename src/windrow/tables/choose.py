"""Which kind of table data is.

The module of an object's class says its kind: windrow needs neither pandas, Polars nor DuckDB, and
imports none of them before it is given their data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any

import pyarrow as pa

from windrow.errors import InvalidArgument
from windrow.tables.arrow_tables import ArrowDataset, ArrowTable
from windrow.tables.contract import Source
from windrow.tables.duckdb_relations import DuckDBRelation
from windrow.tables.pandas_frames import PandasFrame
from windrow.tables.plain_values import table_of_arrays, table_of_rows
from windrow.tables.polars_frames import PolarsFrame

_LIBRARIES: dict[tuple[str, str], Callable[[Any], Source]] = {
    ("pandas", "DataFrame"): PandasFrame,
    ("polars", "DataFrame"): PolarsFrame,
    ("duckdb", "DuckDBPyRelation"): DuckDBRelation,
    ("_duckdb", "DuckDBPyRelation"): DuckDBRelation,
    ("pyarrow", "Dataset"): ArrowDataset,
}


def source_of(data: Any) -> Source:
    """The data as what rows are read from; refuses what is no table."""
    for library, name in _classes(data):
        if (library, name) in _LIBRARIES:
            return _LIBRARIES[library, name](data)
    return ArrowTable(to_table(data))


def is_lazy(data: Any) -> bool:
    """Whether data is a LazyFrame of Polars."""
    return ("polars", "LazyFrame") in _classes(data)


def to_table(data: Any) -> pa.Table:
    """All columns of data as Arrow, of whatever kind it is."""
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if isinstance(data, pa.RecordBatchReader):
        return data.read_all()
    classes = _classes(data)
    if ("pandas", "DataFrame") in classes:
        return PandasFrame(data).whole()
    if ("pyarrow", "Dataset") in classes or ("pyarrow", "Scanner") in classes:
        return data.to_table()
    if isinstance(data, Mapping):
        return table_of_arrays(data)
    if isinstance(data, list) and data and all(isinstance(row, Mapping) for row in data):
        return table_of_rows(data)
    way_out = _way_out(data)
    if hasattr(data, "__arrow_c_stream__"):
        try:
            return pa.table(data)
        except (pa.ArrowException, TypeError) as error:  # a series, which is no table; complex
            way_out = way_out or f": {error}"
    raise InvalidArgument(
        "data: give a DataFrame of Spark, pandas or Polars, a relation of DuckDB, something that "
        f"speaks Arrow, a dict of arrays or a list of dicts, not {type(data).__name__}{way_out}"
    )


def _way_out(data: Any) -> str:
    """How what is no table becomes one, as the end of a sentence."""
    if isinstance(data, list):
        if not data:
            return ", which is empty and has no columns"
        if hasattr(data[0], "__arrow_c_stream__") or hasattr(data[0], "__dataframe__"):
            return f" of {type(data[0]).__name__}; batches of a stream need lateness="
        return f" of {type(data[0]).__name__}"
    if isinstance(data, str | PathLike):
        return "; read the file first, for example with pyarrow.dataset.dataset"
    if hasattr(data, "to_frame"):
        return "; make it a table with to_frame()"
    if hasattr(data, "__array__"):
        return "; name its columns, as in {'amount': array}"
    return "; collect() it first" if hasattr(data, "collect") else ""


def _classes(data: Any) -> list[tuple[str, str]]:
    """The library and name of the data's class and of those that it derives from."""
    return [(each.__module__.partition(".")[0], each.__name__) for each in type(data).__mro__]
