"""How a stored window's blocks of partials and its header are written as bytes.

Every value is sealed (see `sealed`). The body of a block is

    mark       8 bytes, of the block's writer
    content    as its layout says: of the partials of the block, or of the values of its events

and the body of a header is

    length     4 bytes
    text       JSON of that length, which tells how many bytes of values there are
    partials   those of the header, as in a block
    values     of the events that are in no full block yet, as in a block

Nothing read from a store is ever run or unpickled. A body that is not laid out like this, to the
byte, raises `StoreError`.
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.errors import StoreError
from windrow.stores import plain_values
from windrow.stores.contract import Key, Store
from windrow.stores.sealed import Place, seal, unseal

MARK_BYTES = 8
_LENGTH_BYTES = 4

Array = np.ndarray[Any, Any]
#: some partials: for each field an array, with as many rows as there are partials; or some events:
#: for each column an array of Arrow
Fields = tuple[Any, ...]


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


class Layout(ABC):
    """How some partials, or the values of some events, are written."""

    @property
    @abstractmethod
    def partial_bytes(self) -> int:
        """The bytes of one partial, or about as many."""

    @abstractmethod
    def encoded(self, fields: Fields) -> bytes:
        """Partials as bytes."""

    @abstractmethod
    def decoded(self, place: StorePlace, body: memoryview, size: int) -> Fields:
        """The partials that were written as these bytes, which must be `size` in number."""

    def block_to_bytes(self, place: StorePlace, mark: bytes, fields: Fields) -> bytes:
        """A block as a value; `mark` is its writer's."""
        return seal(place, mark + self.encoded(fields))

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
        return self.decoded(place, body[MARK_BYTES:], size)


class PartialLayout(Layout):
    """How partials of numbers are written: field by field."""

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

    def encoded(self, fields: Fields) -> bytes:
        """The numbers of all partials, one field after the other."""
        return b"".join(
            array.astype(dtype, copy=False).tobytes()
            for array, dtype in zip(fields, self._dtypes, strict=True)
        )

    def decoded(self, place: StorePlace, body: memoryview, size: int) -> Fields:
        """The fields that these bytes are, to the last one."""
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


class ObjectLayout(Layout):
    """How partials that are plain Python values are written: see `plain_values`."""

    #: what most take; blocks gather by it before they are written
    partial_bytes = 64

    def encoded(self, fields: Fields) -> bytes:
        """The partials as one list."""
        return plain_values.to_bytes(fields[0].tolist())

    def decoded(self, place: StorePlace, body: memoryview, size: int) -> Fields:
        """The list that these bytes are, to the last one, as an array of objects."""
        try:
            found = plain_values.from_bytes(body)
        except ValueError as error:
            raise place.damaged(str(error)) from None
        if not isinstance(found, list) or len(found) != size:
            raise place.damaged(f"{size} partials are expected")
        return (np.fromiter(found, object, size),)


class ValueLayout(Layout):
    """How the values that answers carry are written: as columns of Arrow, without their schema."""

    #: as for objects
    partial_bytes = 64

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema

    def encoded(self, fields: Fields) -> bytes:
        """The columns as a batch."""
        columns = pa.RecordBatch.from_arrays(list(fields), schema=self.schema)
        return columns.serialize().to_pybytes()  # type: ignore[no-any-return]

    def decoded(self, place: StorePlace, body: memoryview, size: int) -> Fields:
        """The columns of a batch of so many events."""
        try:
            # A copy, because Arrow wants the columns to lie at multiples of 8 bytes.
            found = pa.ipc.read_record_batch(pa.py_buffer(bytes(body)), self.schema)
            found.validate(full=True)
        except (pa.ArrowException, OSError, EOFError, ValueError) as error:
            raise place.damaged(str(error)) from None
        # Arrow reads what it needs and leaves the rest.
        if found.num_rows != size or pa.ipc.get_record_batch_size(found) != len(body):
            raise place.damaged(f"the values of {size} events are expected")
        return tuple(found.columns)


def header_to_bytes(
    place: StorePlace, text: dict[str, Any], partials: bytes, values: bytes
) -> bytes:
    """A header as a value: its text, the partials in it, and the values that no block has yet."""
    encoded = json.dumps({**text, "values": len(values)}, sort_keys=True).encode()
    return seal(place, len(encoded).to_bytes(_LENGTH_BYTES) + encoded + partials + values)


def contents_of_header(place: StorePlace, value: bytes) -> tuple[memoryview, memoryview]:
    """The partials and the values of a header."""
    _text, rest = _parts_of_header(place, value)
    values = text_of_header(place, value).get("values", 0)
    if type(values) is not int or not 0 <= values <= len(rest):
        raise place.damaged(f"a header has no {values!r} bytes of values")
    return rest[: len(rest) - values], rest[len(rest) - values :]


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
