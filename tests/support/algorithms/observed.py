"""A window that is watched: what it combines, which partials it touches, how its state looks."""

import itertools
import math
import random
from collections.abc import Iterator
from typing import Any

import windrow as wr
from windrow.algorithms import Algorithm
from windrow.algorithms.plain_memory import CHUNK, PLAIN_SLOTS, ChunkedQueue, PlainMemory
from windrow.engine.plain_window import PlainWindow
from windrow.testing import CountingMonoid, Operation, Subject


def _more(older: Any, newer: Any) -> Any:
    if older[0] == newer[0]:
        return (older[0], older[1] + newer[1])
    return older if older[0] > newer[0] else newer


#: the running example of Tangwongsan et al. 2021, §2.2
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
        return len(self)


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
        self.window = PlainWindow(algorithm, self.subject)
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


# What the tests of several algorithms ask --------------------------------------------------------


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


def bulk_evictions(algorithm: Algorithm, inserted: int) -> Iterator[tuple[int, int, int, int]]:
    """Many evictions at once, of many windows: how many leave, how many stay, and the combines.

    The last of the four is what the same evictions take one by one.
    """
    for evicted, more in itertools.product(range(inserted), range(0, 10, 3)):
        trace = [*range(inserted), *["evict"] * evicted, *range(more)]
        for count in range(inserted - evicted + more + 1):
            at_once, one_by_one = Observed(algorithm), Observed(algorithm)
            at_once.follow(trace)
            one_by_one.follow(trace)
            taken = at_once.evict_many(count)
            at_once.check()
            yield count, len(at_once), taken, sum(one_by_one.evict() for _ in range(count))


def most_touched(algorithm: Algorithm) -> dict[str, int]:
    """The most partials that an insert and an evict read or write while a window grows and shrinks.

    No queue keeps a chunk that the window has left.
    """
    observed = Observed(algorithm)
    most = {"insert": 0, "evict": 0}
    for size in (2000, 10, 3000, 0, 600):
        while len(observed) != size:
            name = "insert" if len(observed) < size else "evict"
            before = observed.memory.touches
            observed.follow([size if name == "insert" else "evict"])
            most[name] = max(most[name], observed.memory.touches - before)
            for queue in observed.memory.queues:
                assert queue.chunks <= len(observed) // CHUNK + 2
    return most


def case(before: Any, after: Any) -> str:
    """Which case of the paper's `fixup` an operation of DABA or DABA Lite came to."""
    if after.back != before.back:
        return "flip shrink" if after.left != after.end else "singleton"
    return "shift" if after.right != before.right else "shrink"


def from_flip_to_flip(algorithm: Algorithm, seed: int) -> Iterator[tuple[int, int, int]]:
    """Inserts, evicts and their combines between flips of a window that changes its size."""
    chance = random.Random(seed)
    observed = Observed(algorithm)
    observed.follow([0, 1])
    inserts = evicts = taken = flips = 0
    for number in range(4000):
        before = observed.state
        # Never down to an empty window: there is nothing to flip in it.
        grows = len(observed) < 2 or chance.random() * (10 + number // 10) > len(observed)
        combines = observed.insert(number) if grows else observed.evict()
        if case(before, observed.state) == "flip shrink":
            if flips:
                yield inserts, evicts, taken
            inserts, evicts, taken, flips = 0, 0, 0, flips + 1
        inserts, evicts, taken = inserts + grows, evicts + (not grows), taken + combines
    assert flips > 10
