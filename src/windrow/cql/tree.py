"""What a query is made of: statements, items, windows, aggregates.

    Query                     SELECT ISTREAM(MAX(len) - MIN(len) AS spread)
     +- Statement               |            |         |
         +- items: Item         +- stream    +---------+- Aggregate, in an expression
         +- windows: WindowText       FROM calls [RANGE 24 HOURS SLIDE 1 MINUTE]
         +- where, having             WHERE len > 0 GROUP BY region HAVING COUNT(*) > 3

Expressions are those of conditions (`windrow.algebra.condition_expressions`), with `Aggregate` as
one more operand. Every class writes itself: what `str` gives is parsed as the same tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from windrow.algebra.condition_expressions import ATOM, Column
from windrow.algebra.condition_literals import Literal
from windrow.algebra.condition_tokens import KEYWORDS
from windrow.cql.tokens import RESERVED

_WORD = re.compile(r"[^\W\d]\w*")


def name_text(name: str) -> str:
    """A name as a query writes it: in quotes if it is no plain word, or a reserved one."""
    if _WORD.fullmatch(name) and name.lower() not in KEYWORDS | RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


@dataclass(frozen=True)
class Name(Column):
    """A column, with its place in the text."""

    place: int = field(default=0, compare=False)

    @property
    def text(self) -> str:
        """Its name, in quotes if a query needs them."""
        return name_text(self.name)


@dataclass(frozen=True)
class Aggregate:
    """An aggregation of expressions: `QUANTILE(DISTINCT x * 2, 0.5) FILTER (WHERE ok)`.

    Attributes:
        name: the aggregation, as it is written.
        arguments: columns, then parameters.
        options: parameters by name.
        distinct: whether equal values count once.
        condition: the expression of FILTER.
    """

    name: str
    arguments: tuple[Any, ...]
    options: tuple[tuple[str, Literal], ...] = ()
    distinct: bool = False
    condition: Any = None
    place: int = field(default=0, compare=False)
    binds: ClassVar[int] = ATOM

    @property
    def operands(self) -> tuple[Any, ...]:
        """What it is made of."""
        return (*self.arguments, *(() if self.condition is None else (self.condition,)))

    @property
    def text(self) -> str:
        """How it is written."""
        given = [each.text for each in self.arguments] + _options(self.options)
        distinct = "DISTINCT " if self.distinct else ""
        inner = "*" if self.name.lower() == "count" and not given else ", ".join(given)
        condition = "" if self.condition is None else f" FILTER (WHERE {self.condition.text})"
        return f"{name_text(self.name)}({distinct}{inner}){condition}"


@dataclass(frozen=True)
class Item:
    """One thing that is selected, and its name; without an expression, `*`."""

    expression: Any
    alias: str | None = None
    place: int = field(default=0, compare=False)

    @property
    def text(self) -> str:
        """How it is written."""
        written = "*" if self.expression is None else self.expression.text
        return written if self.alias is None else f"{written} AS {name_text(self.alias)}"


@dataclass(frozen=True)
class WindowText:
    """A window in brackets.

    Attributes:
        kind: "rows", "range", "delta", "punctuated", "session", "policy", "calendar" or
            "unbounded".
        extent: rows as an integer, a duration as text, or the amount of a delta.
        column: the column of a delta or of marks, or the name of a policy.
        slide: rows as an integer, or a duration as text.
        order: the columns of ON.
        partition: the columns of PARTITION BY.
        options: what else the call of the window takes.
        name: what its results are called by.
    """

    kind: str
    extent: Any = None
    column: str | None = None
    slide: int | str | None = None
    order: tuple[Name, ...] = ()
    partition: tuple[Name, ...] = ()
    options: tuple[tuple[str, Literal], ...] = ()
    name: str | None = None
    place: int = field(default=0, compare=False)

    @property
    def text(self) -> str:
        """How it is written."""
        parts = [f"PARTITION BY {_names(self.partition)}"] if self.partition else []
        parts.append("PUNCTUATED BY" if self.kind == "punctuated" else self.kind.upper())
        if self.column is not None:
            parts.append(name_text(self.column))
        if self.extent is not None:
            amount = self.extent
            parts.append(Literal(amount).text if not isinstance(amount, str) else amount.upper())
        if self.slide is not None:
            parts.append(f"SLIDE {str(self.slide).upper()}")
        if self.order:
            parts.append(f"ON {_names(self.order)}")
        inner = ", ".join([" ".join(parts), *_options(self.options)])
        return f"[{inner}]" + ("" if self.name is None else f" AS {name_text(self.name)}")


@dataclass(frozen=True)
class Statement:
    """`SELECT ... FROM ...`: what to compute, over which windows of which table."""

    items: tuple[Item, ...]
    table: Name
    windows: tuple[WindowText, ...] = ()
    stream: str | None = None
    where: Any = None
    keys: tuple[Name, ...] = ()
    having: Any = None
    place: int = field(default=0, compare=False)

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        """The different aggregates of items and HAVING, in the order of the text."""
        found: dict[Aggregate, None] = {}
        for root in (*(item.expression for item in self.items), self.having):
            found |= {each: None for each in parts_of(root) if isinstance(each, Aggregate)}
        return tuple(found)

    @property
    def text(self) -> str:
        """How it is written, a clause on each line."""
        items = ", ".join(item.text for item in self.items)
        windows = ", ".join(window.text for window in self.windows)
        lines = [
            f"SELECT {items}" if self.stream is None else f"SELECT {self.stream.upper()}({items})",
            f"FROM {self.table.text} {windows}".rstrip(),
        ]
        if self.where is not None:
            lines.append(f"WHERE {self.where.text}")
        if self.keys:
            lines.append(f"GROUP BY {_names(self.keys)}")
        if self.having is not None:
            lines.append(f"HAVING {self.having.text}")
        return "\n".join(lines)


def parts_of(root: Any) -> Iterator[Any]:
    """An expression and all that it is made of, in the order of the text."""
    unread = [] if root is None else [root]
    while unread:
        part = unread.pop()
        yield part
        unread += reversed(part.operands)


def _names(names: tuple[Name, ...]) -> str:
    return ", ".join(each.text for each in names)


def _options(options: tuple[tuple[str, Literal], ...]) -> list[str]:
    return [f"{name_text(name)} => {value.text}" for name, value in options]
