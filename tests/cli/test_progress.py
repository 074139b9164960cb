"""A terminal shows how far a run is, and headings in bold; elsewhere there are plain lines."""

import io
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pytest

from windrow.cli import progress, run
from windrow.cli.main import main


class Terminal(io.StringIO):
    """What is written to a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, interpreted: None) -> list[str]:
    path = tmp_path / "rows.csv"
    times = pa.array(range(500), pa.timestamp("s"))
    pa.csv.write_csv(pa.table({"t": times, "x": [0.5] * 500}), path)
    monkeypatch.setattr(run, "WHOLE", 0)
    monkeypatch.setattr(progress, "_PAUSE", -1.0)
    return ["run", "-e", "SELECT SUM(x) AS s FROM t [ROWS 2 ON t]", "-i", str(path)]


def test_a_terminal_shows_rows_and_their_rate(
    call: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert main([*call, "-o", str(tmp_path / "s.csv")]) == 0
    shown = terminal.getvalue().split("\r\033[K")
    assert any("] 500 rows, " in line and " a second" in line for line in shown)
    assert shown[-1] == ""  # the line is taken away at the end


def test_time_left_follows_from_what_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, now = Terminal(), [0.0]
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    batch = pa.record_batch({"x": pa.array(range(100), pa.int64())})
    counted = progress.Progress(size=8 * batch.nbytes).counted(iter([batch] * 4))
    for _ in counted:
        now[0] += 5.0
    assert "400 rows, 27 a second, 15 s left" in terminal.getvalue()


@pytest.mark.parametrize("quiet", [[], ["--quiet"]], ids=["no terminal", "quiet"])
def test_nothing_is_shown_elsewhere_or_if_quiet(
    call: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quiet: list[str]
) -> None:
    shown = Terminal() if quiet else io.StringIO()
    monkeypatch.setattr(sys, "stderr", shown)
    assert main([*call, *quiet, "-o", str(tmp_path / "s.csv")]) == 0
    assert shown.getvalue() == ""


def test_headings_are_bold_on_a_terminal_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["catalogue"]) == 0
    assert "\033" not in capsys.readouterr().out
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    assert main(["catalogue"]) == 0
    assert terminal.getvalue().startswith("\033[1mAggregations\033[0m")
