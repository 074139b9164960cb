"""A Spark session on this machine, for the demo, the tests and the benchmarks.

Users bring their own session; nothing in windrow needs one that was made here.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

# The same on every machine, so that a session prints and answers the same everywhere.
_LOCAL = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "2g",
    "spark.sql.session.timeZone": "UTC",
    # windrow saves no table, but Spark makes the folder, by default in the working directory.
    "spark.sql.warehouse.dir": str(Path(tempfile.gettempdir()) / "windrow-spark-warehouse"),
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}

#: what streams ask of a session besides, see docs/streaming.md
STREAMING = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}


def local_session(
    app_name: str = "windrow",
    *,
    cores: int | None = None,
    log_file: str | Path | None = None,
    **conf: str,
) -> SparkSession:
    """Return the session of this process; start one if there is none.

    Args:
        app_name: the name Spark shows.
        cores: how many tasks run at once; None means one for each processor of the machine.
        log_file: where the Java process writes its log; None leaves it on the standard error.
        conf: settings of Spark, as in `local_session(**{"spark.sql.shuffle.partitions": "4"})`.
    """
    slots = cores or os.cpu_count() or 1
    builder = SparkSession.builder.master(f"local[{slots}]").appName(app_name)
    settings = {**_LOCAL, "spark.sql.shuffle.partitions": str(2 * slots), **conf}
    for name, value in settings.items():
        builder = builder.config(name, value)
    with _standard_error_to(log_file):
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def jars_of_spark() -> Path:
    """The folder of the jars that pyspark brings."""
    import pyspark

    return Path(pyspark.__file__).parent / "jars"


@contextmanager
def _standard_error_to(path: str | Path | None) -> Iterator[None]:
    """Point the standard error at a file while a process starts.

    The Java process inherits it. Its first lines come before a log level can be set, some of them
    from Java itself, and no setting of Spark silences them.
    """
    if path is None:
        yield
        return
    sys.stderr.flush()
    own = os.dup(2)
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    try:
        os.dup2(log, 2)
        yield
    finally:
        os.dup2(own, 2)
        os.close(own)
        os.close(log)
