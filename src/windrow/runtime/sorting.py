"""Rows of a table in the order that windows need: by key, then by order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.runtime.runs import NEVER

Array = np.ndarray[Any, Any]


def arrange(keys: Sequence[pa.Array], order: Sequence[pa.Array], size: int) -> tuple[Any, Array]:
    """The permutation that sorts the rows (None if they are sorted), and the starts of the runs.

    Keys come in any order, each in one run. Rows of equal order stay as they are.
    """
    permutation = None
    for column in reversed(order):
        permutation = _refine(permutation, _ranks(column))
    if not keys:
        return permutation, np.array([0, NEVER] if size else [NEVER], np.int64)
    codes = _codes(keys[0])
    for column in keys[1:]:
        further = _codes(column)
        codes = _dense(codes * (int(further.max(initial=0)) + 1) + further)
    permutation = _refine(permutation, codes)
    placed = codes if permutation is None else codes[permutation]
    changes = np.flatnonzero(placed[1:] != placed[:-1]) + 1
    first = 0 if size else 1
    return permutation, np.concatenate([np.zeros(1, np.int64), changes, [NEVER]])[first:]


def _refine(permutation: Array | None, ranks: Array) -> Array | None:
    """Sort by one more column, stably."""
    placed = ranks if permutation is None else ranks[permutation]
    if len(placed) < 2 or bool((placed[1:] >= placed[:-1]).all()):
        return permutation
    if placed.dtype == np.int64 and placed.min() >= 0 and placed.max() < 2**16:
        placed = placed.astype(np.uint16)  # numpy sorts these by radix, many times faster
    step = np.argsort(placed, kind="stable")
    return step if permutation is None else permutation[step]


def _ranks(column: pa.Array) -> Array:
    """Integers in the order of the column's values: nulls first, NaN last, as Spark sorts."""
    data_type = column.type
    if pa.types.is_temporal(data_type) and not pa.types.is_interval(data_type):
        column = column.view(pa.int64() if data_type.bit_width == 64 else pa.int32())
    if pa.types.is_floating(column.type):
        return _float_ranks(column)
    if pa.types.is_integer(column.type) and not column.null_count and column.type != pa.uint64():
        return column.cast(pa.int64()).to_numpy()  # type: ignore[no-any-return]
    if pa.types.is_null(column.type):
        return np.zeros(len(column), np.int64)
    ranks = pc.rank(column, "ascending", tiebreaker="dense").cast(pa.int64())
    if column.null_count:
        ranks = pc.if_else(column.is_null(), 0, ranks)  # ranks begin at 1
    return ranks.to_numpy()  # type: ignore[no-any-return]


def _float_ranks(column: pa.Array) -> Array:
    numbers = column.cast(pa.float64()).to_numpy(zero_copy_only=False) + 0.0
    bits = np.where(np.isnan(numbers), np.float64("nan"), numbers).view(np.int64)
    ranks = bits ^ ((bits >> 63) & np.int64(2**63 - 1))
    if column.null_count:
        ranks[pc.is_null(column).to_numpy(zero_copy_only=False)] = np.iinfo(np.int64).min
    return ranks


def _codes(column: pa.Array) -> Array:
    """Small integers that are equal where a column's values are."""
    if pa.types.is_nested(column.type):
        seen: dict[str, int] = {}
        return np.array(
            [seen.setdefault(repr(value), len(seen)) for value in column.to_pylist()], np.int64
        )
    if pa.types.is_floating(column.type):
        column = pa.array(_float_ranks(column))
    encoded = column.dictionary_encode(null_encoding="encode")
    return encoded.indices.cast(pa.int64()).to_numpy()  # type: ignore[no-any-return]


def _dense(codes: Array) -> Array:
    return np.unique(codes, return_inverse=True)[1].astype(np.int64)
