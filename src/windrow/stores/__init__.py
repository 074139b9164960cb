"""Where windows keep what does not fit in memory: stores, one per file."""

from __future__ import annotations

import re
from pathlib import Path

from windrow.errors import InvalidArgument
from windrow.stores.contract import Store
from windrow.stores.memory import MemoryStore
from windrow.stores.redis import RedisStore
from windrow.stores.rocksdb import RocksDBStore
from windrow.stores.shared import SharedStore

__all__ = ["MemoryStore", "RedisStore", "RocksDBStore", "Store", "connect"]


def is_server(address: str | Path) -> bool:
    """Whether an address is that of a server."""
    return isinstance(address, str) and address.startswith(("redis://", "rediss://", "unix://"))


def shown(address: str | Path) -> str:
    """An address without a user and a password, to be shown."""
    return re.sub(r"//[^@/]*@", "//***@", str(address)) if is_server(address) else str(address)


def connect(address: str | Path, read_only: bool = False) -> Store:
    """Open the store at an address: a Redis server, or the folder of a RocksDB.

    Args:
        address: as for `RedisStore`, or the path of a folder.
        read_only: only read a folder, also while another process has it open.

    Raises:
        InvalidArgument: the address cannot be understood.
        StoreError: the store cannot be opened, or its library is not installed.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = connect(folder + "/windows.db")
    ...     print(type(store).__name__)
    ...     store.close()
    RocksDBStore
    """
    if is_server(address):
        return RedisStore(str(address))
    return RocksDBStore(_folder(address), read_only)


def share(address: str | Path) -> Store:
    """Open the store at an address; a folder is opened once for all who share it."""
    if is_server(address):
        return RedisStore(str(address))
    return SharedStore(_folder(address))


def _folder(address: str | Path) -> str | Path:
    if isinstance(address, str) and "://" in address:
        scheme = address.partition("://")[0]
        raise InvalidArgument(
            f"store: addresses begin with redis:// or rediss://, not {scheme}://; a folder is "
            "given as a path"
        )
    if not isinstance(address, str | Path):
        raise InvalidArgument(f"store: give a store, an address or a folder, not {address!r}")
    return address
