"""Which Python runs windrow's functions, and what is said where it has no windrow.

Spark starts the workers of a function with the Python that the function carries. By default that is
`python3`, whatever the PATH of the machine takes for it. On a local master the Python of this
process does better: it is there, and it has windrow. On a cluster only the user knows.

What goes to a worker goes as bytes in a function that needs nothing of windrow, so that it can say
what is missing.
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

#: by which users name a Python
_NAMED = "PYSPARK_PYTHON"
_IN_ONE_PROCESS = re.compile(r"local(\[.*\])?")
_ONE_AT_A_TIME = threading.RLock()


@contextmanager
def own_python(session: Any) -> Iterator[None]:
    """While it lasts, functions are made for the Python of this process, on a local master.

    Not if the user named another. For a client of Connect the server decides.
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
    """Two functions. As those of a function they are sent with their code, not by name."""

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
        """Refuse a Python without windrow, without the time that importing it takes."""
        from importlib.util import find_spec

        if find_spec("windrow") is None:
            raise missing("No module named 'windrow'")

    def opened(content: bytes) -> Any:
        """What was sent."""
        import pickle
        from importlib import import_module

        try:
            import_module("windrow")
        except ImportError as error:
            raise missing(error) from None
        return pickle.loads(content)

    return require, opened


#: what a worker does with what was sent
require_windrow, opened = _by_value()


class _Sent:
    """A function that is opened when a worker reads it: before Spark looks for pyarrow there."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __reduce__(self) -> tuple[Callable[[bytes], Any], tuple[bytes]]:
        return opened, (cloudpickle.dumps(self._function),)  # type: ignore[no-untyped-call]


def sent(function: Callable[..., Any]) -> Any:
    """What is the function in a worker, if a function that Spark sends there refers to it."""
    return _Sent(function)
