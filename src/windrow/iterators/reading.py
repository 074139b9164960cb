"""Read a checkpoint without its query: `windrow state` shows what is in it."""

from __future__ import annotations

from pathlib import Path

from windrow.errors import InvalidArgument
from windrow.iterators.checkpoint import NAME
from windrow.iterators.open_checkpoint import store_at
from windrow.iterators.saved import Record, namespace_of, record_place
from windrow.stores.contract import NO_BLOCK, Key, Store


def checkpoint_at(
    place: str | Path | Store, name: str = NAME
) -> tuple[Record, dict[int, dict[int, bytes]]]:
    """The record of a stream's last commit, and the blocks of each shard by number.

    A process may be at work on the stream: what you read is what it had committed.
    """
    store = store_at(place, read_only=True)
    try:
        return _read(store, name)
    finally:
        if not isinstance(place, Store):
            store.close()


def _read(store: Store, name: str) -> tuple[Record, dict[int, dict[int, bytes]]]:
    """The record and the blocks of one commit, also if a process commits meanwhile."""
    namespace = namespace_of(name)
    found = record_place(namespace)
    value = store.get_many([found.key])[0]
    if value is None:
        raise InvalidArgument(
            f"checkpoint: {store!r} has no stream {name!r}; say which with --name"
        )
    record = Record.unsealed(found, value)
    shards = {shard: _blocks(store, namespace, shard) for shard in range(len(record.blocks))}
    if store.get_many([found.key])[0] != value:
        return _read(store, name)
    return record, shards


def _blocks(store: Store, namespace: str, shard: int) -> dict[int, bytes]:
    numbers = store.blocks(namespace, shard, 0, NO_BLOCK)
    data = store.get_many([Key(namespace, shard, number) for number in numbers])
    return {number: each for number, each in zip(numbers, data, strict=True) if each is not None}
