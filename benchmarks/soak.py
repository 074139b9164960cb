"""A stream that runs for a while, and the memory of its processes: `make soak`.

The plant of the demo reports, and `slide` answers, as in the demo. Every so often memory is read:
what is used of Java's heap after a collection, and what is resident of Java, of the driver's Python
and of the Python workers together. Java's heap is resident from the beginning, so that what grows
beside it is seen, such as RocksDB's. Memory is flat if no median of the last quarter is more than a
tenth above that of the second: in the first quarter caches fill.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from benchmarks.spark_events import session
from benchmarks.streaming import SETTINGS
from windrow.cli import sensors
from windrow.cli.live import live_windows
from windrow.cli.plant import Pace, PlantProcess
from windrow.spark.bridge.schema import spark_schema

GROWTH = 1.1
KINDS = ("heap", "java", "driver", "workers")
_READINGS = 40
_HEAP = {
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": "-Xms1g -XX:+AlwaysPreTouch",
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=20, help="how long (default: 20)")
    parser.add_argument("--machines", type=int, default=40, help="as in the demo (default: 40)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, session(**SETTINGS, **_HEAP) as spark:
        pace = Pace(arguments.machines, seed=2012, speed=10)
        readings = soak(spark, Path(folder), pace, arguments.minutes * 60)
    return 0 if is_flat(readings) else 1


def soak(spark: Any, folder: Path, pace: Pace, seconds: float) -> dict[str, list[float]]:
    """Run the stream; the memory of each kind of process, in MiB, at every reading."""
    (folder / "readings").mkdir()
    stream = spark.readStream.schema(spark_schema(sensors.SCHEMA))
    query = (
        live_windows(stream.parquet(str(folder / "readings")), pace.lateness)
        .writeStream.format("noop")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .start()
    )
    readings: dict[str, list[float]] = defaultdict(list)
    every, begin = seconds / _READINGS, time.monotonic()
    print(f"  minutes  batches  {'  '.join(f'{kind:>8}' for kind in KINDS)}   MiB")
    with PlantProcess(folder / "readings", pace) as plant:
        for number in range(1, _READINGS + 1):
            time.sleep(max(0.0, begin + number * every - time.monotonic()))
            plant.require_alive()
            error = query.exception()
            if error is not None:
                raise error
            for kind, held in zip(KINDS, [heap(spark), *resident()], strict=True):
                readings[kind].append(held)
            last = query.lastProgress
            batches = last["batchId"] if last else 0
            shown = "  ".join(f"{readings[kind][-1]:8,.0f}" for kind in KINDS)
            print(f"  {number * every / 60:7.1f}  {batches:7,}  {shown}", flush=True)
    query.stop()
    return readings


def heap(spark: Any) -> float:
    """What is used of Java's heap, in MiB, once what is of no use is collected."""
    java = spark.sparkContext._jvm.java.lang
    java.System.gc()
    machine = java.Runtime.getRuntime()
    return float(machine.totalMemory() - machine.freeMemory()) / 2**20


def resident() -> tuple[float, float, float]:
    """The resident memory of Java, of this process and of the Python workers, in MiB."""
    listed = subprocess.run(
        ["ps", "-A", "-ww", "-o", "pid=,ppid=,rss=,args="],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    rows = [line.split(None, 3) for line in listed.stdout.splitlines()]
    size = {int(row[0]): int(row[2]) / 1024 for row in rows}
    command = {int(row[0]): row[3] if len(row) > 3 else "" for row in rows}
    children: dict[int, list[int]] = defaultdict(list)
    for row in rows:
        children[int(row[1])].append(int(row[0]))
    own = os.getpid()
    java, workers, waiting = 0.0, 0.0, list(children[own])
    while waiting:
        process = waiting.pop()
        waiting += children[process]
        if "pyspark.daemon" in command[process]:
            workers += size[process]
        elif "java" in command[process].split(" ", 1)[0]:
            java += size[process]
    return java, size[own], workers


def is_flat(readings: dict[str, list[float]]) -> bool:
    """Whether no kind of process has grown from the second quarter to the last; says so."""
    flat = True
    for kind, held in readings.items():
        quarter = len(held) // 4
        early, late = (
            statistics.median(held[quarter : 2 * quarter]),
            statistics.median(held[-quarter:]),
        )
        flat = flat and late <= GROWTH * early
        print(f"  {kind:>8}: {early:,.0f} MiB in the second quarter, {late:,.0f} in the last")
    print("  flat" if flat else "  GROWS")
    return flat


if __name__ == "__main__":
    sys.exit(main())
