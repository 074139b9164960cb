"""When two partials, or two answers, count as equal."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np

RELATIVE_TOLERANCE = 1e-9
ABSOLUTE_TOLERANCE = 1e-9


def same(left: Any, right: Any) -> bool:
    """Equal to the last bit, with NaN equal to itself."""
    return _agree(left, right, lambda a, b: bool(a == b))


def close(left: Any, right: Any) -> bool:
    """Equal up to the rounding of a float sum; integers and everything else exactly."""

    def within(a: Any, b: Any) -> bool:
        if isinstance(a, float) or isinstance(b, float):
            return math.isclose(a, b, rel_tol=RELATIVE_TOLERANCE, abs_tol=ABSOLUTE_TOLERANCE)
        return bool(a == b)

    return _agree(left, right, within)


def _agree(left: Any, right: Any, scalars_agree: Any) -> bool:
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        if np.array_equal(left, right):
            return True
        return np.shape(left) == np.shape(right) and _agree(
            tuple(np.ravel(left).tolist()), tuple(np.ravel(right).tolist()), scalars_agree
        )
    if isinstance(left, tuple | list) and isinstance(right, tuple | list):
        return len(left) == len(right) and all(
            _agree(a, b, scalars_agree) for a, b in zip(left, right, strict=True)
        )
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(
            _agree(left[key], right[key], scalars_agree) for key in left
        )
    if left is None or right is None:
        return left is right
    if isinstance(left, Real) and isinstance(right, Real):
        a, b = (value.item() if isinstance(value, np.generic) else value for value in (left, right))
        return (a != a and b != b) or scalars_agree(a, b)
    return bool(left == right)
