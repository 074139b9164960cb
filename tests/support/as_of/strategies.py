"""Random queries and events, and random questions about them.

Both tables have the columns `k0`, `k1` (keys) and `o0` (order), in types that compare. Events have
also `o1` (a tie-breaker), `v` and `c` (what is aggregated); queries have `id`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

import windrow as wr
from tests.support.as_of import oracle
from tests.support.over.strategies import (
    CALENDAR_WINDOWS,
    KEYS,
    MOST_ROWS,
    ORDERS,
    ROWS_WINDOWS,
    TEXTS,
    TIMES,
    VALUES,
    applicable,
    columns,
    cut,
    measure,
    time_columns,
    time_windows,
    waiting,
)
from windrow.algebra.aggregation import Measure
from windrow.windows import Window

#: other types whose values compare with those of a type
ALIKE = {
    pa.int64(): [pa.int8(), pa.uint16(), pa.uint64(), pa.decimal128(7, 1)],
    pa.string(): [pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())],
    pa.float64(): [pa.float32()],
    pa.decimal128(6, 2): [pa.decimal128(9, 4), pa.decimal256(50, 2)],
    pa.timestamp("us", "UTC"): [pa.timestamp("ns", "Asia/Tokyo")],
    pa.dictionary(pa.int8(), pa.string()): [pa.string()],
    pa.date32(): [pa.date64(), pa.timestamp("s")],
    pa.timestamp("s"): [pa.timestamp("ms"), pa.date32()],
    pa.timestamp("us"): [pa.timestamp("ns")],
    pa.timestamp("ms", "America/New_York"): [pa.timestamp("us", "UTC")],
    pa.int32(): [pa.int64()],
}


@dataclass(frozen=True, repr=False)
class Asked:
    """Queries, events and the arguments of `as_of`."""

    queries: pa.Table
    events: pa.Table
    arguments: dict[str, Any]

    def expected(self) -> dict[str, list[Any]]:
        return oracle.as_of(self.queries, self.events, **self.arguments)

    def __repr__(self) -> str:
        def shown(table: pa.Table) -> str:
            types = ", ".join(f"{field.name}: {field.type}" for field in table.schema)
            return f"{table.to_pydict()} ({types})"

        return f"<{self.arguments} for {shown(self.queries)} of {shown(self.events)}>"

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:  # what hypothesis prints
        printer.text(repr(self))


@st.composite
def retyped(draw: st.DrawFn, column: pa.Array) -> pa.Array:
    """The column, or the same values in a type that compares with its own."""
    wanted = draw(st.sampled_from([column.type, *ALIKE.get(column.type, [])]))
    try:
        return column.cast(wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # not all values fit
        return column


@st.composite
def asked(draw: st.DrawFn, names: list[str] | None = None) -> Asked:
    """Any two tables and any question; `names` are the aggregations."""
    sizes = draw(st.integers(0, MOST_ROWS)), draw(st.integers(0, MOST_ROWS))
    tables: list[dict[str, Any]] = [{}, {}]
    for index, key_type in enumerate(draw(st.lists(st.sampled_from(list(KEYS)), max_size=2))):
        for table, size in zip(tables, sizes, strict=True):
            table[f"k{index}"] = draw(retyped(draw(columns(key_type, KEYS[key_type], size))))
    timed = draw(st.booleans())
    order_type = draw(st.sampled_from(TIMES if timed else list(ORDERS)))
    for table, size in zip(tables, sizes, strict=True):
        if timed:
            table["o0"] = draw(retyped(draw(time_columns(order_type, size))))
        else:
            table["o0"] = draw(retyped(draw(columns(order_type, ORDERS[order_type], size))))
    queries, events = tables
    queries["id"] = range(sizes[0])
    value_type = draw(st.sampled_from(list(VALUES)))
    if names is None:
        names = draw(st.lists(st.sampled_from(applicable(value_type)), min_size=1, max_size=4))
    else:
        value_type = pa.float64()
    if draw(st.booleans()):
        events["o1"] = draw(columns(pa.int16(), st.integers(0, 3), sizes[1]))
    events["v"] = draw(columns(value_type, VALUES[value_type], sizes[1]))
    events["c"] = draw(columns(pa.string(), TEXTS, sizes[1]))
    kinds: Any = ROWS_WINDOWS | st.sampled_from([wr.expanding(), wr.whole()])
    if timed:
        kinds |= time_windows(order_type) | CALENDAR_WINDOWS
    windows: list[Window] = draw(st.lists(waiting(kinds), min_size=1, max_size=3))
    aggs: list[Measure] = [measure(name) for name in dict.fromkeys(names)]
    return Asked(
        draw(cut(pa.table(queries))),
        draw(cut(pa.table(events))),
        {
            "key": [name for name in events if name.startswith("k")],
            "order": [name for name in events if name.startswith("o")],
            "windows": {f"w{index}": window for index, window in enumerate(windows)},
            "aggs": aggs,
        },
    )
