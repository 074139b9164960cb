"""The state of a shard as bytes: blocks of columns by number, and a header that knows them.

Every block is

    version    1 byte
    checksum   8 bytes, of the block's number and all that follows
    size       7 bytes: that of the content once it is decompressed, 0 if it is not compressed
    content

The content is an Arrow record batch without its schema, which the plan knows; that of the header is
64-bit integers. Nothing is ever pickled. What is the same in every batch is written once: what the
query is, as text, and the schemas and slices, so that state can be read without the query.

No byte of a block is used before its checksum was right. A block under another's number is found
out as well.

Columns are compressed because a byte costs 10 ns on its way from Spark's store to Python, and with
LZ4 0.6 ns to compress and 0.5 ns to decompress. zstd was twice as small for some, and took 4 ns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, field
from itertools import islice
from typing import Protocol

import numpy as np
import pyarrow as pa

from windrow.errors import IncompatibleState, InvalidArgument, StoreError
from windrow.stores.checksum import CHECKSUM_BYTES, checksum

VERSION = 3
_SIZE_BYTES = 7
_BODY = 1 + CHECKSUM_BYTES
_CODEC = pa.Codec("lz4_raw")

#: what a block holds, in the highest byte of its number
HEADER, DESCRIPTION, CELLS_SCHEMA, WAITING_SCHEMA, SLICES, NODE, WAITING = range(7)
ROWS_SCHEMA, LEDGER_SCHEMA, BINS, ROWS, LEDGER = range(7, 12)
MAPS_SCHEMA, MAP, SEGMENT, SEGMENT_MAP, WHOLE_MAP = range(12, 17)
_NAMES = (
    "the header", "what the query is", "the columns of cells", "the columns of waiting events",
    "slices", "cells", "waiting events", "the columns of rows", "the columns of the ledger", "bins",
    "rows", "the ledger", "the columns of maps", "a map", "a segment", "the map of a segment",
    "the map of a bin",
)  # fmt: skip
_KIND_BITS, _GROUP_BITS, _BLOCK_BITS = 56, 40, 8
#: so many groups of windows have blocks of their own
MOST_GROUPS = 1 << _KIND_BITS - _GROUP_BITS

#: what a schema says beside its columns: which are those of the key, and which tells the time
KEY, ORDER = b"key", b"order"

#: for a frontier or a timer that is not known yet
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
    return number >> _GROUP_BITS & MOST_GROUPS - 1


def require_numbers(groups: int) -> None:
    """Refuse more groups of windows than there are numbers for."""
    if groups > MOST_GROUPS:
        raise InvalidArgument(
            f"windows: a stream keeps at most {MOST_GROUPS:,} groups of windows that share slices, "
            f"and these are {groups:,}; ask for some of them in another query"
        )


def content_of(number: int, data: bytes) -> bytes:
    """What stands in a block, decompressed."""
    if data[:1] != bytes([VERSION]) and data:
        raise IncompatibleState(
            f"checkpoint: its state has layout {data[0]}, and this windrow knows layout {VERSION}; "
            "run the query with the windrow that wrote it, or give a new checkpoint, with history= "
            "the events so far"
        )
    body = memoryview(data)[_BODY:]
    if len(body) < _SIZE_BYTES or data[1:_BODY] != checksum(_place(number), body):
        raise _damaged(f"{_named(number)} is damaged: its checksum is another")
    size, content = int.from_bytes(body[:_SIZE_BYTES], "little"), bytes(body[_SIZE_BYTES:])
    return _CODEC.decompress(content, size, asbytes=True) if size else content


def lacking(number: int) -> StoreError:
    """What is wrong with a state that has no such block."""
    return _damaged(f"{_named(number)} is missing")


def _named(number: int) -> str:
    return f"block {number} of its state, which holds {_NAMES[kind_of(number)]},"


def _damaged(problem: str) -> StoreError:
    return StoreError(
        f"checkpoint: {problem}. Restore the checkpoint from a copy; or give a new one, with "
        "history= the events so far"
    )


def _block(number: int, content: bytes, size: int = 0) -> bytes:
    """A block of this content; `size` is that before it was compressed."""
    body = size.to_bytes(_SIZE_BYTES, "little") + content
    return bytes([VERSION]) + checksum(_place(number), body) + body


def _place(number: int) -> bytes:
    return number.to_bytes(8, "little")


def integers(numbers: Sequence[int]) -> bytes:
    """Integers as bytes."""
    return np.array(numbers, "<i8").tobytes()


def integers_of(content: bytes) -> list[int]:
    """The integers that were written as these bytes."""
    return np.frombuffer(content, "<i8").tolist()  # type: ignore[no-any-return]


class ShardBlocks:
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
        return content_of(number, data)

    def require_none(self, number: int) -> None:
        """Refuse a state that has this block though it has no header, without which it is lost."""
        if self._storage.get(number) is not None:
            raise lacking(block_number(HEADER))

    def write(self, number: int, content: bytes) -> None:
        """Put bytes into a block."""
        self._put(number, _block(number, content))

    def load(self, number: int, schema: pa.Schema) -> pa.RecordBatch:
        """The columns of a block that is there."""
        if number not in self._known:
            content = self.bytes_of(number)
            if content is None:
                raise lacking(number)
            self._known[number] = pa.ipc.read_record_batch(pa.py_buffer(content), schema)
        return self._known[number]

    def store(self, number: int, batch: pa.RecordBatch) -> None:
        """Write columns into a block."""
        self._known[number] = batch
        content = batch.serialize()
        compressed = _CODEC.compress(content, asbytes=True)
        self._put(number, _block(number, compressed, content.size))

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

    `size` is how many bytes there are in memory.
    """

    number: int
    first: int
    last: int
    size: int


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
        frontier: the oldest slice that is not final.
        end: the number of the next block of cells.
        next_waiting: the number of the next block of events.
        queues: the events that are not final, in the order of arrival.
    """

    fronts: list[int]
    frontier: int = NONE
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
        """The state as integers."""
        queues = [
            number
            for queue in self.queues
            for number in (queue.merges, len(queue.blocks), *_flat(queue.blocks))
        ]
        return [
            self.frontier, self.end, self.next_waiting,
            len(self.fronts), *self.fronts, len(self.queues), *queues,
        ]  # fmt: skip

    @classmethod
    def of_numbers(cls, numbers: Iterator[int]) -> GroupState:
        """The state that was written as these integers."""
        frontier, end, next_waiting, fronts = islice(numbers, 4)
        held = list(islice(numbers, fronts))
        queues = []
        for _ in range(next(numbers)):
            merges, blocks = islice(numbers, 2)
            queues.append(Queue(merges, [Waiting(*islice(numbers, 4)) for _ in range(blocks)]))
        return cls(held, frontier, end, next_waiting, queues)


def _flat(blocks: Sequence[Waiting]) -> Iterator[int]:
    return (number for each in blocks for number in astuple(each))


@dataclass
class ShardHeader:
    """What is known of a shard.

    Attributes:
        fingerprint: of the plan that it is of.
        groups: what is known of its groups.
        timer: when it is to be woken.
        history: up to which watermark a table has answered that the stream goes on from.
        watermark: that of the last batch that it was called in.
    """

    fingerprint: int
    groups: list[GroupState]
    timer: int = NONE
    history: int = NONE
    watermark: int = NONE

    def encoded(self) -> bytes:
        """The header as bytes."""
        groups = [number for group in self.groups for number in group.numbers()]
        told = [self.fingerprint, self.timer, self.history, self.watermark, len(self.groups)]
        return integers([*told, *groups])

    @classmethod
    def decoded(cls, data: bytes) -> ShardHeader:
        """The header that was written as these bytes."""
        numbers = iter(integers_of(data))
        fingerprint, timer, history, watermark, groups = islice(numbers, 5)
        held = [GroupState.of_numbers(numbers) for _ in range(groups)]
        return cls(fingerprint, held, timer, history, watermark)
