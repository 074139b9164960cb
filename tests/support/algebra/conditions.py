"""A table that conditions are asked about, and the rows of it that one is true of."""

import datetime as dt
from decimal import Decimal

import pyarrow as pa

from windrow.algebra.condition_text import parse

TABLE = pa.table(
    {
        "n": pa.array([1, 2, None, 4, -5]),
        "x": [0.5, None, 2.5, 3.5, -1.0],
        "name": ["a", "it's", None, "b", "c"],
        "ok": [True, False, None, True, False],
        "price": pa.array([Decimal("1.50"), None, Decimal("2.00"), Decimal("9.99"), Decimal(0)]),
        "ts": pa.array([dt.datetime(2024, 5, day) for day in range(1, 6)], pa.timestamp("us")),
        "day": pa.array([dt.date(2024, 5, day) for day in range(1, 6)]),
        "two words": [1, 2, 3, 4, 5],
    }
)


def true_of(text: str, table: pa.Table = TABLE) -> list[int]:
    """The rows that a condition is true of, by Arrow."""
    condition = parse(text)
    condition.check(table.schema)
    columns = {name: table[name].combine_chunks() for name in table.column_names}
    found = condition.evaluate(columns)
    if isinstance(found, pa.Scalar):
        found = pa.repeat(found, table.num_rows)
    return [row for row, truth in enumerate(found.to_pylist()) if truth]
