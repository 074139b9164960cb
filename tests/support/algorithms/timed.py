"""An observed window whose events have times and come in any order."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Any

from tests.support.algorithms.resized import Resized
from windrow.algorithms import finger_tree
from windrow.algorithms.finger_nodes import COUNT, FRESH, HEIGHT, KNOWN, LEFT, RIGHT, WIDTH
from windrow.algorithms.plain_memory import PLAIN_SLOTS


class Timed(Resized):
    """A finger tree, with the sorted list of its times and events beside it."""

    def __init__(self) -> None:
        super().__init__(finger_tree)
        self.times: list[Any] = []

    def _place(self, time: Any, event: Any) -> Any:
        [partial] = self.subject.lift_all([event])
        index = bisect_right(self.times, time)
        self.times.insert(index, time)
        self.events.insert(index, partial)
        return partial

    def insert_at_time(self, time: Any, event: Any) -> int:
        self.window.insert_at_time(time, self._place(time, event))
        return self.counting.taken()

    def insert_sorted(self, times: list[Any], events: Any) -> int:
        partials = [self._place(*each) for each in zip(times, events, strict=True)]
        self.window.insert_sorted(times, partials)
        return self.counting.taken()

    def insert_at(self, index: int, event: Any) -> int:
        self.times.insert(index, (self.times[index:] or self.times[-1:] or [0])[0])
        return super().insert_at(index, event)

    def insert(self, event: Any) -> int:
        self.times.append(self.times[-1] if self.times else 0)
        return super().insert(event)

    def evict(self) -> int:
        del self.times[0]
        return super().evict()

    def evict_many(self, count: int) -> int:
        del self.times[:count]
        return super().evict_many(count)

    def evict_at(self, index: int) -> int:
        del self.times[index]
        return super().evict_at(index)

    def older_than(self, time: Any) -> int:
        count = self.window.older_than(time)
        assert count == bisect_left(self.times, time)
        return count

    # The tree, as it is drawn ---------------------------------------------------------------------

    def integer(self, array: Any, place: int) -> int:
        return int(PLAIN_SLOTS["load"](array, place))

    @property
    def height(self) -> int:
        return self.integer(self.window.ring.places, HEIGHT)

    @property
    def used_nodes(self) -> int:
        """How many nodes were ever used since the tree was planted."""
        return self.integer(self.window.ring.places, FRESH)

    def spines(self) -> set[tuple[int, int]]:
        """The nodes of both spines at each level."""
        places = self.window.ring.places
        return {
            (self.integer(places, LEFT + level), self.integer(places, RIGHT + level))
            for level in range(self.height + 1)
        }

    def drawn_level(self, level: int) -> str:
        """The nodes of a level, as the letters of their entries; a dot for what a spine knows."""
        return " ".join(
            f"[{'|'.join(self._entries(node, level))}]" for node in self.nodes_at(level)
        )

    def nodes_at(self, level: int) -> list[int]:
        """The nodes of a level, from left to right."""
        nodes = [self.integer(self.window.ring.places, RIGHT + self.height)]
        for _level in range(self.height - level):
            nodes = [child for node in nodes for child in self._children(node)]
        return nodes

    def _children(self, node: int) -> list[int]:
        count = self.integer(self.window.ring.nodes, KNOWN * node + COUNT)
        places = range(WIDTH * node, WIDTH * node + count)
        return [self.integer(self.window.ring.children, place) for place in places]

    def _entries(self, node: int, level: int) -> Iterator[str]:
        ends = {(level - 1, each) for pair in self.spines() for each in pair}
        for slot, child in enumerate(self._children(node)):
            on_spine = level > 0 and (level - 1, child) in ends
            place = WIDTH * node + slot
            yield "." if on_spine else self.text(self.window.ring.partials, place)

    def finger(self, spine: int, level: int = 0) -> str:
        """What a spine knows at a level."""
        return self.text(self.window.ring.spines, spine + level)
