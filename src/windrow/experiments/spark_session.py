"""The Spark session of a run: one for each cluster that an experiment asks for, one at a time."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from windrow.experiments.experiment import Missing

#: MiB of memory of an executor that is a process of its own
_EXECUTOR_MEMORY = 2048

#: the cores and executors of the session that runs, if one does
_running: tuple[int, int] | None = None


def session(cores: int, executors: int = 0) -> Any:
    """A session with so many cores; the one before is stopped if it was another.

    Args:
        cores: of the process, or of each executor.
        executors: processes of their own; 0 for a session in one process.
    """
    global _running
    try:
        from windrow.spark.session import local_session
    except ImportError as error:
        raise Missing("pyspark is not installed") from error
    if _running not in (None, (cores, executors)):
        stop()
    # Executors of their own look for a Python by themselves, and find one without windrow.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    log = Path(tempfile.gettempdir()) / f"windrow-bench-spark-{os.getpid()}.log"
    # A small table would be answered by one task, however many cores there are.
    conf = {"spark.sql.adaptive.coalescePartitions.enabled": "false"}
    if executors:
        conf["spark.master"] = f"local-cluster[{executors},{cores},{_EXECUTOR_MEMORY}]"
        conf["spark.executor.memory"] = f"{_EXECUTOR_MEMORY}m"
        conf["spark.sql.shuffle.partitions"] = str(2 * cores * executors)
    try:
        spark = local_session("windrow bench", cores=cores, log_file=log, **conf)
    except Exception as error:  # without Java, pyspark raises errors of several kinds
        raise Missing(f"Spark does not start: {error}".splitlines()[0]) from error
    _running = cores, executors
    return spark


def stop() -> None:
    """Stop the session, if there is one."""
    global _running
    if _running is not None:
        from windrow.spark.session import local_session

        local_session(cores=_running[0]).stop()
        _running = None
