"""Random tables, and random questions that slide over them.

Tables are those of `tests.support.over.strategies`, with two columns more: `d`, which windows of
differences measure by, and `p`, whose true values close a window.
"""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

import windrow as wr
from tests.support.over.strategies import (
    KEYS,
    MOST_ROWS,
    ORDERS,
    TEXTS,
    TIMES,
    VALUES,
    Query,
    applicable,
    columns,
    cut,
    measure,
    tick,
    time_columns,
    waiting,
)
from windrow.algebra.aggregation import Measure
from windrow.algebra.kinds import Kind
from windrow.windows import Window

ROWS = st.integers(1, MOST_ROWS + 2)
MEASURES: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.int64(): st.integers(-6, 6),
    pa.uint8(): st.integers(0, 6),
    pa.float64(): st.integers(-12, 12).map(lambda number: number / 2)
    | st.sampled_from([math.nan, math.inf, -math.inf, -0.0]),
    pa.float32(): st.integers(-12, 12).map(lambda number: number / 4),
}
AMOUNTS = st.integers(1, 8) | st.sampled_from([0.5, 1.5, 2.25, 2**70])


@st.composite
def durations(draw: st.DrawFn, data_type: pa.DataType, least: int = 1) -> str:
    """Some thirds of a tick; of whole ticks, most often."""
    thirds = draw(st.integers(least, 8).map(lambda ticks: 3 * ticks) | st.integers(least, 24))
    nanoseconds = thirds * tick(data_type) // 3
    return f"{max(nanoseconds, 1) if least > 0 else nanoseconds} nanoseconds"


@st.composite
def windows(draw: st.DrawFn, time_type: pa.DataType | None) -> Window:
    """Any window; of time only where there is a time."""
    every: st.SearchStrategy[Any] = ROWS | st.just(2**70)
    kinds = ["rows", "delta", "punctuated", "expanding", "whole"]
    if time_type is not None:
        every = ROWS | durations(time_type)
        kinds += ["periodic", "trailing", "session"] * 2 + ["calendar"]
    kind = draw(st.sampled_from(kinds))
    if kind == "rows":
        return wr.rows(draw(ROWS | st.just(2**70)), every=draw(every))
    if kind == "delta":
        return wr.delta("d", draw(AMOUNTS), every=draw(every))
    if kind == "expanding":
        return wr.expanding(every=draw(every))
    if kind == "whole":
        return wr.whole()
    if kind == "punctuated":
        return wr.punctuated("p")
    assert time_type is not None
    if kind == "calendar":
        spans = st.sampled_from(["1 day", "1 week", "1 month"])
        return wr.calendar(draw(spans), every=draw(st.none() | spans))
    if kind == "session":
        return wr.session(draw(durations(time_type)))
    if kind == "trailing":
        return wr.time(draw(durations(time_type)), every=draw(ROWS))
    offset = draw(st.none() | durations(time_type, least=-8))
    return wr.time(draw(durations(time_type)), every=draw(durations(time_type)), offset=offset)


def of_times(value_type: pa.DataType) -> list[Measure]:
    """Aggregations that read the order column, where it is a time, alone and beside values."""
    found = [wr.max("o0"), wr.value_range("o0"), wr.bottom_k("o0", k=2), wr.collect("o0")]
    found += [wr.m4("o0", "o0"), wr.last("o0"), wr.arg_max("v", "o0")]
    if Kind.of(value_type) in (Kind.INTEGER, Kind.FLOAT):
        found.append(wr.rate("v", "o0"))
    return found


@st.composite
def queries(
    draw: st.DrawFn,
    value_type: pa.DataType | None = None,
    names: list[str] | None = None,
    nulls: bool | None = None,
    timed: bool = True,
) -> Query:
    """Any table and any question; arguments that are given are not drawn.

    Without `timed`, no aggregation reads the order column.
    """
    size = draw(st.integers(0, MOST_ROWS))
    if value_type is None:
        value_type = draw(st.sampled_from(list(VALUES)))
    if names is None:
        names = draw(st.lists(st.sampled_from(applicable(value_type)), min_size=1, max_size=4))
    table: dict[str, Any] = {}
    for index, key_type in enumerate(draw(st.lists(st.sampled_from(list(KEYS)), max_size=2))):
        table[f"k{index}"] = draw(columns(key_type, KEYS[key_type], size))
    time_type = draw(st.none() | st.sampled_from(TIMES))
    if time_type is not None:
        table["o0"] = draw(time_columns(time_type, size))
    else:
        order_type = draw(st.sampled_from(list(ORDERS)))
        table["o0"] = draw(columns(order_type, ORDERS[order_type], size))
    if draw(st.booleans()):
        table["o1"] = draw(columns(pa.int16(), st.integers(0, 3), size))
    table["v"] = draw(columns(value_type, VALUES[value_type], size, nulls))
    table["c"] = draw(columns(pa.string(), TEXTS, size))
    measured = draw(st.sampled_from(list(MEASURES)))
    table["d"] = draw(columns(measured, MEASURES[measured], size))
    table["p"] = draw(columns(pa.bool_(), st.booleans(), size))
    drawn = draw(st.lists(waiting(windows(time_type)), min_size=1, max_size=3))
    aggs = [measure(name) for name in dict.fromkeys(names)]
    if time_type is not None and timed:
        aggs += draw(st.lists(st.sampled_from(of_times(value_type)), max_size=2, unique=True))
    return Query(
        table=draw(cut(pa.table(table))),
        key=[name for name in table if name.startswith("k")],
        order=[name for name in table if name.startswith("o")],
        windows={f"w{index}": window for index, window in enumerate(drawn)},
        aggs=aggs,
    )
