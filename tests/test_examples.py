"""The programs and notebooks of examples/ run, and answer what they should."""

import importlib.util
import json
import signal
import subprocess
import sys
import time
from datetime import datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FOLDER = Path(__file__).parent.parent / "examples"


def loaded(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, interpreted: None) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_features_of_a_file(in_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loaded("table_features").main()
    assert "576 rows with 6 features" in capsys.readouterr().out
    assert (in_folder / "features.png").stat().st_size > 1000


def test_labels_know_nothing_later_than_themselves(in_folder: Path) -> None:
    found = loaded("training_data").training_data()
    assert found["payments_count_30d"].tolist() == [2, 1, 3]
    assert found["logins_last_country_30d"].tolist() == ["DE", "FR", "RO"]


def test_a_stream_goes_on_after_a_restart(in_folder: Path) -> None:
    example = loaded("stream_with_restart")
    at_once = example.process(str(in_folder / "at_once"))
    folder = str(in_folder / "restarted")
    assert example.process(folder, batches_of_answers=2) + example.process(folder) == at_once
    assert len(at_once) == 4


def test_scores_survive_kills(in_folder: Path) -> None:
    incoming, scores = in_folder / "payments", in_folder / "scores"
    incoming.mkdir()
    begin = datetime(2026, 5, 4)
    moments = [begin + timedelta(minutes=50 * number) for number in range(96)]
    cards, amounts = [f"card-{n % 7}" for n in range(96)], [float(n % 11) for n in range(96)]
    payments = pa.table({"card": cards, "ts": moments, "amount": amounts})
    for number in range(24):
        pq.write_table(payments.slice(4 * number, 4), incoming / f"{number:03}.parquet")
    call = [sys.executable, FOLDER / "score_payments.py", incoming, scores]
    for least in (2, 9):
        with subprocess.Popen(call) as process:  # it is killed behind so many files of answers
            while len(list(scores.glob("*.parquet"))) < least and process.poll() is None:
                time.sleep(0.005)
            process.send_signal(signal.SIGKILL)
        assert process.returncode == -signal.SIGKILL
    assert subprocess.run(call, check=True).returncode == 0
    found = pa.concat_tables(pq.read_table(path) for path in sorted(scores.glob("*.parquet")))
    expected = loaded("score_payments").features(payments)
    assert found.equals(expected)


@pytest.mark.spark
def test_a_job_answers_on_spark_as_without(spark: "SparkSession") -> None:
    example = loaded("spark_job")
    assert sorted(map(str, example.on_spark(spark))) == sorted(map(str, example.without_spark()))


@pytest.mark.parametrize("notebook", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_runs_from_top_to_bottom(notebook: Path, in_folder: Path) -> None:
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    namespace: dict[str, Any] = {}
    for number, cell in enumerate(cells):
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"{notebook.name}, {number}", "exec"), namespace)


def test_every_example_is_listed() -> None:
    listed = (FOLDER / "README.md").read_text("utf-8")
    names = [path.name for path in FOLDER.iterdir() if path.suffix in (".py", ".ipynb")]
    assert len(names) == 13
    assert all(f"`{name}`" in listed for name in names)
