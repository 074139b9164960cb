"""Where streams are cut into slices: panes, pairs, cutty. All of it is integer arithmetic."""

from __future__ import annotations

from typing import Protocol

from windrow.slicing import cutty, pairs, panes
from windrow.slicing.marks import edges_between
from windrow.slicing.periodic import LIMIT, Integers, PeriodicWindow
from windrow.slicing.slices import Covering, Slices


class Technique(Protocol):
    """What a technique's file in this package offers; see README.md for adding one."""

    NAME: str

    def slices(self, window: PeriodicWindow) -> Slices:
        """The slices that the technique cuts for one window."""

    def slices_per_slide(self, window: PeriodicWindow) -> int:
        """How many slices are filled between two answers."""

    def partials_per_window(self, window: PeriodicWindow) -> int:
        """How many partials an answer is made of."""


TECHNIQUES: dict[str, Technique] = {module.NAME: module for module in (panes, pairs, cutty)}

__all__ = [
    "LIMIT",
    "TECHNIQUES",
    "Covering",
    "Integers",
    "PeriodicWindow",
    "Slices",
    "Technique",
    "edges_between",
]
