"""How blocks of partials and the header of a window are written as bytes.

Every value is

    version    1 byte
    checksum   8 bytes, of the key and all that follows: a value under another's key is found out
    body

The body of a block is the mark of its writer, 8 bytes, and then its fields, one after the other,
each as the numbers of all partials of the block. The body of a header is a length, 4 bytes, a
text of JSON of that length, and partials written like those of a block.

Nothing read from a store is ever run or unpickled. What is not laid out like this, to the byte,
raises `StoreError`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from windrow.errors import StoreError
from windrow.stores.checksum import CHECKSUM_BYTES, checksum
from windrow.stores.contract import Key, Store

VERSION = 1
MARK_BYTES = 8
_BODY = 1 + CHECKSUM_BYTES

Array = np.ndarray[Any, Any]
#: some partials: for each field an array, with as many rows as there are partials
Fields = tuple[Array, ...]


def sealed(key: Key, body: bytes) -> bytes:
    """A body as a value, with its version and checksum."""
    return VERSION.to_bytes(1) + checksum(key.encoded(), body) + body


def unsealed(store: Store, key: Key, value: bytes) -> memoryview:
    """The body of a value that was sealed under this key."""
    view = memoryview(value)
    if len(view) < _BODY:
        raise StoreError(f"{store!r} holds no value of windrow at {key}: {len(view)} bytes are few")
    if view[0] != VERSION:
        raise StoreError(
            f"{store!r} holds a value of layout {view[0]} at {key}; this windrow reads {VERSION}"
        )
    body = view[_BODY:]
    if checksum(key.encoded(), body) != view[1:_BODY]:
        raise StoreError(f"{store!r} holds corrupt bytes at {key}: their checksum is another")
    return body


class PartialLayout:
    """How partials of one shape are written."""

    def __init__(self, fields: Sequence[tuple[str, int]]) -> None:
        """Args are the type of each field and, for one that is a row of numbers, its width."""
        self._dtypes = [np.dtype(dtype).newbyteorder("<") for dtype, _width in fields]
        self._shapes = [(width,) if width else () for _dtype, width in fields]

    @property
    def partial_bytes(self) -> int:
        """The bytes of one partial."""
        return sum(
            dtype.itemsize * math.prod(shape)
            for dtype, shape in zip(self._dtypes, self._shapes, strict=True)
        )

    def block_to_bytes(self, key: Key, mark: bytes, fields: Fields) -> bytes:
        """A block as a value."""
        return sealed(key, mark + self._to_bytes(fields))

    def block_from_bytes(
        self, store: Store, key: Key, mark: bytes, value: bytes, size: int
    ) -> Fields:
        """The fields of a block of so many partials, which a certain writer must have written."""
        body = unsealed(store, key, value)
        if body[:MARK_BYTES] != mark:
            raise StoreError(
                f"{store!r} holds a block at {key} that another writer put there; a window can be "
                "open for writing only once"
            )
        return self._from_bytes(store, key, body[MARK_BYTES:], size)

    def header_to_bytes(self, key: Key, text: dict[str, Any], fields: Fields) -> bytes:
        """A header as a value."""
        encoded = json.dumps(text, sort_keys=True).encode()
        return sealed(key, len(encoded).to_bytes(4) + encoded + self._to_bytes(fields))

    def _to_bytes(self, fields: Fields) -> bytes:
        return b"".join(
            array.astype(dtype, copy=False).tobytes()
            for array, dtype in zip(fields, self._dtypes, strict=True)
        )

    def _from_bytes(self, store: Store, key: Key, body: memoryview, size: int) -> Fields:
        if len(body) != size * self.partial_bytes:
            raise StoreError(
                f"{store!r} holds {len(body)} bytes at {key} where {size} partials of "
                f"{self.partial_bytes} bytes are expected"
            )
        fields = []
        for dtype, shape in zip(self._dtypes, self._shapes, strict=True):
            count = size * math.prod(shape)
            fields.append(np.frombuffer(body, dtype, count).reshape(size, *shape))
            body = body[count * dtype.itemsize :]
        return tuple(fields)

    def partials_of_header(self, store: Store, key: Key, value: bytes, size: int) -> Fields:
        """The partials of a header, of which there must be so many."""
        body = unsealed(store, key, value)
        return self._from_bytes(store, key, body[4 + int.from_bytes(body[:4]) :], size)


def text_of_header(store: Store, key: Key, value: bytes) -> dict[str, Any]:
    """What a header says in words and numbers."""
    body = unsealed(store, key, value)
    try:
        text = json.loads(bytes(body[4 : 4 + int.from_bytes(body[:4])]))
    except (ValueError, RecursionError):
        text = None
    if not isinstance(text, dict):
        raise StoreError(f"{store!r} holds no header of a window at {key}")
    return text
