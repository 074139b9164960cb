"""A store on a Redis server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from windrow.errors import InvalidArgument, StoreError
from windrow.stores.contract import NOTHING, Key, Store, failures_named

#: how many seconds a server may take to answer, unless the address says otherwise
_PATIENCE = 5.0
#: up to so many blocks are deleted by number without a listing, and in one command
_AT_ONCE = 4096


class RedisStore(Store):
    """A store on a Redis server, in one hash for each level of a window.

    How long values last is up to the server. Switch on its append-only file if windows should
    outlast it.

    Args:
        address: such as `redis://user:password@host:6379/0`, or `rediss://` for TLS. Options of
            redis-py go behind `?`, as in `?socket_timeout=1`. No error and no repr shows the
            password.

    Raises:
        InvalidArgument: the address cannot be understood.
        StoreError: redis-py is not installed. Calls raise it if the server does not answer.

    >>> RedisStore("localhost")
    Traceback (most recent call last):
        ...
    windrow.errors.InvalidArgument: address: it cannot be understood; give one as in redis://...
    """

    def __init__(self, address: str) -> None:
        try:
            import redis
        except ImportError:
            raise StoreError("RedisStore needs redis: pip install 'windrow[redis]'") from None
        if not isinstance(address, str):
            raise InvalidArgument(
                "address: give the address of the server, as in redis://host:6379"
            )
        defaults = {"socket_timeout": _PATIENCE, "socket_connect_timeout": _PATIENCE}
        try:
            self._client = redis.Redis.from_url(address, **defaults)
        except (ValueError, TypeError):  # their messages may hold parts of the address
            raise InvalidArgument(
                "address: it cannot be understood; give one as in redis://host:6379/0, with "
                "special characters of the password percent-encoded"
            ) from None
        self._library: Any = redis

    def get_many(self, keys: Sequence[Key]) -> list[bytes | None]:
        """The values of the keys, in one round trip."""
        if not keys:
            return []
        with self._failures("read", keys[0]):
            pipeline = self._client.pipeline(transaction=False)
            for key in keys:
                pipeline.hget(_hash(key.namespace, key.level), _field(key.block))
            return list(pipeline.execute())

    def put_many(self, items: Mapping[Key, bytes]) -> None:
        """Write values in one transaction."""
        if not items:
            return
        with self._failures("write", next(iter(items))):
            pipeline = self._client.pipeline(transaction=True)
            for key, value in items.items():
                pipeline.hset(_hash(key.namespace, key.level), _field(key.block), value)
            pipeline.execute()

    def delete_many(self, keys: Iterable[Key]) -> None:
        """Delete keys, in one round trip."""
        keys = list(keys)
        if not keys:
            return
        with self._failures("delete", keys[0]):
            pipeline = self._client.pipeline(transaction=False)
            for key in keys:
                pipeline.hdel(_hash(key.namespace, key.level), _field(key.block))
            pipeline.execute()

    def blocks(self, namespace: str, level: int, first: int, stop: int) -> list[int]:
        """The blocks of one level."""
        with self._failures("list", Key(namespace, level, first)):
            fields: Any = self._client.hkeys(_hash(namespace, level))
        found = (int.from_bytes(field) for field in fields)
        return sorted(block for block in found if first <= block < stop)

    def delete_range(self, namespace: str, level: int, first: int, stop: int) -> None:
        """Delete blocks of one level by their numbers."""
        few = stop - first <= _AT_ONCE
        numbers: Sequence[int] = range(first, stop)
        found = numbers if few else self.blocks(namespace, level, first, stop)
        with self._failures("delete from", Key(namespace, level, first)):
            for begin in range(0, len(found), _AT_ONCE):
                fields = map(_field, found[begin : begin + _AT_ONCE])
                self._client.hdel(_hash(namespace, level), *fields)

    def exchange(
        self,
        key: Key,
        expected: bytes | None,
        value: bytes,
        also: Mapping[Key, bytes | None] = NOTHING,
    ) -> bool:
        """Write a value if the one before is as expected, in a transaction that watches it."""
        place, field = _hash(key.namespace, key.level), _field(key.block)
        with self._failures("write", key):
            pipeline: Any = self._client.pipeline(transaction=True)
            with pipeline:
                pipeline.watch(place)
                if pipeline.hget(place, field) != expected:
                    return False
                pipeline.multi()
                pipeline.hset(place, field, value)
                for other, data in also.items():
                    at = _hash(other.namespace, other.level), _field(other.block)
                    if data is None:
                        pipeline.hdel(*at)
                    else:
                        pipeline.hset(*at, data)
                try:
                    pipeline.execute()
                except self._library.WatchError:
                    return False
                return True

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _failures(self, doing: str, key: Key) -> AbstractContextManager[None]:
        failures = (self._library.RedisError, OSError)
        return failures_named(self, doing, key, failures, self._without_credentials)

    def _without_credentials(self, text: str) -> str:
        settings = self._client.connection_pool.connection_kwargs
        for secret in ("password", "username"):
            if settings.get(secret):
                text = text.replace(str(settings[secret]), "***")
        return text

    def __repr__(self) -> str:
        settings = self._client.connection_pool.connection_kwargs
        place = settings.get("path") or f"{settings.get('host')}:{settings.get('port')}"
        return f"<RedisStore {place}/{settings.get('db') or 0}>"


def _hash(namespace: str, level: int) -> bytes:
    return b"windrow:%d:" % level + namespace.encode()


def _field(block: int) -> bytes:
    return block.to_bytes(8)
