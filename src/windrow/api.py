"""`wr.over`: the same call on every kind of data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from windrow.algebra.aggregation import Measure
from windrow.errors import InvalidArgument
from windrow.planning.resolve import resolve_over
from windrow.planning.slide import resolve_slide
from windrow.runtime.slide import slide_table
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


def slide(
    data: Any,
    *,
    key: str | Sequence[str] | None = None,
    order: str | Sequence[str],
    windows: Windows,
    aggs: Measure | Iterable[Measure],
    changes_only: bool = False,
    algorithm: str | None = None,
) -> Any:
    """An answer per slide: like Spark's F.window, without a copy of each row per window.

    Args:
        data: anything that speaks Arrow: pyarrow, pandas, Polars, DuckDB.
        key: the column or columns that set windows apart; None for one window over everything.
        order: the column that orders the events, or a list whose others break ties. Time windows
            measure by the first.
        windows: one window, a list of them, or a dict that names them, each with `every`.
        aggs: what to compute, as in `wr.max("amount")`.
        changes_only: leave out answers that are equal to the key's answer before.
        algorithm: the name of an algorithm, to choose it by hand.

    Returns:
        The key columns, `window_start`, `window_end` and one column per aggregation, with the
        window's name, `window`, in front if there are several. Begins and ends have the type of the
        order column, or a finer unit if a window begins or ends between two of its ticks.

    Example:
        >>> import pyarrow as pa, windrow as wr
        >>> table = pa.table({"t": [1, 2, 3, 4, 5, 6], "x": [3.0, 1.0, 4.0, 1.0, 5.0, 9.0]})
        >>> answers = wr.slide(table, order="t", windows=wr.rows(4, every=2), aggs=wr.sum("x"))
        >>> answers["sum_x"].to_pylist()
        [4.0, 9.0, 19.0]
    """
    if type(data).__module__.startswith("pyspark."):
        raise InvalidArgument("data: slide on a Spark DataFrame is not supported yet")
    table = to_table(data)
    plan = resolve_slide(
        table.schema,
        key=key,
        order=order,
        windows=windows,
        aggs=aggs,
        algorithm=algorithm,
        changes_only=changes_only,
    )
    return slide_table(table, plan)
