"""An observed window whose algorithm keeps an array, or lets events come and go in its middle."""

from typing import Any

from tests.support.algorithms.observed import Observed
from windrow.algorithms import Algorithm
from windrow.algorithms.plain_memory import PLAIN_SLOTS, PlainMemory
from windrow.engine.plain_window import PlainWindow


class Resized(Observed):
    """A window whose room grows and shrinks; its events are single letters or numbers."""

    def __init__(self, algorithm: Algorithm, *, room: int = 16, begin: int = 0) -> None:
        """Room for so many events at first, and the position of the first of them."""
        super().__init__(algorithm)
        self.window = PlainWindow(algorithm, self.subject)
        self.window._capacity = room
        self.window.ring = algorithm.allocate(PlainMemory(), room)
        self.window.state = self.window.functions["empty"](self.window.ring, begin)

    def fill(self, events: Any) -> None:
        for event in events:
            self.insert(event)

    def insert_at(self, index: int, event: Any) -> int:
        [partial] = self.subject.lift_all([event])
        self.events.insert(index, partial)
        self.window.insert_at(index, partial)
        return self.counting.taken()

    def evict_at(self, index: int) -> int:
        del self.events[index]
        self.window.evict_at(index)
        return self.counting.taken()

    def query_range(self, count: int) -> int:
        found, taken = self.window.query_range(count), self.counting.taken()
        expected = self.subject.fold(self.events[len(self.events) - count :])
        assert self.subject.equal(found, expected)
        self.counting.taken()
        return taken

    def call(self, function: str, *arguments: Any) -> Any:
        """A function of the algorithm that is no operation of a window."""
        return self.window.functions[function](self.state, self.window.ring, *arguments)

    @staticmethod
    def text(memory: Any, place: int) -> str:
        """A partial as the letters of its events."""
        partial = PLAIN_SLOTS["load"](memory, place)
        return "-" if partial is None else "".join(map(str, partial))
