"""How often kernels combine, where they run as plain Python (the fixture `interpreted`)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Combines:
    """A count that goes on while the context lasts."""

    number = 0


@contextmanager
def counted_combines() -> Iterator[Combines]:
    """Count the calls of `combine` in the sources of kernels, in this thread."""
    counts = Combines()

    def seen(frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_name == "combine" and code.co_filename == "<product>":
            counts.number += 1

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        yield counts
    finally:
        sys.setprofile(before)
