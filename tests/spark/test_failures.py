"""An error of Spark is told in one line, whatever traces it brings."""

import pytest
from pyspark.errors import PySparkException, PySparkRuntimeError

import windrow as wr
from windrow.spark.failures import one_line, told_in_one_line

_WORKER = """
  An exception was thrown from the Python worker. Please see the stack trace below.
Traceback (most recent call last):
  File "loops.py", line 7, in overflow
windrow.errors.AggregateOverflow: sum(x): the answer does not fit 64 bits
"""
_JAVA = """Job aborted due to stage failure: Task 0 in stage 1.0 failed 1 times
\tat org.apache.spark.scheduler.DAGScheduler.run(DAGScheduler.scala:1)
Caused by: org.apache.spark.SparkException: [FAILED_READ_FILE] Error in file:/x.csv.
\t... 10 more
Caused by: java.io.IOException: No space left on device
\t... 14 more
"""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "[PATH_NOT_FOUND] Path does not exist: file:/x. SQLSTATE: 42K03",
            "Path does not exist: file:/x.",
        ),
        (_WORKER, "sum(x): the answer does not fit 64 bits"),
        (_JAVA, "Error in file:/x.csv. No space left on device"),
        ("", "PySparkException"),
    ],
    ids=["analysis", "worker", "java", "nothing"],
)
def test_one_line_says_it(text: str, line: str) -> None:
    assert one_line(PySparkException(text)) == line


def test_a_machine_without_java_is_told() -> None:
    error = PySparkRuntimeError(errorClass="JAVA_GATEWAY_EXITED", messageParameters={})
    with (
        pytest.raises(wr.WindrowError, match="Spark: it did not start; it needs Java 17"),
        told_in_one_line(),
    ):
        raise error
