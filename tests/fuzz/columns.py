"""Random columns as plain data: an Arrow type, values, chunks.

A column is a list of plain values, so that the model can read it, shrinking can change it and a
script can show it. Times are counted in ticks of their type, because Python's own times are coarser
than Arrow's and end where Arrow's do not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa

UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
DAY = 86_400 * 10**9

#: the types of each kind, as one writes them
TYPES: dict[str, tuple[str, ...]] = {
    "boolean": ("pa.bool_()",),
    "integer": (
        *("pa.int64()", "pa.int32()", "pa.int16()", "pa.int8()"),
        *("pa.uint8()", "pa.uint16()", "pa.uint32()", "pa.uint64()"),
    ),
    "float": ("pa.float64()", "pa.float32()"),
    "decimal": ("pa.decimal128(6, 2)", "pa.decimal128(38, 0)", "pa.decimal256(50, 2)"),
    "text": (
        *("pa.string()", "pa.large_string()", "pa.string_view()"),
        *("pa.binary()", "pa.large_binary()", "pa.binary_view()"),
    ),
    "temporal": (
        *(f"pa.timestamp({unit!r})" for unit in UNITS),
        *(f"pa.timestamp({unit!r}, 'America/New_York')" for unit in UNITS),
        *("pa.date32()", "pa.date64()"),
        *("pa.time32('s')", "pa.time64('us')"),
    ),
    "duration": tuple(f"pa.duration({unit!r})" for unit in UNITS),
    "nested": (
        *("pa.list_(pa.int64())", "pa.struct({'x': pa.int64()})"),
        "pa.list_(pa.struct({'x': pa.string()}))",
    ),
}
KINDS = {name: kind for kind, names in TYPES.items() for name in names}
KINDS |= {f"pa.timestamp({unit!r}, 'UTC')": "temporal" for unit in UNITS}
#: kinds whose values are ticks
IN_TICKS = ("temporal", "duration")
#: what a window of time may measure by
TIMES = tuple(name for name in TYPES["temporal"] if "timestamp" in name or "date" in name)

TEXTS = ("", "a", "b", "B", "ab", "é", "日", "🌾", "a", "b")
SPECIAL = (math.nan, math.inf, -math.inf, -0.0, 0.0)
WILD = (1e300, -1e300, 5e-324, 1e16, 0.1, 2.0**53)


@dataclass(frozen=True)
class Column:
    """A column.

    Attributes:
        type: as one writes it.
        values: plain values; those of times are ticks.
        cuts: where its second and later chunks begin.
        encoded: whether each chunk has a dictionary of its own.
        style: how its values were drawn; floats may be "plain", "special" or "wild".
    """

    type: str
    values: tuple[Any, ...]
    cuts: tuple[int, ...] = ()
    encoded: bool = False
    style: str = "plain"

    @property
    def kind(self) -> str:
        """What aggregations know of its type."""
        return KINDS[self.type]

    @property
    def in_ticks(self) -> bool:
        """Whether its values are ticks."""
        return self.kind in IN_TICKS

    @property
    def tick(self) -> int:
        """The nanoseconds of one step of a time column."""
        return tick_of(self.type)

    @property
    def source(self) -> str:
        """The column as one writes it."""
        ends = [*self.cuts, len(self.values)]
        chunks = [
            self._chunk(self.values[begin:end])
            for begin, end in zip([0, *self.cuts], ends, strict=True)
        ]
        return chunks[0] if len(chunks) == 1 else f"pa.chunked_array([{', '.join(chunks)}])"

    def _chunk(self, values: tuple[Any, ...]) -> str:
        if self.in_ticks:
            stored = "pa.int32()" if "32" in self.type else "pa.int64()"
            text = f"pa.array({list(values)!r}, {stored}).cast({self.type})"
        else:
            text = f"pa.array({list(values)!r}, {self.type})"
        return f"{text}.dictionary_encode()" if self.encoded else text

    def take(self, rows: list[int]) -> Column:
        """Some of its rows, in one chunk."""
        return replace(self, values=tuple(self.values[row] for row in rows), cuts=())


def tick_of(name: str) -> int:
    """The nanoseconds of one step of a time type."""
    if name == "pa.date32()":
        return DAY
    if name == "pa.date64()":
        return UNITS["ms"]
    return UNITS[name.split("'")[1]]


def step_of(name: str) -> int:
    """The nanoseconds between two times that a type can tell apart."""
    return DAY if "date" in name else tick_of(name)


# Drawing ----------------------------------------------------------------------------------------


def draw_column(
    random: Random, name: str, size: int, style: str | None = None, pace: int = 1
) -> Column:
    """A column of a type, with nulls or without, in one chunk; times lie `pace` steps apart."""
    style = style or random.choice(("plain", "plain", "special", "wild"))
    draw = (
        _moments(random, name, pace) if KINDS[name] in IN_TICKS else _drawing(random, name, style)
    )
    nulls = random.choice((0.0, 0.0, 0.2, 0.6, 1.0 if random.random() < 0.1 else 0.2))
    values = tuple(None if random.random() < nulls else draw() for _ in range(size))
    return Column(name, values, style=style)


def _drawing(random: Random, name: str, style: str) -> Any:
    """A function that draws a value of a type."""
    kind = KINDS[name]
    if kind == "boolean":
        return lambda: random.random() < 0.5
    if kind == "integer":
        return lambda: _integer(random, name, style)
    if kind == "float":
        return lambda: _float(random, name, style)
    if kind == "decimal":
        scale = 2 if name.endswith(", 2)") else 0
        most = 999_999 if style != "plain" and scale else 300
        far = (10**37 + 1, -(10**37) - 3) if style == "wild" and "6" not in name else ()
        return lambda: Decimal(
            random.choice((random.randint(-most, most), random.randint(-2, 2), *far))
        ).scaleb(-scale)
    if kind == "text":
        return lambda: random.choice(TEXTS).encode() if "binary" in name else random.choice(TEXTS)
    if "string" in name:
        return lambda: random.choice(([], [{"x": "a"}], [{"x": None}, None], [{"x": "é"}]))
    if "list" in name:
        return lambda: random.choice(([], [1], [1, None], [2, 3]))
    return lambda: random.choice(({"x": 1}, {"x": None}, {"x": 2}))


def _integer(random: Random, name: str, style: str) -> int:
    bits = int("".join(filter(str.isdigit, name)))
    unsigned = "uint" in name
    low, high = (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    if style == "wild" and random.random() < 0.3:
        # Unsigned numbers beyond 63 bits are refused, as the limits say.
        return random.choice((low, min(high, 2**63 - 1), min(high, 2**62), high // 2))
    return random.randint(max(low, -3), 3 if random.random() < 0.7 else min(high, 100))


def _float(random: Random, name: str, style: str) -> float:
    if style != "plain" and random.random() < 0.25:
        return random.choice(SPECIAL)
    if style == "wild" and random.random() < 0.3 and name == "pa.float64()":
        return random.choice(WILD)
    # Quarters: the difference of two of them is exact even with 32 bits, and ties are common.
    return random.randint(-8, 8) / 4 if random.random() < 0.6 else random.randint(-4000, 4000) / 4


def _moments(random: Random, name: str, pace: int) -> Any:
    """Times a few steps apart: around 1970, before it, or far behind it."""
    step = step_of(name) // tick_of(name) * pace
    begin = random.choice((0, -1000, 1_329_868_800 * 10**9 // tick_of(name) // step))
    if "duration" in name or "time32" in name or "time64" in name:
        begin = 2 if "time" in name else 0
    return lambda: (begin + random.randint(-2, 8)) * step


def draw_cuts(random: Random, size: int) -> tuple[int, ...]:
    """Where chunks begin; some are empty."""
    count = random.choice((0, 0, 1, 2, 3))
    return tuple(sorted(random.randint(0, size) for _ in range(count)))


# From Arrow to plain values ---------------------------------------------------------------------


def plain(column: pa.ChunkedArray | pa.Array) -> list[Any]:
    """The values of a column, times as ticks."""
    if isinstance(column, pa.ChunkedArray):
        return [value for chunk in column.chunks for value in plain(chunk)]
    kind = column.type
    if pa.types.is_dictionary(kind):
        # By hand: Arrow cannot decode views.
        values = plain(column.dictionary)
        return [None if index is None else values[index] for index in column.indices.to_pylist()]
    if pa.types.is_temporal(kind):
        wide = pa.int32() if kind.bit_width == 32 else pa.int64()
        return column.view(wide).to_pylist() if len(column) else []
    if pa.types.is_struct(kind):
        fields = [plain(column.field(index)) for index in range(kind.num_fields)]
        names = [field.name for field in kind]
        return [
            dict(zip(names, values, strict=True)) if valid else None
            for valid, *values in zip(column.is_valid().to_pylist(), *fields, strict=True)
        ]
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        # Offsets count from the beginning of what a slice was cut from.
        values, offsets = plain(column.values), column.offsets.to_pylist()
        return [
            values[begin:end] if valid else None
            for valid, begin, end in zip(
                column.is_valid().to_pylist(), offsets[:-1], offsets[1:], strict=True
            )
        ]
    return column.to_pylist()
