"""Shein et al. 2018, §5: SlickDeque beside the others, for one query and for as many as can be."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

import windrow as wr
from windrow.engine.over_kernels import OverKernels
from windrow.engine.shared_windows import SharedKernel, SharedRows
from windrow.experiments import drivers
from windrow.experiments.claims import NOT_IN_PAPER, Better, Flat
from windrow.experiments.contestants import Driven, Subject, round_latencies, serving
from windrow.experiments.data import debs_2012
from windrow.experiments.experiment import (
    LATENCY_LABEL,
    SPIKE,
    Contestant,
    Figure,
    Grid,
    Group,
    Headline,
    Missing,
    Paper,
    Reading,
    Round,
)
from windrow.experiments.machine import affordable
from windrow.experiments.resident import resident
from windrow.planning.choose import Wish
from windrow.planning.over_plan import resolve_over
from windrow.planning.shared_ranges import shared_ranges
from windrow.windows.key_runs import NEVER

OTHERS = ("flat_fit", "two_stacks", "daba", "flat_fat", "base_intervals")
SUM = ("slick_deque_inv", *OTHERS, "recompute")
MAX = ("slick_deque_non_inv", *OTHERS, "recompute")
LARGEST_RECOMPUTED = 2**10
#: that a round of recomputation may take
COMBINES = 2**22
#: that an event takes in all windows of a group together
BYTES = 150

FASTEST = "SlickDeque is the fastest"
FASTEST_OF_THE_PAPER = "SlickDeque is the fastest of the paper's algorithms"
LOW_SPIKES = {name: f"SlickDeque's spikes are lower than DABA's, {name}" for name in ("sum", "max")}
LESS_THAN_EVENTS = (
    "SlickDeque (Non-Inv) takes less than recomputation, which keeps the events alone"
)

_SHORT = (
    "A round of these takes a few nanoseconds, less than a step of the time stamp on the machine "
    "of the docs, so that equal times tell nothing."
)
_INV = (
    "SlickDeque (Inv) keeps an answer for each range: an event reads it and what leaves it, adds, "
    "subtracts and writes. FlatFIT and B-Int make the answer of a range of that of the shorter one."
)
_MANY = (
    "With 512 ranges, the answers of an event go to 512 places that are far from each other in "
    "memory, and all contestants come close to each other."
)
_NON_INV = (
    "How many nodes an event drops from the deque depends on the data, and a processor cannot "
    "guess "
    "it: on readings that wander, the branches cost more than the combines that they save."
)


def _in_turn(subject: Subject, extent: int, rows: int, values: Any) -> Contestant:
    """Million answers per second over readings of machines."""

    def prepare() -> Round:
        driven = Driven(subject, values, extent)
        if subject.algorithm == "recompute":
            driven.drive(drivers.fill, driven.mask, rows=extent)
        else:
            driven.drive(drivers.slide, extent, driven.mask, rows=extent)
        return lambda: rows / driven.drive(drivers.slide, extent, driven.mask, rows=rows) / 1e6

    return prepare


def _single(grid: Grid, aggregation: str, names: Sequence[str]) -> Iterable[Group]:
    rows = grid.events
    values = np.resize(debs_2012.readings(rows).energy[0], rows)
    for extent in grid.windows(0, 20, affordable(27, BYTES), step=4):
        contestants = {
            subject.algorithm: _in_turn(subject, extent, _rows_of(subject, extent, rows), values)
            for subject in serving(grid.some(names), aggregation)
            if extent <= LARGEST_RECOMPUTED or not _is_slow(subject)
        }
        yield Group(aggregation, extent, contestants)


def _is_slow(subject: Subject) -> bool:
    return subject.algorithm == "recompute"


def _rows_of(subject: Subject, extent: int, rows: int) -> int:
    """So many rows that recomputation takes no more than a few milliseconds."""
    return max(16, min(rows, COMBINES // extent)) if _is_slow(subject) else rows


def _figure_of_one(
    name: str, number: int, aggregation: str, names: Sequence[str], average: str, most: str
) -> Figure:
    slick = names[0]
    return Figure(
        name=name,
        title=f"Fig. {number}: throughput of one query, {aggregation}",
        found=f"SlickDeque is {average} faster than the second best on average, {most} at most. "
        "SlickDeque, FlatFIT, Two-Stacks and DABA stay constant; FlatFAT, B-Int and recomputation "
        "fall.",
        here="Readings of energy, an answer after each event, as in the paper. Windows go to 2^20 "
        "in the quick grid; the full one goes to 2^27, or to what memory allows.",
        x_label="window (events)",
        y_label="million answers per second",
        groups=lambda grid: _single(grid, aggregation, names),
        claims=(
            Better(FASTEST, slick, OTHERS,
                   f"{average} on average, {most} at most", least_x=16,
                   why=_NON_INV if slick == "slick_deque_non_inv" else ""),
            Flat("SlickDeque, FlatFIT, Two-Stacks and DABA are constant",
                 [slick, "flat_fit", "two_stacks", "daba"], within=2.5,
                 why="Windows that outgrow the caches wait for memory."),
            Better("FlatFIT is faster than FlatFAT", "flat_fit", ["flat_fat"], least_x=64),
        ),
    )  # fmt: skip


# Figs. 12 and 13 ---------------------------------------------------------------------------------

MANY_SUM = ("flat_fit", "base_intervals", "slick_deque_inv", "flat_fat")
MANY_MAX = ("slick_deque_non_inv", "flat_fit", "base_intervals", "flat_fat")


def _all_ranges(aggregation: str, algorithm: Any, extent: int, rows: int) -> Contestant:
    """Thousand slides per second, each of which answers all ranges from 1 to the window's."""

    def prepare() -> Round:
        values = np.resize(debs_2012.readings(rows).energy[0], rows)
        table = pa.table({"x": values})
        windows = {str(reach): wr.rows(reach) for reach in range(1, extent + 1)}
        try:
            measure = getattr(wr, aggregation)("x")
            wish = Wish(algorithm, exact=False)
            plan = resolve_over(
                table.schema, key=None, order=None, windows=windows, aggs=measure, wish=wish
            )
            kernels = OverKernels(plan, set())
            shared = shared_ranges(plan, kernels)
        except wr.WindrowError as error:
            raise Missing(str(error)) from error
        if shared is None:
            raise Missing(f"{algorithm} has no pass for many ranges")
        kernel = SharedKernel(shared, kernels.product, checked=False)
        block = kernels.compiled_block({"x": table["x"].combine_chunks()}, rows, 0)
        answers = kernels.product.parts[0].monoid.room(rows * extent)
        places, starts = rows * np.arange(extent), np.array([0, NEVER])

        def run() -> Reading:
            started = time.perf_counter()
            window = kernel.window()
            given = SharedRows(*block, starts, 0, 0, rows, places)
            window.advance(given, (answers,), (np.empty(0, np.bool_),))
            return rows / (time.perf_counter() - started) / 1e3

        return run

    return prepare


def _multi(grid: Grid, aggregation: str, names: Sequence[str]) -> Iterable[Group]:
    for extent in grid.windows(3, 9, 12):
        rows = max(grid.pick(2**6, 2**20, 2**24) // extent, 2 * extent)
        contestants = {
            name: _all_ranges(aggregation, name, extent, rows) for name in grid.some(names)
        }
        contestants["doubling"] = _all_ranges(aggregation, None, extent, rows)
        yield Group(aggregation, extent, contestants)


def _figure_of_many(
    name: str, number: int, aggregation: str, names: Sequence[str], average: str, most: str
) -> Figure:
    slick = "slick_deque_inv" if aggregation == "sum" else "slick_deque_non_inv"
    return Figure(
        name=name,
        title=f"Fig. {number}: as many queries as can be, {aggregation}",
        found=f"One query for each range from 1 to the window's. SlickDeque is {average} faster "
        f"than "
        f"the second best on average, {most} at most.",
        here="windrow's passes for many ranges, in one thread. An event has as many answers as the "
        "window has ranges, all of which are written to memory, so that throughput falls with the "
        "window. wr.over plans a pass that no paper has: doubling.",
        x_label="window (events), and queries",
        y_label="thousand events per second",
        groups=lambda grid: _multi(grid, aggregation, names),
        claims=(
            Better(FASTEST_OF_THE_PAPER, slick,
                   [each for each in names if each != slick], f"{average} on average, {most} at "
                                                              f"most",
                   least_x=4,
                   why=_INV if aggregation == "sum" else _NON_INV),
            Better("doubling is faster than the paper's algorithms", "doubling", names,
                   NOT_IN_PAPER, why=_MANY),
        ),
    )  # fmt: skip


# Figs. 14 and 15 ---------------------------------------------------------------------------------

LATENCY_WINDOW = 2**10


def _fig_14(grid: Grid) -> Iterable[Group]:
    extent, events = grid.pick(2**4, LATENCY_WINDOW, LATENCY_WINDOW), grid.pick(2**6, 2**18, 2**20)
    for aggregation, names in (("sum", SUM[:-1]), ("max", MAX[:-1])):
        contestants = {
            subject.algorithm: round_latencies(subject, extent, events)
            for subject in serving(grid.some(names), aggregation)
        }
        yield Group(aggregation, extent, contestants)


_SPIKES = (
    "Both are steps of the time stamp, not microseconds. SlickDeque (Non-Inv) has its longest "
    "rounds when a reading drops many nodes; the rounds of DABA are all alike."
)

FIG_14 = Figure(
    name="fig_14",
    title="Fig. 14: latency of an answer, window 1,024",
    found="SlickDeque has the lowest minimum, quartiles, average and maximum: by 8 % on average "
    "for "
    "max and 75 % for sum, and DABA's spikes are 283 % higher.",
    here="Rounds are timed inside the kernel. The paper left out the slowest 0.005 %; here a spike "
    "is "
    "the slowest of 2,048 rounds, the median over all such runs.",
    x_label="window",
    y_label=LATENCY_LABEL,
    groups=_fig_14,
    shape="latencies",
    higher_is_better=False,
    claims=(
        Better("SlickDeque (Inv) has the lowest median", "slick_deque_inv", OTHERS,
               "75 % on average", panels=["sum"], why=_SHORT),
        Better("SlickDeque (Non-Inv) has the lowest median", "slick_deque_non_inv", OTHERS,
               "8 % on average", panels=["max"], why=_NON_INV),
        Better(LOW_SPIKES["sum"], "slick_deque_inv", ["daba"],
               "283 % lower", panels=["sum"], by=SPIKE, why=_SHORT),
        Better(LOW_SPIKES["max"], "slick_deque_non_inv", ["daba"],
               "283 % lower", panels=["max"], by=SPIKE, why=_SPIKES),
    ),
)  # fmt: skip


def _fig_15(grid: Grid) -> Iterable[Group]:
    names = {
        "sum": ("slick_deque_inv", "flat_fit", "two_stacks", "daba", "flat_fat", "base_intervals"),
        "max": ("slick_deque_non_inv", "recompute", "two_stacks"),
    }
    for aggregation, several in names.items():
        for extent in grid.pick(
            [2**10], [2**18, 2**20, 2**22], [2**18, 2**20, 2**22, 2**24, 2**26]
        ):
            contestants = {
                subject.algorithm: resident(subject.algorithm, aggregation, extent)
                for subject in serving(several[: grid.pick(1, 9, 9)], aggregation)
            }
            yield Group(aggregation, extent, contestants, rounds=1)


FIG_15 = Figure(
    name="fig_15",
    title="Fig. 15: resident memory of a window",
    found="FlatFAT and B-Int take most, then FlatFIT, Two-Stacks and DABA. SlickDeque (Inv) takes "
    "as "
    "much as the events alone; SlickDeque (Non-Inv) takes half of that on average and a fifth at "
    "best.",
    here="Each window in a process of its own: resident memory after it was filled and slid once "
    "through, less that before. Rings have room for a power of two.",
    x_label="window (events)",
    y_label="MiB",
    groups=_fig_15,
    higher_is_better=False,
    claims=(
        Better("SlickDeque (Inv) takes less than the others", "slick_deque_inv",
               ["flat_fit", "two_stacks", "daba", "flat_fat", "base_intervals"], "2 to 3 times",
               panels=["sum"]),
        Better(LESS_THAN_EVENTS, "slick_deque_non_inv", ["recompute"],
               "2 times on average, 5 at most", panels=["max"],
               why="windrow's deque lies in a ring that has room for the whole window, as a window "
               "that only falls needs it, and keeps positions beside values."),
    ),
)  # fmt: skip

SLICKDEQUE = Paper(
    name="slickdeque_2018",
    citation="Shein et al. 2018",
    title="SlickDeque: High Throughput and Low Latency Incremental Sliding-Window Aggregation",
    setting="C++, G++ 5.4.1, Intel i7-4770 at 3.4 GHz, 16 GB; readings of energy of DEBS 2012.",
    figures=(
        _figure_of_one("fig_10", 10, "sum", SUM, "15 %", "19 %"),
        _figure_of_one("fig_11", 11, "max", MAX, "7 %", "10 %"),
        _figure_of_many("fig_12", 12, "sum", MANY_SUM, "45 %", "60 %"),
        _figure_of_many("fig_13", 13, "max", MANY_MAX, "266 %", "345 %"),
        FIG_14,
        FIG_15,
    ),
    abstract=(
        Headline("up to 19 % more throughput, a query", "fig_10", FASTEST),
        Headline("the same, for an aggregation that cannot subtract", "fig_11", FASTEST),
        Headline("up to 345 % more throughput, many queries", "fig_13", FASTEST_OF_THE_PAPER),
        Headline("the same, for an aggregation that subtracts", "fig_12", FASTEST_OF_THE_PAPER),
        Headline("283 % lower latency spikes on average (sum)", "fig_14", LOW_SPIKES["sum"]),
        Headline("283 % lower latency spikes on average (max)", "fig_14", LOW_SPIKES["max"]),
        Headline("up to 5 times less memory", "fig_15", LESS_THAN_EVENTS),
    ),
)
