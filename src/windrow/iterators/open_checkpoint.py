"""A checkpoint that a stream has open: blocks are read from it, commits are written to it."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from windrow.errors import InvalidArgument, StoreError
from windrow.iterators.checkpoint import Checkpoint
from windrow.iterators.saved import (
    MOST_SHARDS,
    Record,
    columns_place,
    namespace_of,
    pending_place,
    record_place,
    sealed_batches,
    sealed_schema,
    unsealed_batches,
    unsealed_schema,
)
from windrow.stores import connect
from windrow.stores.contract import NO_BLOCK, Key, Store
from windrow.stream.live_blocks import LiveBlocks, Tally
from windrow.stream.state import KINDS, ShardPlace, kind_of

_MARK_BYTES = 8
#: files of a RocksDB; a process that was killed while it made the folder leaves only the first
_OF_ROCKSDB = ("LOG", "LOCK", "CURRENT")


class OpenCheckpoint:
    """The state of a stream in a store.

    Attributes:
        checkpoint: where it is, and what the stream does by itself.
        record: what the last commit said.
        columns: the columns of a batch of the input; None before the first commit.
        pending: answers that were not given at the last commit.
    """

    def __init__(self, checkpoint: Checkpoint) -> None:
        """Open a checkpoint, or begin one; from now on no other process can commit to it."""
        self.checkpoint = checkpoint
        self._namespace = namespace_of(checkpoint.name)
        self._own_store = not isinstance(checkpoint.place, Store)
        self._store = store_at(checkpoint.place)
        self._place = record_place(self._namespace)
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def _open(self) -> None:
        self.columns: pa.Schema | None = None
        self.pending: list[pa.RecordBatch] = []
        #: the record in the store, as far as this process knows
        self._committed = self._store.get_many([self._place.key])[0]
        mark = secrets.token_hex(_MARK_BYTES)
        if self._committed is None:
            if self._store.blocks(self._namespace, 0, 0, NO_BLOCK):
                raise self._place.missing()
            self.record = Record(mark)
        else:
            found = Record.unsealed(self._place, self._committed)
            self.record = replace(found, writer=mark)
        if self.record.commits:
            columns, pending = columns_place(self._namespace), pending_place(self._namespace)
            stored = self._store.get_many([columns.key, pending.key])
            self.columns = unsealed_schema(columns, stored[0])
            if self.record.has_pending:
                self.pending = unsealed_batches(pending, stored[1])
        self._exchange(self.record, {})

    @property
    def offset(self) -> Any:
        """The offset that was committed last; None if there was none."""
        return self.record.progress.get("offset")

    @property
    def is_new(self) -> bool:
        """Whether nothing was ever committed to it."""
        return not self.record.commits

    def shards(self, count: int) -> list[LiveBlocks]:
        """The blocks of each shard, which are read when they are needed."""
        if count > MOST_SHARDS:
            raise InvalidArgument(
                f"shards: a checkpoint keeps at most {MOST_SHARDS} shards, and these are {count}"
            )
        return [self._shard(number) for number in range(count)]

    def _shard(self, shard: int) -> LiveBlocks:
        name = f"checkpoint {self._store!r}, shard {shard}"
        found = self._store.blocks(self._namespace, shard, 0, NO_BLOCK)
        blocks = LiveBlocks(found, partial(self._read, shard), name)
        if shard < len(self.record.blocks):
            _require_all(blocks.tally, Tally(*self.record.blocks[shard]), name)
        return blocks

    def commit(
        self,
        progress: Mapping[str, Any],
        columns: pa.Schema,
        shards: Sequence[LiveBlocks],
        pending: Sequence[pa.RecordBatch] = (),
    ) -> None:
        """Write the blocks that changed, and the record, in one step; or nothing, and raise."""
        record = Record(
            self.record.writer,
            self.record.commits + 1,
            bool(pending),
            [list(blocks.tally) for blocks in shards],
            dict(progress),
        )
        changes = [blocks.changes() for blocks in shards]
        also = {
            Key(self._namespace, shard, number): data
            for shard, changed in enumerate(changes)
            for number, data in changed.items()
        }
        place = pending_place(self._namespace)
        if pending:
            also[place.key] = sealed_batches(place, list(pending))
        elif self.record.has_pending:
            also[place.key] = None
        if columns != self.columns:
            place = columns_place(self._namespace)
            also[place.key] = sealed_schema(place, columns)
        self._exchange(record, also)
        for blocks, changed in zip(shards, changes, strict=True):
            blocks.written(changed)
        self.record, self.columns = record, columns

    def close(self) -> None:
        """Release the store, if it was opened for the checkpoint."""
        if self._own_store:
            self._store.close()

    def _read(self, shard: int, number: int) -> bytes | None:
        return self._store.get_many([Key(self._namespace, shard, number)])[0]

    def _exchange(self, record: Record, also: Mapping[Key, bytes | None]) -> None:
        value, key = record.sealed(self._place), self._place.key
        if not self._store.exchange(key, self._committed, value, also):
            # A write that failed may have arrived all the same.
            found = self._store.get_many([key])[0]
            if not self._wrote(found) or not self._store.exchange(key, found, value, also):
                raise StoreError(
                    f"checkpoint: {self._store!r} was opened for the same stream by another "
                    "process since; only the newest can commit. Stop one of them"
                )
        self._committed = value

    def _wrote(self, found: bytes | None) -> bool:
        """Whether this process has written a record that was found."""
        return (
            found is not None and Record.unsealed(self._place, found).writer == self.record.writer
        )


def _require_all(found: Tally, committed: Tally, name: str) -> None:
    """Refuse a shard that has other blocks than were committed."""
    if found == committed:
        return
    lost = committed.sum - found.sum
    if found.blocks == committed.blocks - 1 and kind_of(lost) in range(KINDS):
        problem = str(ShardPlace(lost).missing()).removeprefix("checkpoint: ")
        raise StoreError(f"{name}: {problem}")
    raise StoreError(
        f"{name}: its state has {found.blocks} blocks, and {committed.blocks} others were "
        "committed. Restore the "
        "checkpoint from a copy; or give a new one, with history= the events so far"
    )


def store_at(place: str | Path | Store, read_only: bool = False) -> Store:
    """The store at a place; a folder that holds other files is refused."""
    if isinstance(place, Store):
        return place
    if "://" not in str(place):
        folder = Path(place)
        if folder.exists() and not folder.is_dir():
            raise InvalidArgument(f"checkpoint: {folder} is a file; give a folder")
        if folder.is_dir() and any(folder.iterdir()) and not is_rocksdb(folder):
            raise InvalidArgument(
                f"checkpoint: the folder {folder} holds other files; give a folder of its own"
            )
    try:
        return connect(place, read_only)
    except InvalidArgument as error:
        raise InvalidArgument(f"checkpoint: {str(error).removeprefix('store: ')}") from None


def is_rocksdb(folder: Path) -> bool:
    """Whether a folder holds a RocksDB."""
    return any((folder / name).exists() for name in _OF_ROCKSDB)


def json_value(offset: Any) -> Any:
    """An offset as it comes back from a checkpoint; raises if it is no JSON value."""
    try:
        return json.loads(json.dumps(offset, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidArgument(
            f"offset: an offset is a JSON value, such as a number, a string or a dict of them: "
            f"{error}"
        ) from None
