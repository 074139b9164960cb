"""Flink: a window function over the rows before, in an interpreter that has it.

`apache-flink` asks for older versions of numpy and protobuf than windrow does. If it is not
installed here, `WINDROW_FLINK_PYTHON` names an interpreter that has it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from windrow.experiments.peers import at_most
from windrow.experiments.peers.elsewhere import elsewhere

NAME = "Flink"
_MOST = 16
MOST_ROWS = 2**17

_PROGRAM = """
import json, sys, time
from pyflink.table import EnvironmentSettings, TableEnvironment

function, rows, extent = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
flink = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
flink.get_config().set("parallelism.default", "1")
flink.execute_sql(f'''CREATE TABLE numbers (i BIGINT, x DOUBLE) WITH ('connector' = 'datagen',
    'number-of-rows' = '{rows}', 'fields.i.kind' = 'sequence', 'fields.i.start' = '1',
    'fields.i.end' = '{rows}')''')
flink.execute_sql("CREATE TABLE nowhere (answer DOUBLE) WITH ('connector' = 'blackhole')")
query = (f"INSERT INTO nowhere SELECT {function.upper()}(x) OVER (ORDER BY i ROWS BETWEEN "
         f"{extent - 1} PRECEDING AND CURRENT ROW) FROM numbers")
flink.execute_sql(query).wait()
started = time.perf_counter()
flink.execute_sql(query).wait()
print(json.dumps(time.perf_counter() - started))
"""


def rolling(function: str, values: Any, extent: int) -> Callable[[], Any]:
    """`SUM(x) OVER (ORDER BY i ROWS ...)` in batch mode; the second of two runs counts."""
    at_most(extent, _MOST, "a process of Java for each takes long")
    return elsewhere("flink", _PROGRAM, function, len(values), extent, module="pyflink")
