"""A window of 2^25 events that slides by a policy, in RocksDB and in memory.

Each contestant runs in a process of its own, fills the window and slides it on by an eighth. The
stored one may hold 1 GiB at most: the suite fails if it held more. `python -m benchmarks.stores
rocksdb` runs one alone.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from functools import partial
from itertools import repeat
from pathlib import Path

import numpy as np
import pyarrow as pa

import windrow as wr
from benchmarks.harness import Comparison
from windrow.engine.policy_counts import PolicyKernels
from windrow.experiments.rounds import in_turns
from windrow.windows.key_runs import NEVER

EVENTS = 2**25
PIECE = 2**20
LIMIT = 2**30
#: a stored window may take 20 times as long
BAR = 1 / 20
ROUNDS = 3


def run() -> list[Comparison]:
    """Mean cost per event against the compiled tree in memory, under the same policy."""
    found = in_turns({name: partial(_alone, name) for name in CONTESTANTS}, ROUNDS, warm_up=0)
    seconds = {
        name: statistics.median(each["seconds"] for each in runs) for name, runs in found.items()
    }
    peak = max(each["peak"] for each in found["rocksdb"])
    per_event = {name: taken / (EVENTS + EVENTS // 8) * 1e9 for name, taken in seconds.items()}
    print(f"  in RocksDB {per_event['rocksdb']:.0f} ns an event, {peak / 2**20:.0f} MiB at most")
    print(f"  in memory  {per_event['memory']:.0f} ns an event")
    assert peak < LIMIT, f"the process held {peak} bytes"
    return [
        Comparison(
            f"window of {EVENTS:,} events in RocksDB",
            "amortized_monoid_tree in memory",
            seconds["rocksdb"],
            seconds["memory"],
            BAR,
        )
    ]


def _alone(name: str) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.stores", name],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    measured: dict[str, float] = json.loads(done.stdout)
    return measured


def in_rocksdb(pieces: Iterable[pa.Array], folder: Path) -> None:
    """A stored window, and what it takes to close it."""
    policy = wr.policies.at_most_events(EVENTS)
    with wr.Window.open(folder, "window", wr.sum(), policy=policy) as window:
        for piece in pieces:
            window.insert_many(piece)


def in_memory(pieces: Iterable[pa.Array], _folder: Path) -> None:
    """The compiled tree that serves policies in memory, with a sum in it as well."""
    policy = wr.policy(
        lambda total, oldest: total[0] - oldest[0] >= EVENTS, of=[wr.count("x"), wr.sum("x")]
    )
    counts = PolicyKernels(policy, pa.schema([pa.field("x", pa.float64())]), {"x"}).counts()
    starts = [0, NEVER]
    for piece in pieces:
        counts.of({"x": piece}, np.array(starts), len(piece))
        starts = [NEVER]


CONTESTANTS = {"rocksdb": in_rocksdb, "memory": in_memory}


def _measure(name: str) -> dict[str, float]:
    piece = pa.array(np.random.default_rng(1).random(PIECE))
    with tempfile.TemporaryDirectory(prefix="windrow-bench-") as folder:
        contestant = CONTESTANTS[name]
        contestant([piece[:1000]], Path(folder) / "compiling")
        started = time.perf_counter()
        contestant(repeat(piece, (EVENTS + EVENTS // 8) // PIECE), Path(folder) / "measured")
        return {"seconds": time.perf_counter() - started, "peak": _peak()}


def _peak() -> int:
    """The most that this process has held, in bytes."""
    status = Path("/proc/self/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


if __name__ == "__main__":
    print(json.dumps(_measure(sys.argv[1])))
