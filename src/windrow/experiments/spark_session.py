"""The Spark session of a run: one for each number of cores, one at a time."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from windrow.experiments.experiment import Missing

_cores = 0


def session(cores: int) -> Any:
    """A session with so many cores; the one before is stopped if it had another number."""
    global _cores
    try:
        from windrow.spark.session import local_session
    except ImportError as error:
        raise Missing("pyspark is not installed") from error
    if _cores not in (0, cores):
        stop()
    log = Path(tempfile.gettempdir()) / f"windrow-bench-spark-{os.getpid()}.log"
    try:
        spark = local_session("windrow bench", cores=cores, log_file=log)
    except Exception as error:  # without Java, pyspark raises errors of several kinds
        raise Missing(f"Spark does not start: {error}".splitlines()[0]) from error
    _cores = cores
    return spark


def stop() -> None:
    """Stop the session, if there is one."""
    global _cores
    if _cores:
        from windrow.spark.session import local_session

        local_session(cores=_cores).stop()
        _cores = 0
