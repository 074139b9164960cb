"""Numbers of keys that live as long as the process: the first key is 0, the next new one 1."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.algebra.kinds import Kind
from windrow.engine.columns import whole
from windrow.engine.ranks import float_ranks
from windrow.windows.key_runs import written

Array = np.ndarray[Any, Any]


class LiveKeys:
    """The keys that were seen, each with its number."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        #: the columns of keys, in the order of their numbers, in pieces that grow
        self._pieces: list[list[pa.Array]] = []
        #: the keys that were asked for last, and their numbers
        self._last: tuple[Sequence[pa.Array], Array] | None = None

    def __len__(self) -> int:
        """How many keys were seen."""
        return len(self._numbers)

    def numbers(self, columns: Sequence[pa.Array], size: int) -> Array:
        """The number of each of `size` keys, which are all different; new keys get the next."""
        if not columns:
            self._numbers.setdefault((), 0)
            return np.zeros(size, np.int64)
        # Batch after batch often has the same keys: comparing them is cheaper than looking them up.
        if self._last is not None and all(map(pa.Array.equals, columns, self._last[0])):
            return self._last[1]
        found = self._looked_up(columns)
        self._last = columns, found
        return found

    def _looked_up(self, columns: Sequence[pa.Array]) -> Array:
        values = [_values(column) for column in columns]
        keys: list[Hashable] = values[0] if len(values) == 1 else list(zip(*values, strict=True))
        found = list(map(self._numbers.get, keys))
        if None in found:
            fresh = [place for place, number in enumerate(found) if number is None]
            for place in fresh:
                found[place] = self._numbers[keys[place]] = len(self._numbers)
            self._append([column.take(pa.array(fresh)) for column in columns])
        return np.array(found, np.int64)

    def columns(self, numbers: Array) -> list[pa.Array]:
        """The columns of the keys of some numbers."""
        if not self._pieces:
            return []
        wanted = pa.array(numbers)
        pieces = zip(*self._pieces, strict=True)
        return [whole(pa.chunked_array(each).take(wanted)) for each in pieces]

    def only(self, numbers: Array) -> LiveKeys:
        """Some of the keys, numbered anew in their order."""
        found = LiveKeys()
        found.numbers(self.columns(numbers), len(numbers))
        return found

    def _append(self, columns: list[pa.Array]) -> None:
        """Add keys behind the others; a piece is longer than all behind it together."""
        self._pieces.append(columns)
        while len(self._pieces) > 1 and len(self._pieces[-2][0]) <= len(self._pieces[-1][0]):
            newer, older = self._pieces.pop(), self._pieces.pop()
            joined = [pa.concat_arrays(pair) for pair in zip(older, newer, strict=True)]
            self._pieces.append(joined)


def _values(column: pa.Array) -> list[Any]:
    """Python values that are equal where keys are."""
    if pa.types.is_floating(column.type):
        column = pa.array(float_ranks(column))
    elif Kind.of(column.type).in_ticks:
        column = column.view(pa.int64() if column.type.bit_width == 64 else pa.int32())
    elif pa.types.is_nested(column.type):
        return [written(value) for value in column.to_pylist()]
    if pa.types.is_integer(column.type) and not column.null_count:
        return column.to_numpy().tolist()  # type: ignore[no-any-return]
    return column.to_pylist()  # type: ignore[no-any-return]
