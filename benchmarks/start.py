"""How long a process takes to start: the import, and the first call once kernels are in the cache.

Every measurement is a process of its own. It tells how long its steps took, so that the start of
Python does not count. Modules come from bytecode, as those that pip installs do. It is written in a
round that is not measured, and so is the cache of kernels. The table of the first call comes from a
file: pyarrow makes a table of lists with pandas, which takes 0.2 s to load.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.harness import Comparison
from windrow.experiments.rounds import in_turns

ROUNDS = 15
ROWS = 1000
#: seconds, of issue 18
IMPORT, FIRST_CALL = 0.3, 0.15

_TIMED = """
import json, sys, time
def timed(step):
    started = time.perf_counter()
    step()
    return time.perf_counter() - started
"""
_WINDROW = """
def load():
    global wr, pa
    import windrow as wr, pyarrow as pa
def call():
    wr.over(table, order="t", windows=wr.rows(10), aggs=[wr.max("x"), wr.mean("x")])
loaded = timed(load)
with pa.OSFile(sys.argv[1]) as file:
    table = pa.ipc.open_stream(file).read_all()
print(json.dumps([loaded, timed(call)]))
"""
_BASE = """
def load():
    import numpy, pyarrow
print(json.dumps([timed(load)]))
"""
_NUMBA = """
import numpy, pyarrow
def load():
    import numba
print(json.dumps([timed(load)]))
"""


def run() -> list[Comparison]:
    """The import and the first call, against what is allowed and against what they are made of."""
    with tempfile.TemporaryDirectory() as folder:
        _write_table(Path(folder) / "events.arrow")
        found = in_turns(
            {code: partial(_taken, code, folder) for code in (_WINDROW, _BASE, _NUMBA)}, ROUNDS
        )
    loaded, called = (statistics.median(each) for each in zip(*found[_WINDROW], strict=True))
    base, numba = (statistics.median(each[0] for each in found[code]) for code in (_BASE, _NUMBA))
    return [
        Comparison("import windrow", "allowed", loaded, IMPORT, 1.0),
        Comparison("import windrow", "import numpy, pyarrow", loaded, base),
        Comparison("first call of a warm cache", "allowed", called, FIRST_CALL, 1.0),
        Comparison("first call of a warm cache", "import numba", called, numba),
    ]


def _write_table(path: Path) -> None:
    rows = np.arange(ROWS)
    table = pa.table({"t": rows, "x": (rows % 7).astype(np.float64)})
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table)


def _taken(code: str, folder: str) -> list[float]:
    """How many seconds each step of a process took."""
    own = {"PYTHONPYCACHEPREFIX": f"{folder}/bytecode", "WINDROW_CACHE_DIR": f"{folder}/kernels"}
    environment = {**os.environ, **own}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [sys.executable, "-c", _TIMED + code, f"{folder}/events.arrow"],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    told: list[float] = json.loads(done.stdout)
    return told
