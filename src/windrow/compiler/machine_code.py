"""Machine code: from this process, from the cache on disk, or compiled now.

numba is imported on the first compilation: not with windrow, and not for what is in the cache. The
cache keeps a kernel as bare machine code (`bare_code.py`), or as numba's files if it needs numba.
"""

from __future__ import annotations

import contextlib
import gc
import os
import time
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from windrow.compiler import bare_code, cache
from windrow.compiler.pipeline import kernel_passes

Function = Callable[..., Any]

#: of the files in the cache; a new number leaves old files alone
LAYOUT = 4


@dataclass(frozen=True)
class Compiled:
    """A kernel or a loop that this process compiled, the seconds that it took, its fingerprint."""

    what: str
    seconds: float
    name: str


#: what this process compiled, the oldest first
COMPILED: list[Compiled] = []

#: functions by name, so that many tasks in one process load a kernel once
LOADED: dict[str, Function] = {}


def is_enabled() -> bool:
    """Whether kernels are compiled in this process."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")


def loaded(name: str) -> Function | None:
    """The function of a name, if it is in this process, or in the cache as bare machine code.

    Args:
        name: a fingerprint of all that the function is made of.
    """
    if name not in LOADED and bare_code.is_possible():
        found = bare_code.load(cache.directory() / name)
        if found is not None:
            LOADED[name] = found
    return LOADED.get(name)


def load_or_compile(
    name: str,
    text: str,
    make: Callable[[str], Any],
    signature: tuple[Any, ...],
    options: dict[str, Any],
) -> Function:
    """The machine code of a function that is not loaded yet, from the cache or compiled now.

    Args:
        name: a fingerprint of all that the function is made of.
        text: what the file in the cache says.
        make: makes the function, given the path of that file.
        signature: the types of its arguments.
        options: those of `numba.njit`, with `_nrt`.
    """
    began = time.perf_counter()
    path = cache.source_file(name, text)
    with cache.only_one_process(path), _no_garbage_collection():
        # Another process may have compiled it while this one waited.
        found: Function | None = bare_code.load(path) if bare_code.is_possible() else None
        if found is None:
            _let_numba_look()
            function = make(str(path))
            # numba finds its machine code by the file that a function comes from.
            code = function.__code__.replace(co_filename=str(path))
            placed = types.FunctionType(code, function.__globals__, function.__name__)
            found, is_new = _compiled(path, placed, signature, options)
            if is_new:
                seconds = time.perf_counter() - began
                COMPILED.append(Compiled(function.__name__, seconds, name))
    LOADED[name] = found
    return found


def _compiled(
    path: Path, function: types.FunctionType, signature: tuple[Any, ...], options: dict[str, Any]
) -> tuple[Function, bool]:
    """The machine code, and whether it is compiled now.

    What allocates needs numba to count references. All else is compiled without numba's wrapper,
    which takes a sixth of the time; and again with it if it turns out to need numba.
    """
    import numba

    own: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True, **options}
    if bare_code.is_possible() and not options["_nrt"] and not cache.has_numbas_file(path):
        dispatcher: Any = numba.njit(pipeline_class=kernel_passes(bare=True), **own)(function)
        dispatcher.compile(signature)
        bare = bare_code.keep(path, dispatcher.overloads[signature])
        if bare is not None:
            return bare, True
    own["pipeline_class"] = kernel_passes()
    dispatcher = numba.njit(cache=True, **own)(function)
    try:
        dispatcher.compile(signature)
    except ImportError:
        # numba imports the module that a user's function came from, and it may be gone.
        dispatcher = numba.njit(cache=False, **own)(function)
        dispatcher.compile(signature)
    dispatcher.disable_compile()
    is_new = bool(dispatcher.stats.cache_misses)
    if is_new and options["_nrt"] and bare_code.is_possible():
        bare_code.keep(path, dispatcher.overloads[signature])
    return dispatcher, is_new


def _let_numba_look() -> None:
    """Tell numba if NUMBA_DISABLE_JIT is no longer set: alone it looks only while it compiles."""
    import numba

    settings: Any = numba.config
    if settings.DISABLE_JIT:
        settings.reload_config()


@contextlib.contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Compile without looking for garbage: numba makes so many objects that it takes a tenth."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
