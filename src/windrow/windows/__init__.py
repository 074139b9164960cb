"""What a window is: specifications and the arithmetic of their edges."""

from windrow.windows.specification import RowsWindow, TimeWindow, Window, Windows, named, rows, time

__all__ = ["RowsWindow", "TimeWindow", "Window", "Windows", "named", "rows", "time"]
