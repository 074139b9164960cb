"""The windows of a call, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from windrow.errors import InvalidArgument
from windrow.windows.window import Window

Windows = Window | Sequence[Window] | Mapping[str, Window]


def named(windows: Windows) -> dict[str, Window]:
    """The windows of a call by name."""
    if isinstance(windows, Window):
        return {windows.default_name: windows}
    if isinstance(windows, Mapping):
        entries = list(windows.items())
    elif isinstance(windows, Sequence) and not isinstance(windows, str):
        entries = [(getattr(entry, "default_name", ""), entry) for entry in windows]
    else:
        raise InvalidArgument(
            "windows: give a window such as wr.rows(100) or wr.time('1 hour'), a list of them, or "
            f"a dict that names them, not {windows!r}"
        )
    if not entries:
        raise InvalidArgument("windows: at least one window is needed")
    found: dict[str, Window] = {}
    for name, window in entries:
        if not isinstance(window, Window):
            raise InvalidArgument(
                f"windows: {window!r} is no window; use wr.rows(...) or wr.time(...)"
            )
        if not isinstance(name, str) or not name:
            raise InvalidArgument(f"windows: a window's name is a non-empty string, not {name!r}")
        if name in found:
            raise InvalidArgument(
                f"windows: two windows are called {name!r}; name them in a dict, "
                "as in {'fast': wr.rows(10), 'slow': wr.rows(100)}"
            )
        found[name] = window
    return found


def shows_names(windows: Windows) -> bool:
    """Whether results tell windows apart by name: you named them, or there are several."""
    return isinstance(windows, Mapping) or (isinstance(windows, Sequence) and len(windows) > 1)
