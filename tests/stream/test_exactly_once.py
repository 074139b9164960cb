"""Killed at any moment and started again, a query writes what it would have written undisturbed.

A Python worker, an executor and the driver are killed, each by SIGKILL some moments after a batch
has begun. Spark does the batch again after the first two; after the driver, the query is started
again from its checkpoint. Here each kind is killed once, because every start costs seconds; `make
kills` runs many seeds, with up to six kills in any order.
"""

import os
import random
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import windrow as wr
from tests.support.slide import oracle
from tests.support.stream.crashing import ASKED, KINDS, PATIENCE, UPDATED, Crashing, run
from tests.support.stream.events import events
from tests.support.stream.files import write_batches
from tests.support.stream.revisions import Revisions
from windrow.cli.sink import CommittedFiles

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SEEDS = int(os.environ.get("WINDROW_CRASHES", "1"))
BATCHES = 5
#: seconds; a batch takes less once the first is done
LONGEST_PAUSE = 1.0


def begun(folder: Path) -> int:
    """How many batches have begun."""
    return len(list((folder / "answers-checkpoint" / "offsets").glob("[0-9]*")))


def killed(folder: Path, name: str, kinds: list[str], chance: random.Random) -> list[str]:
    """Run the query, killing processes of these kinds one by one; those that were killed."""
    query, done = None, list[str]()
    try:
        for kind in kinds:
            query = query or Crashing(folder, name)
            before, deadline = begun(folder), time.monotonic() + PATIENCE
            while begun(folder) == before and not query.is_over():
                assert time.monotonic() < deadline, "the query neither ends nor goes on"
                time.sleep(0.05)
            time.sleep(chance.uniform(0, LONGEST_PAUSE))
            if query.is_over() or not query.kill(kind, chance):
                break
            done.append(kind)
            if kind == "driver":
                query = None
    finally:
        if query is not None:
            query.kill_all()
    return done


@pytest.mark.parametrize("seed", range(SEEDS))
def test_killed_and_started_again(seed: int, streaming: "SparkSession", tmp_path: Path) -> None:
    chance = random.Random(seed)
    batches = [events(seed * BATCHES + each, 100 + 30 * each, 130 + 30 * each, 150)
               for each in range(BATCHES)]  # fmt: skip
    write_batches(tmp_path / "events", [*batches, events(0, 1000, 1001, 1)])
    kinds = list(KINDS)
    if SEEDS > 1:
        kinds = chance.choices(kinds, k=chance.randint(1, 6))
    query = "updates" if seed % 2 else "final"
    done = killed(tmp_path, query, kinds, chance)
    assert SEEDS > 1 or done == kinds
    run(streaming, tmp_path, query)
    found = CommittedFiles(tmp_path / "answers").take()
    assert found is not None
    if query == "updates":
        # Each revision once, and the last of them final but for the windows of the last event.
        sink = Revisions(ASKED["key"])
        for row in oracle.rows_of(found.sort_by([("revision", "ascending")])):
            sink.take([row])
        found = found.filter(found["final"]).drop_columns(["revision", "final"])
        assert found.num_rows == sum(row["final"] for row in sink.rows.values())
    expected = wr.slide(pa.concat_tables(batches), **UPDATED if query == "updates" else ASKED)
    by = [("window_end", "ascending"), ("window_start", "ascending")]
    ordered = found.select(expected.column_names).sort_by(by)
    oracle.assert_agrees(oracle.rows_of(expected), ordered, ASKED["key"])
