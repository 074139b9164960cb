"""The blocks of a shard in memory: columns stay as they are until a checkpoint asks for them.

A process that works on one batch after the other need not write a block to read it again. It holds
each block as it was stored:

    block            in memory       since the last commit     at a commit
    cells 4 to 6     columns         stored                    sealed and written
    cells 1 to 3     (not read)                                stays in the checkpoint
    waiting 7        -               stored and deleted        was never written
    waiting 2        -               deleted                   deleted

So what lives shorter than from one commit to the next costs nothing, and a commit writes what
changed and nothing else. After a restart a block is read when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple, TypeVar

import pyarrow as pa

from windrow.errors import StoreError
from windrow.stream.state import ShardBlocks, ShardPlace, content_of, sealed_columns, sealed_content

Kept = TypeVar("Kept")

#: a batch that holds on to more than this many times its own bytes is copied
_MOST_SHARED = 2


class Tally(NamedTuple):
    """How many blocks there are, and the sum of their numbers: tells whether some were lost."""

    blocks: int
    sum: int

    @classmethod
    def of(cls, numbers: Collection[int]) -> Tally:
        """The tally of blocks of these numbers."""
        return cls(len(numbers), sum(numbers))


class LiveBlocks(ShardBlocks):
    """The blocks of a shard, in memory from batch to batch.

    Args:
        stored: the numbers of the blocks that a checkpoint has.
        read: reads the bytes of one of them.
        name: what errors call the checkpoint.

    Attributes:
        tally: of all blocks, in memory or not.
    """

    def __init__(
        self,
        stored: Collection[int] = (),
        read: Callable[[int], bytes | None] = lambda _number: None,
        name: str = "checkpoint",
    ) -> None:
        self._name = name
        self._live: dict[int, pa.RecordBatch | bytes] = {}
        self._stored, self._read = set(stored), read
        self.tally = Tally.of(self._stored)
        #: the blocks that differ from the checkpoint's
        self._changed: set[int] = set()
        #: what groups keep that no checkpoint has (see `live/`)
        self._objects: dict[int, Any] = {}
        self.bytes_read = 0
        self.bytes_written = 0

    def object(self, group: int, make: Callable[[], Kept]) -> Kept:
        """What a group keeps as it is; only in a stream without a checkpoint."""
        if group not in self._objects:
            self._objects[group] = make()
        found: Kept = self._objects[group]
        return found

    def bytes_of(self, number: int) -> bytes | None:
        """The content of a block of bytes; None if there is no such block."""
        if number not in self._live:
            content = self._content(number)
            if content is None:
                return None
            self._live[number] = content
        found = self._live[number]
        assert isinstance(found, bytes)
        return found

    def has(self, number: int) -> bool:
        """Whether there is a block of this number."""
        return number in self._live or (number in self._stored and number not in self._changed)

    def write(self, number: int, content: bytes) -> None:
        """Put bytes into a block."""
        self._put(number, content)

    def load(self, number: int, schema: pa.Schema) -> pa.RecordBatch:
        """The columns of a block; raises if it is missing."""
        if number not in self._live:
            content = self._content(number)
            if content is None:
                raise ShardPlace(number).missing()
            self._live[number] = pa.ipc.read_record_batch(pa.py_buffer(content), schema)
        return self._live[number]

    def store(self, number: int, batch: pa.RecordBatch) -> None:
        """Put columns into a block."""
        if batch.get_total_buffer_size() > _MOST_SHARED * batch.nbytes:
            # A few rows of a large batch would keep all of it in memory.
            batch = pa.ipc.read_record_batch(batch.serialize(), batch.schema)
        self._put(number, batch)

    def delete(self, number: int) -> None:
        """Delete a block that is there."""
        if self.has(number):
            self.tally = Tally(self.tally.blocks - 1, self.tally.sum - number)
        self._live.pop(number, None)
        self._changed.add(number)

    def changes(self) -> dict[int, bytes | None]:
        """The blocks that differ from the checkpoint's, sealed; None for those to be deleted."""
        found: dict[int, bytes | None] = {}
        for number in self._changed:
            block = self._live.get(number)
            if block is not None:
                is_bytes = isinstance(block, bytes)
                found[number] = (sealed_content if is_bytes else sealed_columns)(number, block)
                # A commit that fails may have arrived all the same.
                self._stored.add(number)
            elif number in self._stored:
                found[number] = None
        return found

    def written(self, changes: Mapping[int, bytes | None]) -> None:
        """Take note that a checkpoint has these changes."""
        for number, data in changes.items():
            if data is None:
                self._stored.discard(number)
            else:
                self.bytes_written += len(data)
        self._changed.clear()

    def _put(self, number: int, block: pa.RecordBatch | bytes) -> None:
        if not self.has(number):
            self.tally = Tally(self.tally.blocks + 1, self.tally.sum + number)
        self._live[number] = block
        self._changed.add(number)

    def _content(self, number: int) -> bytes | None:
        """The content of a block that only the checkpoint has."""
        if number in self._changed or number not in self._stored:
            return None
        data = self._read(number)
        self.bytes_read += len(data or b"")
        try:
            return content_of(number, data)
        except StoreError as error:
            raise StoreError(f"{self._name}: {str(error).removeprefix('checkpoint: ')}") from None
