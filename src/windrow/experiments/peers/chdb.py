"""chDB, ClickHouse in the process: a window function over the rows before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from windrow.experiments.peers import at_most, required

NAME = "chDB"
#: it recomputes a window that an event leaves
_MOST = 1024


def rolling(function: str, values: Any, extent: int) -> Callable[[], Any]:
    """`sum(x) OVER (ORDER BY i ROWS ...)` of a table in memory, answered as Arrow."""
    chdb = required("chdb")
    at_most(extent, _MOST, "chDB takes time in proportion to the window")
    pyarrow = required("pyarrow")
    session = required("chdb", "chdb.session").Session()
    numbers = pyarrow.table({"i": pyarrow.array(range(len(values))), "x": values})
    del chdb
    session.query("CREATE DATABASE IF NOT EXISTS bench ENGINE = Atomic")
    session.query("DROP TABLE IF EXISTS bench.numbers")
    session.query("CREATE TABLE bench.numbers (i Int64, x Float64) ENGINE = Memory")
    session.query("INSERT INTO bench.numbers SELECT * FROM Python(numbers)")
    del numbers
    query = (
        f"SELECT {function}(x) OVER (ORDER BY i ROWS BETWEEN {extent - 1} PRECEDING "
        "AND CURRENT ROW) AS answer FROM bench.numbers"
    )
    return lambda: session.query(query, "Arrow")
