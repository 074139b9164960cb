"""What Spark's errors say, in one line.

Spark's messages bring stack traces of Java and of its Python workers. One of their lines says what
went wrong: the message of an error of windrow's, the last cause that Java names, or else the first.
A line that names a file goes before the cause.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException

from windrow.errors import WindrowError

_OF_WINDROW = re.compile(r"^windrow\.errors\.\w+: (.+)$", re.MULTILINE)
_CAUSE = re.compile(r"^Caused by: (.+)$", re.MULTILINE)
#: what stands around a message, and says nothing to those who gave the data
_AROUND = re.compile(r"^([\w$]+\.)+[\w$]*(Exception|Error): |^\[[A-Z_.0-9]+\] | ?SQLSTATE: \w+$")


@contextmanager
def told_in_one_line() -> Iterator[None]:
    """Errors of Spark become errors of windrow with one line."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise WindrowError(f"Spark: {one_line(error)}") from error


def one_line(error: BaseException) -> str:
    """What an error of Spark is about."""
    text = str(error)
    if "JAVA_GATEWAY_EXITED" in text:
        return "it did not start; it needs Java 17 or newer, by JAVA_HOME or on the PATH"
    if isinstance(error, Py4JJavaError):  # its first line says which call of Python failed
        text = text.partition("\n")[2].removeprefix(": ")
    found = _OF_WINDROW.search(text)
    if found is not None:
        return found[1]
    lines = [_bare(each) for each in (text.strip().partition("\n")[0], *_CAUSE.findall(text))]
    told = lines[-1]
    file = next((each for each in lines if "file:/" in each), "")
    return told if "file:/" in told else f"{file} {told}".strip() or type(error).__name__


def _bare(line: str) -> str:
    while line != (line := _AROUND.sub("", line).strip()):
        continue
    return line
