"""`wr.log_progress`: what a query on Spark does, as a file that `windrow watch` shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from windrow.errors import InvalidArgument


def log_progress(spark: Any, path: str | Path) -> Any:
    """Write a line for each batch of windrow's streaming queries on Spark, for `windrow watch`.

    A line says how many events came, how many were late or had no time, how long the batch took,
    how large the state is, and the watermark. Call this before you start a query. The log has at
    most 20 MB: its older half is left out when it is full.

    A stream over an iterator needs no log: its checkpoint says the same.

    Args:
        spark: the session of the queries.
        path: the file; lines are added to one that exists. Its folder exists.

    Returns:
        The listener, for `spark.streams.removeListener(...)`.

    Raises:
        wr.InvalidArgument: the folder of `path` does not exist, or `spark` is no session.

    >>> import windrow as wr
    >>> wr.log_progress(None, "progress.jsonl")
    Traceback (most recent call last):
        ...
    windrow.errors.InvalidArgument: spark: give a SparkSession, not None
    """
    if not hasattr(spark, "streams"):
        raise InvalidArgument(f"spark: give a SparkSession, not {spark!r}")
    log = Path(path).absolute()
    if not log.parent.is_dir():
        raise InvalidArgument(f"path: there is no folder {log.parent}; make it first")
    from windrow.spark.streaming.progress_log import ProgressLog

    listener = ProgressLog(log)
    spark.streams.addListener(listener)
    return listener
