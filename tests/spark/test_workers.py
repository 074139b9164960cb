"""Which Python runs windrow's functions, and what is said where it has no windrow."""

import json
import os
import pickle
import socket
import struct
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import windrow as wr
from tests.support.spark.questions import EVENTS, SIZE, STREAMED
from windrow.spark.bridge.workers import require_windrow, unpickled

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[2]
#: where all is installed that windrow needs
INSTALLED = Path(pa.__file__).parents[1]


def interpreter(folder: Path, *paths: Path) -> Path:
    """A Python with what lies in some folders, and not in further ones that files there name."""
    venv.create(folder, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "paths.pth").write_text("\n".join(map(str, paths)))
    return folder / "bin" / "python"


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python that has nothing installed."""
    return interpreter(tmp_path_factory.mktemp("without"))


def asked(without: Path, master: str, folder: Path, *questions: str) -> dict[str, Any]:
    """What a process finds whose own Python has windrow, and the PATH's has not."""
    python = interpreter(folder / "with", INSTALLED, ROOT / "src", ROOT)
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "PYSPARK", "VIRTUAL_ENV"))
    }
    path = os.pathsep.join([str(without.parent), kept.pop("PATH")])
    done = subprocess.run(
        [python, "-m", "tests.support.spark.workers", master, str(folder), *questions],
        cwd=folder,
        env={**kept, "NUMBA_DISABLE_JIT": "1", "PATH": path},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-5_000:]
    found: dict[str, Any] = json.loads((folder / "found.json").read_text())
    return found


def test_on_one_machine_workers_run_under_the_python_of_the_driver(
    without: Path, tmp_path: Path
) -> None:
    found = asked(without, "local[2]", tmp_path, "over", "slide", "stream")
    slid = wr.slide(
        EVENTS, order="ts", windows=STREAMED.keywords["windows"], aggs=wr.max("x")
    ).num_rows
    assert isinstance(found["stream"], int), found["stream"]
    assert found["stream"] > 0
    assert (found["over"], found["slide"]) == (SIZE, slid), found
    # Functions of the user's own are left as they are.
    assert found["python"] == "python3"


def test_an_executor_without_windrow_says_so_in_one_line(without: Path, tmp_path: Path) -> None:
    found = asked(without, "local-cluster[1,1,1024]", tmp_path, "over", "stream")
    for question in ("over", "stream"):
        (line,) = [each for each in found[question].splitlines() if "windrow cannot be" in each]
        assert f"windrow cannot be imported by {without}3 (Python 3." in line
        assert os.uname().nodename in line
        assert "No module named 'windrow'. Install windrow there" in line
        for remedy in ("PYSPARK_PYTHON", "spark.pyspark.python", "spark.archives"):
            assert remedy in line


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux is asked to acknowledge")
@pytest.mark.parametrize(
    "opened", [require_windrow, lambda: unpickled(pickle.dumps(1))], ids=["processor", "function"]
)
def test_a_worker_acknowledges_what_has_come(opened: Callable[[], object]) -> None:
    """Spark's next small write waits for that: 40 ms of each task, if Linux delays it."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        spark = socket.create_connection(server.getsockname())
        worker, _address = server.accept()
    with spark, worker:
        for _attempt in range(100):
            # Linux delays once a socket has answered at once, as a worker does.
            for _turn in range(5):
                exchange(spark, worker)
                exchange(worker, spark)
            exchange(spark, worker)
            if unacknowledged(spark):
                break
        else:
            pytest.skip("this Linux does not delay")
        opened()
        assert unacknowledged(spark) == 0
        exchange(worker, spark)  # It stays open.


def exchange(sender: socket.socket, receiver: socket.socket) -> None:
    """One small write, read at once."""
    sender.sendall(b"small")
    assert receiver.recv(100) == b"small"


def unacknowledged(sender: socket.socket) -> int:
    """How many packets the other side has not acknowledged: `tcpi_unacked` of Linux."""
    info = sender.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    (found,) = struct.unpack_from("I", info, 24)
    assert isinstance(found, int)
    return found
