"""The blocks of a shard: columns and numbers as bytes, each block under a number of its own.

Every block is sealed (see `windrow.stores.sealed`), so that damage is found out before a byte is
used. The body of a block is

    size       7 bytes: the bytes of the content once it is decompressed, 0 if it is not compressed
    content

The content of a block of columns is an Arrow record batch without its schema, which the query
knows; that of the header is 64-bit integers. What is the same in every batch is written once: the
query's description as text, the schemas and the slices. So state can be read without the query.

The number of a block says what it holds and whose it is:

    kind       8 bits: see the constants below
    group      16 bits: the group of windows
    number     40 bits: which of the group's blocks of this kind

Columns are compressed because a byte costs 10 ns on its way from Spark's store to Python, and with
LZ4 0.6 ns to compress and 0.5 ns to decompress. zstd was twice as small for some, and took 4 ns.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa

from windrow.errors import IncompatibleState, InvalidArgument, StoreError
from windrow.stores.sealed import Place, seal, unseal

VERSION = 5
_SIZE_BYTES = 7
_CODEC = pa.Codec("lz4_raw")

#: what a block holds, in the highest byte of its number
HEADER, DESCRIPTION, CELLS_SCHEMA, WAITING_SCHEMA, SLICES, NODE, WAITING = range(7)
ROWS_SCHEMA, LEDGER_SCHEMA, BINS, ROWS, LEDGER = range(7, 12)
MAPS_SCHEMA, MAP, SEGMENT, SEGMENT_MAP, BACK_MAP = range(12, 17)
TOTALS_SCHEMA, TOTALS = range(17, 19)
WINDOWS_SCHEMA, WINDOWS = range(19, 21)
GIVEN_SCHEMA, GIVEN, OPEN_CELLS = range(21, 24)
_NAMES = (
    "the header", "what the query is", "the columns of cells", "the columns of waiting events",
    "slices", "cells", "waiting events", "the columns of rows", "the columns of the ledger", "bins",
    "rows", "the ledger", "the columns of maps", "a map", "a segment", "the map of a segment",
    "the map of a back", "the columns of totals", "totals", "the columns of last windows",
    "last windows", "the columns of given answers", "given answers", "open cells",
)  # fmt: skip
#: how many kinds of blocks there are
KINDS = len(_NAMES)
_KIND_BITS, _GROUP_BITS, _BLOCK_BITS = 56, 40, 8
#: how many groups of windows have numbers for their blocks
MOST_GROUPS = 1 << _KIND_BITS - _GROUP_BITS

#: what a schema says beside its columns: which are the key's, and which tells the time
KEY, ORDER = b"key", b"order"

#: stands for a frontier, a timer or a watermark that is not known yet
NONE = np.iinfo(np.int64).min


class Storage(Protocol):
    """Where the blocks of one shard lie."""

    def get(self, number: int) -> bytes | None:
        """The bytes of a block, None if there is none."""

    def put(self, number: int, data: bytes) -> None:
        """Write a block, over what was there."""

    def delete(self, number: int) -> None:
        """Delete a block that is there."""


# Numbers of blocks -------------------------------------------------------------------------------


def block_number(kind: int, group: int = 0, number: int = 0) -> int:
    """The number of a block of a group of windows."""
    return kind << _KIND_BITS | group << _GROUP_BITS | number


def place_in_bin(number: int, block: int) -> int:
    """The number of a bin's block among the group's blocks of a kind.

    A bin's blocks are numbered modulo 256: it never has that many at a time.
    """
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


# Bytes -------------------------------------------------------------------------------------------


class CheckpointPlace(Place):
    """A part of a checkpoint; parts word what is wrong with them alike."""

    def missing(self) -> StoreError:
        """The checkpoint has lost it."""
        return self._broken("is missing")

    def damaged(self, problem: str) -> StoreError:
        """The checkpoint holds other bytes than were written."""
        return self._broken(f"is damaged: {problem}")

    @abstractmethod
    def _broken(self, problem: str) -> StoreError:
        """The error that says which part has the problem, and what to do."""


@dataclass(frozen=True)
class ShardPlace(CheckpointPlace):
    """A block of a shard, by its number."""

    version = VERSION

    number: int

    def encoded(self) -> bytes:
        """The number."""
        return self.number.to_bytes(8, "little")

    def of_another_layout(self, version: int) -> IncompatibleState:
        """The checkpoint was written by another windrow."""
        return IncompatibleState(
            f"checkpoint: its state has layout {version}, and this windrow knows layout "
            f"{self.version}; run the query with the windrow that wrote it, or give a new "
            "checkpoint, with history= the events so far"
        )

    def _broken(self, problem: str) -> StoreError:
        return StoreError(
            f"checkpoint: block {self.number} of its state, which holds "
            f"{_NAMES[kind_of(self.number)]}, {problem}. Restore the checkpoint from a copy; or "
            "give a new one, with history= the events so far"
        )


def content_of(number: int, data: bytes | None) -> bytes:
    """The content of a block, decompressed; a block that is missing or damaged raises."""
    place = ShardPlace(number)
    body = unseal(place, data)
    if len(body) < _SIZE_BYTES:
        raise place.damaged(f"{len(body)} bytes are too few")
    size, content = int.from_bytes(body[:_SIZE_BYTES], "little"), bytes(body[_SIZE_BYTES:])
    return _CODEC.decompress(content, size, asbytes=True) if size else content


def sealed_content(number: int, content: bytes, size: int = 0) -> bytes:
    """A block of this content; `size` is how large it was before it was compressed."""
    return seal(ShardPlace(number), size.to_bytes(_SIZE_BYTES, "little") + content)


def sealed_columns(number: int, batch: pa.RecordBatch) -> bytes:
    """A block of these columns, compressed."""
    content = batch.serialize()
    return sealed_content(number, _CODEC.compress(content, asbytes=True), content.size)


def integers(numbers: Sequence[int]) -> bytes:
    """Integers as bytes."""
    return np.array(numbers, "<i8").tobytes()


def integers_of(content: bytes) -> list[int]:
    """The integers that were written as these bytes."""
    return np.frombuffer(content, "<i8").tolist()  # type: ignore[no-any-return]


class ShardBlocks:
    """The blocks of a shard while one batch is worked on: reads each once, and counts bytes."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._known: dict[int, pa.RecordBatch] = {}
        self.bytes_read = 0
        self.bytes_written = 0

    def bytes_of(self, number: int) -> bytes | None:
        """The content of a block, decompressed; None if there is no such block."""
        data = self._storage.get(number)
        if data is None:
            return None
        self.bytes_read += len(data)
        return content_of(number, data)

    def has(self, number: int) -> bool:
        """Whether there is a block of this number."""
        return self._storage.get(number) is not None

    def require_new(self) -> None:
        """Refuse a state that has lost its header: it has a description all the same."""
        if self.has(block_number(DESCRIPTION)):
            raise ShardPlace(block_number(HEADER)).missing()

    def write(self, number: int, content: bytes) -> None:
        """Put bytes into a block."""
        self._put(number, sealed_content(number, content))

    def load(self, number: int, schema: pa.Schema) -> pa.RecordBatch:
        """The columns of a block; raises if it is missing."""
        if number not in self._known:
            content = self.bytes_of(number)
            if content is None:
                raise ShardPlace(number).missing()
            self._known[number] = pa.ipc.read_record_batch(pa.py_buffer(content), schema)
        return self._known[number]

    def store(self, number: int, batch: pa.RecordBatch) -> None:
        """Write columns into a block."""
        self._known[number] = batch
        self._put(number, sealed_columns(number, batch))

    def delete(self, number: int) -> None:
        """Delete a block that is there."""
        self._known.pop(number, None)
        self._storage.delete(number)

    def _put(self, number: int, data: bytes) -> None:
        self.bytes_written += len(data)
        self._storage.put(number, data)


def blocks_in(storage: Storage | ShardBlocks) -> ShardBlocks:
    """The blocks of a storage while one batch is worked on; blocks are what they are."""
    return storage if isinstance(storage, ShardBlocks) else ShardBlocks(storage)
