"""Tangwongsan et al. 2021, §7: latency and throughput of windows that are first in, first out."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from windrow.experiments import drivers
from windrow.experiments.claims import NOT_IN_PAPER, Alike, Better, Flat
from windrow.experiments.contestants import (
    Driven,
    Subject,
    filling,
    numbers,
    quantiles,
    round_latencies,
    serving,
    sliding,
)
from windrow.experiments.data import debs_2012
from windrow.experiments.experiment import (
    LATENCY_LABEL,
    SPIKE,
    Contestant,
    Figure,
    Grid,
    Group,
    Paper,
    Reading,
    Round,
)
from windrow.experiments.machine import affordable
from windrow.experiments.peers import cpp_ring, tables

#: the paper's six, and subtracting, where the aggregation can
ALGORITHMS = (
    "two_stacks_lite", "two_stacks", "daba_lite", "daba", "flat_fit", "finger_tree",
)  # fmt: skip
AGGREGATIONS = ("sum", "geometric mean", "bloom")
TABLES = "sum, whole tables"
#: bytes that an event of `bloom` takes in all windows of a group together
BYTES_OF_BLOOM = 2**11

_LITE = (
    Better("Two-Stacks Lite is faster than Two-Stacks", "two_stacks_lite", ["two_stacks"],
           "significantly",
           why="In a window of one event nothing is combined, so the partials that the Lite form "
           "does without save nothing.",
           panels=AGGREGATIONS),
    Better("DABA Lite is faster than DABA", "daba_lite", ["daba"], "significantly",
           why="A window of one event is combined with nothing, and DABA Lite still keeps the "
           "answer of its newer part up to date. Where rows of 128 bytes are combined, both wait "
           "for memory.",
           panels=AGGREGATIONS),
)  # fmt: skip


def _windows(grid: Grid, aggregation: str) -> list[int]:
    windows = grid.windows(0, 20, 22, step=4)
    if aggregation != "bloom":
        return windows
    largest = 2 ** grid.pick(2, 18, affordable(22, BYTES_OF_BLOOM))
    return [each for each in windows if each <= largest]


def _events(grid: Grid, aggregation: str) -> int:
    return grid.events // 8 if aggregation == "bloom" else grid.events


STEPS = (
    "Rounds of both take less than a step of the time stamp, so that equal medians tell nothing."
)


# Fig. 9 ------------------------------------------------------------------------------------------


def _fig_9(grid: Grid) -> Iterable[Group]:
    extent = grid.pick(2**4, 2**14, 2**14)
    events = grid.pick(2**6, 2**18, 2**20)
    for aggregation in grid.some(AGGREGATIONS):
        least = events // 4 if aggregation == "bloom" else events
        contestants = {
            subject.algorithm: round_latencies(subject, extent, least)
            for subject in serving(grid.some(ALGORITHMS), aggregation)
        }
        yield Group(aggregation, extent, contestants)


FIG_9 = Figure(
    name="fig_9",
    title="Fig. 9: latency of single rounds, window 2^14",
    found="Two-Stacks and its Lite form have the lowest minimum, and regularly a latency that is "
    "orders of magnitude higher. DABA and DABA Lite have no such spikes. FiBA has a high median "
    "and "
    "a bounded worst case. FlatFIT has a high floor.",
    here="Rounds are timed inside the kernel by the processor's time stamp. The slowest round of "
    "all is "
    "an interruption of the machine, so a spike here is the slowest of 32,768 rounds (two "
    "windows), "
    "the median over all such runs. Time stamps have steps: of 10 ns on the machine of the docs.",
    x_label="window",
    y_label=LATENCY_LABEL,
    groups=_fig_9,
    shape="latencies",
    higher_is_better=False,
    claims=(
        Better("Two-Stacks Lite has a lower median than DABA Lite", "two_stacks_lite",
               ["daba_lite"], why=STEPS),
        Better("DABA Lite has lower spikes than Two-Stacks Lite", "daba_lite", ["two_stacks_lite"],
               "orders of magnitude", by=SPIKE),
        Better("FiBA has lower spikes than Two-Stacks", "finger_tree", ["two_stacks"],
               "orders of magnitude", by=SPIKE,
               why="Rounds of FiBA take several times as long, so most runs of so many rounds hold "
               "an interruption of the machine, which takes 15 µs or so. That is more than "
               "Two-Stacks takes to move 16,384 numbers, and less than it takes to move as many "
               "Bloom filters."),
        Better("DABA Lite has a lower median than FiBA", "daba_lite", ["finger_tree"]),
    ),
)  # fmt: skip


# Fig. 10 -----------------------------------------------------------------------------------------


def _fig_10(grid: Grid) -> Iterable[Group]:
    for aggregation in grid.some(AGGREGATIONS):
        events = _events(grid, aggregation)
        for extent in _windows(grid, aggregation):
            contestants: dict[str, Contestant] = {
                subject.algorithm: sliding(subject, extent, events)
                for subject in serving(grid.some(ALGORITHMS), aggregation)
            }
            if aggregation in cpp_ring.FUNCTIONS:
                contestants[cpp_ring.NAME] = cpp_ring.rate(
                    aggregation, numbers(events), extent, events
                )
            yield Group(aggregation, extent, contestants)
    for extent in grid.pick([2**4], [2**4, 2**10], [2**4, 2**7, 2**10, 2**13, 2**16]):
        rows = grid.pick(2**6, 2**20, 2**22)
        yield Group(TABLES, extent, tables("sum", extent, rows, grid.peers), grid.pick(1, 2, 9))


FIG_10 = Figure(
    name="fig_10",
    title="Fig. 10: throughput of windows of fixed size",
    found="All stay close to constant from a window of 1 to 2^22. Two-Stacks Lite tends to be the "
    "fastest, the Lite forms always beat the others, and FlatFIT comes closer as the operation "
    "gets dearer.",
    here="windrow's algorithms are compiled by numba; the ring in C++ is our own Two-Stacks Lite, "
    "built in this run. The last panel is about whole tables, where peers compete: their rates "
    "include filling the first window.",
    x_label="window (events)",
    y_label="million rounds per second",
    groups=_fig_10,
    claims=(
        Flat("throughput is close to constant for every algorithm but FiBA",
             ["two_stacks_lite", "two_stacks", "daba_lite", "daba", "flat_fit"], within=2.5,
             panels=AGGREGATIONS,
             why="Windows that outgrow the processor's caches wait for memory, and this machine's "
             "caches are shared with others."),
        *_LITE,
        Better("Two-Stacks Lite is the fastest", "two_stacks_lite",
               ["two_stacks", "daba", "daba_lite", "flat_fit", "finger_tree"], "tends to be",
               panels=AGGREGATIONS, least_x=16,
               why="FlatFIT combines nothing until it is asked: a dear operation makes up for its "
               "pointers."),
        Better("windrow's kernel is as fast as a ring in C++", "two_stacks_lite", [cpp_ring.NAME],
               NOT_IN_PAPER, panels=AGGREGATIONS[:2],
               why="The kernel looks in each round whether the window is full and whether there is "
               "room; the ring in C++ knows both."),
        Better("wr.over on one core is faster than the peers", "wr.over",
               ["bottleneck", "numbagg", "pandas", "Polars", "DuckDB", "chDB", "Spark"],
               NOT_IN_PAPER, panels=[TABLES],
               why="bottleneck and numbagg subtract what leaves, which is less work and drifts on "
               "floats; wr.over never does."),
        Better("wr.over on one core is faster than pandas, Polars, DuckDB, chDB and Spark",
               "wr.over",
               ["pandas", "Polars", "DuckDB", "chDB", "Spark"], NOT_IN_PAPER,
               panels=[TABLES]),
    ),
)  # fmt: skip


# Fig. 11 -----------------------------------------------------------------------------------------


def _fig_11(grid: Grid) -> Iterable[Group]:
    for aggregation in grid.some(AGGREGATIONS):
        events = _events(grid, aggregation)
        for extent in _windows(grid, aggregation):
            contestants = {
                subject.algorithm: filling(subject, extent, events)
                for subject in serving(grid.some(ALGORITHMS), aggregation)
            }
            yield Group(aggregation, extent, contestants)


FIG_11 = Figure(
    name="fig_11",
    title="Fig. 11: throughput of windows that fill and drain",
    found="As with windows of fixed size, but for FlatFIT, which is the fastest for bloom: it "
    "combines nothing when events leave, and nothing is asked while the window drains.",
    here="Insert and query until the window is full, then evict until it is empty, as in the "
    "paper.",
    x_label="window (events)",
    y_label="million events per second",
    groups=_fig_11,
    claims=(
        *_LITE,
        Better("FlatFIT is the fastest for bloom", "flat_fit",
               ["two_stacks", "two_stacks_lite", "daba", "daba_lite", "finger_tree"],
               "consistently", panels=["bloom"], least_x=16,
               why="Two-Stacks moves its boundary once for each time that the window drains, so "
               "both combine about twice an event."),
    ),
)  # fmt: skip


# Fig. 12 -----------------------------------------------------------------------------------------

#: seconds that a window reaches back
QUICK_REACHES = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
FULL_REACHES = (0.01, 0.1, 1.0, 10.0, 60.0, 600.0, 3600.0, 6 * 3600.0)
VARIATION, LATENCY = "relative variation", "relative variation, latency by window"


def _over_times(subject: Subject, reach: float, data: debs_2012.Readings) -> Contestant:
    """Million events per second over a window of time, once the first event has left."""

    def prepare() -> Round:
        extent, first = int(reach * 1e9), _first_eviction(data, reach)
        rows = len(data.times) - first

        def measure() -> Reading:
            driven = Driven(subject, data.energy[0], 2**8)
            driven.drive(drivers.slide_times, data.times, extent, rows=first)
            return rows / driven.drive(drivers.slide_times, data.times, extent, rows=rows) / 1e6

        return measure

    return prepare


def _first_eviction(data: debs_2012.Readings, reach: float) -> int:
    """The row at which the first event leaves."""
    extent = int(reach * 1e9)
    return int(np.searchsorted(data.times, data.times[0] + extent))


def _time_latencies(subject: Subject, reach: float, data: debs_2012.Readings) -> Contestant:
    """Quantiles of a row's nanoseconds, once the first event has left."""

    def prepare() -> Round:
        extent, first = int(reach * 1e9), _first_eviction(data, reach)
        taken = np.zeros(len(data.times), np.int64)

        def measure() -> Reading:
            driven = Driven(subject, data.energy[0], 2**8)
            limits = data.times, extent, taken
            driven.drive(drivers.time_slides, *limits, rows=len(data.times))
            return quantiles(taken[first:], run=2**14)

        return measure

    return prepare


def _fig_12(grid: Grid) -> Iterable[Group]:
    data = debs_2012.readings(grid.pick(2**8, 2**18, 2**22))
    reaches = grid.pick(QUICK_REACHES[1:3], QUICK_REACHES, FULL_REACHES)
    for reach in reaches:
        contestants = {
            subject.algorithm: _over_times(subject, reach, data)
            for subject in serving(grid.some(ALGORITHMS), VARIATION)
        }
        yield Group(VARIATION, reach, contestants, rounds=min(3, grid.rounds))
    reach = grid.pick(0.5, 100.0, 600.0)
    contestants = {
        subject.algorithm: _time_latencies(subject, reach, data)
        for subject in serving(grid.some(ALGORITHMS), VARIATION)
    }
    yield Group(LATENCY, reach, contestants, rounds=min(3, grid.rounds))


FIG_12 = Figure(
    name="fig_12",
    title="Fig. 12: windows of time over readings of machines",
    found="As with windows of fixed size, with two exceptions. All but FiBA have about the same "
    "maximum latency, that of rare bulk evictions after gaps. And throughput falls when the window "
    "becomes a large part of the data.",
    here="Readings are generated in the shape of DEBS 2012, with gaps and bursts, unless you give "
    "the original file (--debs-2012). As in the paper, nothing counts until the first event "
    "leaves. Each row is timed with all of its evictions.",
    x_label="window (seconds)",
    y_label="million events per second",
    groups=_fig_12,
    claims=(
        Better("Two-Stacks Lite is faster than Two-Stacks", "two_stacks_lite", ["two_stacks"],
               "significantly", panels=[VARIATION]),
        Better("DABA Lite is faster than DABA", "daba_lite", ["daba"], "significantly",
               panels=[VARIATION],
               why="A window of one reading is combined with nothing, and DABA Lite still keeps "
               "the answer of its newer part up to date."),
        Better("Two-Stacks Lite is the fastest", "two_stacks_lite",
               ["two_stacks", "daba", "daba_lite", "flat_fit", "finger_tree"], "tends to be",
               panels=[VARIATION],
               why="A window of one or ten events is flipped every few rounds, and not as "
               "regularly as a window of so many rows: a processor cannot guess when."),
        Alike("DABA Lite's slowest round is about as slow as Two-Stacks Lite's", "daba_lite",
              "two_stacks_lite", within=2.0, panels=[LATENCY], by=1.0,
              why="The slowest round of all is often an interruption of the machine."),
    ),
)  # fmt: skip

IN_ORDER = Paper(
    name="in_order_2021",
    citation="Tangwongsan et al. 2021",
    title="In-Order Sliding-Window Aggregation in Worst-Case Constant Time",
    setting="C++11, g++ 7.5 -O3, Intel Platinum 8168 at 2.7 GHz; 10 million rounds for latency, "
    "200 "
    "million for throughput.",
    figures=(FIG_9, FIG_10, FIG_11, FIG_12),
)
