"""Sealed values: bytes that are kept outside of memory and are not trusted when they come back.

Stored windows and the state of streams are both made of sealed values:

    version    1 byte: of the layout of the body
    checksum   8 bytes: of the place and the body
    body

The checksum covers the place, so that a value under another's place is found out as well. No byte
of a body is used before its checksum was right. Nothing is ever pickled.

A place words the errors, because they have to say what is damaged and what you can do about it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from hashlib import blake2b
from typing import ClassVar

from windrow.errors import StoreError, WindrowError

CHECKSUM_BYTES = 8
_BODY = 1 + CHECKSUM_BYTES


class Place(ABC):
    """Where a value is kept.

    Attributes:
        version: the layout of values that this windrow reads and writes.
    """

    version: ClassVar[int]

    @abstractmethod
    def encoded(self) -> bytes:
        """The place as bytes, different for every place."""

    @abstractmethod
    def missing(self) -> StoreError:
        """The error for a value that should be there and is not."""

    @abstractmethod
    def damaged(self, problem: str) -> StoreError:
        """The error for a value that is not as it was written."""

    @abstractmethod
    def of_another_layout(self, version: int) -> WindrowError:
        """The error for a value of a layout that this windrow does not read."""


def seal(place: Place, body: bytes) -> bytes:
    """A body with its version and checksum in front, to be kept at a place."""
    return bytes([place.version]) + _checksum(place, body) + body


def unseal(place: Place, value: bytes | None) -> memoryview:
    """The body of a value that was sealed for this place; anything else raises the place's error.

    >>> class Shelf(Place):
    ...     version = 1
    ...
    ...     def encoded(self):
    ...         return b"top shelf"
    ...
    ...     def missing(self):
    ...         return StoreError("the shelf is empty")
    ...
    ...     def damaged(self, problem):
    ...         return StoreError(f"on the shelf: {problem}")
    ...
    ...     def of_another_layout(self, version):
    ...         return StoreError(f"layout {version}")
    >>> bytes(unseal(Shelf(), seal(Shelf(), b"jam")))
    b'jam'
    >>> unseal(Shelf(), b"")
    Traceback (most recent call last):
    windrow.errors.StoreError: on the shelf: 0 bytes are too few
    """
    if value is None:
        raise place.missing()
    if value and value[0] != place.version:
        raise place.of_another_layout(value[0])
    if len(value) < _BODY:
        raise place.damaged(f"{len(value)} bytes are too few")
    body = memoryview(value)[_BODY:]
    if _checksum(place, body) != value[1:_BODY]:
        raise place.damaged("the checksum is wrong")
    return body


def _checksum(place: Place, body: bytes | memoryview) -> bytes:
    digest = blake2b(place.encoded(), digest_size=CHECKSUM_BYTES)
    digest.update(body)
    return digest.digest()
