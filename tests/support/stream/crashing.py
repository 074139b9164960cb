"""A streaming query to be killed: `python -m tests.support.stream.crashing FOLDER QUERY`.

It reads FOLDER/events, or the topic that FOLDER/kafka.json names, writes FOLDER/answers, and ends
when there are no more events. Its executor is a process of its own, and so are its Python workers.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import windrow as wr
from tests.support.spark.state_store import PROVIDER, ROCKSDB
from tests.support.stream.files import read_stream, run_to_end
from tests.support.stream.kafka_events import KafkaEvents

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

#: what is asked, also of the table that the answers are compared with
ASKED: dict[str, Any] = {
    "key": ["user", "zone"],
    "order": ["ts", "place"],
    "windows": {
        "fast": wr.time("10 seconds", every="2 seconds"),
        "slow": wr.time("1 minute", every="15 seconds"),
        # These are answered from the rows of keys.
        "rows": wr.rows(7, every=3),
        "visits": wr.session("10 seconds"),
    },
    "aggs": [wr.max("x"), wr.sum("n"), wr.count("x"), wr.arg_max("x", "place")],
}
#: the same with answers at once, of the windows that can be revised
UPDATED: dict[str, Any] = {
    **ASKED,
    "order": "ts",
    "windows": {name: ASKED["windows"][name] for name in ("fast", "slow")},
}
#: the same of every event
OF_EVENTS: dict[str, Any] = {
    **ASKED,
    "order": ["ts", "place", "n", "x"],
    "windows": {"time": wr.time("20 seconds"), "rows": wr.rows(100)},
}


class Query(NamedTuple):
    """What is asked of a stream: a call, its arguments, and those that only streams have."""

    call: Any
    asked: dict[str, Any]
    streamed: dict[str, Any]

    def table(self, events: pa.Table) -> pa.Table:
        """What it says of a table."""
        return self.call(events, **self.asked)

    def stream(self, events: DataFrame) -> DataFrame:
        """The same of a stream on Spark."""
        answers: DataFrame = self.call(events, lateness="10 seconds", **self.asked, **self.streamed)
        return answers


REVISED = {"emit": "updates", "allowed_lateness": "30 seconds"}
#: by name
QUERIES = {
    "final": Query(wr.slide, ASKED, {}),
    "updates": Query(wr.slide, UPDATED, REVISED),
    "over": Query(wr.over, OF_EVENTS, {}),
    "medians": Query(wr.slide, {**UPDATED, "aggs": [wr.median("x"), wr.count("x")]}, REVISED),
}
#: by the kind of process, what its command line holds
KINDS = {"worker": "pyspark.daemon", "executor": "CoarseGrainedExecutorBackend", "driver": ""}
ROOT = Path(__file__).parents[3]
#: seconds until something has to happen
PATIENCE = 400


def main(folder: Path, query: str) -> None:
    from windrow.spark.session import local_session

    kafka = KafkaEvents.of(folder)
    jars = {"spark.jars": kafka.jars} if kafka else {}
    session = local_session(
        "windrow crashes",
        log_file=folder / "spark.log",
        **{
            PROVIDER: ROCKSDB, "spark.sql.shuffle.partitions": "2",
            "spark.master": "local-cluster[1,2,512]", "spark.executor.memory": "512m",
            "spark.driver.memory": "1g", **jars,
        },
    )  # fmt: skip
    run(session, folder, query)


def run(session: SparkSession, folder: Path, query: str) -> None:
    """Run the query to its end."""
    kafka = KafkaEvents.of(folder)
    stream = kafka.stream(session) if kafka else read_stream(session, folder / "events")
    run_to_end(QUERIES[query].stream(stream), folder / "answers")


class Crashing:
    """The query in a process of its own."""

    def __init__(self, folder: Path, query: str) -> None:
        self._folder = folder
        paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])  # executors start elsewhere
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.stream.crashing", str(folder), query],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": paths, "PYSPARK_PYTHON": sys.executable},
            stderr=(folder / "errors.log").open("a"),
        )

    def is_over(self) -> bool:
        """Whether the query has come to its end, and not to another one."""
        assert self._process.poll() in (None, 0), (self._folder / "errors.log").read_text()
        return self._process.poll() == 0

    def kill(self, kind: str, chance: random.Random) -> bool:
        """Kill a process of a kind by SIGKILL; with the driver all others go.

        Waits until there is one; whether one came before the query was over.
        """
        if kind == "driver":
            self.kill_all()
            return True
        deadline = time.monotonic() + PATIENCE
        while not self.is_over():
            assert time.monotonic() < deadline, f"no {kind} starts"
            victims = self._of_kind(kind)
            with suppress(ProcessLookupError):  # it has just ended by itself
                if victims:
                    os.kill(chance.choice(victims), signal.SIGKILL)
                    return True
            time.sleep(0.05)
        return False

    def kill_all(self) -> None:
        """Kill the driver and all that it started, at once."""
        for process in _started_by(self._process.pid):
            with suppress(ProcessLookupError):
                os.kill(process.number, signal.SIGKILL)
        self._process.kill()
        self._process.wait()

    def _of_kind(self, kind: str) -> list[int]:
        found = [each for each in _started_by(self._process.pid) if KINDS[kind] in each.command]
        alike = {each.number for each in found}
        # A daemon of the same command makes Python's workers; what an executor starts looks like
        # it for a moment.
        forked = kind == "worker"
        return [each.number for each in found if (each.parent in alike) == forked]


class Process(NamedTuple):
    """A process of this machine."""

    number: int
    parent: int
    command: str


def _started_by(process: int) -> list[Process]:
    """The processes that one has started, and those that they have."""
    listed = subprocess.run(
        ["ps", "-A", "-ww", "-o", "pid=,ppid=,args="], capture_output=True, text=True, check=True
    )
    rows = (line.split(None, 2) for line in listed.stdout.splitlines())
    everything = [Process(int(row[0]), int(row[1]), row[2]) for row in rows if len(row) == 3]
    found, parents = list[Process](), [process]
    while parents:
        parent = parents.pop()
        children = [each for each in everything if each.parent == parent]
        found += children
        parents += [each.number for each in children]
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
