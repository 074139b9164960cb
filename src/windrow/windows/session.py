"""Sessions: windows that a gap closes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from windrow.algebra.durations import words
from windrow.windows.arguments import length
from windrow.windows.calls import call_text
from windrow.windows.window import Window


@dataclass(frozen=True)
class SessionWindow(Window):
    """The rows since the last gap of more than so many nanoseconds without one."""

    gap: int

    needs_time = True
    answers_by_itself = True

    @property
    def default_name(self) -> str:
        """The window's name if the user gives none."""
        return f"session_{words(self.gap).replace(' ', '_')}"

    def call(self) -> str:
        """The call that makes it."""
        return call_text("session", repr(words(self.gap)))

    @property
    def lengths(self) -> tuple[int, ...]:
        """It ends one gap after its last row."""
        return (self.gap,)


def session(gap: str | timedelta) -> SessionWindow:
    """A window that a gap closes: more than so long a time without a row of its key.

    In `wr.slide` there is one answer for each session, as of Spark's session_window, to which a row
    exactly one gap after the last still belongs. It ends one gap after its last row. In `wr.over`
    there is one for every row, over its session so far. A row without a time belongs to no session,
    and `wr.over` answers it as of no values.
    """
    return SessionWindow(length(gap, "gap"))
