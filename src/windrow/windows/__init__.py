"""What a window is, as users say it."""

from windrow.windows.specification import (
    DeltaWindow,
    EveryRows,
    EveryTime,
    PunctuatedWindow,
    RowsWindow,
    SessionWindow,
    TimeWindow,
    Window,
    Windows,
    delta,
    named,
    punctuated,
    rows,
    session,
    time,
)

__all__ = [
    "DeltaWindow",
    "EveryRows",
    "EveryTime",
    "PunctuatedWindow",
    "RowsWindow",
    "SessionWindow",
    "TimeWindow",
    "Window",
    "Windows",
    "delta",
    "named",
    "punctuated",
    "rows",
    "session",
    "time",
]
