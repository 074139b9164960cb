"""Killed at any moment and started again, a query writes what it would have written undisturbed.

A Python worker, an executor and the driver are killed, each by SIGKILL some moments after a batch
has begun. Spark does the batch again after the first two; after the driver, the query is started
again from its checkpoint. Here each kind is killed once, because every start costs seconds; `make
kills` kills many, in any order, and a Kafka broker among them.
"""

import random
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from tests.support.stream.crashing import KINDS, run
from tests.support.stream.events import events
from tests.support.stream.files import write_batches
from tests.support.stream.kill_rounds import compare, killed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

BATCHES = 5


def test_killed_and_started_again(streaming: "SparkSession", tmp_path: Path) -> None:
    batches = [events(each, 100 + 30 * each, 130 + 30 * each, 150) for each in range(BATCHES)]
    write_batches(tmp_path / "events", [*batches, events(0, 1000, 1001, 1)])
    kinds = list(KINDS)
    assert killed(tmp_path, "final", kinds, random.Random(0)) == kinds
    run(streaming, tmp_path, "final")
    compare(tmp_path, "final", pa.concat_tables(batches))
