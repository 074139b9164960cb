"""What a window is, as users say it."""

from windrow.windows import policies
from windrow.windows.calendar import CalendarWindow, calendar
from windrow.windows.delta import DeltaWindow, delta
from windrow.windows.expanding import ExpandingWindow, expanding
from windrow.windows.marks import PunctuatedWindow, punctuated
from windrow.windows.named import Windows, named, shows_names
from windrow.windows.policy import PolicyWindow, Rule, policy
from windrow.windows.rows import RowsWindow, rows
from windrow.windows.session import SessionWindow, session
from windrow.windows.time import TimeWindow, time
from windrow.windows.triggers import EveryRows, EveryTime, Trigger
from windrow.windows.whole import WholeWindow, whole
from windrow.windows.window import Window

__all__ = [
    "CalendarWindow",
    "DeltaWindow",
    "EveryRows",
    "EveryTime",
    "ExpandingWindow",
    "PolicyWindow",
    "PunctuatedWindow",
    "RowsWindow",
    "Rule",
    "SessionWindow",
    "TimeWindow",
    "Trigger",
    "WholeWindow",
    "Window",
    "Windows",
    "calendar",
    "delta",
    "expanding",
    "named",
    "policies",
    "policy",
    "punctuated",
    "rows",
    "session",
    "shows_names",
    "time",
    "whole",
]
