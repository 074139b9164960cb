"""How long kernels take to compile, against the revision before issue 18.

Every measurement is a process of its own with an empty cache. It imports numba and
windrow's calls first, and tells the CPU seconds of its calls: on a busy machine they hold better
than the clock's. The other revision is checked out beside this one; both take turns.

    one       one aggregation over one window, the first call of a process
    another   another combination of aggregation and window in the same process
    eight     eight aggregations over three windows, the first call of a process
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from benchmarks.harness import Comparison
from windrow.experiments.rounds import in_turns

#: the last commit before the issue, and the ratio that the issue asks for
BEFORE, BAR = "dd2f7be", 2.0
ROUNDS = 7

_CALLS = """
import json, sys, time
import numba, numpy as np, pyarrow as pa, windrow as wr
import windrow.api, windrow.engine.over_table

times = pa.array(np.arange(3000) * 1_000_000, pa.timestamp("us"))
table = pa.table({"t": times, "x": np.random.default_rng(1).normal(size=3000)})

def taken(windows, aggs):
    began = time.process_time()
    wr.over(table, order="t", windows=windows, aggs=aggs)
    return time.process_time() - began

rows, hour = wr.rows(100), wr.time("1 hour")
eight = [
    each("x") for each in
    (wr.max, wr.mean, wr.stddev, wr.min, wr.sum, wr.count, wr.first, wr.last)
]
if sys.argv[1] == "eight":
    print(json.dumps({"eight": taken([rows, hour, wr.rows(1000)], eight)}))
else:
    print(json.dumps({"one": taken(rows, wr.max("x")), "another": taken(hour, wr.mean("x"))}))
"""


def run() -> list[Comparison]:
    """Each workload, in CPU seconds of this revision and of the one before."""
    root = Path(__file__).parents[1]
    with tempfile.TemporaryDirectory() as folder:
        before = Path(folder) / BEFORE
        _git(root, "worktree", "add", "--detach", str(before), BEFORE)
        try:
            sources = {"now": root / "src", "before": before / "src"}
            times = in_turns(
                {
                    (work, who): partial(_taken, work, source)
                    for work in ("one", "eight")
                    for who, source in sources.items()
                },
                ROUNDS, warm_up=0,
            )  # fmt: skip
        finally:
            _git(root, "worktree", "remove", "--force", str(before))
    found = {
        (name, who): statistics.median(each[name] for each in rounds)
        for (_work, who), rounds in times.items()
        for name in rounds[0]
    }
    return [
        Comparison(what, f"revision {BEFORE}", found[name, "now"], found[name, "before"], BAR)
        for name, what in (
            ("one", "compile max over rows(100): the first call of a process"),
            ("another", "compile mean over 1 hour: another call of that process"),
            ("eight", "compile 8 aggregations over 3 windows: the first call of a process"),
        )
    ]


def _taken(work: str, source: Path) -> dict[str, float]:
    """The CPU seconds of the calls of a new process with an empty cache."""
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            [sys.executable, "-c", _CALLS, work], check=True, capture_output=True, text=True,
            env={**os.environ, "PYTHONPATH": str(source), "WINDROW_CACHE_DIR": cache},
        )  # fmt: skip
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True)
