"""A store in a folder of this machine, by RocksDB: the default for windows larger than memory."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from windrow.errors import InvalidArgument, StoreError
from windrow.stores.contract import NOTHING, Key, Store, failures_named, level_prefix

#: how many bytes RocksDB may keep in memory before it writes to files
_WRITE_BUFFER = 16 * 2**20


class RocksDBStore(Store):
    """A store in a folder, which one process at a time can open.

    `exchange` waits for the disk, so what it has written outlasts a crash of the machine. What is
    only put outlasts a crash of the process, and of the machine if the disk had got it.

    Args:
        path: the folder; it is created if there is none.
        read_only: only read, also while another process has the folder open. You see what was
            written before you opened it.
        wait_for_disk: False lets `exchange` return at once. A crash of the process loses nothing
            all the same. After a crash of the machine, the store is as it was some seconds before.

    Raises:
        InvalidArgument: `path` is no path.
        StoreError: another process has the folder open, the disk fails, or rocksdict is not
            installed.

    >>> import tempfile
    >>> from windrow.stores.contract import Key
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = RocksDBStore(folder + "/windows.db")
    ...     store.put_many({Key("a", 0, 7): b"seven"})
    ...     print(store.get_many([Key("a", 0, 7)]))
    ...     store.close()
    [b'seven']
    """

    def __init__(
        self, path: str | Path, read_only: bool = False, wait_for_disk: bool = True
    ) -> None:
        try:
            import rocksdict
        except ImportError:
            raise StoreError(
                f"RocksDBStore({str(path)!r}) needs rocksdict: pip install 'windrow[rocksdb]'"
            ) from None
        if not isinstance(path, str | Path) or not str(path):
            raise InvalidArgument(f"path: give the folder of the store, not {path!r}")
        self._path = Path(path)
        self._library = rocksdict
        self._exchanging = threading.Lock()
        #: how many threads are in a call: closing the database under one would crash the process
        self._users, self._closed = 0, False
        self._idle = threading.Condition()
        self._exchanged = rocksdict.WriteOptions()
        self._exchanged.sync = wait_for_disk
        self._database: Any = None
        with failures_named(self, "open", "its folder", shown=_lock_explained):
            access = rocksdict.AccessType
            if not read_only:
                self._path.parent.mkdir(parents=True, exist_ok=True)
            self._database = rocksdict.Rdict(
                str(self._path),
                options=_options(rocksdict),
                access_type=access.read_only() if read_only else access.read_write(),
            )

    def get_many(self, keys: Sequence[Key]) -> list[bytes | None]:
        """The values of the keys."""
        if not keys:
            return []
        with self._using("read", keys[0]):
            found = self._database.get([key.encoded() for key in keys])
            return [None if value is None else bytes(value) for value in found]

    def put_many(self, items: Mapping[Key, bytes]) -> None:
        """Write values in one batch."""
        if not items:
            return
        with self._using("write", next(iter(items))):
            batch = self._library.WriteBatch(raw_mode=True)
            for key, value in items.items():
                batch.put(key.encoded(), value)
            self._database.write(batch)

    def delete_many(self, keys: Iterable[Key]) -> None:
        """Delete keys in one batch."""
        keys = list(keys)
        if not keys:
            return
        with self._using("delete", keys[0]):
            batch = self._library.WriteBatch(raw_mode=True)
            for key in keys:
                batch.delete(key.encoded())
            self._database.write(batch)

    def blocks(self, namespace: str, level: int, first: int, stop: int) -> list[int]:
        """The blocks of one level."""
        begin, end = Key(namespace, level, first), Key(namespace, level, stop)
        prefix = level_prefix(namespace, level)
        found: list[int] = []
        with self._using("list", begin):
            for key in self._database.keys(from_key=begin.encoded()):
                if not key.startswith(prefix) or key >= end.encoded():
                    break
                found.append(int.from_bytes(key[len(prefix) :]))
        return found

    def delete_range(self, namespace: str, level: int, first: int, stop: int) -> None:
        """Delete blocks of one level with one mark for the whole range."""
        begin, end = Key(namespace, level, first), Key(namespace, level, stop)
        with self._using("delete from", begin):
            self._database.delete_range(begin.encoded(), end.encoded())

    def exchange(
        self,
        key: Key,
        expected: bytes | None,
        value: bytes,
        also: Mapping[Key, bytes | None] = NOTHING,
    ) -> bool:
        """Write a value if the value before is as expected, and wait for the disk."""
        with self._exchanging, self._using("write", key):
            found = self._database.get(key.encoded())
            if found != expected:
                return False
            batch = self._library.WriteBatch(raw_mode=True)
            batch.put(key.encoded(), value)
            for other, data in also.items():
                if data is None:
                    batch.delete(other.encoded())
                else:
                    batch.put(other.encoded(), data)
            self._database.write(batch, write_opt=self._exchanged)
            return True

    def close(self) -> None:
        """Close the database once no thread uses it, so that another process can open it."""
        with self._idle:
            self._closed = True
            self._idle.wait_for(lambda: not self._users)
            if self._database is not None:
                self._database.close()
                self._database = None

    @property
    def closed(self) -> bool:
        """Whether the folder has been given back."""
        return self._closed

    @contextmanager
    def _using(self, doing: str, key: Key) -> Iterator[None]:
        with self._idle:
            if self._closed:
                raise StoreError(f"{self!r} cannot {doing} {key}: the store is closed")
            self._users += 1
        try:
            with failures_named(self, doing, key):
                yield
        finally:
            with self._idle:
                self._users -= 1
                self._idle.notify_all()

    def __repr__(self) -> str:
        return f"<RocksDBStore {str(self._path)!r}>"


def _lock_explained(problem: str) -> str:
    """A problem of opening; one with the lock says what to do."""
    if "lock hold by current process" in problem:
        return (
            "this process has it open already; close it first, or pass its store on. Windows "
            "that are given the folder share it"
        )
    if "While lock file" in problem:
        return "another process has it open; only one at a time can"
    return problem


def _options(rocksdict: Any) -> Any:
    # Raw mode: bytes in, bytes out. The other mode of rocksdict unpickles what it reads.
    options = rocksdict.Options(raw_mode=True)
    options.create_if_missing(True)
    options.set_write_buffer_size(_WRITE_BUFFER)
    options.set_max_write_buffer_number(2)
    options.set_max_open_files(256)
    options.set_compression_type(rocksdict.DBCompressionType.lz4())
    options.set_keep_log_file_num(2)
    return options
