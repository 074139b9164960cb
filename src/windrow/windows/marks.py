"""Windows that a marked row closes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.algebra.conditions import Spelling
from windrow.errors import InvalidArgument
from windrow.windows.arguments import require_column, require_name
from windrow.windows.bounds import Bounding, Bounds, begun_anew, rows_before
from windrow.windows.calls import call_text
from windrow.windows.extents import Asking
from windrow.windows.min_rows import Counted
from windrow.windows.reach import Growing
from windrow.windows.setting import Setting
from windrow.windows.sorted_rows import SortedRows
from windrow.windows.window import Window

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class PunctuatedWindow(Window):
    """The rows since the last one whose boolean was true; such a row closes its window."""

    column: str

    reach = Growing
    answers_by_itself = True

    @property
    def default_name(self) -> str:
        """The window's name if the user gives none."""
        return f"punctuated_{self.column}"

    def call(self) -> str:
        """The call that makes it."""
        return call_text("punctuated", repr(self.column))

    @property
    def columns(self) -> tuple[str, ...]:
        """The column of marks."""
        return (self.column,)

    def with_columns(self, spelling: Spelling) -> Self:
        """The same window over a column of another name."""
        return replace(self, column=spelling(self.column))

    def check(self, schema: pa.Schema) -> None:
        """Refuse a column that holds no booleans."""
        require_column(schema, "windows", self.column)
        data_type = schema.field(self.column).type
        if not pa.types.is_boolean(data_type):
            raise InvalidArgument(
                f"windows: punctuated({self.column!r}) needs a boolean column, not {data_type}"
            )

    def assumed_types(self) -> Mapping[str, pa.DataType]:
        """Booleans."""
        return {self.column: pa.bool_()}

    def bounding(self, setting: Setting) -> Bounding:
        """All rows since the last mark."""
        return _SinceMark(self.column)

    def asking(self, setting: Setting) -> Asking:
        """The marks ask."""
        return _AtMarks()


class _SinceMark(Bounding):
    """The row after a mark begins anew."""

    def __init__(self, column: str) -> None:
        self._column = column
        self._marked = np.zeros(1, np.bool_)

    def of(self, rows: SortedRows, held: Array | None = None) -> Bounds:
        """The bounds of the next rows."""
        marks = pc.fill_null(rows.columns[self._column], False).to_numpy(zero_copy_only=False)
        before, self._marked = rows_before(self._marked, marks)
        return Bounds(begun_anew(rows.runs, before), Growing(), closed=marks)


class _AtMarks(Asking):
    def stops(self, rows: SortedRows, bounds: Bounds) -> Array:
        """An answer after every row that is marked."""
        assert bounds.closed is not None
        return np.flatnonzero(bounds.closed) + 1


def punctuated(
    column: str, *, min_rows: int | None = None, of: Counted = "rows"
) -> PunctuatedWindow:
    """A window that a row closes whose value in a boolean column is true.

    In `wr.slide` there is one answer for each such row, over the rows since the one before; in
    `wr.over` there is one for every row, over those since the last such row before it. Null is
    false.

    Args:
        column: the column of marks.
        min_rows: answers are null until the window holds so many rows;
        of: with "values", until it holds so many that are not null.

    Raises:
        InvalidArgument: if an argument is not what it should be, or two do not go together.

    >>> import pyarrow as pa, windrow as wr
    >>> visit = pa.table({"t": [1, 2, 3, 4, 5], "left": [False, True, False, False, True]})
    >>> found = wr.slide(visit, order="t", windows=wr.punctuated("left"), aggs=wr.count())
    >>> found["count"].to_pylist()
    [2, 3]
    """
    require_name(column)
    return PunctuatedWindow(column).with_min_rows(min_rows, of)
