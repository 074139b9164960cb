"""The header of a shard: what is known of its blocks, read first and written last in every batch.

It is a list of 64-bit integers. Everything in it is small: what grows with the events of a shard
lies in blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, field, fields
from itertools import islice

from windrow.stream.state import NONE, WAITING, integers, integers_of


@dataclass
class WaitingBlock:
    """A block of waiting events.

    Attributes:
        number: its number among the blocks of waiting events.
        first, last: when the slices of its oldest and its newest event begin, in ticks.
        size: its bytes in memory.
        kind: whether it holds events or partials of events (see `slices/waiting_partials`).
    """

    number: int
    first: int
    last: int
    size: int
    kind: int = WAITING


@dataclass
class Queue:
    """Blocks of waiting events, each of later slices than the one before.

    `merges` says how often the queue was made of others.
    """

    merges: int
    blocks: list[WaitingBlock]


@dataclass
class WaitingState:
    """The events that are not final for all groups (see `waiting`).

    Attributes:
        next_block: the number of the next block of events.
        open: the events whose slices are final for no group, in the order of arrival.
        partly_final: the events whose slices are final for some groups, in the order of time.
        unseen: how many batches to come are not looked at for partials, because one had none.
    """

    next_block: int = 0
    unseen: int = 0
    open: list[Queue] = field(default_factory=list)
    partly_final: list[Queue] = field(default_factory=list)

    @property
    def blocks(self) -> list[WaitingBlock]:
        """All blocks of waiting events."""
        return [block for queue in (*self.partly_final, *self.open) for block in queue.blocks]

    def oldest(self, frontier: int) -> int | None:
        """When the slice of the oldest event begins that waits for a group with this frontier."""
        found = (max(each.first, frontier) for each in self.blocks if each.last >= frontier)
        return min(found, default=None)

    def numbers(self) -> list[int]:
        """The state as integers."""
        return [
            self.next_block,
            self.unseen,
            *_of_queues(self.open),
            *_of_queues(self.partly_final),
        ]

    @classmethod
    def of_numbers(cls, numbers: Iterator[int]) -> WaitingState:
        """The state that was written as these integers."""
        return cls(next(numbers), next(numbers), _queues(numbers), _queues(numbers))


def _of_queues(queues: Sequence[Queue]) -> list[int]:
    found = [len(queues)]
    for queue in queues:
        found += [queue.merges, len(queue.blocks)]
        for block in queue.blocks:
            found += astuple(block)
    return found


def _queues(numbers: Iterator[int]) -> list[Queue]:
    found, width = [], len(fields(WaitingBlock))
    for _ in range(next(numbers)):
        merges, count = islice(numbers, 2)
        blocks = [WaitingBlock(*islice(numbers, width)) for _ in range(count)]
        found.append(Queue(merges, blocks))
    return found


@dataclass
class GroupState:
    """What is known of a group of windows.

    Attributes:
        fronts: for each window, its oldest block of cells; those before are of no use to it.
        frontier: when the oldest slice begins that is not final, in ticks.
        end: the number of the next block of cells.
    """

    fronts: list[int]
    frontier: int = NONE
    end: int = 0

    @property
    def front(self) -> int:
        """The oldest block that some window needs."""
        return min(self.fronts)

    def numbers(self) -> list[int]:
        """The state as integers."""
        return [self.frontier, self.end, len(self.fronts), *self.fronts]

    @classmethod
    def of_numbers(cls, numbers: Iterator[int]) -> GroupState:
        """The state that was written as these integers."""
        frontier, end, fronts = islice(numbers, 3)
        return cls(list(islice(numbers, fronts)), frontier, end)


@dataclass
class ShardHeader:
    """What is known of a shard.

    Attributes:
        fingerprint: of the description of the query that the state is of.
        groups: the state of each group of windows.
        waiting: the events that are not final for all groups.
        timer: the watermark at which the shard asked to be woken.
        history: the watermark up to which a table has answered that the stream goes on from.
        watermark: the highest of the batches so far.
    """

    fingerprint: int
    groups: list[GroupState]
    waiting: WaitingState = field(default_factory=WaitingState)
    timer: int = NONE
    history: int = NONE
    watermark: int = NONE

    def encoded(self) -> bytes:
        """The header as bytes."""
        groups = [number for group in self.groups for number in group.numbers()]
        own = [self.fingerprint, self.timer, self.history, self.watermark, len(self.groups)]
        return integers([*own, *groups, *self.waiting.numbers()])

    @classmethod
    def decoded(cls, data: bytes) -> ShardHeader:
        """The header that was written as these bytes."""
        numbers = iter(integers_of(data))
        fingerprint, timer, history, watermark, count = islice(numbers, 5)
        groups = [GroupState.of_numbers(numbers) for _ in range(count)]
        waiting = WaitingState.of_numbers(numbers)
        return cls(fingerprint, groups, waiting, timer, history, watermark)
