"""Runs: where a new key begins in rows that are sorted by key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.algebra.arrays import truth

Array = np.ndarray[Any, Any]

#: closes the list of runs: a row that never comes
NEVER = np.iinfo(np.int64).max


def run_starts(keys: Sequence[pa.Array], size: int, *, continues: bool = False) -> Array:
    """The rows at which a new key begins, and `NEVER`.

    With `continues`, the first row belongs to the key of the rows before.
    """
    changed = np.zeros(max(size - 1, 0), np.bool_)
    for column in keys:
        if size > 1:
            changed |= differ(column.slice(1), column.slice(0, size - 1))
    first = 1 if continues or not size else 0
    return np.concatenate([np.zeros(1, np.int64), np.flatnonzero(changed) + 1, [NEVER]])[first:]


def same_key(left: Sequence[pa.Array], right: Sequence[pa.Array]) -> bool:
    """Whether two rows, given as columns of length one, have the same key."""
    return not any(differ(one, other).any() for one, other in zip(left, right, strict=True))


def differ(left: pa.Array, right: pa.Array) -> Array:
    """Where two columns differ; nulls equal nulls, and NaN equals NaN, as in Spark's grouping."""
    if pa.types.is_nested(left.type):
        pairs = zip(left.to_pylist(), right.to_pylist(), strict=True)
        return np.array([written(one) != written(other) for one, other in pairs], np.bool_)
    if pa.types.is_null(left.type):
        return np.zeros(len(left), np.bool_)
    different = truth(pc.not_equal(left, right))
    if left.null_count or right.null_count:
        different |= truth(pc.not_equal(left.is_valid(), right.is_valid()))
    if pa.types.is_floating(left.type):
        different &= ~truth(pc.and_(pc.is_nan(left), pc.is_nan(right)))
    return different


def written(value: Any) -> str:
    """A nested value as text: that of a NaN inside equals that of another NaN, and -0.0 is 0.0."""
    return repr(_with_plain_zeros(value))


def _with_plain_zeros(value: Any) -> Any:
    if isinstance(value, float):
        return value + 0.0
    if isinstance(value, list):
        return [_with_plain_zeros(each) for each in value]
    if isinstance(value, tuple):  # an entry of a map
        return tuple(_with_plain_zeros(each) for each in value)
    if isinstance(value, dict):
        return {name: _with_plain_zeros(each) for name, each in value.items()}
    return value
