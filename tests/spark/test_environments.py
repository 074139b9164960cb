"""The same answers on one machine, on several executors, over Spark Connect and in a pipeline."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import windrow as wr
from tests.support.over.oracle import assert_agrees
from tests.support.spark.questions import EVENTS, SIZE, STREAMED, asked, in_order

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parent.parent.parent
QUESTIONS = list(asked())


class Environment:
    """A process that has asked its session; see answering.py."""

    def __init__(self, name: str, folder: Path, **environment: str) -> None:
        self._folder = folder
        # Workers start elsewhere: they look for this windrow, and no other, by its whole path.
        paths = [str(ROOT / "src"), str(ROOT)]
        done = subprocess.run(
            [sys.executable, "-m", "tests.support.spark.answering", name, str(folder)],
            cwd=ROOT,
            env={
                **os.environ,
                "PYSPARK_PYTHON": sys.executable,
                "PYTHONPATH": os.pathsep.join(paths),
                **environment,
            },
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, done.stderr[-5_000:]
        self.found: dict[str, Any] = json.loads((folder / "found.json").read_text())

    def answers(self, question: str) -> pa.Table:
        with pa.memory_map(str(self._folder / f"{question}.arrow")) as file:
            return pa.ipc.open_file(file).read_all()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """With a cache that begins empty, to see who compiles."""
    folder = tmp_path_factory.mktemp("cluster")
    settings = {"NUMBA_DISABLE_JIT": "0", "WINDROW_CACHE_DIR": str(folder / "cache")}
    return Environment("cluster", folder, **settings)


@pytest.fixture(scope="module")
def connect(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return Environment("connect", tmp_path_factory.mktemp("connect"))


def spread() -> wr.Aggregation:
    """What answering.py has in `__main__`."""
    return wr.aggregation(
        name="spread",
        identity=(float("inf"), float("-inf")),
        lift=lambda x: (x, x),
        combine=lambda older, newer: (min(older[0], newer[0]), max(older[1], newer[1])),
        lower=lambda partial: partial[1] - partial[0],
    )


def assert_answered(answers: pa.Table, question: str) -> None:
    expected = in_order(asked(spread()("x"))[question](EVENTS))
    assert answers.column_names == expected.column_names
    assert_agrees(expected.to_pydict(), answers)


@pytest.mark.parametrize("question", QUESTIONS)
def test_one_machine(spark: "SparkSession", question: str) -> None:
    frame = spark.createDataFrame(EVENTS)
    answers = asked(spread()("x"))[question](frame).toArrow()
    assert_answered(in_order(answers), question)


@pytest.mark.parametrize("question", QUESTIONS)
def test_several_executors(cluster: Environment, question: str) -> None:
    assert_answered(cluster.answers(question), question)


def test_kernels_are_compiled_once_for_all_tasks(cluster: Environment) -> None:
    workers = {each["process"]: each["compiled"] for each in cluster.found["workers"]}
    assert len(workers) == 2
    compilers = [name for worker in workers.values() for name, own in worker.items() if own]
    # The driver compiles too, to see whether it can: a kernel that it has made is made by nobody.
    assert len(compilers) == len(set(compilers))
    assert set.intersection(*(set(worker) for worker in workers.values()))


@pytest.mark.parametrize("question", QUESTIONS)
def test_spark_connect(connect: Environment, question: str) -> None:
    assert_answered(connect.answers(question), question)


@pytest.mark.parametrize("question", ["keyed", "slid"])
def test_a_pipeline(connect: Environment, question: str) -> None:
    assert_answered(connect.answers(f"pipeline_{question}"), question)


def answers_between(begin: float, end: float) -> pa.Table:
    """The answers of a table to the question to streams, of windows that end in some seconds."""
    table = in_order(STREAMED.func(EVENTS, **{**STREAMED.keywords, "lateness": None}))
    ends = table["window_end"].cast("int64")
    low, high = int(begin * 10**6), int(end * 10**6)
    return table.filter(pc.and_(pc.greater(ends, low), pc.less_equal(ends, high)))


#: the last event of a half, less the lateness
HALF, WHOLE = ((size - 1) * 1.5 - 5 for size in (SIZE // 2, SIZE))


def test_a_stream_over_connect_goes_on_from_a_table(connect: Environment) -> None:
    expected = answers_between(HALF, WHOLE)
    assert_agrees(expected.to_pydict(), connect.answers("history"))


def test_a_stream_in_a_pipeline(connect: Environment) -> None:
    expected = answers_between(0, WHOLE)
    assert_agrees(expected.to_pydict(), connect.answers("pipeline_streamed"))


def test_a_pipeline_that_does_not_state_the_columns(connect: Environment) -> None:
    assert connect.found["refused"].startswith("schema: in a function of pyspark.pipelines")


def test_jobs_of_windrow_are_tagged_where_they_have_no_description(connect: Environment) -> None:
    assert connect.found["tags"] == ["keys; counted"]
    assert connect.found["left"] == []
