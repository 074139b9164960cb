"""Numbers of keys that live as long as the process: the first key is 0, the next new one 1."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.algebra.kinds import Kind
from windrow.engine.sorting import float_ranks
from windrow.windows.key_runs import written

Array = np.ndarray[Any, Any]


class LiveKeys:
    """The keys that were seen, each with its number."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}

    def __len__(self) -> int:
        """How many keys were seen."""
        return len(self._numbers)

    def numbers(self, columns: Sequence[pa.Array], size: int) -> Array:
        """The number of each of `size` keys, which are all different; new keys get the next."""
        if not columns:
            self._numbers.setdefault((), 0)
            return np.zeros(size, np.int64)
        values = [_values(column) for column in columns]
        keys: list[Hashable] = values[0] if len(values) == 1 else list(zip(*values, strict=True))
        found = list(map(self._numbers.get, keys))
        if None in found:
            for place, number in enumerate(found):
                if number is None:
                    found[place] = self._numbers[keys[place]] = len(self._numbers)
        return np.array(found, np.int64)


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
