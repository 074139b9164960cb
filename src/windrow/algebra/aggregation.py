"""Aggregations as users name them, and measures: aggregations of named columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from windrow.algebra.equality import close
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Monoid
from windrow.errors import InvalidArgument

NUMBERS = frozenset({Kind.BOOLEAN, Kind.INTEGER, Kind.FLOAT, Kind.DECIMAL, Kind.ANY})
ORDERABLE = NUMBERS | {Kind.TEMPORAL, Kind.TEXT}
ANYTHING = frozenset(Kind)


@dataclass(frozen=True)
class Input:
    """One input of an aggregation.

    Attributes:
        name: the role of the input, for messages.
        accepts: the kinds that it may be.
        carried: the value is handed through to the answer and never looked at, so a kernel carries
            the position of its row in its place. A carried input may be null.
        optional: the input may be left out.
    """

    name: str
    accepts: frozenset[Kind] = ANYTHING
    carried: bool = False
    optional: bool = False


@dataclass(frozen=True, eq=False)
class Aggregation:
    """A named aggregation: one monoid for each combination of input kinds.

    Calling it with column names makes a measure for `wr.over`:

    >>> import windrow as wr
    >>> wr.max("amount")
    max('amount') as max_amount
    """

    name: str
    inputs: tuple[Input, ...]
    monoid_for: Callable[[tuple[Kind, ...]], Monoid]
    equal: Callable[[Any, Any], bool] = close
    summary: str = ""
    #: made by a user with `wr.aggregation`, and so compiled only if numba can
    custom: bool = False

    def __call__(self, *columns: str, alias: str | None = None) -> Measure:
        """This aggregation of the named columns."""
        for column in columns:
            if not isinstance(column, str):
                raise InvalidArgument(
                    f"{self.name}(...): columns are given by name, as strings, not {column!r}"
                )
        least = sum(not entry.optional for entry in self.inputs)
        if columns and not least <= len(columns) <= len(self.inputs):
            roles = ", ".join(entry.name for entry in self.inputs)
            plural = "s" if len(self.inputs) > 1 else ""
            raise InvalidArgument(
                f"{self.name}(...) takes {len(self.inputs)} column{plural} ({roles}), "
                f"not {len(columns)}: {', '.join(columns)}"
            )
        measure = Measure(self, columns, "_".join((self.name, *columns)))
        return measure if alias is None else measure.alias(alias)

    def __repr__(self) -> str:
        return f"<aggregation {self.name}>"


@dataclass(frozen=True)
class Measure:
    """An aggregation of named columns, and the name of its answer."""

    aggregation: Aggregation
    columns: tuple[str, ...]
    name: str

    def alias(self, name: str) -> Measure:
        """The same measure under another name."""
        if not isinstance(name, str) or not name:
            raise InvalidArgument(f"alias: a result is named by a non-empty string, not {name!r}")
        return replace(self, name=name)

    def __repr__(self) -> str:
        inputs = ", ".join(map(repr, self.columns))
        return f"{self.aggregation.name}({inputs}) as {self.name}"
