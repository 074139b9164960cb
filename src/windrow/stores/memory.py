"""A store in memory: for tests, and for windows that need not outlast the process."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence

from windrow.stores.contract import NOTHING, Key, Store


class MemoryStore(Store):
    """A store in memory, which lasts as long as the object.

    >>> from windrow.stores.contract import Key
    >>> store = MemoryStore()
    >>> store.put_many({Key("a", 0, 7): b"seven"})
    >>> store.get_many([Key("a", 0, 7), Key("b", 0, 7)])
    [b'seven', None]
    """

    def __init__(self) -> None:
        self._values: dict[Key, bytes] = {}
        self._lock = threading.Lock()

    def get_many(self, keys: Sequence[Key]) -> list[bytes | None]:
        """The values of the keys."""
        with self._lock:
            return [self._values.get(key) for key in keys]

    def put_many(self, items: Mapping[Key, bytes]) -> None:
        """Write values."""
        with self._lock:
            self._values.update(items)

    def delete_many(self, keys: Iterable[Key]) -> None:
        """Delete keys."""
        with self._lock:
            for key in keys:
                self._values.pop(key, None)

    def blocks(self, namespace: str, level: int, first: int, stop: int) -> list[int]:
        """The blocks of one level."""
        with self._lock:
            return sorted(
                key.block
                for key in self._values
                if key[:2] == (namespace, level) and first <= key.block < stop
            )

    def delete_range(self, namespace: str, level: int, first: int, stop: int) -> None:
        """Delete blocks of one level."""
        if stop - first <= len(self._values):
            found: Iterable[int] = range(first, stop)
        else:
            found = self.blocks(namespace, level, first, stop)
        self.delete_many(Key(namespace, level, block) for block in found)

    def exchange(
        self,
        key: Key,
        expected: bytes | None,
        value: bytes,
        also: Mapping[Key, bytes | None] = NOTHING,
    ) -> bool:
        """Write a value if the one before is as expected."""
        with self._lock:
            if self._values.get(key) != expected:
                return False
            self._values[key] = value
            for other, data in also.items():
                if data is None:
                    self._values.pop(other, None)
                else:
                    self._values[other] = data
            return True

    def close(self) -> None:
        """Do nothing: values last as long as the object."""

    def __repr__(self) -> str:
        return f"<MemoryStore of {len(self._values)} values>"
