"""The parts of the tests that run at once, each in its own process; `../README.md` says why."""

from pathlib import Path

import pytest

PARTS = ("session", "programs", "kernels", "aggregations", "rest")
#: parts that do one thing after the other and wait much: the others give way to them
FIRST = ("session", "programs")
_FOLDERS = {
    "programs": {"cli", "registration", "sources", "spark", "tests"},
    "kernels": {"algorithms", "over"},
    "aggregations": {"aggregations", "algebra", "compiler", "stream"},
}
_PACKAGE = Path(__file__).parents[2] / "src"


def part_of(item: pytest.Item) -> str:
    """The part that a test belongs to."""
    if "spark" in getattr(item, "fixturenames", ()):
        return "session"
    return _of_folder(item.path)


def may_be_in(part: str, path: Path) -> bool:
    """Whether a file may have tests of a part: a process does not import what it will not run."""
    if part != "session":
        return _of_folder(path) == part
    # The examples of docstrings do without Spark's session.
    return _PACKAGE not in path.parents and "spark" in path.read_text()


def _of_folder(path: Path) -> str:
    folder = path.parent.name
    return next((part for part, folders in _FOLDERS.items() if folder in folders), "rest")
