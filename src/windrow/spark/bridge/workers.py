"""Which Python runs windrow's functions, and the error if that Python has no windrow.

Spark starts workers with the Python that a function names. By default that is the `python3` on the
machine's PATH. On a local master this process's own Python is better: it exists there, and it has
windrow. On a cluster only the user knows.

A function goes to a worker as bytes, wrapped in a function that does not need windrow. So the
wrapper can say what is missing.

The wrapper also keeps a worker from waiting for Linux. Spark writes a task's function first, then
its rows, and TCP holds a second small write back until the first is acknowledged. Linux delays that
by 40 ms, unless it is asked not to (`TCP_QUICKACK`).

      Spark                  worker
      function ------------>
      rows, held back        opens the function, and acknowledges
               <------------
      rows     ------------>
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pyspark import cloudpickle
from pyspark.sql import SparkSession as ClassicSession

#: the environment variable in which users name a Python
_NAMED = "PYSPARK_PYTHON"
_IN_ONE_PROCESS = re.compile(r"local(\[.*\])?")
_ONE_AT_A_TIME = threading.RLock()


@contextmanager
def own_python(session: Any) -> Iterator[None]:
    """Make functions for this process's Python meanwhile, on a local master.

    Not if the user named another Python. For a client of Connect the server decides.
    """
    if not isinstance(session, ClassicSession) or _NAMED in os.environ or not sys.executable:
        yield
        return
    context = session.sparkContext
    if not _IN_ONE_PROCESS.fullmatch(context.master or ""):
        yield
        return
    with _ONE_AT_A_TIME:
        usual, context.pythonExec = context.pythonExec, sys.executable
        try:
            yield
        finally:
            context.pythonExec = usual


def _by_value() -> tuple[Callable[[], None], Callable[[bytes], Any]]:
    """Two functions. Because they are local, Spark sends their code, not their names.

    A worker calls one of them as soon as it has read a task's function.
    """

    def acknowledge() -> None:
        """Acknowledge now what has come over TCP, so that Spark sends the rows."""
        import socket
        from pathlib import Path

        quick, files = getattr(socket, "TCP_QUICKACK", None), Path("/proc/self/fd")
        if quick is None or not files.is_dir():
            return
        # Which one Spark's rows come from is known to Spark's own code only.
        for file in list(files.iterdir()):
            try:
                found = socket.socket(fileno=int(file.name))
            except OSError:
                continue  # no socket
            try:
                if found.family in (socket.AF_INET, socket.AF_INET6):
                    found.setsockopt(socket.IPPROTO_TCP, quick, 1)
            except OSError:
                pass  # not one of TCP
            finally:
                found.detach()  # It stays open.

    def missing(reason: object) -> ModuleNotFoundError:
        import platform
        import sys

        return ModuleNotFoundError(
            f"windrow cannot be imported by {sys.executable} (Python {platform.python_version()}) "
            f"on {platform.node()}, which Spark runs its functions with: {reason}. Install windrow "
            "there; or name a Python that has it, by the environment variable PYSPARK_PYTHON or "
            "the setting spark.pyspark.python, before Spark starts; or send one to all machines "
            "with spark.archives"
        )

    def require() -> None:
        """Refuse a Python without windrow, without importing it, which takes long."""
        from importlib.util import find_spec

        acknowledge()
        if find_spec("windrow") is None:
            raise missing("No module named 'windrow'")

    def unpickled(content: bytes) -> Any:
        """What was pickled; refuses a Python without windrow."""
        import pickle
        from importlib import import_module

        acknowledge()
        try:
            import_module("windrow")
        except ImportError as error:
            raise missing(error) from None
        return pickle.loads(content)

    return require, unpickled


require_windrow, unpickled = _by_value()


class _PickledFunction:
    """A function that a worker unpickles at once, before Spark looks for pyarrow there."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __reduce__(self) -> tuple[Callable[[bytes], Any], tuple[bytes]]:
        return unpickled, (cloudpickle.dumps(self._function),)  # type: ignore[no-untyped-call]


def sent(function: Callable[..., Any]) -> Any:
    """The function, wrapped for use in a function that Spark sends to workers."""
    return _PickledFunction(function)
