"""A compiled aggregation whose order matters, and what a window of it has to answer."""

from collections.abc import Sequence
from functools import reduce
from typing import Any

import windrow as wr
from windrow.element.stored_window import StoredWindow
from windrow.stores import Store

MODULUS = 2**31 - 1


def lift(value: Any) -> Any:
    return ((2 * value + 3) % MODULUS, (value + 1) % MODULUS)


def combine(older: Any, newer: Any) -> Any:
    slope = (older[0] * newer[0]) % MODULUS
    return (slope, (newer[0] * older[1] + newer[1]) % MODULUS)


def offset(line: Any) -> Any:
    return line[1]


#: x -> slope * x + offset, one after the other, in exact integers
AFFINE = wr.aggregation(name="affine", identity=(1, 0), lift=lift, combine=combine, lower=offset)


def fold(lines: Sequence[Any]) -> Any:
    return reduce(combine, lines, (1, 0))


def expected(events: Sequence[int]) -> Any:
    return offset(fold([lift(event) for event in events])) if events else None


def open_window(store: Store, name: str = "w", **options: Any) -> StoredWindow:
    """A window that flushes when it is told to, in blocks so small that trees are high."""
    options = {"block": 4, "flush_every": None, "flush_seconds": None, **options}
    return wr.Window.open(store, name, AFFINE, types="int64", **options)
