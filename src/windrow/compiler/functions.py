"""Functions that stay functions: the kernel calls them, and LLVM inlines them.

Only kernels call them, so they get no wrappers for calls from Python and C. numba never gives back
what it compiled: wrappers took 16 of the 24 MiB that compiling a kernel left behind, and half of
the time (`docs/decisions.md`).

LLVM copies them to where they are called. An algorithm of many long functions lists in `APART`
those that it need not copy: see `algorithms/finger_nodes.py`.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from windrow.compiler.fingerprint import fingerprint
from windrow.compiler.intrinsics import intrinsics
from windrow.compiler.pipeline import kernel_passes

#: bytes of a function that is not copied to where it is called. The combine of quantiles would be
#: copied to every call: 5.3 s to compile a kernel instead of 3.6, which is no faster for it.
LARGE = 720


#: functions of windrow's by fingerprint; numba keeps what it compiled until the process ends
_OWN: dict[str, Any] = {}


class FunctionCompiler:
    """Compiles functions for one kernel."""

    def __init__(self, options: dict[str, Any]) -> None:
        """Options are those of `numba.njit`."""
        self._options = {
            "forceinline": True,
            "no_cpython_wrapper": True,
            "no_cfunc_wrapper": True,
            **options,
        }
        self._done: dict[types.FunctionType, Any] = {}

    def own(self, linked: types.FunctionType, make: Callable[[], types.FunctionType]) -> Any:
        """A function of windrow's, compiled; all that it calls is compiled already.

        Kernels share it: a window of rows and one of time call the same `insert`.

        Args:
            linked: the function as it is linked, which tells whether two are the same.
            make: makes the function that numba is given.
        """
        import numba

        apart = linked.__name__ in linked.__globals__.get("APART", ())
        options = self._options | {"forceinline": not apart}
        name = fingerprint(sorted(options.items()), linked)
        if name not in _OWN:
            made = numba.njit(pipeline_class=kernel_passes(), **options)(make())
            _OWN[name] = _once(made) if apart else made
        return _OWN[name]

    def any(self, function: Any) -> Any:
        """Any function, compiled, and the plain functions that it calls."""
        import numba

        if function in intrinsics():
            return intrinsics()[function]
        if function not in self._done:
            options = self._options | {"forceinline": len(function.__code__.co_code) < LARGE}
            self._done[function] = numba.njit(**options)(self.calling_compiled(function))
        return self._done[function]

    def calling_compiled(self, function: Any) -> types.FunctionType:
        """A copy of the function that calls compiled functions."""
        called = {
            name: self.any(value)
            for name, value in function.__globals__.items()
            if name in function.__code__.co_names
            and isinstance(value, types.FunctionType)
            and value is not function
        }
        closure = function.__closure__
        return types.FunctionType(
            function.__code__,
            {**function.__globals__, **called},
            function.__name__,
            function.__defaults__,
            tuple(map(self._cell, closure)) if closure else None,
        )

    def _cell(self, cell: types.CellType) -> types.CellType:
        if isinstance(cell.cell_contents, types.FunctionType):
            return types.CellType(self.any(cell.cell_contents))
        return cell


def _once(function: Any) -> Any:
    """The function, compiled once for all integers: for constants numba would compile it anew."""
    from numba import types as numba_types

    resolve = function.get_call_template

    def get_call_template(arguments: Any, keywords: Any) -> Any:
        return resolve(tuple(map(numba_types.unliteral, arguments)), keywords)

    function.get_call_template = get_call_template
    return function
