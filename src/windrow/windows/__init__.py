"""What a window is, as users say it."""

from windrow.windows import policies
from windrow.windows.policy import PolicyWindow, Rule, policy
from windrow.windows.specification import (
    DeltaWindow,
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
from windrow.windows.triggers import EveryRows, EveryTime

__all__ = [
    "DeltaWindow",
    "EveryRows",
    "EveryTime",
    "PolicyWindow",
    "PunctuatedWindow",
    "RowsWindow",
    "Rule",
    "SessionWindow",
    "TimeWindow",
    "Window",
    "Windows",
    "delta",
    "named",
    "policies",
    "policy",
    "punctuated",
    "rows",
    "session",
    "time",
]
