"""Random tables, and random questions about them.

A table has the columns `k0`, `k1` (keys), `o0`, `o1` (order and tie-breaker), `v` (what is
aggregated) and `c` (what `arg_max` carries), and if a window asks for them `m` (a measure) and `p`
(marks). Values are few, so that ties and equal keys are common, and of sizes whose sums and
products stay finite: what happens at the ends of the floating-point range is in test_exactness.py.
"""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

import windrow as wr
from tests.support.over import oracle
from windrow.aggregations import CATALOGUE
from windrow.algebra.aggregation import Measure
from windrow.algebra.kinds import Kind
from windrow.windows import DeltaWindow, PunctuatedWindow, SessionWindow, TimeWindow, Window
from windrow.windows.ahead import HERE

MOST_ROWS = 24
#: different ones in a column
MOST_VALUES = 8
UNITS = ("s", "ms", "us", "ns")


# Values -----------------------------------------------------------------------------------------

SMALL_INTEGERS = st.integers(-3, 3)
EXTREMES = st.sampled_from([-(2**63), -(2**62), -1, 0, 1, 2**32, 2**62, 2**63 - 1])
# Quarters, so that the difference of two of them is exact even with 32 bits.
QUARTERS = st.integers(-4000, 4000).map(lambda number: number / 4)
FLOATS = st.one_of(
    QUARTERS,
    st.floats(1e-3, 1e3),
    st.floats(-1e3, -1e-3),
    st.sampled_from([0.0, -0.0, math.nan, math.inf, -math.inf]),
)
ORDINARY_FLOATS = st.one_of(QUARTERS, st.floats(1e-3, 1e3))
INSTANTS = st.integers(-3, 12).map(lambda n: dt.datetime(2012, 2, 22) + n * dt.timedelta(seconds=1))
DATES = st.integers(-3, 12).map(lambda n: dt.date(2012, 2, 27) + dt.timedelta(days=n))
TEXTS = st.sampled_from(["", "a", "b", "B", "ab", "é", "日", "🌾"])

#: what a column of a type may hold
VALUES: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.int8(): SMALL_INTEGERS | st.sampled_from([-128, 127]),
    pa.int16(): SMALL_INTEGERS | st.sampled_from([-(2**15), 2**15 - 1]),
    pa.int32(): SMALL_INTEGERS | st.sampled_from([-(2**31), 2**31 - 1]),
    pa.int64(): SMALL_INTEGERS | EXTREMES,
    pa.uint8(): st.integers(0, 3) | st.just(255),
    pa.uint16(): st.integers(0, 3) | st.just(2**16 - 1),
    pa.uint32(): st.integers(0, 3) | st.just(2**32 - 1),
    pa.uint64(): st.integers(0, 3) | st.just(2**63 - 1),
    pa.float32(): QUARTERS | st.sampled_from([-0.0, math.nan, math.inf, -math.inf]),
    pa.float64(): FLOATS,
    pa.bool_(): st.booleans(),
    pa.date32(): DATES,
    **{pa.timestamp(unit): INSTANTS for unit in UNITS},
    pa.timestamp("us", "Europe/Berlin"): INSTANTS.map(lambda t: t.replace(tzinfo=dt.UTC)),
    pa.duration("ms"): st.integers(-3, 3).map(lambda n: dt.timedelta(milliseconds=n)),
    pa.decimal128(6, 2): st.integers(-999_999, 999_999).map(lambda n: Decimal(n).scaleb(-2)),
    pa.decimal128(38, 0): st.sampled_from([1, -1, 10**37 + 1, -(10**37) - 3]).map(Decimal),
    pa.string(): TEXTS,
    pa.large_string(): TEXTS,
    pa.string_view(): TEXTS,
    pa.binary(): TEXTS.map(str.encode),
    pa.dictionary(pa.int32(), pa.string()): TEXTS,
}


def applicable(data_type: pa.DataType) -> list[str]:
    """The aggregations that take a column of a type."""
    kind = Kind.of(data_type)
    return [name for name in oracle.KNOWN if kind in CATALOGUE[name].inputs[0].accepts]


def measure(name: str) -> Measure:
    """The aggregation of column `v`, or of `v` and `c`."""
    return CATALOGUE[name]("v", "c") if len(CATALOGUE[name].inputs) > 1 else CATALOGUE[name]("v")


# Tables -----------------------------------------------------------------------------------------

KEYS: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.int64(): st.integers(0, 2),
    pa.string(): st.sampled_from(["a", "b", ""]),
    pa.float64(): st.sampled_from([0.0, -0.0, 1.5, math.nan]),
    pa.bool_(): st.booleans(),
    pa.date32(): DATES,
    pa.timestamp("us", "UTC"): INSTANTS.map(lambda t: t.replace(tzinfo=dt.UTC)),
    pa.decimal128(6, 2): st.sampled_from([Decimal("1.50"), Decimal("2.00")]),
    pa.dictionary(pa.int8(), pa.string()): st.sampled_from(["x", "y"]),
    pa.list_(pa.float64()): st.sampled_from([[1.0], [], [math.nan]]),
}
TIMES = [
    *map(pa.timestamp, UNITS),
    *(pa.timestamp(unit, "America/New_York") for unit in UNITS),
    pa.date32(),
    pa.date64(),
]
ORDERS: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.int32(): st.integers(-5, 5),
    pa.uint64(): st.integers(2**63 - 2, 2**63 + 2),
    pa.float64(): st.sampled_from([0.0, -0.0, 1.0, -1.0, math.nan, math.inf, -math.inf]),
    pa.string(): TEXTS,
    pa.bool_(): st.booleans(),
    pa.decimal128(6, 2): st.sampled_from([Decimal("1.50"), Decimal("-2.00")]),
}


@st.composite
def columns(
    draw: st.DrawFn,
    data_type: pa.DataType,
    values: st.SearchStrategy[Any],
    size: int,
    nulls: bool | None = None,
) -> pa.Array:
    """A column of a few values, with nulls or without.

    Which of the values a row has is drawn for all rows at once: hypothesis takes as long for a
    string of bytes as for one number.
    """
    if nulls is None:
        nulls = draw(st.booleans())
    few = draw(st.lists(values, min_size=1, max_size=MOST_VALUES))
    if nulls:
        few.append(None)
    places = draw(st.binary(min_size=size, max_size=size))
    return pa.array([few[place % len(few)] for place in places], data_type)


@st.composite
def time_columns(draw: st.DrawFn, data_type: pa.DataType, size: int) -> pa.Array:
    """Times a few ticks apart, many of them equal."""
    moments = draw(columns(pa.int64(), st.integers(-2, 8), size))
    if pa.types.is_date(data_type):
        return moments.cast(pa.int32()).view(pa.date32()).cast(data_type)
    return moments.view(data_type)


@st.composite
def cut(draw: st.DrawFn, table: pa.Table) -> pa.Table:
    """The same rows in several chunks, each a slice of something larger."""
    edges = sorted(draw(st.lists(st.integers(0, table.num_rows), max_size=3)))
    starts, stops = [0, *edges], [*edges, table.num_rows]
    padding = table.slice(0, 1)
    pieces = []
    for start, stop in zip(starts, stops, strict=True):
        piece = table.slice(start, stop - start)
        padded = pa.concat_tables([padding, piece, padding]).combine_chunks()
        pieces.append(padded.slice(padding.num_rows, piece.num_rows))
    return pa.concat_tables(pieces)


# Questions --------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Query:
    """A table and the arguments of `over`."""

    table: pa.Table
    key: list[str]
    order: list[str]
    windows: dict[str, Window]
    aggs: list[Measure]

    @property
    def arguments(self) -> dict[str, Any]:
        return {
            "key": self.key,
            "order": self.order,
            "windows": self.windows,
            "aggs": self.aggs,
        }

    def without_current_rows(self) -> Query:
        """The same without what is asked of the current row, if a window does not end there."""
        if all(window.ahead(1) == HERE for window in self.windows.values()):
            return self
        asked = [each for each in self.aggs if each.aggregation.name not in oracle.RANKED]
        return replace(self, aggs=asked or [wr.count("v")])

    def expected(self) -> dict[str, list[Any]]:
        return oracle.over(self.table, **self.arguments)

    def __repr__(self) -> str:
        types = ", ".join(f"{field.name}: {field.type}" for field in self.table.schema)
        return f"<{self.arguments} of {self.table.to_pydict()} ({types})>"

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:  # what hypothesis prints
        printer.text(repr(self))


def tick(data_type: pa.DataType) -> int:
    """The nanoseconds of one step of a time column."""
    if pa.types.is_timestamp(data_type):
        return oracle.NANOSECONDS[data_type.unit]
    return 86_400 * 10**9


@st.composite
def time_windows(draw: st.DrawFn, data_type: pa.DataType) -> TimeWindow:
    """A range of some half ticks, or a longer one than there is; or two, before and after."""
    lengths = st.integers(1, 16) | st.just(2 * 10**9)

    def drawn() -> str:
        return f"{max(1, draw(lengths) * tick(data_type) // 2)} nanoseconds"

    closed = draw(st.sampled_from(["right", "both", "left", "neither"]))
    around = draw(st.sampled_from([(), (), ("before",), ("after",), ("before", "after")]))
    if around:
        return wr.time(closed=closed, **{name: drawn() for name in around})
    return wr.time(drawn(), closed=closed, ties=draw(st.sampled_from(["rows", "peers"])))


#: times lie a few ticks or a few days apart, around the first day of a year
CALENDAR_WINDOWS = st.sampled_from(["1 day", "3 days", "1 month", "2 years"]).map(wr.calendar)


@st.composite
def session_windows(draw: st.DrawFn, data_type: pa.DataType) -> SessionWindow:
    """A gap of some half ticks, or a longer one than there is."""
    halves = draw(st.integers(1, 6) | st.just(2 * 10**9))
    return wr.session(f"{max(1, halves * tick(data_type) // 2)} nanoseconds")


#: measures that rise, fall and stand still
MEASURES: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.int8(): st.integers(-10, 10),
    pa.int64(): st.integers(-10, 10) | st.sampled_from([-(2**62), 2**62 - 2]),
    pa.uint64(): st.integers(1, 10) | st.just(2**63 - 1),
    pa.float32(): st.integers(-40, 40).map(lambda number: number / 4),
    pa.float64(): st.integers(-40, 40).map(lambda number: number / 4)
    | st.sampled_from([math.nan, math.inf, -math.inf]),
}
AMOUNTS = st.integers(1, 40).map(lambda number: number / 4) | st.just(2**70)
DELTA_WINDOWS = AMOUNTS.map(lambda amount: wr.delta("m", amount))
ROW_COUNTS = st.integers(0, MOST_ROWS + 2) | st.just(2**70)
ROWS_WINDOWS = st.one_of(
    ROW_COUNTS.filter(bool).map(wr.rows),
    ROW_COUNTS.filter(bool).map(lambda count: wr.rows(count, current=False)),
    st.builds(lambda before, after: wr.rows(before=before, after=after), ROW_COUNTS, ROW_COUNTS),
)


@st.composite
def waiting(draw: st.DrawFn, kinds: st.SearchStrategy[Window]) -> Window:
    """A window, and now and then how many rows or values it waits for."""
    window = draw(kinds)
    if draw(st.integers(0, 2)):
        return window
    most = min(window.most_rows or MOST_ROWS, 5)
    return window.with_min_rows(
        draw(st.integers(1, most)), draw(st.sampled_from(("rows", "values")))
    )


@st.composite
def queries(
    draw: st.DrawFn,
    value_type: pa.DataType | None = None,
    names: list[str] | None = None,
    nulls: bool | None = None,
    keys: dict[pa.DataType, st.SearchStrategy[Any]] = KEYS,
    timed: bool | None = None,
) -> Query:
    """Any table and any question; arguments that are given are not drawn."""
    size = draw(st.integers(0, MOST_ROWS))
    if value_type is None:
        value_type = draw(st.sampled_from(list(VALUES)))
    if names is None:
        names = draw(st.lists(st.sampled_from(applicable(value_type)), min_size=1, max_size=4))
    table: dict[str, Any] = {}
    key_types = draw(st.lists(st.sampled_from(list(keys)), max_size=2)) if keys else []
    for index, key_type in enumerate(key_types):
        table[f"k{index}"] = draw(columns(key_type, keys[key_type], size))
    if timed is None:
        timed = draw(st.booleans())
    if timed:
        order_type = draw(st.sampled_from(TIMES))
        table["o0"] = draw(time_columns(order_type, size))
    elif draw(st.booleans()):
        order_type = draw(st.sampled_from(list(ORDERS)))
        table["o0"] = draw(columns(order_type, ORDERS[order_type], size))
    if "o0" in table and draw(st.booleans()):
        table["o1"] = draw(columns(pa.int16(), st.integers(0, 3), size))
    table["v"] = draw(columns(value_type, VALUES[value_type], size, nulls))
    table["c"] = draw(columns(pa.string(), TEXTS, size))
    kinds = (
        ROWS_WINDOWS
        | DELTA_WINDOWS
        | st.sampled_from([wr.punctuated("p"), wr.expanding(), wr.whole()])
    )
    if timed:
        kinds |= time_windows(order_type) | session_windows(order_type) | CALENDAR_WINDOWS
    windows = draw(st.lists(waiting(kinds), min_size=1, max_size=3))
    if any(isinstance(window, DeltaWindow) for window in windows):
        measure_type = draw(st.sampled_from(list(MEASURES)))
        table["m"] = draw(columns(measure_type, MEASURES[measure_type], size))
    if any(isinstance(window, PunctuatedWindow) for window in windows):
        table["p"] = draw(columns(pa.bool_(), st.booleans(), size))
    return Query(
        table=draw(cut(pa.table(table))),
        key=[name for name in table if name.startswith("k")],
        order=[name for name in table if name.startswith("o")],
        windows={f"w{index}": window for index, window in enumerate(windows)},
        aggs=[measure(name) for name in dict.fromkeys(names)],
    )
