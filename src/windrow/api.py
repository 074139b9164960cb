"""`wr.over`: the same call on every kind of data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from windrow.algebra.aggregation import Measure
from windrow.planning.resolve import resolve_over
from windrow.runtime.table import over_table, to_table
from windrow.windows import Windows


def over(
    data: Any,
    *,
    key: str | Sequence[str] | None = None,
    order: str | Sequence[str] | None = None,
    windows: Windows,
    aggs: Measure | Iterable[Measure],
    algorithm: str | None = None,
) -> Any:
    """Give every row the aggregates of the windows that end at it, like SQL's OVER.

    Args:
        data: a Spark DataFrame, or anything that speaks Arrow: pyarrow, pandas, Polars, DuckDB.
        key: the column or columns that set windows apart; None for one window over everything.
        order: the column that orders the events, or a list whose others break ties. Time windows
            measure by the first. Without it, a table's rows come as they are.
        windows: one window, a list of them, or a dict that names them.
        aggs: what to compute, as in `wr.max("amount")`.
        algorithm: the name of an algorithm, to choose it by hand.

    Returns:
        All rows and columns, and one more column per aggregation and window: a Spark DataFrame for
        a Spark DataFrame, else a `pyarrow.Table`.

    Example:
        >>> import pyarrow as pa, windrow as wr
        >>> table = pa.table({"t": [1, 2, 3, 4], "x": [3.0, 1.0, None, 2.0]})
        >>> wr.over(table, order="t", windows=wr.rows(2), aggs=wr.max("x"))["max_x"].to_pylist()
        [3.0, 3.0, 1.0, 2.0]
    """
    arguments: dict[str, Any] = {
        "key": key, "order": order, "windows": windows, "aggs": aggs, "algorithm": algorithm
    }  # fmt: skip
    if type(data).__module__.startswith("pyspark."):
        from windrow.spark.over import over_dataframe

        return over_dataframe(data, **arguments)
    table = to_table(data)
    return over_table(table, resolve_over(table.schema, **arguments))
