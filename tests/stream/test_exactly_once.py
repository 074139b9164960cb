"""Killed at any moment and started again, a query writes what it would have written undisturbed.

The process is killed with all that it started, by SIGKILL, some moments after it has begun to work
on a random batch. Two seeds run here, with one kill each, because every start costs seconds;
WINDROW_CRASHES=200 runs as many seeds, with up to three kills.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import unquote, urlparse

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import windrow as wr
from tests.slide import oracle
from tests.stream.crashing import ASKED
from tests.stream.events import events
from tests.stream.files import write_batches

pytestmark = [pytest.mark.spark, pytest.mark.compiled]

SEEDS = int(os.environ.get("WINDROW_CRASHES", "2"))
BATCHES = 4
MOST_KILLS = 3 if "WINDROW_CRASHES" in os.environ else 1
#: seconds; a batch takes less once the first is done
LONGEST_PAUSE = 1.5
PATIENCE = 400


def killed(folder: Path, chance: random.Random) -> bool:
    """Run the query, and kill it unless it ends by itself; whether it was killed."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.stream.crashing", str(folder)],
        start_new_session=True,  # with a group of its own, to be killed with all that it started
        cwd=Path(__file__).parents[2],
    )
    begun = folder / "answers-checkpoint" / "offsets" / str(chance.randrange(BATCHES))
    pause = chance.uniform(0, LONGEST_PAUSE)
    deadline = time.monotonic() + PATIENCE
    already = begun.exists()
    while process.poll() is None and (already or not begun.exists()):
        assert time.monotonic() < deadline, "the query neither ends nor goes on"
        time.sleep(0.05)
    if process.poll() is None:
        time.sleep(pause)
    if process.poll() is not None:
        assert process.returncode == 0
        return False
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return True


def written(folder: Path) -> pa.Table:
    """What the log of the file sink says was written: files of batches that were not completed are
    not in it.
    """
    lines = [
        line
        for log in (folder / "_spark_metadata").iterdir()
        if not log.name.startswith(".")
        for line in log.read_text().splitlines()[1:]
    ]
    paths = {unquote(urlparse(json.loads(line)["path"]).path) for line in lines}
    return pa.concat_tables([pq.read_table(path) for path in sorted(paths)])


@pytest.mark.parametrize("seed", range(SEEDS))
def test_killed_and_started_again(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    batches = [events(seed * BATCHES + each, 100 + 30 * each, 130 + 30 * each, 150)
               for each in range(BATCHES)]  # fmt: skip
    write_batches(tmp_path / "events", [*batches, events(0, 1000, 1001, 1)])
    kills = 0
    while kills < MOST_KILLS and killed(tmp_path, chance):
        kills += 1
    subprocess.run(
        [sys.executable, "-m", "tests.stream.crashing", str(tmp_path)],
        check=True,
        cwd=Path(__file__).parents[2],
    )
    expected = wr.slide(pa.concat_tables(batches), **ASKED)
    found = written(tmp_path / "answers").sort_by([("window_start", "ascending")])
    oracle.assert_agrees(
        oracle.rows_of(expected), found.select(expected.column_names), ASKED["key"]
    )
