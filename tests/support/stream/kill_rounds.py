"""A round of kills: a stream runs, its processes are killed, and its answers are compared."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pyarrow as pa

import windrow as wr
from tests.support.slide import oracle
from tests.support.stream.crashing import ASKED, PATIENCE, QUERIES, Crashing
from tests.support.stream.revisions import Revisions
from windrow.cli.kafka_broker import KafkaBroker
from windrow.cli.sink import CommittedFiles

#: seconds; a batch takes less once the first is done
LONGEST_PAUSE = 1.0


class Stuck(AssertionError):
    """A query neither ends nor goes on: it hangs, or the machine is too busy."""


def killed(
    folder: Path,
    name: str,
    kinds: Iterable[str],
    chance: random.Random,
    broker: KafkaBroker | None = None,
    on_kill: Callable[[str], None] = lambda kind: None,
) -> list[str]:
    """Run the query, killing processes of these kinds one by one; those that were killed."""
    query, done = None, list[str]()
    try:
        for kind in kinds:
            query = query or Crashing(folder, name)
            wait_for_batch(folder, query)
            time.sleep(chance.uniform(0, LONGEST_PAUSE))
            if query.is_over():
                break
            if kind == "broker":
                assert broker is not None
                broker.kill()
                broker.start()
            elif not query.kill(kind, chance):
                break
            done.append(kind)
            on_kill(kind)
            if kind == "driver":
                query = None
    finally:
        if query is not None:
            query.kill_all()
    return done


def finish(folder: Path, name: str) -> None:
    """Run the query to its end, undisturbed."""
    query = Crashing(folder, name)
    try:
        while not query.is_over():
            wait_for_batch(folder, query)
    finally:
        query.kill_all()


def wait_for_batch(folder: Path, query: Crashing) -> None:
    """Wait until another batch has begun, or the query is over."""
    before, deadline = begun(folder), time.monotonic() + PATIENCE
    while begun(folder) == before and not query.is_over():
        if time.monotonic() > deadline:
            raise Stuck(f"no batch in {PATIENCE} s; see {folder / 'spark.log'}")
        time.sleep(0.05)


def begun(folder: Path) -> int:
    """How many batches have begun."""
    return len(list((folder / "answers-checkpoint" / "offsets").glob("[0-9]*")))


def compare(folder: Path, name: str, events: pa.Table) -> int:
    """Compare what the query has written with the answers of a table; how many there are."""
    found = CommittedFiles(folder / "answers").take()
    assert found is not None
    count = found.num_rows
    query = QUERIES[name]
    if query.streamed:
        # Each revision once, and the last of them final but for the windows of the last event.
        sink = Revisions(ASKED["key"])
        for row in oracle.rows_of(found.sort_by([("revision", "ascending")])):
            sink.take([row])
        found = found.filter(found["final"]).drop_columns(["revision", "final"])
        assert found.num_rows == sum(row["final"] for row in sink.rows.values())
    expected = query.table(events)
    if query.call is wr.over:
        # Spark writes times in a type of its own.
        ours = found.select(expected.column_names).cast(expected.schema)
        assert sorted(map(repr, ours.to_pylist())) == sorted(map(repr, expected.to_pylist()))
        return count
    by = [("window_end", "ascending"), ("window_start", "ascending")]
    ordered = found.select(expected.column_names).sort_by(by)
    oracle.assert_agrees(oracle.rows_of(expected), ordered, ASKED["key"])
    return count
