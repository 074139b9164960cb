"""Observed windows of the monoid trees."""

from typing import Any

from tests.support.algorithms.observed import Observed, WatchedQueue
from windrow.algebra.counting import COUNT
from windrow.algorithms import Algorithm
from windrow.algorithms.levels import node_at
from windrow.algorithms.plain_memory import PLAIN_SLOTS
from windrow.testing import CountingMonoid


class Watched(Observed):
    """What is read and written is counted in the array beside the nodes as well."""

    def __init__(
        self, algorithm: Algorithm, beside: str, aggregation: Any = None, *, begin: int = 0
    ) -> None:
        """`beside` is the field of that array; the first event is to stand at `begin`."""
        super().__init__(algorithm, aggregation)
        self.memory.queues.append(WatchedQueue())
        self.window.ring = self.window.ring._replace(**{beside: self.memory.queues[-1]})
        self.window.state = self.window.functions["empty"](self.window.ring, begin)

    def nodes(self, begins: range, width: int) -> dict[int, Any]:
        """What the nodes of a level hold, by where they begin."""
        return {
            begin: PLAIN_SLOTS["load"](self.window.ring.nodes, node_at(begin, width))
            for begin in begins
        }


class Long(Watched):
    """A window of thousands: it counts events, because to concatenate them takes too long."""

    def __init__(self, algorithm: Algorithm, beside: str, size: int, begin: int = 0) -> None:
        counting = CountingMonoid(COUNT)
        super().__init__(algorithm, beside, counting.aggregation, begin=begin)
        self.counting = counting
        self.inserts = [self.insert(number) for number in range(size)]


def in_pairs(nodes: dict[int, Any], width: int) -> str:
    """A level as in the figures, a dot for a node that has left or is yet to come."""
    first, last = min(nodes), max(nodes)
    return " ".join(
        f"<{nodes.get(begin, '.')},{nodes.get(begin + width, '.')}>"
        for begin in range(first & (-2 * width), last + 1, 2 * width)
    )
