"""What a key-value store has to do.

A key names the window that a value belongs to (the namespace), the level of the window's tree, and
the block of that level. Values are bytes.

A store may fail at any call. Then it raises `StoreError`, which names the store and the key. What
it was asked to write may or may not have been written. `put_many` and `exchange` write all or
nothing, and you may repeat every call.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import NamedTuple

from windrow.errors import InvalidArgument, StoreError

#: a number behind every block of a level
NO_BLOCK = 2**64 - 1
_LONGEST_NAMESPACE = 1024


class Key(NamedTuple):
    """Where a value is kept."""

    namespace: str
    level: int
    block: int

    def __str__(self) -> str:
        return f"{self.namespace!r} level {self.level} block {self.block}"

    def encoded(self) -> bytes:
        """The key as bytes, which sort by level and block within a namespace.

        The length in front keeps a namespace apart from longer ones that begin with it.
        """
        return level_prefix(self.namespace, self.level) + self.block.to_bytes(8)


#: what an exchange writes beside its value, unless you ask for more
NOTHING: Mapping[Key, bytes | None] = MappingProxyType({})


def level_prefix(namespace: str, level: int) -> bytes:
    """How the keys of one level begin."""
    name = namespace.encode()
    return len(name).to_bytes(2) + name + level.to_bytes(1)


def checked_namespace(argument: str, name: str) -> str:
    """A name, if it can be part of a key."""
    try:
        valid = isinstance(name, str) and 0 < len(name.encode()) <= _LONGEST_NAMESPACE
    except UnicodeEncodeError:
        valid = False
    if not valid:
        raise InvalidArgument(
            f"{argument}: a name is a string of 1 to {_LONGEST_NAMESPACE} bytes, not {name!r}"
        )
    return name


class Store(ABC):
    """A key-value store, shared by any number of windows and threads."""

    @abstractmethod
    def get_many(self, keys: Sequence[Key]) -> list[bytes | None]:
        """The values of the keys, None for those that have none."""

    @abstractmethod
    def put_many(self, items: Mapping[Key, bytes]) -> None:
        """Write values, all or none of them, over what was there."""

    @abstractmethod
    def delete_many(self, keys: Iterable[Key]) -> None:
        """Delete keys; a key that is not there is no error."""

    @abstractmethod
    def blocks(self, namespace: str, level: int, first: int, stop: int) -> list[int]:
        """The blocks of one level from `first` to before `stop`, in order."""

    @abstractmethod
    def delete_range(self, namespace: str, level: int, first: int, stop: int) -> None:
        """Delete the blocks of one level from `first` to before `stop`, without reading them."""

    @abstractmethod
    def exchange(
        self,
        key: Key,
        expected: bytes | None,
        value: bytes,
        also: Mapping[Key, bytes | None] = NOTHING,
    ) -> bool:
        """Write a value if the value before is as expected, and say whether it was.

        With it, and only with it, the values of `also` are written, and its keys that have None are
        deleted. When this returns, all of it and everything put before last as long as the store
        does.
        """

    @abstractmethod
    def close(self) -> None:
        """Release files and connections; closing again does nothing."""

    @property
    def closed(self) -> bool:
        """Whether the store has been closed for good; False for one that can be used again."""
        return False

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()


@contextmanager
def failures_named(
    store: Store,
    doing: str,
    key: object,
    failures: tuple[type[Exception], ...] = (Exception,),
    shown: Callable[[str], str] = str,
) -> Iterator[None]:
    """Turn the errors of a store's library into `StoreError`, which names the store and the key.

    `shown` removes secrets from a message. The library's own error is not chained: it may hold
    them.
    """
    try:
        yield
    except failures as error:
        reason = shown(str(error)) or type(error).__name__
        raise StoreError(f"{store!r} cannot {doing} {key}: {reason}") from None
