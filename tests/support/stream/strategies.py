"""Random streams: events that come in batches, out of order, and a watermark that only grows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

import windrow as wr
from tests.support.over.strategies import KEYS, TEXTS, columns, measure, waiting
from windrow.algebra.aggregation import Measure
from windrow.windows import EveryTime, TimeWindow, Window

#: numbers are enough: the types of values are those of `tests.slide`
VALUES = st.integers(-3, 3).map(float) | st.sampled_from([float("nan"), float("inf")])
#: first and arg_max depend on the order of events, and carry a value
MEASURES = ("count", "sum", "max", "mean", "first", "last", "arg_max")
#: one whose partials are Python objects among them
WITH_OBJECTS = ("collect", "count", "sum", "last", "arg_max")
#: those that are answered from value counts, with one that is not
COUNTED = ("median", "quantile_0_25_lower", "percent_rank", "count_distinct", "mode", "max")
#: of the order column itself
OF_TIMES = (wr.max("o0"), wr.value_range("o0"), wr.arg_max("v", "o0"))
DISTANCES = st.integers(-6, 6).map(lambda number: number / 2) | st.sampled_from(
    [float("nan"), float("inf"), -float("inf")]
)
#: windows that may end at every event, and may slide
KINDS = ["rows", "time", "session", "delta", "punctuated", "expanding"]
MOST_BATCHES = 8
MOST_EVENTS = 12


@dataclass(frozen=True, repr=False)
class Stream:
    """Batches of events, each with the watermark at which it is worked on, in milliseconds."""

    batches: list[tuple[pa.Table, int]]
    key: list[str]
    order: list[str]
    windows: dict[str, Window]
    aggs: list[Measure]

    @property
    def arguments(self) -> dict[str, Any]:
        return {
            "key": self.key, "order": self.order, "windows": self.windows, "aggs": self.aggs
        }  # fmt: skip

    def __repr__(self) -> str:
        came = [(batch.to_pydict(), watermark) for batch, watermark in self.batches]
        return f"<{self.arguments} over {came} ({self.batches[0][0].schema})>"


@st.composite
def clocks(draw: st.DrawFn, unit: int) -> TimeWindow:
    """Periodic windows of some units of nanoseconds; some sample."""
    extent, slide = draw(st.integers(1, 30)), draw(st.integers(1, 15))
    offset = draw(st.none() | st.integers(-6, 6))
    return wr.time(
        f"{extent * unit} nanoseconds",
        every=f"{slide * unit} nanoseconds",
        offset=None if offset is None else f"{offset * unit} nanoseconds",
    )


@st.composite
def trailing(draw: st.DrawFn, unit: int) -> TimeWindow:
    """Windows that end at every event or before, of some halves of a unit of nanoseconds."""
    halves = draw(st.integers(1, 60) | st.just(2 * 10**6))
    closed = draw(st.sampled_from(["right", "both", "left", "neither"]))
    ties = draw(st.sampled_from(["rows", "rows", "peers"]))
    return wr.time(f"{halves * unit // 2} nanoseconds", closed=closed, ties=ties)


@st.composite
def any_trailing(draw: st.DrawFn, unit: int) -> Window:
    """Windows of every kind that end at every event."""
    kind = draw(st.sampled_from(KINDS))
    if kind == "rows":
        return wr.rows(
            draw(st.integers(1, 12) | st.just(2**70)), current=draw(st.integers(0, 3)) > 0
        )
    if kind == "delta":
        return wr.delta("d", draw(st.integers(1, 9)) / 2)
    if kind == "expanding":
        return wr.expanding()
    if kind == "punctuated":
        return wr.punctuated("p")
    if kind == "session":
        return wr.session(f"{draw(st.integers(1, 20)) * unit // 2} nanoseconds")
    return draw(trailing(unit))


@st.composite
def any_around(draw: st.DrawFn, unit: int) -> Window:
    """Windows of every kind, many of which end behind their event."""
    kind = draw(st.sampled_from(["rows", "time", "time", "other"]))
    if kind == "other":
        return draw(any_trailing(unit))
    if kind == "rows":
        return wr.rows(before=draw(st.integers(0, 5)), after=draw(st.integers(0, 4)))
    before, after = draw(st.integers(0, 30)), draw(st.integers(1, 30) | st.just(400))
    return wr.time(
        before=f"{before * unit // 2} nanoseconds",
        after=f"{max(after * unit // 2, 1)} nanoseconds",
        closed=draw(st.sampled_from(["right", "both", "left", "neither"])),
    )


@st.composite
def any_sliding(draw: st.DrawFn, unit: int) -> Window:
    """Windows of every kind that slide, with triggers of every kind."""
    kind = draw(st.sampled_from([*KINDS[:1], "behind", "clock", *KINDS[2:]]))
    if kind == "clock":
        return draw(clocks(unit))
    if kind == "punctuated":
        return wr.punctuated("p")
    if kind == "session":
        return wr.session(f"{draw(st.integers(1, 15)) * unit} nanoseconds")
    rows = draw(st.integers(1, 7) | st.just(2**70))
    if kind == "behind":
        return wr.time(f"{draw(st.integers(1, 40)) * unit // 2} nanoseconds", every=rows)
    every = draw(st.just(rows) | st.integers(1, 15).map(lambda n: f"{n * unit} nanoseconds"))
    if kind == "expanding":
        return wr.expanding(every=every)
    if kind == "delta":
        return wr.delta("d", draw(st.integers(1, 9)) / 2, every=every)
    return wr.rows(draw(st.integers(1, 9) | st.just(2**70)), every=every)


@st.composite
def streams(
    draw: st.DrawFn,
    windows_of: Callable[[int], st.SearchStrategy[Window]] = clocks,
    measures: Sequence[str] = MEASURES,
) -> Stream:
    """Any stream; times lie a few milliseconds or days apart, and `id` tells events apart."""
    is_date = draw(st.integers(0, 4)) == 0
    time_type = pa.date32() if is_date else pa.timestamp("us", "UTC")
    unit = 86_400 * 10**9 if is_date else draw(st.sampled_from([10**6, 3 * 10**5]))
    keys = draw(st.lists(st.sampled_from(list(KEYS)), max_size=2))
    jumps = st.integers(0, 8) | st.sampled_from([60, 400])
    batches = []
    # Some begin before 1970, where Spark's watermark starts.
    now, watermark = draw(st.sampled_from([40, -60])), 0
    for _ in range(draw(st.integers(1, MOST_BATCHES))):
        size = draw(st.integers(0, MOST_EVENTS))
        now += draw(jumps)
        moments = draw(columns(pa.int64(), st.integers(now - 20, now + 6), size))
        table = {
            f"k{index}": draw(columns(each, KEYS[each], size)) for index, each in enumerate(keys)
        }
        table["o0"] = (
            moments.cast(pa.int32()).view(pa.date32())
            if is_date
            else pa.compute.multiply(moments, unit // 1000).view(time_type)
        )
        table["o1"] = draw(columns(pa.int16(), st.integers(0, 3), size))
        table["v"] = draw(columns(pa.float64(), VALUES, size))
        table["c"] = draw(columns(pa.string(), TEXTS, size))
        table["d"] = draw(columns(pa.float64(), DISTANCES, size))
        table["p"] = draw(columns(pa.bool_(), st.booleans(), size))
        first = len(batches) * MOST_EVENTS
        table["id"] = pa.array(range(first, first + size), pa.int64())
        batches.append((pa.table(table), watermark))
        # The next batch's watermark: behind what was seen, by more or less.
        reached = (now - draw(st.integers(0, 25))) * unit // 10**6
        watermark = max(watermark, reached)
    names = draw(st.lists(st.sampled_from(measures), min_size=1, max_size=3, unique=True))
    # Windows over dates may begin at noon.
    length = unit // draw(st.sampled_from([1, 2])) if is_date else unit
    windows = draw(st.lists(waiting(windows_of(length)), min_size=1, max_size=3))
    return Stream(
        batches,
        [f"k{index}" for index in range(len(keys))],
        ["o0", "o1"] if draw(st.booleans()) else ["o0"],
        {f"w{index}": window for index, window in enumerate(windows)},
        [measure(name) for name in names] + draw(st.lists(st.sampled_from(OF_TIMES), max_size=1)),
    )


def has_others(stream: Stream) -> bool:
    """Whether not all windows are periodic windows of time."""
    return not all(
        isinstance(window, TimeWindow) and isinstance(window.every, EveryTime)
        for window in stream.windows.values()
    )
