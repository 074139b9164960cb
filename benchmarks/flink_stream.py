"""Flink SQL over a stream, in an interpreter that has `apache-flink`.

`apache-flink` asks for older versions of numpy and protobuf than windrow does, so it cannot be
installed beside it. `WINDROW_FLINK_PYTHON` names the Python of an environment that has it.
"""

from __future__ import annotations

import json
import os
import subprocess

HOW_TO = "WINDROW_FLINK_PYTHON names no interpreter with apache-flink"

#: max and mean of the last 1,000 rows of each key, at every event
OVER = (
    "SELECT k, ts, MAX(x) OVER w, AVG(x) OVER w FROM events WINDOW w AS "
    "(PARTITION BY k ORDER BY ts ROWS BETWEEN 999 PRECEDING AND CURRENT ROW)"
)

# Heap state, two slots for two cores, no checkpoints. A key has an event every second.
_PROGRAM = """
import json, sys, time
from pyflink.table import EnvironmentSettings, TableEnvironment

text, *sizes = sys.argv[1:]
flink = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
flink.get_config().set("parallelism.default", "2")
flink.get_config().set("state.backend.type", "hashmap")
taken = []
for number, rows in enumerate(map(int, sizes)):
    flink.execute_sql("DROP TABLE IF EXISTS events")
    flink.execute_sql(f'''CREATE TABLE events (
        i BIGINT, x DOUBLE, k AS MOD(i, 1000),
        ts AS TO_TIMESTAMP_LTZ(1000 * (1000000000 + i / 1000), 3),
        WATERMARK FOR ts AS ts - INTERVAL '10' SECOND) WITH ('connector' = 'datagen',
        'rows-per-second' = '1000000000', 'number-of-rows' = '{rows}', 'fields.i.kind' = 'sequence',
        'fields.i.start' = '0', 'fields.i.end' = '{rows - 1}')''')
    flink.execute_sql(f'''CREATE TABLE nowhere_{number} (
        k BIGINT, t TIMESTAMP_LTZ(3), highest DOUBLE, mean DOUBLE)
        WITH ('connector' = 'blackhole')''')
    started = time.perf_counter()
    flink.execute_sql(f"INSERT INTO nowhere_{number} {text}").wait()
    taken.append(time.perf_counter() - started)
print(json.dumps(taken))
"""


def hop(seconds: int) -> str:
    """Max and mean of so many seconds, every second, for each key."""
    return (
        "SELECT k, window_start, MAX(x), AVG(x) FROM TABLE(HOP(TABLE events, DESCRIPTOR(ts), "
        f"INTERVAL '1' SECOND, INTERVAL '{seconds}' SECOND)) GROUP BY k, window_start, window_end"
    )


def is_there() -> bool:
    """Whether there is an interpreter with Flink."""
    python = os.environ.get("WINDROW_FLINK_PYTHON")
    if not python:
        return False
    found = subprocess.run([python, "-c", "import pyflink"], capture_output=True, check=False)
    return found.returncode == 0


def seconds_per_event(text: str, events: int) -> float:
    """What an event takes in a long job, beyond a short one, after one job to warm up."""
    few = events // 10
    sizes = [str(each) for each in (few, few, events)]
    answer = subprocess.run(
        [os.environ["WINDROW_FLINK_PYTHON"], "-c", _PROGRAM, text, *sizes],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    _warm, short, long = json.loads(answer.stdout.strip().splitlines()[-1])
    return (long - short) / (events - few)
