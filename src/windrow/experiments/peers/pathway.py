"""Pathway: sliding windows over a table that is read once, in an interpreter that has it.

Pathway and windrow ask for different versions of several packages. If it is not installed here,
`WINDROW_PATHWAY_PYTHON` names an interpreter that has it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from windrow.experiments.peers import at_most
from windrow.experiments.peers.elsewhere import elsewhere

NAME = "Pathway"
#: every event goes to each window that holds it
_MOST = 16
MOST_ROWS = 2**14

_PROGRAM = """
import json, sys, time
import pandas as pd
import pathway as pw

function, rows, extent = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
numbers = pd.RangeIndex(rows).to_series()
table = pw.debug.table_from_pandas(pd.DataFrame({"i": numbers, "x": (numbers * 7 % 101) / 7}))
windows = table.windowby(table.i, window=pw.temporal.sliding(hop=1, duration=extent))
pw.io.null.write(windows.reduce(answer=getattr(pw.reducers, function)(pw.this.x)))
started = time.perf_counter()
pw.run(monitoring_level=pw.MonitoringLevel.NONE)
print(json.dumps(time.perf_counter() - started))
"""


def rolling(function: str, values: Any, extent: int) -> Callable[[], Any]:
    """`windowby` with a window for each row; numbers of its own, as many as the values."""
    at_most(extent, _MOST, "Pathway copies an event into each window that holds it")
    return elsewhere("pathway", _PROGRAM, function, len(values), extent)
