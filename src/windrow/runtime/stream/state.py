"""The state of a shard as bytes: blocks of columns by number, and a header that knows them.

A block begins with eight bytes: the version of the layout, and how many bytes there are once they
are decompressed, or 0 if they stand there as they are. What follows is an Arrow record batch
without its schema, which the plan knows. The header is 64-bit integers behind the same eight bytes.
Nothing is ever pickled. What is the same in every batch is written once: what the query is, as
text, and the schemas and slices, so that state can be read without the query.

Columns are compressed because a byte costs 10 ns on its way from Spark's store to Python, and with
LZ4 0.6 ns to compress and 0.5 ns to decompress. zstd was twice as small for some, and took 4 ns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Protocol

import numpy as np
import pyarrow as pa

from windrow.errors import IncompatibleState

VERSION = 2
#: the versions whose blocks are read; in layout 1 nothing was compressed
_READ = (1, VERSION)
_PREFIX_BYTES = 8
_CODEC = pa.Codec("lz4_raw")

#: what a block holds, in the highest byte of its number
HEADER, DESCRIPTION, CELLS_SCHEMA, WAITING_SCHEMA, SLICES, NODE, WAITING = range(7)
ROWS_SCHEMA, LEDGER_SCHEMA, BINS, ROWS, LEDGER = range(7, 12)
MAPS_SCHEMA, MAP, STRETCH, STRETCH_MAP, WHOLE_MAP = range(12, 17)
_KIND_BITS, _GROUP_BITS, _BLOCK_BITS = 56, 48, 8

#: what a schema says beside its columns: which are those of the key, and which tells the time
KEY, ORDER = b"key", b"order"

#: for an edge or a timer that is not known yet
NONE = np.iinfo(np.int64).min


class Storage(Protocol):
    """Where the blocks of one shard lie."""

    def get(self, number: int) -> bytes | None:
        """The bytes of a block, None if there is none."""

    def put(self, number: int, data: bytes) -> None:
        """Write a block, over what was there."""

    def delete(self, number: int) -> None:
        """Delete a block that is there."""


def block_number(kind: int, group: int = 0, number: int = 0) -> int:
    """Where a block of a group of windows lies in a shard's storage."""
    return kind << _KIND_BITS | group << _GROUP_BITS | number


def place_in_bin(number: int, block: int) -> int:
    """The number of a block of a bin, among those of a kind; they go round."""
    return number << _BLOCK_BITS | block & (1 << _BLOCK_BITS) - 1


def kind_of(number: int) -> int:
    """What a block holds."""
    return number >> _KIND_BITS


def group_of(number: int) -> int:
    """The group of windows that a block belongs to."""
    return number >> _GROUP_BITS & (1 << _KIND_BITS - _GROUP_BITS) - 1


def content_of(data: bytes) -> bytes:
    """What stands in a block behind its first bytes."""
    if data[0] not in _READ:
        raise IncompatibleState(
            f"checkpoint: its state has layout {data[0]}, and this windrow knows layout {VERSION}; "
            "run the query with the windrow that wrote it, or start a new one"
        )
    size, content = int.from_bytes(data[1:_PREFIX_BYTES], "little"), data[_PREFIX_BYTES:]
    return _CODEC.decompress(content, size, asbytes=True) if size else content


def _block(content: bytes, size: int = 0) -> bytes:
    """A block of this content; `size` is that before it was compressed."""
    return bytes([VERSION]) + size.to_bytes(_PREFIX_BYTES - 1, "little") + content


def integers(numbers: Sequence[int]) -> bytes:
    """Integers as bytes."""
    return np.array(numbers, "<i8").tobytes()


def integers_of(content: bytes) -> list[int]:
    """The integers that were written as these bytes."""
    return np.frombuffer(content, "<i8").tolist()  # type: ignore[no-any-return]


class Blocks:
    """The blocks of a shard while one batch is worked on: each is read once; bytes are counted."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._known: dict[int, pa.RecordBatch] = {}
        self.bytes_read = 0
        self.bytes_written = 0

    def bytes_of(self, number: int) -> bytes | None:
        """What stands in a block, decompressed."""
        data = self._storage.get(number)
        if data is None:
            return None
        self.bytes_read += len(data)
        return content_of(data)

    def write(self, number: int, content: bytes) -> None:
        """Put bytes into a block."""
        self._put(number, _block(content))

    def load(self, number: int, schema: pa.Schema) -> pa.RecordBatch:
        """The columns of a block that is there."""
        if number not in self._known:
            content = self.bytes_of(number)
            if content is None:
                raise IncompatibleState(
                    f"checkpoint: its state lacks block {number}; start from a checkpoint that was "
                    "not changed"
                )
            self._known[number] = pa.ipc.read_record_batch(pa.py_buffer(content), schema)
        return self._known[number]

    def store(self, number: int, batch: pa.RecordBatch) -> None:
        """Write columns into a block."""
        self._known[number] = batch
        content = batch.serialize()
        self._put(number, _block(_CODEC.compress(content, asbytes=True), content.size))

    def delete(self, number: int) -> None:
        """Delete a block that is there."""
        self._known.pop(number, None)
        self._storage.delete(number)

    def _put(self, number: int, data: bytes) -> None:
        self.bytes_written += len(data)
        self._storage.put(number, data)


@dataclass
class Waiting:
    """A block of events that are not final: its number, its oldest and its newest slice.

    `size` is how many bytes there are in memory, 0 if that was not written down.
    """

    number: int
    first: int
    last: int
    size: int = 0


@dataclass
class Queue:
    """Blocks of events that are not final, each of later slices than the one before.

    `merges` is how often it was made of others.
    """

    merges: int
    blocks: list[Waiting]


@dataclass
class GroupState:
    """What is known of the blocks of windows that share slices.

    Attributes:
        fronts: for each window, its oldest block of cells; those before are of no use to it.
        edge: the oldest slice that is not final.
        end: the number of the next block of cells.
        next_waiting: the number of the next block of events.
        queues: the events that are not final, in the order of arrival.
    """

    fronts: list[int]
    edge: int = NONE
    end: int = 0
    next_waiting: int = 0
    queues: list[Queue] = field(default_factory=list)

    @property
    def waiting(self) -> list[Waiting]:
        """The blocks of events that are not final."""
        return [block for queue in self.queues for block in queue.blocks]

    @property
    def front(self) -> int:
        """The oldest block that some window needs."""
        return min(self.fronts)

    def numbers(self) -> list[int]:
        """The state as integers, but for what queues there are."""
        waiting = [
            number for each in self.waiting for number in (each.number, each.first, each.last)
        ]
        return [
            self.edge, self.end, self.next_waiting,
            len(self.fronts), *self.fronts, len(self.waiting), *waiting,
        ]  # fmt: skip

    @classmethod
    def of_numbers(cls, numbers: Iterator[int]) -> GroupState:
        """The state that was written as these integers; each block is a queue."""
        edge, end, next_waiting, fronts = (next(numbers) for _ in range(4))
        held = [next(numbers) for _ in range(fronts)]
        queues = [
            Queue(0, [Waiting(next(numbers), next(numbers), next(numbers))])
            for _ in range(next(numbers))
        ]
        return cls(held, edge, end, next_waiting, queues)

    def queue_numbers(self) -> list[int]:
        """What queues there are, as integers."""
        queues = [number for each in self.queues for number in (each.merges, len(each.blocks))]
        return [len(self.queues), *queues, *(each.size for each in self.waiting)]

    def queue(self, numbers: Iterator[int]) -> None:
        """Arrange blocks in the queues that were written as these integers."""
        lengths = [(next(numbers), next(numbers)) for _ in range(next(numbers))]
        blocks = iter([replace(each, size=next(numbers)) for each in self.waiting])
        self.queues = [Queue(merges, list(islice(blocks, length))) for merges, length in lengths]


@dataclass
class Header:
    """What is known of a shard.

    Attributes:
        fingerprint: of the plan that it is of.
        groups: what is known of its groups.
        timer: when it is to be woken.
        history: up to which watermark a table has answered that the stream goes on from.
    """

    fingerprint: int
    groups: list[GroupState]
    timer: int = NONE
    history: int = NONE

    def encoded(self) -> bytes:
        """The header as bytes. What queues there are stands behind: once there was none of it."""
        groups = [number for group in self.groups for number in group.numbers()]
        queues = [number for group in self.groups for number in group.queue_numbers()]
        told = [self.fingerprint, self.timer, self.history, len(self.groups)]
        return integers([*told, *groups, *queues])

    @classmethod
    def decoded(cls, data: bytes) -> Header:
        """The header that was written as these bytes."""
        numbers = iter(integers_of(data))
        fingerprint, timer, history, groups = (next(numbers) for _ in range(4))
        held = [GroupState.of_numbers(numbers) for _ in range(groups)]
        behind = list(numbers)
        if behind:
            numbers = iter(behind)
            for group in held:
                group.queue(numbers)
        return cls(fingerprint, held, timer, history)


def differences(before: Sequence[str], now: Sequence[str]) -> str:
    """What of two descriptions is not in both."""
    gone = [line for line in before if line not in now]
    new = [line for line in now if line not in before]
    return "; ".join([*(f"was {line}" for line in gone), *(f"is now {line}" for line in new)])
