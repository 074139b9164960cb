"""What is wrong with a file or a call is told in words that help, and in no codes."""

import os
from pathlib import Path

import pytest

from windrow.cli import run
from windrow.cli.main import main

pytestmark = pytest.mark.usefixtures("interpreted")

TEXT = "SELECT SUM(x) AS s FROM t [ROWS 2]"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *call: str) -> tuple[int, str]:
    return main(list(call)), capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("x\n", "null; it takes boolean, decimal, duration, float, integer; or state the type"),
        ("x\nmany\n", "string; it takes"),
        ("", "t.csv: it is empty; the first line of a CSV names its columns"),
    ],
    ids=["no rows", "text", "empty"],
)
def test_a_column_that_is_no_number_says_how_to_state_its_type(
    here: Path, capsys: pytest.CaptureFixture[str], content: str, problem: str
) -> None:
    Path("t.csv").write_text(content)
    code, text = said(capsys, "run", "-e", TEXT, "-i", "t.csv")
    assert code > 0
    assert problem in text
    assert not content or "--types x=float" in text
    if content:
        assert "--types x=float" in said(capsys, "explain", "-e", TEXT, "-i", "t.csv")[1]
    if content == "x\n":
        assert said(capsys, "run", "-e", TEXT, "-i", "t.csv", "--types", "x=float") == (0, "")


def test_codes_in_a_file_do_not_reach_the_terminal(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("t.csv").write_text("x\n1,\033[2J\033]0;title\007\n")
    code, text = said(capsys, "run", "-e", TEXT, "-i", "t.csv")
    assert code == 1
    assert "same number of fields" in text
    assert text.rstrip("\n").isprintable()


def test_a_pipe_is_given_as_the_standard_input(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo("t.csv")
    code, text = said(capsys, "run", "-e", TEXT, "-i", "t.csv")
    assert (code, text) == (1, "windrow run: t.csv: it is a pipe; pipe it in, and give - for it\n")


def test_a_query_is_in_utf_8(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("t.csv").write_text("x\n1\n")
    Path("q.cql").write_bytes(f"{TEXT} -- größe".encode("latin1"))
    code, text = said(capsys, "run", "q.cql", "-i", "t.csv")
    assert code == 1
    assert "q.cql: a query is in UTF-8, and this is not" in text
    Path("q.cql").write_text(TEXT, encoding="utf-8-sig")  # as some editors write it
    assert main(["run", "q.cql", "-i", "t.csv"]) == 0


def test_large_files_without_times_are_read_whole(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Found: "events of a stream have no order of their own", of a file that was too large.
    monkeypatch.setattr(run, "WHOLE", 0)
    Path("t.csv").write_text("n,x\n1,1.5\n2,2.5\n")
    for window in ("ROWS 2", "ROWS 2 ON n"):
        call = [
            "run",
            "-e",
            TEXT.replace("ROWS 2", window),
            "-i",
            "t.csv",
            "-o",
            "s.csv",
            "--overwrite",
        ]
        code, text = said(capsys, *call)
        assert code == 0
        assert "no such column orders its rows; it is read whole\n" in text
        assert Path("s.csv").read_text().splitlines()[-1].endswith("4")
    code, text = said(capsys, *call, "--lateness", "1 hour")
    assert code == 2
    assert "t.csv: it is answered in batches, by a column of times" in text


def test_a_port_is_a_number(capsys: pytest.CaptureFixture[str]) -> None:
    for port in ("0x", "70000", "-1"):
        with pytest.raises(SystemExit) as ended:
            main(["watch", ".", f"--port={port}"])
        assert ended.value.code == 2
        assert f"'{port}' is no port; give a number below 65536" in capsys.readouterr().err
