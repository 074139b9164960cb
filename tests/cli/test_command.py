"""What the command says of itself: help, catalogue, plans, completion."""

import re
import subprocess
import sys
from importlib import import_module

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


def test_examples_of_help_are_calls(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    checked = 0
    for name in SUBCOMMANDS:
        examples = getattr(import_module(f"windrow.cli.{name}"), "EXAMPLES", "")
        for line in re.findall(r"windrow (.*)", examples):
            words = [each.strip('"') for each in re.findall(r'"[^"]*"|[^\s|>]+', line)]
            if ">" in line:
                words = words[: line.split(">")[0].count(" ")]
            parser().parse_args(words)
            checked += 1
            if name in ("catalogue", "completion") or (name == "explain" and "-e" in words):
                assert main(words) == 0
    assert checked >= 8
    capsys.readouterr()


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
