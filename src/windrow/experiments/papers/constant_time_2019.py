"""Villalba et al. 2019, §5: monoid trees in memory and in a store, with slide policies.

What the paper keeps in Couchbase on other machines lies in RocksDB on this one.
"""

from __future__ import annotations

import tempfile
import time
import weakref
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import windrow as wr
from windrow.experiments import drivers
from windrow.experiments.claims import Better, Flat, Grows
from windrow.experiments.contestants import Driven, Subject, numbers
from windrow.experiments.experiment import (
    SEED,
    Contestant,
    Figure,
    Grid,
    Group,
    Missing,
    Paper,
    Reading,
    Round,
)
from windrow.experiments.resident import resident, resident_stored
from windrow.windows.policies import NO_RUNS, join_runs, lift_run

AMTA, LMTA, DABA, NAIVE = "amortized_monoid_tree", "log_monoid_tree", "daba_lite", "recompute"
IN_ROCKSDB = " in RocksDB"
LARGEST_RECOMPUTED = 2**12
#: that a round of recomputation may take
COMBINES = 2**22


# Fig. 6 ------------------------------------------------------------------------------------------


def _in_memory(algorithm: str, extent: int, rows: int) -> Contestant:
    """Nanoseconds of a round over a window of sums."""

    def prepare() -> Round:
        driven = Driven(Subject(algorithm, "sum"), numbers(2**16), extent)
        driven.drive(drivers.fill, driven.mask, rows=extent)
        return lambda: driven.drive(drivers.slide, extent, driven.mask, rows=rows) / rows * 1e9

    return prepare


def _stored(algorithm: str, extent: int, rows: int) -> Contestant:
    """Nanoseconds of an event that slides a window in RocksDB by its policy, and of an answer."""

    def prepare() -> Round:
        window = _opened(algorithm, wr.policies.at_most_events(extent))
        values = np.resize(numbers(2**16), max(rows, 2**16))
        for begin in range(0, extent, len(values)):
            window.insert_many(values[: min(len(values), extent - begin)])

        def measure() -> Reading:
            started = time.perf_counter()
            window.insert_many(values[:rows])
            window.query()
            return (time.perf_counter() - started) / rows * 1e9

        return measure

    return prepare


def _opened(algorithm: str, policy: Any, measures: Any = None) -> Any:
    """A window in a RocksDB of its own, in a folder that goes with it."""
    folder = tempfile.TemporaryDirectory(prefix="windrow-bench-")
    try:
        window = wr.Window.open(
            Path(folder.name) / "store",
            "window",
            wr.sum() if measures is None else measures,
            policy=policy,
            algorithm=algorithm,  # type: ignore[arg-type]
        )
    except ImportError as error:
        raise Missing("rocksdict is not installed") from error
    return _Held(window, folder)


class _Held:
    """A window, and the folder that it lies in."""

    def __init__(self, window: Any, folder: tempfile.TemporaryDirectory[str]) -> None:
        self.insert_many, self.query, self.evict_many = (
            window.insert_many,
            window.query,
            window.evict_many,
        )
        # Python ends the threads that write to the store before it would close the window.
        weakref.finalize(self, _close, window, folder).atexit = False


def _close(window: Any, folder: tempfile.TemporaryDirectory[str]) -> None:
    window.close()
    folder.cleanup()


def _fig_6(grid: Grid) -> Iterable[Group]:
    for extent in grid.windows(0, 20, 25, step=4):
        contestants: dict[str, Contestant] = {
            name: _in_memory(name, extent, grid.events) for name in (AMTA, LMTA, DABA)
        }
        if extent <= LARGEST_RECOMPUTED:
            rows = max(16, min(grid.events, COMBINES // extent))
            contestants[NAIVE] = _in_memory(NAIVE, extent, rows)
        for name in (AMTA, LMTA):
            contestants[name + IN_ROCKSDB] = _stored(name, extent, grid.pick(8, 2**14, 2**18))
        yield Group("sum", extent, contestants, rounds=min(grid.rounds, 3))


FIG_6 = Figure(
    name="fig_6",
    title="Fig. 6: latency of windows of constant size",
    found="Recomputation is the fastest on small windows and then linear. Amortized MTA and DABA "
    "are "
    "constant, Amortized MTA the faster of the two from 2^9 on; Log MTA grows with log n. In the "
    "store, an event costs about a microsecond more.",
    here="In memory: evict, insert and query in a compiled loop, DABA in its Lite form. In "
    "RocksDB: a "
    "window by policy, events inserted in arrays, the answer asked once for each array.",
    x_label="window (events)",
    y_label="nanoseconds per event",
    groups=_fig_6,
    higher_is_better=False,
    claims=(
        Flat("Amortized MTA and DABA are constant", [AMTA, DABA], within=3.0, least_x=16,
             why="Windows that outgrow the caches wait for memory."),
        Grows("Log MTA grows with log n", LMTA, 1.0, 1.35, "logarithmic"),
        Grows("recomputation is linear", NAIVE, 1.5, 2.3, "2 times a doubling"),
        Better("recomputation is the fastest on small windows", NAIVE, [AMTA, LMTA, DABA],
               "initially", most_x=16,
               why="windrow's compiled windows take a few nanoseconds an event, where the paper's "
               "objects of Java take microseconds, so there is less to save."),
        Better("Amortized MTA is faster than DABA from 2^9 on", AMTA, [DABA], "slightly",
               least_x=2**9,
               why="windrow's DABA Lite touches one ring, while the tree has queues of all levels. "
               "The paper's objects of several fields made each combine dear, and trees combine "
               "less."),
        Better("Amortized MTA in memory is faster than in the store", AMTA, [AMTA + IN_ROCKSDB],
               "about a microsecond"),
        Better("in the store, Amortized MTA is faster than Log MTA", AMTA + IN_ROCKSDB,
               [LMTA + IN_ROCKSDB], "2.3 times", least_x=2),
    ),
)  # fmt: skip


# Fig. 7 ------------------------------------------------------------------------------------------


def bulk_eviction(algorithm: str, held: int, leaving: int, times: int) -> Contestant:
    """Microseconds until so many events have left and the answer is there."""

    def prepare() -> Round:
        driven = Driven(Subject(algorithm, "sum"), numbers(2**16), held)
        driven.drive(drivers.fill, driven.mask, rows=held)
        return lambda: driven.drop(leaving, times) * 1e6

    return prepare


def _bulk_stored(algorithm: str, held: int, leaving: int) -> Contestant:
    """The same of a window in RocksDB, filled up again before the next time."""

    def prepare() -> Round:
        window = _opened(algorithm, None)
        values = np.resize(numbers(2**16), held)
        window.insert_many(values)
        window.query()

        def measure() -> Reading:
            started = time.perf_counter()
            window.evict_many(leaving)
            window.query()
            taken = time.perf_counter() - started
            window.insert_many(values[:leaving])
            return taken * 1e6

        return measure

    return prepare


def _fig_7(grid: Grid) -> Iterable[Group]:
    held = grid.pick(2**6, 2**22, 2**23)
    for exponent in grid.pick([3], [5, 10, 15, 21], [*range(5, 23)]):
        leaving = 2**exponent
        contestants: dict[str, Contestant] = {
            AMTA: bulk_eviction(AMTA, held, leaving, grid.pick(2, 2000, 2000)),
            LMTA: bulk_eviction(LMTA, held, leaving, grid.pick(2, 2000, 2000)),
            DABA: bulk_eviction(DABA, held, leaving, 1),
            NAIVE: bulk_eviction(NAIVE, held, leaving, 1),
        }
        for name in (AMTA, LMTA):
            contestants[name + IN_ROCKSDB] = _bulk_stored(name, held, leaving)
        yield Group(f"window of {held:,}", leaving, contestants, rounds=min(grid.rounds, 3))


FIG_7 = Figure(
    name="fig_7",
    title="Fig. 7: many events leave at once",
    found="Recomputation takes about 2 s whatever leaves, and DABA grows with what leaves, beyond "
    "recomputation in the end. The trees grow logarithmically: below half a millisecond in memory, "
    "5 ms in the store, Log MTA below Amortized MTA.",
    here="Events leave and one answer is asked. In memory that is measured inside a kernel, as a "
    "call from Python takes longer. The paper's policy looks for what leaves as well.",
    x_label="events that leave",
    y_label="microseconds",
    groups=_fig_7,
    higher_is_better=False,
    claims=(
        Better("Amortized MTA is faster than DABA", AMTA, [DABA], "up to 10,000 times"),
        Grows("DABA grows with what leaves", DABA, 1.3, 2.3, "linear", least_x=2**10),
        Grows("Amortized MTA grows far less", AMTA, 0.8, 1.3, "logarithmic"),
        Better("Log MTA is faster than Amortized MTA", LMTA, [AMTA], "258 against 455 µs",
               why="An Amortized MTA moves what it has prepared and computes the rest at a query; "
               "windrow's Log MTA combines log n nodes for each answer."),
        Better("a tree in the store is faster than DABA in memory", AMTA + IN_ROCKSDB, [DABA],
               "for large evictions", least_x=2**15,
               why="DABA Lite drops an event in a nanosecond or less here, so it takes about a "
               "million of them to last longer than a few operations of the store."),
    ),
)  # fmt: skip


# Table 2 -----------------------------------------------------------------------------------------

_LONGEST_RUN = wr.aggregation(
    name="longest_run",
    identity=NO_RUNS,
    lift=lift_run,
    combine=join_runs,
    lower=lambda partial: partial[1],
    exact=True,
)


def _operations(limit: int) -> dict[str, tuple[Any, Any]]:
    most = wr.policies.at_most_events(limit)
    return {
        "sum": (wr.sum, most),
        "mean": (wr.mean, most),
        "geometric mean": (wr.geometric_mean, most),
        "stddev": (wr.stddev, most),
        "max": (wr.max, wr.policies.since_max("x") | most),
        "longest run": (_LONGEST_RUN, wr.policies.since_longest_run("x") | most),
    }


def _memory_in_use(rows: int) -> pa.Table:
    """A machine's memory in use, which wanders and stays above zero."""
    steps = np.random.default_rng(SEED).normal(size=rows)
    return pa.table({"t": np.arange(rows), "x": np.abs(np.cumsum(steps)) + 1.0})


def _by_policy(aggregation: Any, policy: Any, algorithm: Any, rows: int) -> Contestant:
    """Nanoseconds of an event in `wr.over`."""

    def prepare() -> Round:
        table, measures = _memory_in_use(rows), aggregation("x")

        def measure() -> Reading:
            started = time.perf_counter()
            wr.over(table, order="t", windows=policy, aggs=measures, algorithm=algorithm,
                    exact=False)  # fmt: skip
            return (time.perf_counter() - started) / rows * 1e9

        return measure

    return prepare


def _by_stored_policy(aggregation: Any, policy: Any, algorithm: str, rows: int) -> Contestant:
    """The same in RocksDB, with one answer for each array of events."""

    def prepare() -> Round:
        window = _opened(algorithm, policy, [aggregation("x")])
        table = _memory_in_use(rows).select(["x"])
        window.insert_many(table)

        def measure() -> Reading:
            started = time.perf_counter()
            window.insert_many(table)
            window.query()
            return (time.perf_counter() - started) / rows * 1e9

        return measure

    return prepare


def _table_2(grid: Grid) -> Iterable[Group]:
    limit = grid.pick(2**3, 2**12, 2**20)
    rows = grid.pick(2**5, 2**17, 2**22)
    for name, (aggregation, policy) in _operations(limit).items():
        if name not in grid.some(tuple(_operations(limit))):
            continue
        contestants: dict[str, Contestant] = {
            algorithm: _by_policy(aggregation, policy, algorithm, rows)
            for algorithm in (AMTA, LMTA, DABA)
        }
        # Recomputing windows of 2^20 events for a million events would take days.
        few = grid.pick(2**4, 2**13, 2**13)
        small = _operations(min(limit, 2**12))[name]
        contestants[NAIVE] = _by_policy(*small, NAIVE, few)
        # An event of a window in a store takes some microseconds.
        stored_rows = grid.pick(2**5, 2**14, 2**22)
        for algorithm in (AMTA, LMTA):
            stored = _by_stored_policy(aggregation, policy, algorithm, stored_rows)
            contestants[algorithm + IN_ROCKSDB] = stored
        yield Group("policies", name, contestants, rounds=min(grid.rounds, 3))


TABLE_2 = Figure(
    name="table_2",
    title="Table 2: policies and algorithms",
    found="Amortized MTA in memory is the fastest for every operation, DABA about as fast where "
    "one "
    "event leaves at a time and slower for max and the longest rise, where many do. Recomputation "
    "takes 0.3 s an event for sums and is second for max.",
    here="windrow has a tree of its own to enforce a policy in memory, whatever answers, so the "
    "algorithms differ less. The longest rise is of neighbours (a run), not of a subsequence. The "
    "quick grid has windows of 4,096 events; recomputation has those in any grid.",
    x_label="operation",
    y_label="nanoseconds per event",
    groups=_table_2,
    higher_is_better=False,
    shape="bars",
    claims=(
        Better("Amortized MTA is faster than DABA", AMTA, [DABA], "1.03 to 2 times",
               why="The same tree enforces the policy beside both, which levels them; what is left "
               "is less for DABA Lite, as in Fig. 6."),
        Better("Amortized MTA is faster than Log MTA", AMTA, [LMTA], "2.5 to 3.5 times"),
        Better("Amortized MTA is faster than recomputation", AMTA, [NAIVE],
               "80,000 times for sums, 1.4 for max",
               why="Where a policy drops most events, windows stay small and there is little to "
               "recompute."),
    ),
)  # fmt: skip


# Figs. 8 and 9 -----------------------------------------------------------------------------------


def _fig_8(grid: Grid) -> Iterable[Group]:
    for extent in grid.pick([2**8], [2**16, 2**20, 2**22], [2**16, 2**20, 2**22, 2**25]):
        contestants = {name: resident(name, "sum", extent) for name in (AMTA, LMTA, DABA, NAIVE)}
        if grid.name != "tiny":
            for name in (AMTA, LMTA):
                contestants[name + IN_ROCKSDB] = resident_stored(name, extent)
        yield Group("sum", extent, contestants, rounds=1)


FIG_8 = Figure(
    name="fig_8",
    title="Fig. 8: resident memory as the window grows",
    found="The trees in the store reach 2^25 events with 512 MB, the others need 16 to 32 GB "
    "(objects of Java).",
    here="Resident memory of a process of its own, less what it had before, once the window is "
    "full and has slid. windrow's partials are plain numbers; RocksDB has its own caches and "
    "write buffers, of some dozen MiB.",
    x_label="window (events)",
    y_label="MiB",
    groups=_fig_8,
    higher_is_better=False,
    claims=(
        Better("a large window in the store takes less memory than in memory", AMTA + IN_ROCKSDB,
               [AMTA], "30 times or more", least_x=2**22,
               why="A partial is 8 bytes here and not an object of Java, so a window has to be "
               "larger than RocksDB's caches and write buffers before a store saves memory."),
        Better("recomputation takes least of those in memory", NAIVE, [AMTA, LMTA, DABA],
               "2 times",
               why="DABA Lite keeps two partials more than there are events, where the paper's "
               "DABA keeps two for each event."),
    ),
)  # fmt: skip

TOGETHER, APART = "one window", "a window for each"
#: events in a window of many dimensions
LIMIT = 2**15


def many_dimensions(count: int, rows: int, together: bool) -> Contestant:
    """Nanoseconds of an event with so many columns."""

    def prepare() -> Round:
        random = np.random.default_rng(SEED)
        names = [f"x{index}" for index in range(count)]
        columns = {name: random.random(rows) for name in names}
        table = pa.table({"t": np.arange(rows), **columns})
        policy = wr.policies.at_most_events(LIMIT)
        measures = [wr.sum(name) for name in names]

        def measure() -> Reading:
            started = time.perf_counter()
            for some in [measures] if together else [[each] for each in measures]:
                wr.over(
                    table, order="t", windows=policy, aggs=some, algorithm="amortized_monoid_tree"
                )
            return (time.perf_counter() - started) / rows * 1e9

        return measure

    return prepare


def _fig_9(grid: Grid) -> Iterable[Group]:
    for count in grid.pick([2], [1, 2, 5, 10, 20, 50], [1, 2, 5, 10, 20, 30, 40, 50]):
        rows = grid.pick(2**5, 2**16, 2**20)
        contestants = {
            TOGETHER: many_dimensions(count, rows, True),
            APART: many_dimensions(count, rows, False),
        }
        yield Group("sums", count, contestants, rounds=min(grid.rounds, 3))


FIG_9 = Figure(
    name="fig_9",
    title="Fig. 9: many dimensions in one window",
    found="A dimension adds 0.4 µs to 4.9 µs: one window with k dimensions is far faster than k "
    "windows.",
    here="Columns of a table in windows by one policy, in memory. A call compiles a kernel for "
    "each "
    "number of columns, which the first round pays.",
    x_label="dimensions",
    y_label="nanoseconds per event",
    groups=_fig_9,
    higher_is_better=False,
    x_scale="linear",
    y_scale="linear",
    claims=(
        Better("one window is faster than a window for each", TOGETHER, [APART],
               "10 times at 50 dimensions", least_x=2),
    ),
)  # fmt: skip

CONSTANT_TIME = Paper(
    name="constant_time_2019",
    citation="Villalba et al. 2019",
    title="Constant-Time Sliding Window Framework with Reduced Memory Footprint and Efficient Bulk "
    "Evictions",
    setting="Java 1.8 in the streaming runtime rapids, two Xeon E5-2630 v4 at 2.2 GHz, 128 GB; the "
    "store "
    "is Couchbase on three more machines.",
    figures=(FIG_6, FIG_7, TABLE_2, FIG_8, FIG_9),
)
