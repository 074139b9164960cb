"""Peers whose packages do not go with windrow's: they run in an interpreter of their own."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable

from windrow.experiments.experiment import Missing


def elsewhere(
    peer: str, program: str, *words: object, module: str | None = None
) -> Callable[[], float]:
    """What runs a program of Python and returns the seconds that it prints.

    Args:
        peer: the package; `WINDROW_{PEER}_PYTHON` names an interpreter that has it.
        program: its last line of output is a number.
        words: the program's arguments.
        module: what to import, if it is not called like the package.
    """
    variable = f"WINDROW_{peer.upper()}_PYTHON"
    interpreter = os.environ.get(variable)
    if interpreter is None:
        if importlib.util.find_spec(module or peer) is None:
            raise Missing(f"{peer} is not installed, and {variable} names no interpreter")
        interpreter = sys.executable

    def run() -> float:
        command = [interpreter, "-c", program, *map(str, words)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            raise Missing(f"{variable}: {error}") from error
        if done.returncode:
            raise Missing(f"{peer} failed: {done.stderr.strip().splitlines()[-1][:200]}")
        return float(json.loads(done.stdout.strip().splitlines()[-1]))

    return run
