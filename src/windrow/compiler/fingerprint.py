"""Names for functions by what they do.

Two functions with the same fingerprint compile to the same machine code, so a kernel's fingerprint
is its name in the cache. Stored windows keep the fingerprint of a user's functions.
"""

from __future__ import annotations

import hashlib
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np


def fingerprint(*parts: Any) -> str:
    """A name for functions by what they do: code, constants, and all that they refer to."""
    digest = hashlib.sha256()
    for part in parts:
        _Digest(digest.update).add(part)
    return digest.hexdigest()[:32]


class _Digest:
    """Feeds values into a hash, functions by their code and by what that refers to."""

    def __init__(self, update: Callable[[bytes], None]) -> None:
        self._update = update
        #: functions fed already, in their order
        self._seen: dict[types.FunctionType, int] = {}

    def add(self, part: Any) -> None:
        """Feed one value."""
        if isinstance(part, types.FunctionType):
            self._add_function(part)
        elif isinstance(part, types.CodeType):
            self._add_code(part)
        elif isinstance(part, types.ModuleType):
            self._update(part.__name__.encode())
        elif isinstance(part, np.ndarray):
            self._update(repr((part.dtype.str, part.shape)).encode() + part.tobytes())
        elif isinstance(part, tuple | list):
            self._update(f"{type(part).__name__}{len(part)}".encode())
            for element in part:
                self.add(element)
        elif isinstance(part, frozenset | set):
            # Their order differs from process to process.
            self.add(sorted(map(repr, part)))
        elif hasattr(part, "py_func"):
            self.add(part.py_func)
        elif isinstance(part, type):
            self._update(f"{part.__module__}.{part.__qualname__}".encode())
        else:
            self._update(f"{type(part).__qualname__}:{part!r}".encode())

    def _add_function(self, function: types.FunctionType) -> None:
        if function in self._seen:
            # Which one it was matters: (f, g, f) is not (f, g, g).
            self._update(f"seen{self._seen[function]}".encode())
            return
        self._seen[function] = len(self._seen)
        self.add(function.__code__)
        self.add(function.__defaults__)
        for cell in function.__closure__ or ():
            self.add(cell.cell_contents)
        names = _global_names(function.__code__)
        for name in sorted(names):
            if name in function.__globals__:
                value = function.__globals__[name]
                self._update(name.encode())
                self.add(value)
                if isinstance(value, types.ModuleType) and not _is_installed(value):
                    self._add_attributes(value, names)

    def _add_attributes(self, module: types.ModuleType, names: set[str]) -> None:
        """Feed what a function may take out of a module, which the compiler makes constants of."""
        for name in sorted(names & vars(module).keys()):
            self._update(name.encode())
            self.add(vars(module)[name])

    def _add_code(self, code: types.CodeType) -> None:
        self._update(code.co_code)
        for names in (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars):
            self._update(repr(names).encode())
        for constant in code.co_consts:
            self.add(constant)


def _is_installed(module: types.ModuleType) -> bool:
    """Whether a module comes with Python or numpy, and so does not change between two runs."""
    package = module.__name__.partition(".")[0]
    return package in sys.stdlib_module_names or package in ("numpy", "numba")


def _global_names(code: types.CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _global_names(constant)
    return names
