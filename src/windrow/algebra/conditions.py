"""Conditions on rows, as text: `status = 'ok' and not (amount is null or price * amount > 100)`.

SQL's language of conditions without its functions: arithmetic, comparisons, `and`, `or`, `not`,
`is null`, `in`, `between`, `like`, columns and literals; `docs/conditions.md` has the grammar. Text
is parsed when a measure is made (see `condition_text`), and evaluated on whole columns by Arrow
(see `condition_values`), with SQL's logic: what is unknown because of a null is neither true nor
false, and only what is true counts.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

import pyarrow as pa

from windrow.algebra.condition_expressions import Column, Columns, joined
from windrow.algebra.condition_guesses import guesses
from windrow.algebra.kinds import plain_type
from windrow.errors import AggregateOverflow, InvalidArgument

#: from the name of a column to that of another
Spelling = Callable[[str], str]


@dataclass(frozen=True)
class Condition:
    """A condition on the rows of a table.

    Attributes:
        root: the expression.
        argument: the argument that it was given for, which messages name.
    """

    root: Any
    argument: str = field(default="where", compare=False)

    @functools.cached_property
    def text(self) -> str:
        """The condition as it is written; parsed again, it is the same."""
        return str(self.root.text)

    @functools.cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        names: dict[str, None] = {}
        unread = [self.root]
        while unread:
            expression = unread.pop()
            if isinstance(expression, Column):
                names[expression.name] = None
            unread += reversed(expression.operands)
        return tuple(names)

    def evaluate(self, columns: Columns) -> Any:
        """Which rows it is true of; where it is not known, null."""
        try:
            return self.root.evaluate(columns)
        except OverflowError as error:
            raise AggregateOverflow(
                f"{self.argument}: {error} in {self.text!r}; write 1e0 * for floats"
            ) from None
        except (ValueError, TypeError, NotImplementedError) as error:  # Arrow's are these as well
            raise InvalidArgument(
                f"{self.argument}: {self.text!r} cannot be computed: {error}"
            ) from None

    def type_in(self, schema: pa.Schema) -> pa.DataType:
        """The type of what it computes; refuses columns that are not there, or of other types."""
        for name in self.columns:
            if name not in schema.names:
                raise InvalidArgument(
                    f"{self.argument}: there is no column {name!r}; there are "
                    f"{', '.join(schema.names)}"
                )
        return self.evaluate(
            {name: pa.array([], plain_type(schema.field(name).type)) for name in self.columns}
        ).type

    def check(self, schema: pa.Schema) -> None:
        """Refuse columns that are not there, or of types that cannot be compared."""
        kind = self.type_in(schema)
        if not pa.types.is_boolean(kind):
            raise InvalidArgument(f"{self.argument}: {self.text!r} is {kind} and no condition")

    def guesses(self) -> dict[str, pa.DataType]:
        """Types that its columns may have, judging by what they are compared with."""
        return guesses(self.root)

    def with_columns(self, spelling: Spelling) -> Condition:
        """The same condition on columns of other names."""

        def respelled(part: Any) -> Any:
            return Column(spelling(part.name)) if isinstance(part, Column) else None

        return Condition(rebuilt(self.root, respelled), self.argument)

    def __and__(self, other: Condition) -> Condition:
        return Condition(joined("and", [self.root, other.root]), self.argument)

    def __str__(self) -> str:
        return self.text


def rebuilt(part: Any, change: Callable[[Any], Any]) -> Any:
    """A part of an expression in which `change` replaces parts; None leaves a part as it is."""
    changed = change(part)
    if changed is not None:
        return changed
    if isinstance(part, tuple):
        return tuple(rebuilt(each, change) for each in part)
    if not is_dataclass(part) or isinstance(part, type):
        return part
    parts = {each.name: rebuilt(getattr(part, each.name), change) for each in fields(part)}
    return replace(part, **parts)
