"""What a card promises, in the form that the planner reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum


class Growth(IntEnum):
    """How fast a cost grows with the number of events in a window."""

    CONSTANT = 0
    LOGARITHMIC = 1
    LINEAR = 2


@dataclass(frozen=True)
class Guarantees:
    """The guarantees of an algorithm.

    Attributes:
        worst: the growth of the combine calls of one round: evict, insert, query.
        partials: how many partials are kept, at most, for a window of so many events.
        positions: how many integers are kept beside each event.
        subtracts: whether events leave by the inverse, which is only right where that is exact.
        evicts: whether events leave at all; without, it serves only windows that grow.
    """

    worst: Growth
    partials: Callable[[int], int]
    positions: int = 0
    subtracts: bool = False
    evicts: bool = True


def in_a_tree(events: int) -> int:
    """The partials of a complete binary tree over so many events."""
    return 2 * (1 << (events - 1).bit_length()) - 1
