"""Windows of differences: the rows whose value is not far behind the newest row's."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.algebra.arrays import values
from windrow.algebra.conditions import Spelling
from windrow.errors import InvalidArgument
from windrow.windows.arguments import require_column, require_name
from windrow.windows.bounds import Bounding, Bounds
from windrow.windows.calls import call_text
from windrow.windows.min_rows import Counted
from windrow.windows.reach import Behind
from windrow.windows.setting import Setting
from windrow.windows.sorted_rows import SortedRows
from windrow.windows.triggers import Every, Trigger, trigger
from windrow.windows.window import Window

Array = np.ndarray[Any, Any]

_LARGEST = 2**63 - 1


@dataclass(frozen=True)
class DeltaWindow(Window):
    """The rows whose value in a column lies less than an amount behind the newest row's."""

    column: str
    amount: float
    every: Trigger | None = None

    reach = Behind

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

    def with_columns(self, spelling: Spelling) -> Self:
        """The same window over a column of another name."""
        return replace(self, column=spelling(self.column))

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

    def bounding(self, setting: Setting) -> Bounding:
        """The rows that are less than the amount behind."""
        return _LessBehind(self)


class _LessBehind(Bounding):
    def __init__(self, window: DeltaWindow) -> None:
        self._window = window
        #: the least and the largest value so far, of whole numbers
        self._extremes: list[int] = []

    def of(self, rows: SortedRows, held: Array | None = None) -> Bounds:
        """The bounds of the next rows."""
        column = rows.columns[self._window.column]
        measure = values(column)
        if measure.dtype != np.int64:
            return Bounds(rows.runs, Behind(measure, float(self._window.amount)))
        found = pc.min_max(column).as_py().values()
        self._extremes = [*self._extremes, *(number for number in found if number is not None)]
        self._extremes = [min(self._extremes), max(self._extremes)] if self._extremes else []
        # Not even the largest: it stands for all amounts that are larger.
        if self._extremes and self._extremes[1] - self._extremes[0] >= _LARGEST:
            raise InvalidArgument(
                f"windows: the values of {self._window.column!r} lie further apart than 64 bits "
                "can measure; cast the column to a float"
            )
        # Values are whole: less than a part of one behind is less than the whole.
        amount = min(-int(-self._window.amount // 1), _LARGEST)
        return Bounds(rows.runs, Behind(measure, amount))


def delta(
    column: str,
    amount: float,
    every: Every = None,
    *,
    min_rows: int | None = None,
    of: Counted = "rows",
) -> DeltaWindow:
    """A window of the rows whose value lies less than an amount behind the newest row's.

    Rows leave oldest first, so a row that has left does not come back if the value falls again. A
    row whose value is null or NaN has no distance to others: for this window it does not exist, and
    `wr.over` answers it as of no values.

    Args:
        column: a column of numbers.
        amount: how far behind is too far.
        every: for `wr.slide`, when it answers.
        min_rows: answers are null until the window holds so many rows;
        of: with "values", until it holds so many that are not null.

    Raises:
        InvalidArgument: if an argument is not what it should be, or two do not go together.

    >>> import pyarrow as pa, windrow as wr
    >>> trip = pa.table({"t": [1, 2, 3, 4], "mileage": [0, 60, 90, 130]})
    >>> found = wr.over(trip, order="t", windows=wr.delta("mileage", 100), aggs=wr.count())
    >>> found["count"].to_pylist()
    [1, 2, 3, 3]
    """
    require_name(column)
    if isinstance(amount, bool) or not isinstance(amount, Real):
        raise InvalidArgument(f"amount: a number is needed, not {amount!r}")
    if not amount > 0:
        raise InvalidArgument(f"amount: it is more than zero, not {amount!r}")
    if amount == math.inf:
        raise InvalidArgument(f"amount: a finite number is needed, not {amount!r}")
    amount = float(amount) if amount % 1 else int(amount)
    return DeltaWindow(column, amount, trigger(every, None)).with_min_rows(min_rows, of)
