"""What the command says of itself: help, catalogue, plans, completion."""

import io
import shlex
import subprocess
import sys
from datetime import datetime
from importlib import import_module
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import windrow_command
from windrow.cli.main import SUBCOMMANDS, main, parser


def test_help_is_what_the_subcommands_say(capsys):
    assert windrow_command.main(["--help"]) == 0
    shown = capsys.readouterr().out
    for name, summary in windrow_command.SUMMARIES.items():
        assert (import_module(f"windrow.cli.{name}").__doc__ or "").startswith(summary)
        assert summary in shown


def test_help_loads_nothing_of_windrow():
    script = (
        "import sys, windrow_command\n"
        "windrow_command.main(['--help'])\n"
        "loaded = {'windrow', 'pyarrow', 'numpy', 'argparse', 'rich'} & sys.modules.keys()\n"
        "assert not loaded, loaded\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)


def examples() -> list[tuple[str, list[str]]]:
    """The calls that `--help` shows, as a shell would make them."""
    found = []
    for name in SUBCOMMANDS:
        for line in getattr(import_module(f"windrow.cli.{name}"), "EXAMPLES", "").splitlines()[1:]:
            words = shlex.split(line.rpartition(" | ")[2])
            end = next((place for place, each in enumerate(words) if each[0] == ">"), None)
            found.append((name, words[1:end]))
    return found


#: others need a checkpoint, or minutes: their examples are parsed alone
RUN = ("catalogue", "completion", "explain", "run")


@pytest.mark.usefixtures("interpreted")
def test_examples_of_help_run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    calls = pa.table(
        {"ts": [datetime(2026, 5, 4, 9, each) for each in (0, 20, 40)], "x": [1, 2, 3]}
    )
    Path("calls").mkdir()
    for path in ("calls/a.parquet", "calls.parquet"):
        pq.write_table(calls, path)
    pa.csv.write_csv(calls, "calls.csv")
    Path("trades.csv").write_text("stock,price\nwr,3.5\nwr,4.5\n")
    Path("hourly.cql").write_text("SELECT COUNT(*) FROM calls [RANGE 1 HOUR SLIDE 1 HOUR]")
    for name, words in examples():
        assert parser().parse_args(words).subcommand == name
        if name in RUN:
            piped = io.TextIOWrapper(io.BytesIO(Path("calls.csv").read_bytes()))
            monkeypatch.setattr(sys, "stdin", piped)
            assert main(words) == 0, words
    assert {name for name, _ in examples()} == set(SUBCOMMANDS)
    assert pq.read_table("hourly.parquet")["count"].to_pylist() == [3]
    assert "wr,4" in capsys.readouterr().out.replace('"', "")


def test_the_catalogue_tells_of_aggregations_and_algorithms(capsys):
    assert main(["catalogue"]) == 0
    shown = capsys.readouterr().out
    assert "quantile" in shown
    assert "daba_lite" in shown
    assert main(["catalogue", "ArgMax"]) == 0
    shown = capsys.readouterr().out
    assert "arg_max(" in shown
    assert "windrow run -e" in shown
    assert main(["catalogue", "daba_lite"]) == 0
    assert "DABA Lite" in capsys.readouterr().out
    assert main(["catalogue", "quantil"]) == 2
    assert "did you mean 'quantile'?" in capsys.readouterr().err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_every_option(capsys, shell):
    assert main(["completion", shell]) == 0
    shown = capsys.readouterr().out
    assert "overwrite" in shown
    assert all(name in shown for name in SUBCOMMANDS)
