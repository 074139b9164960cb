"""The parts of the tests that run at once, each in its own process; `../README.md` says why."""

import pytest

PARTS = ("session", "kernels", "aggregations", "rest")
_FOLDERS = {
    "kernels": {"algorithms", "compiler", "over", "slide"},
    "aggregations": {"aggregations", "algebra"},
}


def part_of(item: pytest.Item) -> str:
    """The part that a test belongs to."""
    if "spark" in getattr(item, "fixturenames", ()):
        return "session"
    folder = item.path.parent.name
    return next((part for part, folders in _FOLDERS.items() if folder in folders), "rest")
