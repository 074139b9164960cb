"""Measure again what five papers measured, beside other libraries, and write a report.

An interrupted run goes on where it stopped: call it again with the same folder.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from windrow.cli.main import CallError

if TYPE_CHECKING:
    from windrow.experiments.run import Progress

#: the extra that installs the packages that it needs
EXTRA = "plot"
EXAMPLES = """examples:
  windrow bench --quick
  windrow bench --quick --only in_order_2021
  windrow bench --full --only general_2015.fig_7 --output full
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `windrow bench`."""
    size = parser.add_mutually_exclusive_group()
    size.add_argument(
        "--quick",
        dest="grid",
        action="store_const",
        const="quick",
        default="quick",
        help="fewer points, rounds and smaller windows: below 20 minutes in all (default)",
    )
    size.add_argument(
        "--full",
        dest="grid",
        action="store_const",
        const="full",
        help="what the papers measured: hours",
    )
    parser.add_argument(
        "--only",
        action="append",
        metavar="PAPER[.FIGURE]",
        help="a paper, or a figure of it; may be given several times (default: all)",
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("bench-output"),
        help="folder to write to (default: bench-output)",
    )
    parser.add_argument(
        "--fresh", action="store_true", help="forget what is in the folder, and begin anew"
    )
    parser.add_argument(
        "--peers",
        metavar="NAMES",
        help="peers that compete, between commas, or none (default: all that are installed)",
    )
    parser.add_argument("--debs-2012", type=Path, help="the original file of DEBS 2012")
    parser.add_argument("--debs-2014", type=Path, help="the original file of DEBS 2014")
    parser.add_argument("--list", action="store_true", help="list papers and figures, and stop")


def run(arguments: argparse.Namespace) -> int:
    """Measure what is not measured yet, and write the report."""
    import matplotlib  # noqa: F401  # fails before anything is measured

    from windrow.experiments import run as measuring
    from windrow.experiments import spark_session
    from windrow.experiments.experiment import Grid
    from windrow.experiments.papers import PAPERS, chosen
    from windrow.experiments.peers import PEERS
    from windrow.experiments.report.pages import write_report
    from windrow.experiments.results import Results

    if arguments.list:
        for paper in PAPERS.values():
            print(f"{paper.name}  {paper.citation}: {paper.title}")
            for figure in paper.figures:
                print(f"  {paper.name}.{figure.name}  {figure.title}")
        return 0
    wanted = chosen(arguments.only)
    grid = Grid(arguments.grid, _peers(arguments.peers, PEERS))
    _take_originals(arguments)
    points = arguments.output / f"points-{grid.name}.jsonl"
    if arguments.fresh:
        points.unlink(missing_ok=True)
    results = Results(points, measuring.describe(grid))
    show = _Progress()
    try:
        measuring.measure(wanted, grid, results, show)
    except KeyboardInterrupt:
        print(f"\nStopped. The same call goes on from {points}.", file=sys.stderr)
        raise
    finally:
        spark_session.stop()
    show.end()
    measured = [
        paper
        for paper in PAPERS.values()
        if any(results.figure(paper.name, each.name).points for each in paper.figures)
    ]
    print(f"Report: {write_report(arguments.output, measured, results)}")
    return 0


def _peers(text: str | None, known: tuple[str, ...]) -> tuple[str, ...] | None:
    if text is None:
        return None
    names = tuple(name for name in text.split(",") if name not in ("", "none"))
    for name in names:
        if name not in known:
            raise CallError(f"--peers: {name!r} is not known; there are {', '.join(known)}")
    return names


def _take_originals(arguments: argparse.Namespace) -> None:
    from windrow.experiments.data import debs_2012, debs_2014

    for path in (arguments.debs_2012, arguments.debs_2014):
        if path is not None and not path.is_file():
            raise CallError(f"{path}: there is no such file")
    debs_2012.original, debs_2014.original = arguments.debs_2012, arguments.debs_2014


class _Progress:
    """A line that says what is measured and how long is left: one that moves on a terminal."""

    def __init__(self) -> None:
        self._moves = sys.stderr.isatty()
        self._last = ""
        self._began = time.monotonic()
        self._groups = 0

    def __call__(self, progress: Progress) -> None:
        self._groups = progress.groups
        share = progress.done / progress.groups
        left = "" if progress.seconds_left is None else f", {_minutes(progress.seconds_left)} left"
        where = f"{progress.paper}.{progress.figure}"
        what = f"{where} {progress.panel} {progress.x}"
        if self._moves:
            bar = "#" * round(20 * share)
            line = f"[{bar:<20}] {progress.done}/{progress.groups}{left}  {what}"
            print(f"\r\x1b[2K{line[:120]}", end="", file=sys.stderr, flush=True)
        elif where != self._last:
            print(f"{progress.done}/{progress.groups}{left}  {where}", file=sys.stderr, flush=True)
            self._last = where

    def end(self) -> None:
        """All is measured."""
        if self._moves:
            print("\r\x1b[2K", end="", file=sys.stderr)
        taken = _minutes(time.monotonic() - self._began)
        print(f"Measured {self._groups} groups in {taken}.", file=sys.stderr)


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
