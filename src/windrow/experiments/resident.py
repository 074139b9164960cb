"""Resident memory, measured in a process of its own: `python -m windrow.experiments.resident`.

The process compiles, looks at its memory, fills a window and slides it once through, and looks
again: what it says is what the window takes, without Python and its libraries. A window in a store
is slid by some thousand events.
"""

from __future__ import annotations

import functools
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import windrow as wr
from windrow.experiments import drivers
from windrow.experiments.contestants import Driven, Subject, numbers
from windrow.experiments.experiment import Contestant, Missing, Reading, Round

#: values to slide over, again and again: they take half a megabyte
_EVENTS = 2**16
#: events that slide a stored window, once it is full
_SLID = 2**14


def resident(algorithm: str, aggregation: str, extent: int) -> Contestant:
    """MiB that a window takes; `recompute` and other names as in `windrow.algorithms`."""
    return _in_process([algorithm, aggregation, str(extent)], algorithm, aggregation)


def resident_stored(algorithm: str, extent: int) -> Contestant:
    """MiB that a window of sums in RocksDB takes of this process's memory."""
    return _in_process([algorithm, "stored", str(extent)], algorithm, "sum")


def _in_process(words: list[str], algorithm: str, aggregation: str) -> Contestant:
    def prepare() -> Round:
        Subject(algorithm, aggregation).check()

        @functools.cache  # the warm-up is a whole process: its reading counts
        def measure() -> Reading:
            command = [sys.executable, "-m", "windrow.experiments.resident", *words]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise Missing(f"{algorithm}: {done.stderr.strip().splitlines()[-1][:200]}")
            return float(json.loads(done.stdout))

        return measure

    return prepare


def _measure(algorithm: str, aggregation: str, extent: int) -> float:
    """MiB more than before the window was made."""
    run = _stored(algorithm) if aggregation == "stored" else _compiled(algorithm, aggregation)
    run(2**8)
    before = _resident_now()
    kept = run(extent)
    after = _resident_now()
    del kept
    return round(max(after - before, 0) / 2**20, 3)


def _compiled(algorithm: str, aggregation: str) -> Callable[[int], object]:
    subject = Subject(algorithm, aggregation)

    def run(extent: int) -> object:
        driven = Driven(subject, numbers(_EVENTS), extent)
        driven.drive(drivers.fill, driven.mask, rows=extent)
        rows = 16 if algorithm == "recompute" else extent
        driven.drive(drivers.slide, extent, driven.mask, rows=rows)
        return driven

    return run


def _stored(algorithm: str) -> Callable[[int], object]:
    def run(extent: int) -> object:
        folder = tempfile.TemporaryDirectory(prefix="windrow-bench-")
        policy = wr.policies.at_most_events(extent)
        values = np.asarray(numbers(_EVENTS))
        window = wr.Window.open(
            Path(folder.name) / "store",
            "window",
            wr.sum(),
            policy=policy,
            algorithm=algorithm,  # type: ignore[arg-type]
        )
        # Filling is fast; each event that slides the window may take a tenth of a millisecond.
        for begin in range(0, extent, _EVENTS):
            window.insert_many(values[: min(_EVENTS, extent - begin)])
        window.insert_many(values[:_SLID])
        return folder, window

    return run


def _resident_now() -> int:
    """What this process holds now, in bytes."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    (line,) = (line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024


if __name__ == "__main__":
    print(json.dumps(_measure(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
