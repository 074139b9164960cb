"""A small ring of our own in C++ (`ring.cpp`), built with this machine's compiler if it has one.

It tells how far windrow's kernels are from a loop written by hand, on the same machine, in the same
run: constants of another day and machine would not.
"""

from __future__ import annotations

import ctypes
import functools
import subprocess
import tempfile
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from windrow.experiments.experiment import Contestant, Missing, Reading, Round
from windrow.experiments.machine import compiler

NAME = "C++ ring"
FUNCTIONS = ("sum", "max", "geometric mean")


@functools.cache
def library() -> ctypes.CDLL:
    """The ring, built once a process; `Missing` if there is no compiler or it fails."""
    command = compiler()
    if command is None:
        raise Missing("there is no C++ compiler")
    source = resources.files(__package__) / "ring.cpp"
    folder = tempfile.TemporaryDirectory(prefix="windrow-bench-")
    built = Path(folder.name) / "ring.so"
    with resources.as_file(source) as path:
        done = subprocess.run(
            [command, "-O3", "-march=native", "-std=c++17", "-shared", "-fPIC", "-o", built, path],
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise Missing(f"{command} does not build the ring: {done.stderr.strip()[:200]}")
    loaded = ctypes.CDLL(str(built))
    folder.cleanup()  # what is loaded stays loaded
    return loaded


def sliding(
    function: str, values: Any, extent: int, rounds: int, answers: Any = None
) -> Callable[[], float]:
    """What runs rounds of evict, insert and query and tells the seconds.

    Args:
        function: one of `FUNCTIONS`.
        values: floats, as many as a power of two; the window goes over them again and again.
        extent: events in the window.
        rounds: how many rounds are timed.
        answers: where the answer of a row goes, if you want to see it.
    """
    if function not in FUNCTIONS:
        raise Missing(f"the C++ ring has no {function}")
    run = getattr(library(), f"slide_{function.replace(' ', '_')}")
    doubles, size = ctypes.POINTER(ctypes.c_double), ctypes.c_size_t
    run.restype, run.argtypes = ctypes.c_double, [doubles, size, size, size, doubles]
    into = np.empty(len(values)) if answers is None else answers

    def measure() -> float:
        read, written = values.ctypes.data_as(doubles), into.ctypes.data_as(doubles)
        seconds: float = run(read, len(values) - 1, extent, rounds, written)
        return seconds

    return measure


def rate(function: str, values: Any, extent: int, rounds: int) -> Contestant:
    """Million rounds per second."""

    def prepare() -> Round:
        run = sliding(function, values, extent, rounds)

        def measure() -> Reading:
            return rounds / run() / 1e6

        return measure

    return prepare


def rolling(function: str, values: Any, extent: int) -> Callable[[], Any]:
    """One pass over the values, as other peers make it."""
    return sliding(function, values, extent, len(values))
