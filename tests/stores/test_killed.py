"""A few kills of a process that writes to a window; for more, see `killed`."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.stores.server import Server

KILLS = 24


@pytest.mark.compiled
@pytest.mark.parametrize("kind", ["rocksdb", "redis"])
def test_a_killed_process_loses_nothing_that_was_flushed(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    address = str(tmp_path / "store")
    if kind == "redis":
        server: Server = request.getfixturevalue("redis_server")
        address = server.address
    run = subprocess.run(
        [sys.executable, "-m", "tests.support.stores.killed", "--kills", str(KILLS)],
        env={**os.environ, "KILLED_STORE": address},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    counted = re.match(r"(\d+) kills; (\d+) children", run.stdout)
    assert counted is not None
    assert int(counted[1]) >= KILLS // 2
    assert int(counted[2]) >= 2
