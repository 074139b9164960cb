"""Where answers go: files, links, pipes and devices; nothing that was there is lost."""

import json
import os
import threading
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from windrow.cli import inputs
from windrow.cli.main import CallError, main
from windrow.cli.outputs import Output
from windrow.cli.spark_output import output_folder, require_new_folder

pytestmark = pytest.mark.usefixtures("interpreted")

TEXT = "SELECT SUM(x) AS s FROM t [ROWS 2]"


@pytest.fixture
def call(tmp_path: Path) -> list[str]:
    pq.write_table(pa.table({"x": [1.5, 2.0, 4.0]}), tmp_path / "rows.parquet")
    return ["run", "-e", TEXT, "-i", str(tmp_path / "rows.parquet")]


def test_a_link_stays_a_link(call: list[str], tmp_path: Path) -> None:
    kept, link = tmp_path / "kept.csv", tmp_path / "link.csv"
    kept.write_text("old")
    link.symlink_to(kept)
    assert main([*call, "-o", str(link), "--overwrite"]) == 0
    assert link.is_symlink()
    assert kept.read_text().splitlines()[1:] == ["1.5", "3.5", "6"]


def test_a_pipe_is_written_to_and_stays(call: list[str], tmp_path: Path) -> None:
    # Found: --output /dev/null --overwrite put a file in the place of the device.
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    assert main([*call, "-o", str(pipe)]) == 0
    reader.join(60)
    assert read[0].splitlines()[1:] == ["1.5", "3.5", "6"]
    assert pipe.is_fifo()
    assert main([*call, "-o", os.devnull, "--output-format", "csv", "--overwrite"]) == 0
    assert Path(os.devnull).is_char_device()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is Linux's")
def test_a_full_disk_is_one_line(call: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    for kind in ("csv", "jsonl", "parquet", "arrow"):
        assert main([*call, "-o", "/dev/full", "--output-format", kind]) == 1
        assert capsys.readouterr().err == "windrow run: /dev/full: No space left on device\n"


def test_json_has_no_nan(tmp_path: Path) -> None:
    table = pa.table({"x": [1.0, float("nan")], "l": [[float("inf"), 2.0], []]})
    with (tmp_path / "rows.jsonl").open("wb") as opened:
        Output("rows.jsonl", opened, "jsonl").write(table)
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert rows == [{"x": 1.0, "l": [None, 2.0]}, {"x": None, "l": []}]
    found = pa.json.read_json(tmp_path / "rows.jsonl")
    assert found["x"].to_pylist() == [1.0, None]


def test_a_stream_does_not_read_its_own_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pq.write_table(pa.table({"x": [1.0]}), tmp_path / "a.parquet")
    call = [
        "run",
        "-e",
        TEXT,
        "--stream",
        "-i",
        str(tmp_path),
        "-o",
        str(tmp_path / "."),
        "--idle",
        "0",
    ]
    assert main(call) == 2
    assert "--output: it is the folder of the input" in capsys.readouterr().err
    assert [each.name for each in tmp_path.iterdir()] == ["a.parquet"]


def test_what_nobody_may_look_at_is_one_line(
    call: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Found: a file in a folder of somebody else ended in a traceback.
    def refused(_self: Path) -> bool:
        raise PermissionError(13, "Permission denied", "theirs/secret.csv")

    monkeypatch.setattr(inputs.Path, "is_dir", refused)
    assert main(call) == 1
    assert capsys.readouterr().err == "windrow run: theirs/secret.csv: Permission denied\n"


def test_a_query_without_e_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", TEXT, "-i", str(tmp_path / "rows.parquet")]) == 2
    assert "give the text of a query as -e TEXT" in capsys.readouterr().err


# Folders of Spark --------------------------------------------------------------------------------


def test_a_folder_is_replaced_when_the_new_one_is_complete(tmp_path: Path) -> None:
    target = tmp_path / "answers"
    target.mkdir()
    (target / "part-0.csv").write_text("old")
    with pytest.raises(CallError, match="give --overwrite"):
        require_new_folder(str(target), overwrite=False)
    require_new_folder(str(target), overwrite=True)

    def written(fails: bool) -> None:
        with output_folder(str(target)) as folder:
            Path(folder).mkdir()
            Path(folder, "part-1.csv").write_text("new")
            if fails:
                raise RuntimeError

    with pytest.raises(RuntimeError):
        written(fails=True)
    assert [each.name for each in target.iterdir()] == ["part-0.csv"]
    written(fails=False)
    assert [each.name for each in target.iterdir()] == ["part-1.csv"]
    assert [each.name for each in tmp_path.iterdir()] == ["answers"]


def test_a_folder_with_other_files_is_not_replaced(tmp_path: Path) -> None:
    # Found: --engine spark --overwrite removed whatever the folder held.
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(CallError, match=r"holds thesis\.tex"):
        require_new_folder(str(tmp_path), overwrite=True)
    with pytest.raises(inputs.DataError, match="it is a file"):
        require_new_folder(str(tmp_path / "thesis.tex"), overwrite=True)
