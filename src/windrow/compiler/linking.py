"""Linking: one source, many uses.

A function of an algorithm or a driver refers to its slots (`combine`, `load`, `insert`, ...) as
globals. Linking makes a copy of the function whose globals are filled with the functions of one
aggregation, ring or algorithm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from windrow.compiler.constructors import with_constructors
from windrow.compiler.syntax import copy_of

Function = Callable[..., Any]


def link(functions: Iterable[Function], slots: Mapping[str, Any]) -> dict[str, Any]:
    """Copies of the functions that see `slots`, and each other, under their names."""
    functions = list(functions)
    namespace: dict[str, Any] = {}
    for function in functions:
        namespace.update(function.__globals__)
    namespace.update(slots)
    linked = {
        function.__name__: copy_of(with_constructors(function), namespace) for function in functions
    }
    namespace.update(linked)
    return linked
