"""Functions that sketches share: hashed values, and how bytes leave a kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.aggregations.hashing import OneByOne
from windrow.algebra.aggregation import Digest
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Monoid
from windrow.errors import InvalidArgument


def of_digests(monoid: Monoid, digest: Digest) -> Callable[[tuple[Kind, ...]], Monoid]:
    """A sketch for every kind of column: kernels read digests, plain Python makes its own."""

    def monoid_for(kinds: tuple[Kind, ...]) -> Monoid:
        if kinds[0] is not Kind.ANY:
            return monoid
        return replace(monoid, lift=OneByOne(digest, monoid.lift), in_place=None, fields=())

    return monoid_for


def copied(partial: Any, into: Any) -> None:
    """The partial as it is, for an answer that is made of it afterwards."""
    for place in range(len(into)):
        into[place] = partial[place]


def copied_in_use(partial: Any, into: Any) -> None:
    """What is in use of a partial whose first number says how much that is."""
    for place in range(1 + partial[0]):
        into[place] = partial[place]


def sketch_bytes(data: Any, maker: str) -> bytes:
    """What a sketch is opened from, as bytes."""
    if not isinstance(data, bytes | bytearray | memoryview):
        raise InvalidArgument(f"data: the bytes of an answer of {maker} are needed, not {data!r}")
    return bytes(data)


def bytes_column(rows: np.ndarray[Any, Any]) -> pa.Array:
    """Rows of bytes, all of one length, as a column."""
    rows = np.ascontiguousarray(rows)
    if rows.nbytes >= 2**31:
        raise InvalidArgument(
            f"aggs: {len(rows)} sketches of {rows.shape[1]} bytes are more than a column of bytes "
            "holds, 2 GiB; ask for fewer answers, as with wr.slide"
        )
    fixed = pa.binary(rows.shape[1])
    return pa.Array.from_buffers(fixed, len(rows), [None, pa.py_buffer(rows)]).cast(pa.binary())
