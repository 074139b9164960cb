"""From a window in brackets to the window of the Python call, and whether it slides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

from windrow.algebra.condition_literals import Literal
from windrow.cql.names import Names
from windrow.cql.tree import WindowText
from windrow.errors import InvalidArgument
from windrow.windows import (
    Window,
    calendar,
    delta,
    expanding,
    punctuated,
    rows,
    session,
    time,
    whole,
)
from windrow.windows.triggers import trigger

_CALLS: dict[str, Callable[..., Window]] = {
    "rows": rows, "range": time, "delta": delta, "calendar": calendar, "unbounded": expanding,
    "session": session, "punctuated": punctuated,
}  # fmt: skip
#: windows that close by themselves: SLIDE 1 ROWS asks for an answer at every event instead
CLOSING = ("punctuated", "session")
#: their answers come at a clock or with a mark, and never after rows
_WITHOUT_ROWS = ("calendar", *CLOSING)


def slides(window: WindowText) -> bool:
    """Whether it answers once for each slide, and not at every event."""
    return (window.slide != 1) if window.kind in CLOSING else window.slide is not None


def window_of(written: WindowText, names: Names, at_every_event: bool) -> Window:
    """The window that the Python call takes.

    Args:
        written: the window of the text.
        names: what its names stand for.
        at_every_event: whether a call that slides is to answer at every event.
    """
    every = 1 if at_every_event else written.slide
    if at_every_event and written.kind in _WITHOUT_ROWS:
        raise names.fail(
            written.place,
            f"{written.kind.upper()} does not answer after rows, as ISTREAM asks without a slide; "
            "use RSTREAM, or another SLIDE",
        )
    if written.kind in CLOSING and written.slide not in (None, 1):
        raise names.fail(
            written.place,
            f"{written.kind.upper()} answers when a window closes; leave SLIDE out, or write "
            "SLIDE 1 ROWS for an answer at every event",
        )
    options = {name: plain(value) for name, value in written.options}
    try:
        return _made(written, names, every, options)
    except InvalidArgument as error:
        if str(error).startswith("cql:"):
            raise
        raise names.fail(written.place, str(error)) from None
    except TypeError:
        raise names.fail(
            written.place, f"{written.kind.upper()} has no such option: {', '.join(options)}"
        ) from None


def _made(
    written: WindowText, names: Names, every: int | str | None, options: dict[str, Any]
) -> Window:
    if written.kind == "policy":
        assert written.column is not None
        if options:
            raise InvalidArgument("a policy takes its options where it is made")
        policy = names.policy(written.column, written.place)
        return policy if every is None else replace(policy, every=trigger(every, None))  # type: ignore[call-arg]
    given = [each for each in (written.column, written.extent) if each is not None]
    if every is not None and written.kind not in CLOSING:
        options = {"every": every, **options}
    return _CALLS[written.kind](*given, **options)


def two_windows(window: Window) -> Window:
    """A window over answers: an answer and that of the window before, if that held events.

    Answers of a clock or a calendar lie one slide apart, so a missing one is out of reach.
    """
    if window.calendar is not None:
        # No slide is twice as long as another; clocks change by 3 hours at most.
        days = window.calendar.schedule.slide.most_days
        return time(f"{24 * days + 3} hours", closed="both")
    if by_clock(window):
        assert window.period is not None
        return time(f"{window.period.slide} nanoseconds", closed="both")
    return rows(2)


def by_clock(window: Window) -> bool:
    """Whether a window begins at times of a clock or a calendar, so that some hold no event."""
    return window.calendar is not None or (
        window.period is not None and window.period.unit == "time"
    )


def whole_table() -> Window:
    """The window of a statement that has none: all rows of the table."""
    return whole()


def plain(literal: Literal) -> Any:
    """The value of a literal as Python's calls take it."""
    return float(literal.value) if isinstance(literal.value, Decimal) else literal.value
