"""`windrow run` on a CSV larger than it may hold in memory, beside DuckDB's command line.

20 million rows, sorted by time; three windows of 1,000 rows and more, three aggregations each, by
1,000 keys, written as Parquet. Each run is a process of its own. DuckDB's command line is the
program `duckdb` (PyPI: duckdb-cli) where `DUCKDB` names it or the path has it, else the package in
a Python process. Also: how much memory `windrow run` took at most, how many cores, and how long
`windrow --help` takes.

    DUCKDB=/path/to/duckdb make bench BENCH_ARGS=command_line
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from benchmarks.harness import Comparison
from windrow.experiments.rounds import median_times

ROWS = 20_000_000
KEYS = 1_000
WINDOWS = (1_000, 2_000, 4_000)
#: bytes that a run may hold; seconds that help may take: issue 21
MOST_BYTES, HELP = 1e9, 0.3
ROUNDS = 1

_AGGREGATES = {"mean": "AVG(price)", "top": "MAX(price)", "total": "SUM(amount)"}
_ITEMS = ", ".join(f"{call} AS {name}" for name, call in _AGGREGATES.items())
_FROM = ", ".join(f"[ROWS {rows}] AS last_{rows}" for rows in WINDOWS)
QUERY = f"SELECT {_ITEMS} FROM trades {_FROM} GROUP BY key"
_PYTHON_DUCKDB = "import duckdb, sys; duckdb.sql(sys.argv[1])"


def write_rows(path: Path, rows: int) -> None:
    """A CSV of about 51 bytes a row, sorted by time."""
    draw = np.random.default_rng(21)
    writer = None
    for first in range(0, rows, 1_000_000):
        count = min(1_000_000, rows - first)
        numbers = np.arange(first, first + count)
        table = pa.table(
            {
                "ts": np.datetime64("2026-01-01", "us") + (numbers * 10_000).astype("m8[us]"),
                "key": draw.integers(0, KEYS, count),
                "price": np.round(draw.normal(100, 10, count), 6),
                "amount": draw.integers(1, 1000, count),
            }
        )
        writer = writer or pa.csv.CSVWriter(path, table.schema)
        writer.write(table)
    assert writer is not None
    writer.close()


def duckdb_query(source: Path, target: Path) -> str:
    """The same query in SQL."""
    columns = [
        f"{call} OVER (PARTITION BY key ORDER BY ts ROWS {rows - 1} PRECEDING) "
        f"AS {name}_last_{rows}"
        for rows in WINDOWS
        for name, call in _AGGREGATES.items()
    ]
    selected = ", ".join(["key", "ts", *columns])
    read = f"SELECT {selected} FROM read_csv('{source}')"
    return f"SET preserve_insertion_order = false; COPY ({read}) TO '{target}' (FORMAT parquet)"


def run() -> list[Comparison]:
    """Compare, and print what the processes took."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as folder:
        source = Path(folder) / "trades.csv"
        write_rows(source, ROWS)
        print(f"{source.stat().st_size / 1e9:.2f} GB, {ROWS:,} rows")
        return [*_against_duckdb(source, Path(folder)), _help()]


def _against_duckdb(source: Path, folder: Path) -> list[Comparison]:
    target = folder / "answers.parquet"
    command = [sys.executable, "-m", "windrow.cli", "run", "-e", QUERY, "--input", str(source),
               "--output", str(target), "--overwrite"]  # fmt: skip
    query = duckdb_query(source, folder / "duckdb.parquet")
    program = os.environ.get("DUCKDB") or shutil.which("duckdb")
    rival = [program, "-c", query] if program else [sys.executable, "-c", _PYTHON_DUCKDB, query]
    taken: list[tuple[float, float, float]] = []

    def windrow() -> None:
        taken.append(_measured(command))

    def duckdb() -> None:
        subprocess.run(rival, check=True, capture_output=True)

    # No round to warm up: a user's first run is the one that counts, and kernels are kept.
    times = median_times({"windrow": windrow, "duckdb": duckdb}, ROUNDS, warm_up=0)
    most = max(each[2] for each in taken)
    seconds, cores = taken[0][0], taken[0][1] / taken[0][0]
    print(f"windrow run: {seconds:.1f} s, {cores:.2f} cores, {most / 1e6:.0f} MB at most")
    work = f"{len(WINDOWS)} windows x {len(_AGGREGATES)} aggregations, {ROWS:,} rows of CSV"
    name = "DuckDB's command line" if program else "DuckDB in Python"
    return [
        Comparison(work, name, times["windrow"], times["duckdb"], bar=1),
        # As times, so that the ratio says how far below the bar it stays.
        Comparison("memory of windrow run in GB", "bar", most / 1e9, MOST_BYTES / 1e9, bar=1),
    ]


def _measured(command: list[str]) -> tuple[float, float, float]:
    """Seconds, seconds of all cores, and the most bytes that a process took."""
    began = time.perf_counter()
    process = subprocess.Popen(command)
    _pid, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, process.returncode
    return time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def _help() -> Comparison:
    script = "import windrow_command; windrow_command.main(['--help'])"

    def shown() -> None:
        subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)

    times = median_times({"help": shown}, 15)
    return Comparison("windrow --help", "bar", times["help"], HELP, bar=1)
