"""Spark: its own window function over the rows before, in a session on this machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from windrow.experiments.peers import at_most, required
from windrow.experiments.spark_session import session

NAME = "Spark"
#: its default frames recompute each window
_MOST = 256
MOST_ROWS = 2**17


def rolling(function: str, values: Any, extent: int) -> Callable[[], Any]:
    """`sum(x) OVER (ORDER BY i ROWS ...)` of a cached table; the answers are counted."""
    required("pyspark")
    at_most(extent, _MOST, "Spark takes time in proportion to the window")
    spark = session(cores=2)
    table = spark.createDataFrame(pa.table({"i": pa.array(range(len(values))), "x": values}))
    table.cache().count()
    table.createOrReplaceTempView("windrow_bench")
    query = (
        f"SELECT {function}(x) OVER (ORDER BY i ROWS BETWEEN {extent - 1} PRECEDING "
        "AND CURRENT ROW) AS answer FROM windrow_bench"
    )
    return lambda: spark.sql(query).write.format("noop").mode("overwrite").save()
