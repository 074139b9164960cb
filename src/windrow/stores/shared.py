"""One store for all windows of a process that name the same folder.

RocksDB lets a folder be opened once. So windows that are given a folder share one store. It closes
when the last of them closes.

A folder has many spellings: relative, with links, in other letters on some disks. RocksDB's lock
file tells whether two are the same: an open store holds the file, so the disk gives its number to
no other file.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from weakref import WeakSet, WeakValueDictionary

from windrow.errors import StoreError
from windrow.stores.contract import NOTHING, Key, Store
from windrow.stores.rocksdb import RocksDBStore

#: a process, and the disk and number of a lock file; a forked process has no store of its parent's
Place = tuple[int, int, int]

_sharing = threading.Lock()


class _Folder:
    """An open folder; it is closed with its last share, or when nothing refers to one any more."""

    def __init__(self, path: str | Path) -> None:
        self.store = RocksDBStore(path)
        place = _place_of(path)
        assert place is not None, "an open RocksDB has its lock file"
        self.place = place
        self.shares: WeakSet[SharedStore] = WeakSet()


_open_folders: WeakValueDictionary[Place, _Folder] = WeakValueDictionary()


class SharedStore(Store):
    """A share in the store of a folder; closing it leaves the other shares open."""

    def __init__(self, path: str | Path) -> None:
        with _sharing:
            place = _place_of(path)
            folder = None if place is None else _open_folders.get(place)
            if folder is None:
                folder = _Folder(path)
                _open_folders[folder.place] = folder
            folder.shares.add(self)
        self._folder: _Folder | None = folder
        self._shown = repr(folder.store)

    @property
    def closed(self) -> bool:
        """Whether this share is closed."""
        return self._folder is None

    def get_many(self, keys: Sequence[Key]) -> list[bytes | None]:
        """The values of the keys."""
        return self._open_store().get_many(keys)

    def put_many(self, items: Mapping[Key, bytes]) -> None:
        """Write values in one batch."""
        self._open_store().put_many(items)

    def delete_many(self, keys: Iterable[Key]) -> None:
        """Delete keys in one batch."""
        self._open_store().delete_many(keys)

    def blocks(self, namespace: str, level: int, first: int, stop: int) -> list[int]:
        """The blocks of one level."""
        return self._open_store().blocks(namespace, level, first, stop)

    def delete_range(self, namespace: str, level: int, first: int, stop: int) -> None:
        """Delete blocks of one level."""
        self._open_store().delete_range(namespace, level, first, stop)

    def exchange(
        self,
        key: Key,
        expected: bytes | None,
        value: bytes,
        also: Mapping[Key, bytes | None] = NOTHING,
    ) -> bool:
        """Write a value if the value before is as expected, and wait for the disk."""
        return self._open_store().exchange(key, expected, value, also)

    def close(self) -> None:
        """Give up this share; the last one closes the folder."""
        with _sharing:
            folder, self._folder = self._folder, None
            if folder is not None:
                folder.shares.discard(self)
                if not folder.shares:
                    folder.store.close()
                    # The next window opens it anew, though this object may live on.
                    del _open_folders[folder.place]

    def _open_store(self) -> RocksDBStore:
        folder = self._folder
        if folder is None:
            raise StoreError(f"{self!r} is closed")
        return folder.store

    def __repr__(self) -> str:
        return self._shown


def _place_of(path: str | Path) -> Place | None:
    """What identifies a folder, however it is spelled; None if no RocksDB has been there."""
    try:
        found = (Path(path) / "LOCK").stat()
    except OSError:
        return None
    return os.getpid(), found.st_dev, found.st_ino
