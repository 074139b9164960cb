"""Which Python runs windrow's functions, and what is said where it has no windrow."""

import json
import os
import subprocess
import venv
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import windrow as wr
from tests.support.spark.questions import EVENTS, SIZE, STREAMED

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
