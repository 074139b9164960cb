"""`mypy --strict` on a user's script: right calls pass, a misspelt name is an error."""

import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from windrow.algorithms import ALGORITHMS, FORMS, AlgorithmName

ROOT = Path(__file__).parents[2]


def test_mypy_knows_every_parameter_and_literal(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MYPYPATH", str(ROOT / "src"))
    # Without a configuration, so that it is strict; with a cache of its own, since that is too.
    asked = ["--strict", "--config-file=", f"--cache-dir={pytestconfig.cache.mkdir('mypy')}"]
    script = Path(__file__).with_name("user_script.py")
    ignored = ["--disable-error-code=import-untyped", "--follow-imports=silent"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *asked, *ignored, str(script)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_type_checkers_know_every_algorithm() -> None:
    assert set(get_args(AlgorithmName)) == {*ALGORITHMS, *FORMS, "value_counts"}
