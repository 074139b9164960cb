"""Literals of conditions: numbers, texts, truth values, times and durations."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from windrow.algebra.durations import NANOSECONDS, nanoseconds, words
from windrow.errors import InvalidArgument

#: digits that Arrow's decimals have
MOST_DIGITS = 76
_UNITS = {"s": NANOSECONDS["second"], "ms": 10**6, "us": 10**3, "ns": 1}


@dataclass(frozen=True)
class Literal:
    """A value that stands in the text.

    A number with a point is a decimal; beside floats it becomes one (see `condition_values`).
    """

    value: Any
    operands: ClassVar[tuple[Any, ...]] = ()
    binds: ClassVar[int] = 8

    def evaluate(self, _columns: Any) -> Any:
        """The value as a scalar."""
        return pa.scalar(self.value)

    @property
    def text(self) -> str:
        """How it is written."""
        if isinstance(self.value, str):
            return "'" + self.value.replace("'", "''") + "'"
        if isinstance(self.value, bool):
            return str(self.value).lower()
        if isinstance(self.value, Decimal):
            return f"{self.value:f}"
        if isinstance(self.value, float) and math.isinf(self.value):
            return "1e999" if self.value > 0 else "-1e999"
        written = repr(self.value)
        # Without an exponent it would be read again as a decimal.
        is_plain = isinstance(self.value, float) and "e" not in written
        return f"{written}e0" if is_plain else written


def number(text: str) -> Any:
    """An integer, a float if there is an exponent, or a decimal if there is a point.

    An integer of more than 64 bits is a decimal too. Raises ValueError if a number has too many
    digits.
    """
    if re.search("[eE]", text):
        return float(text)
    if len(re.sub(r"[-.]|^-?0+", "", text)) > MOST_DIGITS:
        raise ValueError(f"a number has more than {MOST_DIGITS} digits")
    if "." in text:
        whole, _point, part = text.partition(".")
        return Decimal(f"{whole or '0'}.{part.rstrip('0') or '0'}")
    whole_number = int(text)
    return whole_number if -(2**63) <= whole_number < 2**63 else Decimal(whole_number)


@dataclass(frozen=True)
class Moment:
    """A timestamp or a date; one that names no zone is in that of what it stands beside."""

    kind: str
    written: str
    operands: ClassVar[tuple[Any, ...]] = ()
    binds: ClassVar[int] = 8

    @classmethod
    def of(cls, kind: str, text: str) -> Moment:
        """The moment that a text says, however it says it."""
        found = _date(text) if kind == "date" else _timestamp(text)
        if found is None:
            example = "2024-01-31" if kind == "date" else "2024-01-31 12:00:00"
            raise ValueError(f"{text!r} is no {kind}; write {kind} '{example}'")
        return cls(kind, found.cast(pa.string()).as_py())

    def evaluate(self, _columns: Any) -> Any:
        """The moment as a scalar."""
        return _date(self.written) if self.kind == "date" else _timestamp(self.written)

    @property
    def text(self) -> str:
        """How it is written."""
        return f"{self.kind} '{self.written}'"


@dataclass(frozen=True)
class Span:
    """A duration."""

    nanoseconds: int
    operands: ClassVar[tuple[Any, ...]] = ()
    binds: ClassVar[int] = 8

    @classmethod
    def of(cls, text: str) -> Span:
        """The duration that a text such as `1 hour 30 minutes` says."""
        try:
            return cls(nanoseconds(text, "interval"))
        except InvalidArgument as error:
            raise ValueError(str(error)) from None

    def evaluate(self, _columns: Any) -> Any:
        """The duration as a scalar, in the largest unit that does not round it."""
        unit = next(unit for unit, size in _UNITS.items() if self.nanoseconds % size == 0)
        return pa.scalar(self.nanoseconds // _UNITS[unit], pa.duration(unit))

    @property
    def text(self) -> str:
        """How it is written."""
        return f"interval '{words(self.nanoseconds)}'"


def _date(text: str) -> Any:
    return _first_cast(text, pa.date32())


def _timestamp(text: str) -> Any:
    """A timestamp in the largest unit that does not round it; of UTC if it names an offset."""
    return _first_cast(
        text, *(pa.timestamp(unit, zone) for zone in (None, "UTC") for unit in _UNITS)
    )


def _first_cast(text: str, *types: pa.DataType) -> Any:
    for data_type in types:
        try:
            return pa.scalar(text.strip()).cast(data_type)
        except pa.ArrowInvalid:
            continue
    return None


def time_of(text: Any, beside: pa.DataType) -> Any:
    """A text, or a column of texts, as what it says beside a column of times or durations."""
    if pa.types.is_duration(beside):
        if not isinstance(text, pa.Scalar):
            raise pa.ArrowTypeError(f"a column of texts and {beside}")
        return text if text.as_py() is None else Span.of(text.as_py()).evaluate({})
    if not isinstance(text, pa.Scalar):
        return _column_of_times(text, beside)
    if pa.types.is_time(beside) or text.as_py() is None:
        return text.cast(beside)
    found = _date(text.as_py()) if pa.types.is_date(beside) else None
    found = _timestamp(text.as_py()) if found is None else found
    if found is None:
        raise ValueError(f"{text.as_py()!r} is no time; write it as in '2024-01-31 12:00:00'")
    return found


def _column_of_times(texts: pa.Array, beside: pa.DataType) -> Any:
    try:
        return texts.cast(beside)
    except pa.ArrowInvalid:
        if getattr(beside, "tz", None) is None:
            raise
        return in_zone(texts.cast(pa.timestamp(beside.unit)), beside.tz)


def in_zone(local: Any, zone: str) -> Any:
    """Timestamps of a clock in a zone; the first of two, the next after a gap."""
    return pc.assume_timezone(local, zone, ambiguous="earliest", nonexistent="latest")
