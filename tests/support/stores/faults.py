"""A store that fails when it is told to: before a write, in the middle, behind it, or by lying."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import windrow as wr
from windrow.stores import MemoryStore
from windrow.stores.contract import NOTHING, Key

#: what can go wrong with one call
FAULTS = ("before", "within", "after", "corrupt", "cut off", "lost")


class FaultyStore(MemoryStore):
    """A store in memory whose next calls go wrong as `faults` says, None being well."""

    def __init__(self, faults: Iterable[str | None] = ()) -> None:
        super().__init__()
        self.faults: Iterator[str | None] = iter(faults)

    def get_many(self, keys: Sequence[Key]) -> list[bytes | None]:
        fault = next(self.faults, None)
        self._fail_if(fault in ("before", "within", "after"), "read", keys)
        values = super().get_many(keys)
        if fault == "lost":
            return [None] * len(values)
        if fault == "cut off":
            return [value and value[: len(value) // 2] for value in values]
        if fault == "corrupt":
            return [value and value[:-1] + bytes([value[-1] ^ 1]) for value in values]
        return values

    def put_many(self, items: Mapping[Key, bytes]) -> None:
        fault = next(self.faults, None)
        self._fail_if(fault == "before", "write", items)
        written = len(items) // 2 if fault == "within" else len(items)
        super().put_many(dict(islice(items.items(), written)))
        self._fail_if(fault in ("within", "after"), "write", items)

    def exchange(
        self,
        key: Key,
        expected: bytes | None,
        value: bytes,
        also: Mapping[Key, bytes | None] = NOTHING,
    ) -> bool:
        fault = next(self.faults, None)
        self._fail_if(fault in ("before", "within"), "write", [key])
        exchanged = super().exchange(key, expected, value, also)
        self._fail_if(fault == "after", "write", [key])
        return exchanged

    def delete_range(self, namespace: str, level: int, first: int, stop: int) -> None:
        self._fail_if(next(self.faults, None) is not None, "delete", [Key(namespace, level, first)])
        super().delete_range(namespace, level, first, stop)

    def _fail_if(self, fails: bool, doing: str, keys: Iterable[Any]) -> None:
        if fails:
            raise wr.StoreError(f"{self!r} cannot {doing} {next(iter(keys), None)}: told to fail")
