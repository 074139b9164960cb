"""A call as plain data, and the source text of it.

What runs is the text: what a report shows is what was called.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

import pyarrow as pa

from tests.fuzz.columns import Column


class Nanoseconds(int):
    """A duration."""

    def __repr__(self) -> str:
        return f"Nanoseconds({int(self)})"


@dataclass(frozen=True)
class CalendarLength:
    """So many days, weeks, months, quarters or years."""

    number: int
    unit: str


@dataclass(frozen=True)
class Function:
    """A function that is given by its name."""

    name: str


@dataclass(frozen=True)
class Window:
    """A window: the name of its function under `wr.` and its arguments."""

    kind: str
    arguments: tuple[Any, ...]
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def reads(self) -> set[str]:
        """The columns that it measures by."""
        if self.kind == "policies.joined":
            return set().union(*(each.reads for each in self.arguments))
        return {each for each in self.arguments if isinstance(each, str)}

    def get(self, name: str) -> Any:
        """An option, or None."""
        return dict(self.options).get(name)

    @property
    def source(self) -> str:
        """The window as one writes it."""
        if self.kind == "policies.joined":
            return " | ".join(each.source for each in self.arguments)
        return f"wr.{self.kind}({_arguments(self.arguments, dict(self.options))})"


@dataclass(frozen=True)
class Condition:
    """A condition on rows: an operator and what it is applied to.

    Operators are `and`, `or`, `not`, comparisons, `is null`, `in`, `between`, `like`, `remainder`
    (by 3) and `column`; operands are conditions, names of columns and literals.
    """

    operator: str
    operands: tuple[Any, ...]

    @property
    def source(self) -> str:
        """The condition as a text of SQL."""
        first, *others = self.operands
        if self.operator in ("and", "or"):
            return f"({first.source}) {self.operator} ({others[0].source})"
        if self.operator == "not":
            return f"not ({first.source})"
        if self.operator == "column":
            return str(first)
        if self.operator == "is null":
            return f"{first} is null"
        if self.operator == "between":
            return f"{first} between {_literal(others[0])} and {_literal(others[1])}"
        if self.operator == "remainder":
            return f"2 + {first} % 3 = 2 + {others[0]}"
        if self.operator == "in":
            return f"{first} in ({', '.join(map(_literal, others))})"
        return f"{first} {self.operator} {_literal(others[0])}"

    @property
    def columns(self) -> set[str]:
        """The columns that it reads."""
        if self.operator in ("and", "or", "not"):
            return set().union(*(each.columns for each in self.operands))
        return {self.operands[0]}


def _literal(value: Any) -> str:
    return f"'{value}'" if isinstance(value, str) else str(value).lower()


#: an aggregation of one's own: the deepest fall from a value to a later one
OWN = """wr.aggregation(
        name="own",
        identity=(inf, -inf, 0.0),
        lift=lambda value: (value, value, 0.0),
        combine=lambda older, newer: (
            min(older[0], newer[0]),
            max(older[1], newer[1]),
            max(older[2], newer[2], older[1] - newer[0]),
        ),
        lower=lambda partial: partial[2],
    )"""


@dataclass(frozen=True)
class Measure:
    """An aggregation of columns."""

    name: str
    columns: tuple[str, ...]
    alias: str
    parameters: tuple[tuple[str, Any], ...] = ()
    where: Condition | None = None
    distinct: bool = False

    @property
    def source(self) -> str:
        """The measure as one writes it."""
        function = OWN if self.name == "own" else f"wr.{self.name}"
        columns = self.columns
        if "since_last" in self.name:  # which takes conditions, in which names may be quoted
            columns = (f'"{columns[0]}"', *columns[1:])
        text = f"{function}({_arguments(columns, dict(self.parameters))})"
        text += ".over_distinct()" if self.distinct else ""
        text += f".where({self.where.source!r})" if self.where else ""
        return f"{text}.alias({self.alias!r})"

    @property
    def reads(self) -> set[str]:
        """The columns that it reads."""
        return {*self.columns, *(self.where.columns if self.where else ())}


@dataclass(frozen=True)
class Call:
    """`wr.over` or `wr.slide` of a table."""

    function: str
    columns: dict[str, Column]
    key: tuple[str, ...]
    order: tuple[str, ...]
    windows: tuple[Window, ...]
    aggs: tuple[Measure, ...]
    options: dict[str, Any] = field(default_factory=dict)
    #: whether a single window is given with its name
    named: bool = False

    @property
    def shows_names(self) -> bool:
        """Whether results tell windows apart by name."""
        return self.named or len(self.windows) > 1

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(next(iter(self.columns.values())).values)

    @property
    def names(self) -> list[str]:
        """The names of the windows."""
        return [f"w{index}" for index in range(len(self.windows))]

    @property
    def table_source(self) -> str:
        """The table as one writes it."""
        columns = (f"    {name!r}: {column.source},\n" for name, column in self.columns.items())
        return f"pa.table({{\n{''.join(columns)}}})"

    @property
    def arguments_source(self) -> str:
        """All arguments but the data, as one writes them."""
        named = zip(self.names, self.windows, strict=True)
        windows = ", ".join(f"{name!r}: {window.source}" for name, window in named)
        given = {
            "key": repr(list(self.key)) if self.key else "None",
            "order": repr(list(self.order)) if self.order else "None",
            "windows": f"{{{windows}}}" if self.shows_names else self.windows[0].source,
            "aggs": f"[{', '.join(measure.source for measure in self.aggs)}]",
            **{name: repr(value) for name, value in self.options.items()},
        }
        return "".join(f"    {name}={value},\n" for name, value in given.items())

    def table(self) -> pa.Table:
        """The table."""
        return evaluated(self.table_source)

    def arguments(self) -> dict[str, Any]:
        """All arguments but the data."""
        arguments: dict[str, Any] = evaluated(f"dict(\n{self.arguments_source})")
        return arguments

    def take(self, rows: list[int]) -> Call:
        """The same call of some of its rows."""
        columns = {name: column.take(rows) for name, column in self.columns.items()}
        return replace(self, columns=columns)


def evaluated(source: str) -> Any:
    """What a text says."""
    import windrow as wr

    names = {"pa": pa, "wr": wr, "Decimal": Decimal, "nan": math.nan, "inf": math.inf}
    return eval(source, names)


def _arguments(given: tuple[Any, ...], named: dict[str, Any]) -> str:
    named_ones = (f"{name}={_written(value)}" for name, value in named.items())
    return ", ".join([*map(_written, given), *named_ones])


def _written(value: Any) -> str:
    if isinstance(value, Nanoseconds):
        return repr(f"{int(value)} nanoseconds")
    if isinstance(value, CalendarLength):
        return repr(f"{value.number} {value.unit}{'s' if value.number > 1 else ''}")
    return value.name if isinstance(value, Function) else repr(value)
