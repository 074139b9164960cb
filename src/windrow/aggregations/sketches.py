"""What sketches have in common: parameters, hashed values, and how bytes leave a kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.aggregations.hashing import one_by_one
from windrow.algebra.aggregation import Digest
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Monoid
from windrow.errors import InvalidArgument


def fraction(name: str, number: Any) -> float:
    """A parameter between zero and one."""
    if not isinstance(number, float | np.floating) or not 0 < number < 1:
        raise InvalidArgument(f"{name}: a number between 0 and 1 is needed, not {number!r}")
    return float(number)


def fractions(name: str, given: Any) -> tuple[float, ...]:
    """A parameter of one number from zero to one, or of several."""
    numbers = given if isinstance(given, tuple) else (given,)
    for number in numbers:
        if not isinstance(number, int | float | np.floating) or not 0 <= number <= 1:
            raise InvalidArgument(f"{name}: numbers from 0 to 1 are needed, not {number!r}")
    if not numbers:
        raise InvalidArgument(f"{name}: at least one number from 0 to 1 is needed")
    return tuple(map(float, numbers))


def of_digests(monoid: Monoid, digest: Digest) -> Callable[[tuple[Kind, ...]], Monoid]:
    """A sketch for every kind of column: kernels read digests, plain Python makes its own."""

    def monoid_for(kinds: tuple[Kind, ...]) -> Monoid:
        if kinds[0] is not Kind.ANY:
            return monoid
        return replace(monoid, lift=one_by_one(digest, monoid.lift), in_place=None, fields=())

    return monoid_for


def copied(partial: Any, into: Any) -> None:
    """The partial as it is, for an answer that is made of it afterwards."""
    for place in range(len(into)):
        into[place] = partial[place]


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
