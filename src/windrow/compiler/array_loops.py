"""Loops over arrays, and the functions that they call: there is nothing to link."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from windrow.compiler import machine_code
from windrow.compiler.argument_types import numba_version, types_in_words
from windrow.compiler.fingerprint import fingerprint
from windrow.compiler.functions import FunctionCompiler
from windrow.compiler.inlining import inline

Function = Callable[..., Any]

#: compiled loops by function and how their arguments look
_LOOPS: dict[tuple[Any, ...], Function] = {}


def compiled_loop(function: Function) -> Function:
    """The loop, compiled for the arguments that you call it with."""

    def call(*arguments: Any) -> Any:
        if not machine_code.is_enabled():
            return function(*arguments)
        # Asking numba for the types takes longer than a loop over some thousand rows.
        known = (function, *map(_looks, arguments))
        loop = _LOOPS.get(known)
        if loop is None:
            loop = _LOOPS[known] = _compile_loop(function, arguments)
        return loop(*arguments)

    return call


def _looks(argument: Any) -> Any:
    """The type of an argument, as far as loops tell types apart."""
    if isinstance(argument, np.ndarray):
        flags = argument.flags
        return argument.dtype, argument.ndim, flags.c_contiguous, flags.writeable, flags.aligned
    return type(argument)


def _compile_loop(function: Any, arguments: tuple[Any, ...]) -> Function:
    # numba's file names the module that a function comes from, and imports it again.
    module = function.__module__
    known = (machine_code.LAYOUT, numba_version(), types_in_words(arguments))
    name = fingerprint(*known, module, function)
    found = machine_code.loaded(name)
    if found is not None:
        return found
    import numba

    signature = tuple(numba.typeof(argument) for argument in arguments)  # type: ignore[no-untyped-call]
    options = {"_nrt": False, "error_model": "numpy"}
    text = f"# {function.__name__}{signature}\n"
    functions = FunctionCompiler(options)
    return machine_code.load_or_compile(
        name,
        text,
        lambda _path: inline(function, functions.own, functions.any),
        signature,
        options,
    )
