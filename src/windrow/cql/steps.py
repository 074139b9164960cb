"""What is done to rows before a call and to answers after it: filters and computed columns.

    rows -- Step(WHERE; price * quantity) --> wr.slide --> Step(HAVING; MAX(x) - MIN(x)) --> answers

A step is evaluated with Arrow on tables and batches, here; and on Spark's DataFrames by
`windrow.spark.expressions`, with the same functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from windrow.algebra.condition_expressions import Column
from windrow.algebra.conditions import Condition
from windrow.engine.columns import whole


@dataclass(frozen=True)
class Step:
    """Rows that stay, and columns that are computed of them.

    Attributes:
        filters: conditions; rows stay of which all are true.
        columns: expressions by the name of the column that they make.
        keeps: whether all columns stay that were there; else those that are computed alone.
    """

    filters: tuple[Condition, ...] = ()
    columns: Mapping[str, Condition] = field(default_factory=dict)
    keeps: bool = True

    @property
    def is_idle(self) -> bool:
        """Whether it changes nothing."""
        return self.keeps and not self.filters and not self.columns

    def check(self, schema: pa.Schema) -> None:
        """Refuse columns that are not there, or of types that do not go together."""
        for condition in self.filters:
            condition.check(schema)
        for expression in self.columns.values():
            expression.type_in(schema)

    def apply(self, table: pa.Table) -> pa.Table:
        """The rows that stay, with their columns."""
        for condition in self.filters:
            table = _without_views(table).filter(_column(condition, table))
        if self.is_idle or not self.columns:
            return table
        computed = [_column(each, table) for each in self.columns.values()]
        names = list(self.columns)
        if self.keeps:
            computed = [*table.columns, *computed]
            names = [*table.column_names, *names]
        return pa.Table.from_arrays(computed, names)


def _column(expression: Condition, table: pa.Table) -> Any:
    """What an expression is for each row; a column by itself stays as it is."""
    if isinstance(expression.root, Column):
        return table[expression.root.name]
    found = expression.evaluate({name: whole(table[name]) for name in expression.columns})
    return pa.repeat(found, table.num_rows) if isinstance(found, pa.Scalar) else found


def _without_views(table: pa.Table) -> pa.Table:
    """The table with columns that Arrow can filter, as it cannot filter views of texts."""
    for place, each in enumerate(table.schema):
        if pa.types.is_string_view(each.type) or pa.types.is_binary_view(each.type):
            table = table.set_column(place, each.name, whole(table[place]))
    return table
