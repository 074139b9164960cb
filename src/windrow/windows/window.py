"""The contract of a window kind: all that the rest of windrow may ask of a window.

A kind is a frozen dataclass in a file of its own. It says which columns it looks at, what it
requires of them, which rows its windows hold (`bounding`) and when it answers (`asking`). Nothing
outside `windows/` asks which kind it has.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import pyarrow as pa

from windrow.algebra.aggregation import Measure
from windrow.algebra.conditions import Spelling
from windrow.windows.ahead import HERE, Ahead
from windrow.windows.bounds import Bounding
from windrow.windows.edges import Edges
from windrow.windows.extents import Answering, Asked, Asking
from windrow.windows.min_rows import Counted, MinRows, min_rows_of
from windrow.windows.reach import Growing, Newest, Reach
from windrow.windows.returning import Returning
from windrow.windows.schedules import Calendar
from windrow.windows.setting import Setting
from windrow.windows.triggers import Period, Trigger


@dataclass(frozen=True, eq=False)
class Window(ABC):
    """Which events an answer is about, and when there is one.

    Only `default_name`, `call` and `bounding` must be given. The others have answers that suit most
    kinds.

    Attributes:
        min_rows: how many rows or values it holds before it has answers; None for any number.
    """

    min_rows: MinRows | None = field(default=None, kw_only=True)

    #: the reach that its bounds have
    reach: ClassVar[type[Reach]] = Newest
    #: whether what it holds does not follow from its own rows alone: streams keep how many it held
    remembers: ClassVar[bool] = False
    #: whether it holds all rows of its key so far: streams keep one partial of each key
    holds_all: ClassVar[bool] = False
    #: why streams refuse it, and what to use instead; None if they do not
    why_not_streamed: ClassVar[str | None] = None

    # As users say it -----------------------------------------------------------------------------

    @property
    @abstractmethod
    def default_name(self) -> str:
        """The window's name if the user gives none."""

    @abstractmethod
    def call(self) -> str:
        """The call that makes the window, the same in every process; `min_rows=` is not in it.

        >>> import windrow as wr
        >>> wr.time("60 minutes", every="90 seconds").call()
        "time('1 hour', every='90 seconds')"
        """

    @property
    def every(self) -> Trigger | None:
        """When it answers in `wr.slide`; None if its `every=` was not given, or there is none."""
        return None

    @property
    def only_slides(self) -> bool:
        """Whether it says when it answers, which is for `wr.slide` alone."""
        return self.every is not None

    @property
    def answers_by_itself(self) -> bool:
        """Whether its events or its range say when it answers, so that it needs no `every=`."""
        return False

    def with_min_rows(self, min_rows: int | None, of: Counted = "rows") -> Self:
        """The same window, whose answers are null until it holds so many rows.

        Args:
            min_rows: how many; None for any number.
            of: "values" to count the rows in which the columns of an aggregation are not null and
                its condition is true.

        >>> import windrow as wr
        >>> wr.rows(5).with_min_rows(3) == wr.rows(5, min_rows=3)
        True
        """
        return replace(self, min_rows=min_rows_of(min_rows, of, self.most_rows))

    # What it needs of the data -------------------------------------------------------------------

    @property
    def needs_time(self) -> bool:
        """Whether it measures time by the order column, in its range or its trigger."""
        return self.every is not None and self.every.in_time

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it looks at, beside the order."""
        return ()

    @property
    def measured(self) -> tuple[str, ...]:
        """Those of them without whose value an event is in no window of `wr.slide`."""
        return ()

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The aggregations that it asks for to know which events stay."""
        return ()

    def with_columns(self, spelling: Spelling) -> Self:
        """The same window over columns of other names."""
        return self

    def laid_over(self, order_type: pa.DataType, *, slides: bool) -> Window:
        """The window as it is over an order column of that type, in `wr.slide` or in `wr.over`."""
        return self

    def check(self, schema: pa.Schema) -> None:  # noqa: B027
        """Refuse a table whose columns do not suit the window."""

    def assumed_types(self) -> Mapping[str, pa.DataType]:
        """Types for its own columns where there is no table yet."""
        return {}

    @property
    def lengths(self) -> tuple[int, ...]:
        """The nanoseconds of which begins and ends of answers are multiples, beside row times."""
        return self.every.lengths if self.every is not None else ()

    # Which rows it holds -------------------------------------------------------------------------

    @abstractmethod
    def bounding(self, setting: Setting) -> Bounding:
        """What bounds the window along one stream of rows, before the first."""

    def asking(self, setting: Setting) -> Asking:
        """What asks for its answers in `wr.slide`, before the first row."""
        assert self.every is not None
        return self.every.asking(setting)

    def answering(self, setting: Setting) -> Answering:
        """What finds its answers in `wr.slide`, before the first row."""
        return Asked(self.bounding(setting), self.asking(setting), self.remembers)

    def edges(self, tick: int) -> Edges | None:
        """Where it begins and ends as of a moment; a tick has so many nanoseconds.

        None if that depends on its events: `wr.as_of` refuses such a window.
        """
        return None

    # What planners may make use of ---------------------------------------------------------------

    @property
    def newest(self) -> int | None:
        """How many rows it holds if it ends at its row, and holds the newest and no others."""
        return None

    def behind(self, tick: int) -> int | None:
        """How many ticks older an event is that has left, if age alone decides.

        None unless the window ends at its row or with its peers. A tick has so many nanoseconds.
        """
        return None

    @property
    def grows(self) -> bool:
        """Whether no row leaves it: it only begins anew."""
        return self.reach is Growing

    @property
    def rows_return(self) -> bool:
        """Whether rows that have left it come back."""
        return self.reach is Returning

    @property
    def peers(self) -> bool:
        """Whether rows of equal time see each other, or only those before them."""
        return False

    def ahead(self, tick: int) -> Ahead:
        """How far ahead of its row it ends in `wr.over`; a tick has so many nanoseconds.

        If it does not end at its row or with its peers, `newest` and `behind` are None; `rows_back`
        or `ticks_back` say how far it reaches back from its row.
        """
        return HERE

    @property
    def rows_back(self) -> int | None:
        """How many rows before its own it reaches back to, if their number decides."""
        return None if self.newest is None else self.newest - 1

    @property
    def most_rows(self) -> int | None:
        """How many rows it holds at most, if their number decides."""
        return None if self.rows_back is None else self.rows_back + 1 + self.ahead(1).rows

    def ticks_back(self, tick: int) -> int | None:
        """How many ticks older than its row an event is that is too old for it, if age decides."""
        return self.behind(tick)

    def most_ticks_back(self, tick: int) -> int | None:
        """How many ticks older than its row an event is that is too old for it in any case."""
        return self.ticks_back(tick)

    @property
    def ends_at_row(self) -> bool:
        """Whether, in `wr.over`, the current row is the newest of its window."""
        return self.ahead(1) == HERE

    @property
    def begins_at_row(self) -> bool:
        """Whether, in `wr.over`, the current row is the oldest of its window."""
        return self.rows_back == 0 and self.ahead(1).rows >= 0

    @property
    def period(self) -> Period | None:
        """The windows [begin, begin + range), one slide apart, if it is periodic in `wr.slide`."""
        return None

    @property
    def calendar(self) -> Calendar | None:
        """Its windows in `wr.slide`, if they begin and end by a calendar."""
        return None
