"""The blocks of one window in a store: written in the background, read ahead.

A window puts blocks in the order in which they fill, and never changes them. A block stays in
memory until the store has it. Blocks gather, and a thread writes them together while the next ones
gather. So a window waits for the store only if it is a whole batch ahead of it. Another thread
reads the blocks that will soon be needed; the window waits only for a block that nobody foresaw.

If a write fails, the next call that needs the thread raises the error, and the call after that
tries again. No block is lost on the way.
"""

from __future__ import annotations

from bisect import bisect_left
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

from windrow.stores.contract import NO_BLOCK, Key, Store
from windrow.stores.layout import Fields, Layout, StorePlace

#: bytes that are written at once; RocksDB takes half the time per byte with 64 kB as with 4
_BATCH_BYTES = 2**16
#: how many batches may gather while writes fail; then every block waits for the store
_MOST_BATCHES = 4


#: where the values of events are, above the levels of trees; they are in blocks like the events
VALUES_LEVEL = 254


class Writer(NamedTuple):
    """The writer of the blocks that filled after a window had had `since` events."""

    since: int
    mark: bytes


class WindowBlocks:
    """The blocks of one window.

    Args:
        store: where the blocks are.
        namespace: the window's name.
        layout: how partials are written.
        values: how the values of events are written.
        bits: a block holds two to the power of `bits` partials.
        writers: who wrote which blocks; the last one is this process.
    """

    def __init__(
        self,
        store: Store,
        namespace: str,
        layout: Layout,
        values: Layout,
        bits: int,
        writers: list[Writer],
    ) -> None:
        self.store = store
        self.writers = writers
        self._namespace = namespace
        self._layout, self._values = layout, values
        self._bits = bits
        self._batch = max(1, _BATCH_BYTES // (layout.partial_bytes << bits))
        #: the blocks that the store may not have yet, in the order of the writes
        self._unwritten: dict[Key, bytes] = {}
        #: how many of these the thread is writing
        self._sent = 0
        self._writing: Future[None] | None = None
        self._ahead: dict[Key, Future[list[bytes | None]]] = {}
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="windrow-store")
        #: how many reads the window had to wait for
        self.misses = 0

    @property
    def resident(self) -> int:
        """How many blocks are in memory: not written yet, or read ahead."""
        return len(self._unwritten) + len(self._ahead)

    def put(self, level: int, block: int, fields: Fields) -> None:
        """Keep a full block; you may put the same block again."""
        if len(self._unwritten) >= _MOST_BATCHES * self._batch:
            self.write_all()
        elif len(self._unwritten) - self._sent >= self._batch:
            self._send()
        place = self._place(level, block)
        value = self._layout_of(level).block_to_bytes(place, self.writers[-1].mark, fields)
        self._unwritten[place.key] = value

    def get(self, level: int, block: int) -> Fields:
        """A block that was put and not deleted."""
        place = self._place(level, block)
        value = self._unwritten.get(place.key)
        if value is None:
            value = self._read(place.key)
        mark = self._writer_of(level, block).mark
        return self._layout_of(level).block_from_bytes(place, mark, value, 1 << self._bits)

    def _layout_of(self, level: int) -> Layout:
        return self._values if level == VALUES_LEVEL else self._layout

    def _place(self, level: int, block: int) -> StorePlace:
        return StorePlace(self.store, Key(self._namespace, level, block))

    def _read(self, key: Key) -> bytes | None:
        ahead = self._ahead.pop(key, None)
        if ahead is None:
            self.misses += 1
            return self.store.get_many([key])[0]
        return ahead.result()[0]

    def read_ahead(self, level: int, block: int) -> None:
        """Begin to read a block that will soon be needed."""
        key = Key(self._namespace, level, block)
        if key not in self._unwritten and key not in self._ahead:
            self._ahead[key] = self._threads.submit(self.store.get_many, [key])

    def forget_before(self, level: int, block: int) -> None:
        """Drop blocks of a level that were read ahead and are not needed any more."""
        for key in [key for key in self._ahead if key.level == level and key.block < block]:
            del self._ahead[key]

    def write_all(self) -> None:
        """Wait until the store has every block."""
        while self._unwritten:
            self._send()
            self._settle()

    def delete_before(self, level: int, first: int, block: int) -> None:
        """Delete the blocks of a level from `first` to before `block`."""
        self.store.delete_range(self._namespace, level, first, block)

    def delete_from(self, level: int, block: int) -> None:
        """Delete the blocks of a level from `block` on, which no header mentions."""
        self.store.delete_range(self._namespace, level, block, NO_BLOCK)

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown()

    def _send(self) -> None:
        """Let the thread write what has gathered, after what it is writing."""
        self._settle()
        batch = dict(self._unwritten)
        self._sent = len(batch)
        self._writing = self._threads.submit(self.store.put_many, batch)

    def _settle(self) -> None:
        """Wait for the thread, and forget what it has written."""
        if self._writing is None:
            return
        writing, sent = self._writing, self._sent
        self._writing, self._sent = None, 0
        writing.result()
        for key in list(self._unwritten)[:sent]:
            del self._unwritten[key]

    def _writer_of(self, level: int, block: int) -> Writer:
        """The last writer that opened the window before the block was full."""
        full = (block + 1) << self._bits * (1 if level == VALUES_LEVEL else level + 1)
        return self.writers[bisect_left(self.writers, full, key=_since) - 1]


def _since(writer: Writer) -> int:
    return writer.since
