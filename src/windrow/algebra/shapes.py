"""Shapes of partials: numbers, flat tuples of numbers, rows of arrays, and other objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from windrow.algebra.monoid import Field


def is_number(value: Any) -> bool:
    """Whether a partial is a scalar that a kernel can hold."""
    return isinstance(value, bool | int | float | np.integer | np.floating | np.bool_)


def is_flat(partial: Any) -> bool:
    """Whether a partial is a tuple of such scalars."""
    return type(partial) is tuple and bool(partial) and all(map(is_number, partial))


def fits(identity: Any, partial: Any) -> bool:
    """Whether a partial has the shape of the identity."""
    if is_number(identity):
        return is_number(partial)
    if isinstance(identity, np.ndarray):
        # Arrays keep their type: a row of floats would be cut off in a ring of integers.
        return (
            isinstance(partial, np.ndarray)
            and partial.shape == identity.shape
            and partial.dtype == identity.dtype
        )
    if is_flat(identity):
        return is_flat(partial) and len(partial) == len(identity)
    return identity is None or isinstance(partial, type(identity))


def layout(name: str, partials: Sequence[Any]) -> tuple[Field, ...]:
    """The fields of partials of one shape, the identity first; none if they are objects."""
    identity = partials[0]
    if isinstance(identity, np.ndarray):
        numbers = identity.ndim == 1 and identity.dtype.kind in "iuf"
        return (Field(f"{name}.row", identity.dtype.name, len(identity)),) if numbers else ()
    if not is_number(identity) and not is_flat(identity):
        return ()
    rows = [partial if isinstance(partial, tuple) else (partial,) for partial in partials]
    return tuple(
        Field(
            f"{name}.{index}",
            "float64" if any(isinstance(v, float | np.floating) for v in values) else "int64",
        )
        for index, values in enumerate(zip(*rows, strict=True))
    )
