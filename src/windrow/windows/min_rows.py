"""`min_rows=`: how many rows, or values, a window holds before it has answers.

Every kind has it (see `Window.with_min_rows`). A plan counts them beside the aggregations, over the
same window, and masks the answers of windows that hold fewer (see `planning/gates.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Literal

from windrow.algebra.literals import require_one_of
from windrow.errors import InvalidArgument

#: what `min_rows=` counts
Counted = Literal["rows", "values"]


@dataclass(frozen=True)
class MinRows:
    """An answer is null until its window holds so many rows, or values."""

    count: int
    of_values: bool = False

    def arguments(self) -> list[str]:
        """The arguments that make it, as text."""
        return [f"min_rows={self.count}", *(["of='values'"] if self.of_values else [])]

    def __str__(self) -> str:
        unit = "value" if self.of_values else "row"
        return f"{self.count} {unit}{'s' if self.count > 1 else ''}"


def min_rows_of(count: int | None, of: Counted, most: int | None) -> MinRows | None:
    """What `min_rows=` and `of=` say; `most` is how many rows the window holds, if it is known."""
    require_one_of(Counted, "of", of)
    if count is None:
        if of == "values":
            raise InvalidArgument("of: it says what min_rows= counts; give min_rows=, too")
        return None
    if isinstance(count, bool) or not isinstance(count, Integral):
        raise InvalidArgument(f"min_rows: a number of {of} is an integer, not {count!r}")
    if count < 1:
        raise InvalidArgument(
            f"min_rows: it is at least 1, not {count}; leave it out and every window has answers"
        )
    if most is not None and count > most:
        raise InvalidArgument(
            f"min_rows: a window of {most} rows never holds {count}; give at most {most}"
        )
    return MinRows(int(count), of == "values")
