"""The parts of the tests that run at once, each in its own process; `../README.md` says why."""

import pytest

PARTS = ("session", "kernels", "rest")
_OF_KERNELS = {"aggregations", "algebra", "algorithms", "compiler", "over", "slide"}


def part_of(item: pytest.Item) -> str:
    """The part that a test belongs to."""
    if "spark" in getattr(item, "fixturenames", ()):
        return "session"
    return "kernels" if item.path.parent.name in _OF_KERNELS else "rest"
