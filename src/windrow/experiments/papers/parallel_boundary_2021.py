"""Zhang et al. 2021, §5: SBA and PBA beside Two-Stacks and SlickDeque, and across a cluster.

The paper's Flink is Spark here: with one core and with two, on this machine.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

import windrow as wr
from windrow.experiments.claims import NOT_IN_PAPER, Better, Grows
from windrow.experiments.contestants import round_latencies, serving
from windrow.experiments.data import debs_2012, debs_2014
from windrow.experiments.experiment import (
    LATENCY_LABEL,
    SEED,
    SPIKE,
    Contestant,
    Figure,
    Grid,
    Group,
    Paper,
    Reading,
    Round,
)
from windrow.experiments.peers import tables
from windrow.experiments.spark_session import session
from windrow.work import sizes

PBA, SBA, TS, SD = "parallel_boundary", "sequential_boundary", "two_stacks", "slick_deque_non_inv"
LITE = "two_stacks_lite"
ALGORITHMS = (PBA, SBA, TS, LITE, SD)
TABLES = "max, whole tables"

_ONE_COMBINE = (
    "A max takes a nanosecond or two here and far more in the paper's Java, so handing work to a "
    "second thread costs more than it saves. It pays for dear operations: make bench "
    "BENCH_ARGS=parallel."
)


# Figs. 4 to 6 ------------------------------------------------------------------------------------


def _over(algorithm: Any, extent: int, values: Any) -> Contestant:
    """Million rows per second of `wr.over`, on one core and, for PBA, a helper."""

    def prepare() -> Round:
        table = pa.table({"x": values})

        def measure() -> Reading:
            started = time.perf_counter()
            with sizes.using(cores=1):
                wr.over(table, windows=wr.rows(extent), aggs=wr.max("x"), algorithm=algorithm)
            return int(table.num_rows) / (time.perf_counter() - started) / 1e6

        return measure

    return prepare


def _fig_4(grid: Grid) -> Iterable[Group]:
    rows = grid.pick(2**6, 2**20, 2**22)
    data = {
        "readings": np.resize(debs_2012.readings(rows).energy[0], rows),
        "uniform": np.random.default_rng(SEED).random(rows),
    }
    for panel in grid.some(tuple(data)):
        for extent in grid.windows(3, 18, 20, step=5):
            contestants = {name: _over(name, extent, data[panel]) for name in grid.some(ALGORITHMS)}
            yield Group(panel, extent, contestants, rounds=min(grid.rounds, 5))
    for extent in grid.pick([2**3], [2**10], [2**6, 2**10, 2**14]):
        yield Group(TABLES, extent, tables("max", extent, rows, grid.peers), grid.pick(1, 2, 9))


FIG_4 = Figure(
    name="fig_4",
    title="Fig. 4: throughput by range, a slide of one event",
    found="PBA is the fastest for large windows: from 2^15 on 2.5 times as fast as Two-Stacks and "
    "4 "
    "times as SlickDeque. SBA is ahead of both already for small ones.",
    here="wr.over with each algorithm, on one core; PBA has a helper on the second. The last panel "
    "is about whole tables, where peers compete.",
    x_label="range (events)",
    y_label="million events per second",
    groups=_fig_4,
    claims=(
        Better("PBA is faster than Two-Stacks for large windows", PBA, [TS], "2.5 times",
               panels=["readings", "uniform"], least_x=2**13, why=_ONE_COMBINE),
        Better("PBA is faster than SlickDeque for large windows", PBA, [SD], "4 times",
               panels=["readings", "uniform"], least_x=2**13, why=_ONE_COMBINE),
        Better("SBA is faster than Two-Stacks and SlickDeque", SBA, [TS, SD], "at every window",
               panels=["readings", "uniform"],
               why="Chunks of a window of 8 events are prepared every few rows, which costs more "
               "than it saves."),
        Better("PBA is faster than SBA for large windows", PBA, [SBA], "with 6 cores",
               panels=["readings", "uniform"], least_x=2**13, why=_ONE_COMBINE),
        Better("wr.over on one core is faster than the peers", "wr.over",
               ["bottleneck", "pandas", "Polars", "DuckDB", "chDB", "Spark"], NOT_IN_PAPER,
               panels=[TABLES]),
    ),
)  # fmt: skip


def _sliding(algorithm: Any, table: pa.Table, window: Any) -> Contestant:
    """Million events per second of `wr.slide`, in slices of a slide."""

    def prepare() -> Round:
        def measure() -> Reading:
            started = time.perf_counter()
            with sizes.using(cores=1):
                wr.slide(table, order="t", windows=window, aggs=wr.max("x"), algorithm=algorithm)
            return int(table.num_rows) / (time.perf_counter() - started) / 1e6

        return measure

    return prepare


def _readings(rows: int) -> pa.Table:
    data = debs_2012.readings(rows)
    return pa.table({"t": pa.array(data.times).cast(pa.timestamp("ns")), "x": data.energy[0]})


def _fig_5(grid: Grid) -> Iterable[Group]:
    table = _readings(grid.pick(2**6, 2**19, 2**22))
    extent = grid.pick(2**3, 2**14, 2**17)
    for slide in grid.pick([2], [1, 2, 5, 10], [*range(1, 11)]):
        window = wr.rows(extent, every=slide)
        contestants = {name: _sliding(name, table, window) for name in grid.some(ALGORITHMS)}
        yield Group(f"range {extent:,}", slide, contestants, rounds=min(grid.rounds, 5))


_SLICED = (
    "wr.slide goes slice by slice, while wr.over (Fig. 4) runs SBA in a loop over whole blocks of "
    "rows. Slice by slice, SBA combines about as often as Two-Stacks and does more beside that."
)

FIG_5 = Figure(
    name="fig_5",
    title="Fig. 5: throughput by slide",
    found="Throughput rises with the slide for all, as slices are combined once. PBA is ahead at "
    "small slides, and the larger the slide the closer they are.",
    here="wr.slide, which slices by Pairs where the paper slices by Cutty. The quick grid has a "
    "range "
    "of 2^14, the full one 2^17.",
    x_label="slide (events)",
    y_label="million events per second",
    groups=_fig_5,
    x_scale="linear",
    y_scale="linear",
    claims=(
        Better("SBA is faster than Two-Stacks and SlickDeque", SBA, [TS, SD], "at every slide",
               why=_SLICED),
        Better("PBA is faster than SBA at small slides", PBA, [SBA], "slightly", most_x=2,
               why=_ONE_COMBINE),
    ),
)  # fmt: skip


def _fig_6(grid: Grid) -> Iterable[Group]:
    table = _readings(grid.pick(2**6, 2**19, 2**22))
    names = grid.some(ALGORITHMS)
    for minutes in grid.pick([1], [6, 20, 60], [6, 12, 24, 36, 48, 60]):
        window = wr.time(f"{minutes} minutes", every="10 milliseconds")
        contestants = {name: _sliding(name, table, window) for name in names}
        yield Group("slide 10 ms", minutes, contestants, rounds=min(grid.rounds, 3))
    if grid.name == "tiny":
        return
    for slide in grid.pick([], [20, 50, 100], [*range(10, 101, 10)]):
        window = wr.time("1 hour", every=f"{slide} milliseconds")
        contestants = {name: _sliding(name, table, window) for name in names}
        yield Group("range 1 hour", slide, contestants, rounds=min(grid.rounds, 3))


FIG_6 = Figure(
    name="fig_6",
    title="Fig. 6: throughput of windows of time",
    found="As for windows of events: PBA is the fastest, SBA ahead of Two-Stacks and SlickDeque.",
    here="wr.slide over readings at about 100 Hz, one core, and a helper for PBA.",
    x_label="range (minutes), or slide (ms)",
    y_label="million events per second",
    groups=_fig_6,
    x_scale="linear",
    y_scale="linear",
    claims=(
        Better("SBA is faster than Two-Stacks and SlickDeque", SBA, [TS, SD], why=_SLICED),
        Better("PBA is the fastest", PBA, [SBA, TS, SD], "about 2 times", why=_ONE_COMBINE),
    ),
)  # fmt: skip


# Fig. 7, Tables 2 and 3 --------------------------------------------------------------------------


def _fig_7(grid: Grid) -> Iterable[Group]:
    events = grid.pick(2**6, 2**18, 2**20)
    for exponent in grid.pick([4], [13, 14], [13, 14]):
        contestants = {
            subject.algorithm: round_latencies(subject, 2**exponent, events)
            for subject in serving(grid.some(ALGORITHMS), "max")
        }
        yield Group(f"max, range 2^{exponent} (Table 2)", 2**exponent, contestants)
    for hours in grid.pick([], [1], [1, 2]):
        contestants = {
            subject.algorithm: round_latencies(subject, 3600 * hours, events // 8)
            for subject in serving((PBA, SBA, TS, LITE), "moment sketch")
        }
        yield Group(f"MomentSketch, {hours} h (Table 3)", 3600 * hours, contestants)


_HELPER = (
    "PBA hands a chunk to its helper and may have to wait for it. And the larger the window, the "
    "more runs of two windows of rounds hold an interruption of the machine, of 10 µs or more."
)

FIG_7 = Figure(
    name="fig_7",
    title="Fig. 7, Tables 2 and 3: latency of an answer",
    found="SlickDeque and PBA have no spikes. Two-Stacks and SBA have, of 75 to 150 µs and 15 to "
    "31 µs "
    "for max; PBA's slowest answer is below a microsecond. Medians: PBA and SBA below Two-Stacks "
    "below SlickDeque. The same for MomentSketch, where spikes are a millisecond for Two-Stacks.",
    here="A round is timed inside the kernel, by the processor's time stamp. Windows of "
    "MomentSketch hold a sketch for each second; SlickDeque (Non-Inv) keeps single values and "
    "cannot serve them here. A spike is the slowest of two windows of rounds, the median over all "
    "of these.",
    x_label="range",
    y_label=LATENCY_LABEL,
    groups=_fig_7,
    shape="latencies",
    higher_is_better=False,
    claims=(
        Better("SBA has a lower median than Two-Stacks and SlickDeque", SBA, [TS, SD],
               "1.3 to 1.8 times",
               why="Rounds of max take less than a step of the time stamp. Round by round, SBA "
               "prepares chunks as the paper says; windrow's fast form of it goes over whole "
               "blocks of rows and cannot be timed by the round."),
        Better("PBA has lower spikes than SBA", PBA, [SBA], "15 to 60 times", by=SPIKE,
               why=_HELPER),
        Better("PBA has lower spikes than Two-Stacks", PBA, [TS], "30 to 280 times", by=SPIKE,
               why=_HELPER),
        Better("SlickDeque has lower spikes than Two-Stacks", SD, [TS], "100 to 230 times",
               by=SPIKE, panels=("max, range 2^13 (Table 2)", "max, range 2^14 (Table 2)")),
        Better("SBA has lower spikes than Two-Stacks", SBA, [TS], "4 to 5 times", by=SPIKE,
               why="Both prepare a chunk in one round; which combines more in it depends on where "
               "the chunk ends."),
    ),
)  # fmt: skip


# Fig. 8 ------------------------------------------------------------------------------------------

OURS, SPARK = "windrow on Spark", "Spark's own window function"
CORES, EXECUTORS = "cores of one process", "executors of one core"


_SHARED = (
    "The machine has two cores in all, and one task of windrow's keeps more than one busy: Java "
    "and its Python worker are two processes that run at the same time."
)


def _on_spark(cores: int, executors: int, rows: int, extent: int, own: bool) -> Contestant:
    """Million rows per second of a keyed window on Spark, with so many cores, or executors."""

    def prepare() -> Round:
        spark = session(cores, executors)
        parts = 2 * cores * max(executors, 1)
        table = spark.createDataFrame(debs_2014.readings(rows)).repartition(parts).cache()
        table.count()
        table.createOrReplaceTempView("plugs")
        sql = (
            "SELECT *, max(power) OVER (PARTITION BY plug ORDER BY t ROWS BETWEEN "
            f"{extent - 1} PRECEDING AND CURRENT ROW) AS most FROM plugs"
        )

        def measure() -> Reading:
            started = time.perf_counter()
            if own:
                answers = spark.sql(sql)
            else:
                answers = wr.over(
                    table, key="plug", order="t", windows=wr.rows(extent), aggs=wr.max("power")
                )
            answers.write.format("noop").mode("overwrite").save()
            return rows / (time.perf_counter() - started) / 1e6

        return measure

    return prepare


def _fig_8(grid: Grid) -> Iterable[Group]:
    if grid.peers is not None and "spark" not in grid.peers:
        return
    extent = 2**10
    rows = {OURS: grid.pick(2**8, 2**20, 2**22), SPARK: grid.pick(2**8, 2**18, 2**22)}
    for panel, count, cores, executors in (
        (CORES, 1, 1, 0), (CORES, 2, 2, 0), (EXECUTORS, 1, 1, 1), (EXECUTORS, 2, 1, 2),
    ):  # fmt: skip
        contestants = {
            name: _on_spark(cores, executors, count_of, extent, own=name == SPARK)
            for name, count_of in rows.items()
        }
        yield Group(panel, count, contestants, rounds=grid.pick(1, 2, 7))


FIG_8 = Figure(
    name="fig_8",
    title="Fig. 8: scaling on a cluster engine",
    found="Flink with PBA is far faster than Flink's own windows for 2^10 events, and both scale "
    "about "
    "linearly with cores up to 3, and with nodes.",
    here="Spark in the place of Flink, max over 1,024 events of each plug, on this machine with "
    "one core and with two, and with one executor and with two, which are processes of their own. "
    "Spark's own function has its default frames, which recompute; in the quick grid it gets a "
    "quarter of the rows.",
    x_label="cores, or executors",
    y_label="million events per second",
    groups=_fig_8,
    x_scale="linear",
    claims=(
        Better("windrow on Spark is faster than Spark's own windows", OURS, [SPARK],
               "about 10 times"),
        Grows("windrow on Spark scales with cores and executors", OURS, 0.5, 0.75,
              "linearly, up to 3 cores", _SHARED, least_x=1),
    ),
)  # fmt: skip

PARALLEL = Paper(
    name="parallel_boundary_2021",
    citation="Zhang et al. 2021",
    title="Efficient Incremental Computation of Aggregations over Sliding Windows",
    setting="Java 8, 6 cores of a Xeon at 2.4 GHz, 16 GB; Flink 1.10 on 1 to 6 nodes of 4 cores.",
    figures=(FIG_4, FIG_5, FIG_6, FIG_7, FIG_8),
)
