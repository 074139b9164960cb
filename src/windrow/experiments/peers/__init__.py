"""Other people's implementations, beside ours in the same run and marked as theirs.

A file is a peer: `NAME`, and `rolling`, which answers every row over the last so many rows. Its
package is optional. If it is not installed, or cannot do what is asked, it raises `Missing`, and
the plot has a gap there.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, Protocol, cast

import numpy as np
import pyarrow as pa

import windrow as wr
from windrow.experiments.experiment import SEED, Contestant, Missing, Reading, Round
from windrow.work import sizes

Array = np.ndarray[Any, Any]


class Peer(Protocol):
    """What a file of this folder offers."""

    NAME: str

    def rolling(self, function: str, values: Array, extent: int) -> Callable[[], Any]:
        """What answers `function` ("sum" or "max") of the last `extent` values, for each value.

        What it takes to get the values into a table of the peer's is done before. A float that it
        returns is the seconds that count, in the place of those of the call.
        """


#: the files of this folder
PEERS = (
    "cpp_ring", "bottleneck", "numbagg", "pandas", "polars", "duckdb", "chdb", "spark", "pathway",
    "flink",
)  # fmt: skip


def peers(wanted: Sequence[str] | None = None) -> list[Peer]:
    """Some peers, installed or not; all of them by default."""
    names = PEERS if wanted is None else wanted
    return [
        cast(Peer, importlib.import_module(f"windrow.experiments.peers.{name}")) for name in names
    ]


def required(package: str, module: str | None = None) -> ModuleType:
    """A peer's module, or `Missing` if its package is not installed."""
    try:
        return importlib.import_module(module or package)
    except ImportError as error:
        raise Missing(f"{package} is not installed") from error


def rolling_rate(peer: Peer, function: str, values: Array, extent: int) -> Contestant:
    """Million rows per second, of a table whose first windows are not full yet.

    A peer that takes seconds for so many rows has `MOST_ROWS`, and gets only those.
    """

    def prepare() -> Round:
        few = values[: getattr(peer, "MOST_ROWS", len(values))]
        run = peer.rolling(function, few, extent)

        def measure() -> Reading:
            started = time.perf_counter()
            told = run()
            seconds = told if isinstance(told, float) else time.perf_counter() - started
            return len(few) / seconds / 1e6

        return measure

    return prepare


def tables(
    function: str, extent: int, events: int, wanted: Sequence[str] | None = None
) -> dict[str, Contestant]:
    """`wr.over` on one core and on all, and the peers, on one table.

    Args:
        function: "sum" or "max".
        extent: rows of the window.
        events: rows of the table.
        wanted: files of this folder; all by default.
    """
    rows = 1 << (events - 1).bit_length()
    values = np.random.default_rng(SEED).lognormal(size=rows)
    found = {
        "wr.over": over_rate(function, values, extent, cores=1),
        "wr.over, all cores": over_rate(function, values, extent, cores=None),
    }
    for peer in peers(wanted):
        found[peer.NAME] = rolling_rate(peer, function, values, extent)
    return found


def over_rate(function: str, values: Array, extent: int, cores: int | None) -> Contestant:
    """Million rows per second of `wr.over`."""

    def prepare() -> Round:
        table = pa.table({"x": values})
        measure_of = getattr(wr, function)

        def measure() -> Reading:
            started = time.perf_counter()
            with sizes.using(cores=cores):
                wr.over(table, windows=wr.rows(extent), aggs=measure_of("x"))
            return len(values) / (time.perf_counter() - started) / 1e6

        return measure

    return prepare


def at_most(extent: int, most: int, why: str) -> None:
    """Raise `Missing` for windows that a peer would take minutes for."""
    if extent > most:
        raise Missing(f"windows above {most:,} rows are left out: {why}")
