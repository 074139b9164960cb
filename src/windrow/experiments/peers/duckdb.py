"""DuckDB: a window function over the rows before, on all cores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from windrow.experiments.peers import required

NAME = "DuckDB"


def rolling(function: str, values: Any, extent: int) -> Callable[[], Any]:
    """`sum(x) OVER (ORDER BY i ROWS ...)` of a table of its own, answered as Arrow."""
    connection = required("duckdb").connect()
    pyarrow = required("pyarrow")
    column = pyarrow.table({"i": pyarrow.array(range(len(values))), "x": values})
    connection.register("column_", column)
    connection.execute("CREATE TABLE numbers AS SELECT * FROM column_")
    query = (
        f"SELECT {function}(x) OVER (ORDER BY i ROWS BETWEEN {extent - 1} PRECEDING "
        "AND CURRENT ROW) AS answer FROM numbers"
    )
    return lambda: connection.sql(query).to_arrow_table()
