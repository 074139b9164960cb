"""A window that is watched: what it combines, which partials it touches, how its state looks."""

import itertools
import math
from typing import Any

import windrow as wr
from windrow.algorithms import Algorithm
from windrow.algorithms.memory import PLAIN_SLOTS, ChunkedQueue, PlainMemory
from windrow.runtime.linked import LinkedWindow
from windrow.testing import CountingMonoid, Operation, Subject


def _more(older: Any, newer: Any) -> Any:
    if older[0] == newer[0]:
        return (older[0], older[1] + newer[1])
    return older if older[0] > newer[0] else newer


#: the running example of 000, as §2.2 defines it
MAX_COUNT = wr.aggregation(
    name="maxcount",
    identity=(-math.inf, 0),
    lift=lambda number: (number, 1),
    combine=_more,
    lower=lambda partial: partial[1],
)

#: the trace of figures 1, 3, 5 and 7: after (A), which is empty, one operation for each state
MAX_COUNT_TRACE = [4, 5, 3, 4, 0, 4, 4, "evict", "evict", 2, 6, 5, 6, 1, 6]
#: the trace of figures 2, 4, 6 and 8, up to the window c to n that illustrates the invariants
LETTER_TRACE = [*"abcdefg", "evict", "evict", *"hijklmn"]


class WatchedQueue(ChunkedQueue):
    """A queue that counts how often a partial is read or written, and its chunks."""

    def __init__(self) -> None:
        super().__init__()
        self.touches = 0

    def load(self, position: int) -> Any:
        self.touches += 1
        return super().load(position)

    def store(self, position: int, value: Any) -> None:
        self.touches += 1
        super().store(position, value)

    @property
    def chunks(self) -> int:
        return len(self._chunks)


class WatchedMemory(PlainMemory):
    def __init__(self) -> None:
        self.queues: list[WatchedQueue] = []

    def queue(self, capacity: int) -> WatchedQueue:
        self.queues.append(WatchedQueue())
        return self.queues[-1]

    @property
    def touches(self) -> int:
        return sum(queue.touches for queue in self.queues)


def never(*_arguments: Any) -> Any:
    raise AssertionError("a queue in plain Python grows by itself")


class Observed:
    """A window of one algorithm, with the list of its events beside it."""

    def __init__(self, algorithm: Algorithm, aggregation: Any = None) -> None:
        """Without another aggregation it concatenates, and combines are counted."""
        self.algorithm = algorithm
        self.counting = CountingMonoid()
        self.subject = Subject(aggregation or self.counting.aggregation)
        self.window = LinkedWindow(algorithm, self.subject)
        self.window.functions["resize"] = never
        self.memory = WatchedMemory()
        self.window.ring = algorithm.allocate(self.memory, 16)
        self.window.state = self.window.functions["empty"](self.window.ring, 0)
        self.events: list[Any] = []

    @property
    def state(self) -> Any:
        return self.window.state

    def __len__(self) -> int:
        return len(self.events)

    def insert(self, event: Any) -> int:
        """Insert; like all operations, returns how many combines it took."""
        [partial] = self.subject.lift_all([event])
        self.events.append(partial)
        self.window.insert(partial)
        return self.counting.taken()

    def evict(self) -> int:
        del self.events[0]
        self.window.evict()
        return self.counting.taken()

    def evict_many(self, count: int) -> int:
        del self.events[:count]
        self.window.evict_many(count)
        return self.counting.taken()

    def query(self) -> int:
        found, taken = self.window.query(), self.counting.taken()
        assert self.subject.equal(found, self.subject.fold(self.events))
        self.counting.taken()
        return taken

    def check(self) -> None:
        """The numbered invariants, which are not counted as anything."""
        touches = [queue.touches for queue in self.memory.queues]
        self.algorithm.check_invariants(
            self.state, self.window.ring, self.events, PLAIN_SLOTS["load"], self.subject.fold,
            self.subject.equal,
        )  # fmt: skip
        self.counting.taken()
        for queue, count in zip(self.memory.queues, touches, strict=True):
            queue.touches = count

    def follow(self, trace: list[Any]) -> None:
        """Take the operations of a figure: "evict", or an event to insert."""
        for given in trace:
            if given == "evict":
                self.evict()
            else:
                self.insert(given)

    def drawn(self, queue: Any, *boundaries: int) -> str:
        """A queue as in the figures: sublists between boundaries, maxcount as in 4x3."""
        load = PLAIN_SLOTS["load"]
        return " | ".join(
            " ".join(_drawn(load(queue, position)) for position in range(begin, stop)) or "."
            for begin, stop in itertools.pairwise(boundaries)
        )


def _drawn(partial: Any) -> str:
    return partial if isinstance(partial, str) else "{}x{}".format(*partial)


def single(trace: list[Operation]) -> list[Operation]:
    """A trace without bulk operations: each insert of one event, each evict of one event."""
    steps = []
    for step in trace:
        if step.inputs:
            steps += [Operation("insert", (given,)) for given in step.inputs]
        elif step.name == "evict_many":
            steps += [Operation("evict")] * step.count
        else:
            steps.append(step)
    return steps
