"""Windows of differences: the rows whose value is not far behind the newest row's."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real

import pyarrow as pa

from windrow.errors import InvalidArgument
from windrow.windows.arguments import require_column, require_name
from windrow.windows.calls import call_text
from windrow.windows.triggers import Every, Trigger, trigger
from windrow.windows.window import Window


@dataclass(frozen=True)
class DeltaWindow(Window):
    """The rows whose value in a column lies less than an amount behind the newest row's."""

    column: str
    amount: float
    every: Trigger | None = None

    @property
    def default_name(self) -> str:
        """The window's name if the user gives none."""
        return f"delta_{self.column}_{self.amount}"

    def call(self) -> str:
        """The call that makes it."""
        return call_text("delta", repr(self.column), str(self.amount), every=self.every)

    @property
    def columns(self) -> tuple[str, ...]:
        """The column that it measures by."""
        return (self.column,)

    @property
    def measured(self) -> tuple[str, ...]:
        """A row without a value has no distance to others."""
        return (self.column,)

    def check(self, schema: pa.Schema) -> None:
        """Refuse a column that holds no numbers."""
        require_column(schema, "windows", self.column)
        data_type = schema.field(self.column).type
        if not (pa.types.is_integer(data_type) or pa.types.is_floating(data_type)):
            raise InvalidArgument(
                f"windows: delta({self.column!r}, ...) needs a column of numbers, not {data_type}"
            )

    def assumed_types(self) -> Mapping[str, pa.DataType]:
        """Floats."""
        return {self.column: pa.float64()}


def delta(column: str, amount: float, every: Every = None) -> DeltaWindow:
    """A window of the rows whose value lies less than an amount behind the newest row's.

    Rows leave oldest first, so a row that has left does not come back if the value falls again. A
    row whose value is null or NaN has no distance to others: for this window it does not exist, and
    `wr.over` answers it as of no values.

    Args:
        column: a column of numbers.
        amount: how far behind is too far.
        every: for `wr.slide`, when it answers.
    """
    require_name(column)
    if isinstance(amount, bool) or not isinstance(amount, Real):
        raise InvalidArgument(f"amount: a number is needed, not {amount!r}")
    if not amount > 0:
        raise InvalidArgument(f"amount: it is more than zero, not {amount!r}")
    if amount == math.inf:
        raise InvalidArgument(f"amount: a finite number is needed, not {amount!r}")
    return DeltaWindow(column, float(amount) if amount % 1 else int(amount), trigger(every, None))
