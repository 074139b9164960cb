"""Machine code: from this process, from the cache on disk, or compiled now.

numba is imported on the first compilation: not with windrow, and not for what is in the cache
(`bare_code.py`).
"""

from __future__ import annotations

import contextlib
import gc
import os
import time
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from windrow.compiler import bare_code, cache

Function = Callable[..., Any]

#: of the files in the cache; a new number leaves old files alone
LAYOUT = 4


@dataclass(frozen=True)
class Compiled:
    """A kernel or a loop that this process compiled: its name, and the seconds that it took."""

    what: str
    seconds: float


#: what this process compiled, the oldest first
COMPILED: list[Compiled] = []

#: functions by name, so that many tasks in one process load a kernel once
LOADED: dict[str, Function] = {}


def is_enabled() -> bool:
    """Whether kernels are compiled in this process."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")


def loaded(name: str) -> Function | None:
    """The function of a name, if it is in this process, or in the cache and can do without numba.

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
        options: those of `numba.njit`.
    """
    import numba

    began = time.perf_counter()
    path = cache.source_file(name, text)
    function = make(str(path))
    # numba finds its machine code by the file that a function comes from.
    placed = types.FunctionType(
        function.__code__.replace(co_filename=str(path)), function.__globals__, function.__name__
    )
    own: dict[str, Any] = {"cache": True, "nogil": True, "no_cfunc_wrapper": True}
    dispatcher: Any = numba.njit(**own, **options)(placed)
    with cache.only_one_process(path), _no_garbage_collection():
        try:
            dispatcher.compile(signature)
        except ImportError:
            # numba imports the module that a user's function came from, and it may be gone.
            found = bare_code.load(path)
            if found is not None:
                LOADED[name] = found
                return found
            dispatcher = numba.njit(**{**own, "cache": False}, **options)(placed)
            dispatcher.compile(signature)
        if dispatcher.stats.cache_misses:
            bare_code.keep(path, dispatcher.overloads[signature])
            COMPILED.append(Compiled(function.__name__, time.perf_counter() - began))
    dispatcher.disable_compile()
    LOADED[name] = dispatcher
    return dispatcher  # type: ignore[no-any-return]


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
