"""Measures: aggregations of named columns, as `wr.over` and `wr.slide` take them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from windrow.algebra.condition_text import parse
from windrow.algebra.conditions import Condition, Spelling
from windrow.errors import InvalidArgument

if TYPE_CHECKING:
    from windrow.algebra.aggregation import Aggregation


@dataclass(frozen=True)
class Measure:
    """An aggregation of named columns, of the rows that a condition is true of, and its name.

    >>> import windrow as wr
    >>> wr.sum("amount").where("ok").alias("good")
    sum('amount') where ok as good
    """

    aggregation: Aggregation
    columns: tuple[str, ...]
    name: str
    condition: Condition | None = None

    def alias(self, name: str) -> Measure:
        """The same measure under another name."""
        if not isinstance(name, str) or not name:
            raise InvalidArgument(f"alias: a result is named by a non-empty string, not {name!r}")
        return replace(self, name=name)

    def where(self, condition: str) -> Measure:
        """The same of those rows alone of which a condition is true.

        Args:
            condition: a part of SQL: arithmetic, comparisons, `and`, `or`, `not`, `is null`, `in`,
                `between`, `like`, times and durations; or the name of a column of truth values.
                docs/conditions.md has the grammar.

        Raises:
            InvalidArgument: if the condition cannot be read; the message shows where.

        >>> import windrow as wr
        >>> wr.sum("amount").where("status = 'ok' and amount > 3")
        sum('amount') where status = 'ok' and amount > 3 as sum_amount
        """
        if not isinstance(condition, str):
            raise InvalidArgument(f"where: a condition is a text, not {condition!r}")
        parsed = parse(condition)
        return replace(
            self, condition=parsed if self.condition is None else self.condition & parsed
        )

    def ordered_by(self, order: Sequence[str]) -> Measure:
        """The same in a call that orders rows so: the order column is in the place left for it."""
        missing = self.aggregation.inputs[len(self.columns) :]
        if order and missing and missing[0].by_order:
            return replace(self, columns=(*self.columns, order[0]))
        return self

    def with_columns(self, spelling: Spelling) -> Measure:
        """The same measure under the same name, of columns of other names."""
        condition = self.condition and self.condition.with_columns(spelling)
        return replace(self, columns=tuple(map(spelling, self.columns)), condition=condition)

    def require_no_condition(self, argument: str) -> None:
        """Refuse a condition where it would not be looked at."""
        if self.condition is not None:
            raise InvalidArgument(
                f"{argument}: a condition on columns is for the rows of wr.over and wr.slide; "
                "here, leave out the events that do not count, or insert whether it holds"
            )

    def over_distinct(self) -> Measure:
        """The same of the different values of the column, each taken once.

        >>> import windrow as wr
        >>> window = wr.Window(wr.count("user").over_distinct())
        >>> window.insert_many(["ann", "bob", "ann"])
        >>> window.query()
        2
        """
        from windrow.algebra.distinct import over_distinct  # which is made of aggregations

        distinct = over_distinct(self.aggregation)
        name = self.name
        if name == "_".join((self.aggregation.name, *self.columns)):
            name = "_".join((distinct.name, *self.columns))
        return replace(self, aggregation=distinct, name=name)

    def __repr__(self) -> str:
        inputs = ", ".join(map(repr, self.columns))
        condition = "" if self.condition is None else f" where {self.condition}"
        return f"{self.aggregation.name}({inputs}){condition} as {self.name}"
