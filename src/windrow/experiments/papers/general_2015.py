"""Tangwongsan et al. 2015, §6: the Reactive Aggregator beside recomputation and base intervals.

The paper's recomputation is `recompute` here, its Reactive Aggregator `flat_fat`, and the algorithm
of Arasu and Widom 2004 `base_intervals`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from windrow.experiments import drivers
from windrow.experiments.claims import Alike, Better, Flat, Grows, Overtakes
from windrow.experiments.contestants import Driven, Subject, numbers
from windrow.experiments.experiment import Contestant, Figure, Grid, Group, Paper, Reading, Round
from windrow.experiments.resident import resident

RA, ISS, AW = "flat_fat", "recompute", "base_intervals"
#: combines that a round of measurement may take in recomputation
_BUDGET = 2**22

#: the paper's break-even points, where windrow has the aggregation over floats
BREAK_EVEN = {"sum": 290.0, "max": 130.0, "mean": 10.0, "min_count": 200.0, "stddev": 10.0,
              "arg_max": 250.0}  # fmt: skip
TENFOLD = {"sum": 5200.0, "max": 3600.0, "mean": 900.0, "min_count": 4480.0, "stddev": 700.0,
           "arg_max": 5810.0}  # fmt: skip
_EARLIER = (
    "Recomputation and the tree are compiled alike here, without a platform around them, and a "
    "recomputed window is one short loop over an array."
)


def _events(grid: Grid, algorithm: str, extent: int) -> int:
    """So many rounds that recomputation does not take minutes."""
    if algorithm == ISS:
        return max(16, min(grid.events, _BUDGET // extent))
    return grid.events // 2


def _driven(
    algorithm: str, aggregation: str, capacity: int, rows: int, full: int,
    driver: Callable[..., Any], limits: tuple[Any, ...], unit: Callable[[float], float],
) -> Contestant:  # fmt: skip
    """What drives a window again and again, once it is full; `unit` makes a reading of seconds."""

    def prepare() -> Round:
        driven = Driven(Subject(algorithm, aggregation), numbers(2**16), capacity)
        if full:
            driven.drive(drivers.fill, driven.mask, rows=full)

        def measure() -> Reading:
            return unit(driven.drive(driver, *limits, driven.mask, rows=rows) / rows)

        return measure

    return prepare


def _rate(seconds: float) -> float:
    return 1 / seconds / 1e6


def _nanoseconds(seconds: float) -> float:
    return seconds * 1e9


def _slides(grid: Grid, aggregation: str, extent: int, names: Sequence[str],
            unit: Callable[[float], float] = _rate) -> dict[str, Contestant]:  # fmt: skip
    return {
        name: _driven(
            name, aggregation, extent, _events(grid, name, extent), extent, drivers.slide,
            (extent,), unit,
        )
        for name in names
    }  # fmt: skip


# Table 3 and Fig. 6 ------------------------------------------------------------------------------


def _table_3(grid: Grid) -> Iterable[Group]:
    extents = grid.pick(
        [4, 16], [4, 16, 64, 256, 1024, 4096, 16384], [2**each for each in range(15)]
    )
    for aggregation in grid.some(tuple(BREAK_EVEN)):
        for extent in extents:
            yield Group(
                aggregation, extent, _slides(grid, aggregation, extent, (RA, ISS)), rounds=3
            )


TABLE_3 = Figure(
    name="table_3",
    title="Table 3: from which window on the tree is faster",
    found="The Reactive Aggregator breaks even with recomputation at windows of 10 to 370 events, "
    "the sooner the dearer the function, and is ten times as fast from 700 to 5,810. For count and "
    "collect it never is.",
    here="Floats. The paper's count reads a container's size, and its collect copies the window: "
    "neither is a combine, so both are left out. A break-even point is the first measured window "
    "from which on the tree stays ahead.",
    x_label="window (events)",
    y_label="million events per second",
    groups=_table_3,
    claims=(
        Overtakes("the tree breaks even (window)", RA, ISS, 1.0, BREAK_EVEN, _EARLIER),
        Overtakes("the tree is ten times as fast (window)", RA, ISS, 10.0, TENFOLD, _EARLIER),
    ),
)  # fmt: skip


def _fig_6(grid: Grid) -> Iterable[Group]:
    for aggregation in ("max", "stddev"):
        for extent in grid.pick([4], [2**each for each in range(0, 11, 2)],
                                [2**each for each in range(11)]):  # fmt: skip
            yield Group(aggregation, extent, _slides(grid, aggregation, extent, (RA, ISS)))


FIG_6 = Figure(
    name="fig_6",
    title="Fig. 6: the tree and recomputation by window",
    found="On small windows the tree is 5 to 10 % slower. At 1,024 events it is almost 3 times as "
    "fast for max, and over 10 times for stddev.",
    here="Without a streaming platform around them, so a small window costs a few nanoseconds and "
    "overhead shows in full.",
    x_label="window (events)",
    y_label="million events per second",
    groups=_fig_6,
    claims=(
        Better("the tree is faster at 1,024 events, max", RA, [ISS], "3 times", panels=["max"],
               least_x=1024, why=_EARLIER),
        Better("the tree is faster at 1,024 events, stddev", RA, [ISS], "10 times",
               panels=["stddev"], least_x=1024, why=_EARLIER),
    ),
)  # fmt: skip


# Figs. 7 to 10 -----------------------------------------------------------------------------------


def _fig_7(grid: Grid) -> Iterable[Group]:
    for aggregation in ("max", "stddev"):
        for extent in grid.windows(4, 20, 23, step=4):
            contestants = _slides(grid, aggregation, extent, (RA,), _nanoseconds)
            yield Group(aggregation, extent, contestants)


FIG_7 = Figure(
    name="fig_7",
    title="Fig. 7: time per event against the logarithm of the window",
    found="A straight line over log n up to 8 million events: the cost is logarithmic, with no "
    "knee "
    "where the tree outgrows the caches.",
    here="As in the paper: an event enters, one leaves, one answer. The tree is of the whole "
    "window.",
    x_label="window (events)",
    y_label="nanoseconds per event",
    groups=_fig_7,
    higher_is_better=False,
    y_scale="linear",
    claims=(
        Grows("the cost grows with log n, far less than linear", RA, 1.0, 1.25, "logarithmic",
              "Where the tree outgrows the caches, a step up costs a wait for memory."),
    ),
)  # fmt: skip


def _fig_8(grid: Grid) -> Iterable[Group]:
    for aggregation in ("max", "stddev"):
        for extent in grid.windows(2, 16, 20, step=4):
            rows = max(extent, grid.events)
            contestants = {
                name: _driven(
                    name, aggregation, extent, rows, extent, drivers.in_batches, (extent, extent),
                    lambda seconds, extent=extent: seconds * extent * 1e6,  # type: ignore[misc]
                )
                for name in (RA, ISS)
            }  # fmt: skip
            yield Group(aggregation, extent, contestants)


FIG_8 = Figure(
    name="fig_8",
    title="Fig. 8: windows that do not overlap",
    found="An answer costs about the same by either scheme, whatever the function: nothing of a "
    "window can be reused, and the tree has a low overhead.",
    here="As many events enter and leave as the window has, then one answer.",
    x_label="window (events)",
    y_label="microseconds per answer",
    groups=_fig_8,
    higher_is_better=False,
    claims=(
        Alike("the tree costs about what recomputation does", RA, ISS, within=1.5,
              why="Recomputation is one loop over an array here and keeps its partial in "
              "registers; "
              "the tree also writes an inner node for each event."),
    ),
)  # fmt: skip


def _fig_9(grid: Grid) -> Iterable[Group]:
    for aggregation in ("max", "stddev"):
        for extent in grid.windows(4, 16, 20, step=4):
            rows = max(grid.events // 2, extent)
            contestants = {
                "fixed": _driven(RA, aggregation, extent, rows, extent, drivers.slide, (extent,),
                                 _nanoseconds),
                "oscillating": _driven(RA, aggregation, extent, rows, extent // 2,
                                       drivers.oscillate, (extent // 2, extent), _nanoseconds),
            }  # fmt: skip
            yield Group(aggregation, extent, contestants)


FIG_9 = Figure(
    name="fig_9",
    title="Fig. 9: windows that oscillate",
    found="Windows whose capacity goes up and down between n and 2n cost no more than fixed ones; "
    "they are faster, as they hold fewer events on average.",
    here="The window grows to n events and falls to half of that, again and again. A compiled loop "
    "keeps its ring while the window shrinks, so what is measured is the tree, and not the moving.",
    x_label="window (events)",
    y_label="nanoseconds per event",
    groups=_fig_9,
    higher_is_better=False,
    y_scale="linear",
    claims=(
        Better(
            "oscillating windows are faster than fixed ones",
            "oscillating",
            ["fixed"],
            why="Why the largest window of stddev is slower, we do not know.",
        ),
    ),
)

GRANULARITIES = ("m = 1", "m = 4", "m = 64", "m = n/16", "m = n/4", "m = n")


def _fig_10(grid: Grid) -> Iterable[Group]:
    for extent in grid.windows(6, 18, 22, step=4):
        steps = (1, 4, 64, extent // 16, extent // 4, extent)
        contestants = {
            name: _driven(RA, "stddev", 2 * extent, max(grid.events // 2, extent), extent,
                          drivers.in_batches, (extent, max(1, every)), _nanoseconds)
            for name, every in zip(GRANULARITIES, steps, strict=True)
        }  # fmt: skip
        yield Group("stddev", extent, contestants)


FIG_10 = Figure(
    name="fig_10",
    title="Fig. 10: an answer after every m events",
    found="For m = 1, 4 and 64 the cost per event grows with log n; for n/16, n/4 and n it is "
    "constant.",
    here="m events enter and m leave before each answer. The window has room for n + m events.",
    x_label="window n (events)",
    y_label="nanoseconds per event",
    groups=_fig_10,
    higher_is_better=False,
    y_scale="linear",
    claims=(
        Grows("m = 1: the cost grows with log n", "m = 1", 1.01, 1.25, "logarithmic"),
        Flat("m = n/16, n/4, n: the cost is constant", GRANULARITIES[3:], within=2.0, least_x=256,
             why="Windows that outgrow the caches wait for memory."),
        Better("a coarse slide costs less per event than a fine one", "m = n/4", ["m = 1"]),
    ),
)  # fmt: skip


# Figs. 11 and 12, Table 4 ------------------------------------------------------------------------

_AW_FASTER = (
    "The order is the other way round here. Base intervals combine once for an insertion on "
    "average and never for an eviction, and an answer joins two intervals of a level at most. The "
    "tree combines the whole path above what came and what left, each step waiting for the one "
    "before. The paper's base intervals lie in several arrays, and its step that splits a window "
    "into them is complicated; windrow's lie in one array of fixed size."
)


def _fig_11(grid: Grid) -> Iterable[Group]:
    for extent in grid.windows(3, 20, 23, step=4):
        yield Group("max", extent, _slides(grid, "max", extent, (RA, AW), _nanoseconds))


FIG_11 = Figure(
    name="fig_11",
    title="Fig. 11: the tree and base intervals",
    found="Both have the same complexity, and the Reactive Aggregator is faster by a constant "
    "factor.",
    here="Base intervals are windrow's, as a window that grows and shrinks.",
    x_label="window (events)",
    y_label="nanoseconds per event",
    groups=_fig_11,
    higher_is_better=False,
    claims=(Better("the tree is faster than base intervals", RA, [AW], "1.02 to 1.37 times",
                   why=_AW_FASTER),),
)  # fmt: skip


def _table_4(grid: Grid) -> Iterable[Group]:
    for aggregation in grid.some(("sum", "max", "mean", "min_count", "stddev")):
        for extent in grid.pick([8], [8, 2**13, 2**20], [8, 2**13, 2**23]):
            contestants = _slides(grid, aggregation, extent, (RA, AW), _nanoseconds)
            yield Group(aggregation, extent, contestants, rounds=3)


TABLE_4 = Figure(
    name="table_4",
    title="Table 4: base intervals over the tree, by aggregation",
    found="Base intervals take 1.02 to 1.06 times as long at 8 events, 1.20 to 1.26 at 8 thousand "
    "and 1.35 to 1.39 at 8 million, whatever the function.",
    here="The quick grid has a million events in the place of 8 million.",
    x_label="window (events)",
    y_label="nanoseconds per event",
    groups=_table_4,
    higher_is_better=False,
    shape="bars",
    claims=(
        Better("the tree is faster at 8 events", RA, [AW], "1.02 to 1.06 times", most_x=8,
               why=_AW_FASTER),
        Better("the tree is faster at 8 thousand events", RA, [AW], "1.20 to 1.26 times",
               least_x=2**13, most_x=2**13, why=_AW_FASTER),
        Better("the tree is faster at millions of events", RA, [AW], "1.35 to 1.39 times",
               least_x=2**20, why=_AW_FASTER),
    ),
)  # fmt: skip


def _fig_12(grid: Grid) -> Iterable[Group]:
    for extent in grid.pick([2**8], [2**10, 2**12, 2**20], [2**10, 2**12, 2**16, 2**20, 2**23]):
        contestants = {name: resident(name, "stddev", extent) for name in (RA, ISS)}
        yield Group("stddev", extent, contestants, rounds=1)


FIG_12 = Figure(
    name="fig_12",
    title="Fig. 12: resident memory",
    found="Up to 4 thousand events what the tree takes is lost in what the process takes; beyond, "
    "it "
    "is linear with a small constant.",
    here="Each window in a process of its own; what Python and its libraries take is left out.",
    x_label="window (events)",
    y_label="MiB",
    groups=_fig_12,
    higher_is_better=False,
    y_scale="linear",
    claims=(
        Better("recomputation takes less than the tree", ISS, [RA], "2n partials in the tree",
               least_x=2**16),
    ),
)  # fmt: skip

GENERAL = Paper(
    name="general_2015",
    citation="Tangwongsan et al. 2015",
    title="General Incremental Sliding-Window Aggregation",
    setting="generated C++ in IBM InfoSphere Streams, g++ 4.4.6, Intel Xeon X5160 with 2 cores at "
    "3 GHz; "
    "120 million events.",
    figures=(TABLE_3, FIG_6, FIG_7, FIG_8, FIG_9, FIG_10, FIG_11, TABLE_4, FIG_12),
)
