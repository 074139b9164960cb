"""Checksums of what is kept outside of memory: blocks and headers of stores and of streams."""

from __future__ import annotations

from hashlib import blake2b

CHECKSUM_BYTES = 8


def checksum(place: bytes, body: bytes | memoryview) -> bytes:
    """The checksum of bytes that are kept at a place.

    The place takes part: bytes that were written for another place are found out as well.
    """
    digest = blake2b(place, digest_size=CHECKSUM_BYTES)
    digest.update(body)
    return digest.digest()
