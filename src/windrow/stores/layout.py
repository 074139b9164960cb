"""How a stored window's blocks of partials and its header are written as bytes.

Every value is sealed (see `sealed`). The body of a block is

    mark       8 bytes, of the block's writer
    fields     one after the other, each as the numbers of all partials of the block

and the body of a header is

    length     4 bytes
    text       JSON of that length
    fields     of the header's partials, as in a block

Nothing read from a store is ever run or unpickled. A body that is not laid out like this, to the
byte, raises `StoreError`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from windrow.errors import StoreError
from windrow.stores.contract import Key, Store
from windrow.stores.sealed import Place, seal, unseal

MARK_BYTES = 8
_LENGTH_BYTES = 4

Array = np.ndarray[Any, Any]
#: some partials: for each field an array, with as many rows as there are partials
Fields = tuple[Array, ...]


@dataclass(frozen=True)
class StorePlace(Place):
    """A key of a store."""

    version = 1

    store: Store
    key: Key

    def encoded(self) -> bytes:
        """The key."""
        return self.key.encoded()

    def missing(self) -> StoreError:
        """The store has lost a block."""
        return StoreError(f"{self.store!r} has lost the block at {self.key}")

    def damaged(self, problem: str) -> StoreError:
        """The store holds other bytes than were written."""
        return StoreError(f"{self.store!r} holds corrupt bytes at {self.key}: {problem}")

    def of_another_layout(self, version: int) -> StoreError:
        """The store was written by another windrow."""
        return StoreError(
            f"{self.store!r} holds a value of layout {version} at {self.key}; this windrow reads "
            f"{self.version}"
        )


class PartialLayout:
    """How partials of one shape are written."""

    def __init__(self, fields: Sequence[tuple[str, int]]) -> None:
        """`fields` are the type of each field and its width, 0 for a field of one number."""
        self._dtypes = [np.dtype(dtype).newbyteorder("<") for dtype, _width in fields]
        self._shapes = [(width,) if width else () for _dtype, width in fields]

    @property
    def partial_bytes(self) -> int:
        """The bytes of one partial."""
        return sum(
            dtype.itemsize * math.prod(shape)
            for dtype, shape in zip(self._dtypes, self._shapes, strict=True)
        )

    def block_to_bytes(self, place: StorePlace, mark: bytes, fields: Fields) -> bytes:
        """A block as a value; `mark` is its writer's."""
        return seal(place, mark + self._to_bytes(fields))

    def block_from_bytes(
        self, place: StorePlace, mark: bytes, value: bytes | None, size: int
    ) -> Fields:
        """The fields of a block of `size` partials; raises if another writer's mark is on it."""
        body = unseal(place, value)
        if body[:MARK_BYTES] != mark:
            raise StoreError(
                f"{place.store!r} holds a block at {place.key} that another writer put there; a "
                "window can be open for writing only once"
            )
        return self._from_bytes(place, body[MARK_BYTES:], size)

    def header_to_bytes(self, place: StorePlace, text: dict[str, Any], fields: Fields) -> bytes:
        """A header as a value."""
        encoded = json.dumps(text, sort_keys=True).encode()
        length = len(encoded).to_bytes(_LENGTH_BYTES)
        return seal(place, length + encoded + self._to_bytes(fields))

    def partials_of_header(self, place: StorePlace, value: bytes, size: int) -> Fields:
        """The partials of a header, which must be `size` in number."""
        _text, partials = _parts_of_header(place, value)
        return self._from_bytes(place, partials, size)

    def _to_bytes(self, fields: Fields) -> bytes:
        return b"".join(
            array.astype(dtype, copy=False).tobytes()
            for array, dtype in zip(fields, self._dtypes, strict=True)
        )

    def _from_bytes(self, place: StorePlace, body: memoryview, size: int) -> Fields:
        if len(body) != size * self.partial_bytes:
            raise StoreError(
                f"{place.store!r} holds {len(body)} bytes at {place.key} where {size} partials of "
                f"{self.partial_bytes} bytes are expected"
            )
        fields = []
        for dtype, shape in zip(self._dtypes, self._shapes, strict=True):
            count = size * math.prod(shape)
            fields.append(np.frombuffer(body, dtype, count).reshape(size, *shape))
            body = body[count * dtype.itemsize :]
        return tuple(fields)


def text_of_header(place: StorePlace, value: bytes) -> dict[str, Any]:
    """What a header says in words and numbers."""
    encoded, _partials = _parts_of_header(place, value)
    try:
        text = json.loads(bytes(encoded))
    except (ValueError, RecursionError):
        text = None
    if not isinstance(text, dict):
        raise StoreError(f"{place.store!r} holds no header of a window at {place.key}")
    return text


def _parts_of_header(place: StorePlace, value: bytes) -> tuple[memoryview, memoryview]:
    """The text and the partials of a header."""
    body = unseal(place, value)
    stop = _LENGTH_BYTES + int.from_bytes(body[:_LENGTH_BYTES])
    return body[_LENGTH_BYTES:stop], body[stop:]
