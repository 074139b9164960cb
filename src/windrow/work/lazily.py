"""Properties that are computed once, when they are first asked for.

Until Python 3.12, `functools.cached_property` holds a lock while it computes, one for all objects
of a class: threads that compute the same property of different objects wait for each other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value")


class lazily(Generic[Value]):  # noqa: N801 - used as `property` is
    """A property whose value the object keeps; threads may compute it twice, and both are right."""

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self._compute, self._name = compute, compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, owner: None, kind: type) -> lazily[Value]: ...
    @overload
    def __get__(self, owner: object, kind: type) -> Value: ...
    def __get__(self, owner: object | None, kind: type) -> lazily[Value] | Value:
        if owner is None:
            return self
        # Not a data descriptor: what is in the object's own dict is found before this is asked.
        found = vars(owner)[self._name] = self._compute(owner)
        return found
