"""Machine code: from this process, from the cache on disk, or compiled now.

numba is imported on the first compilation, not with windrow.
"""

from __future__ import annotations

import contextlib
import gc
import os
import types
from collections.abc import Callable, Iterator
from typing import Any

from windrow.compiler import cache

Function = Callable[..., Any]

#: of the files in the cache; a new number leaves old files alone
LAYOUT = 4

#: functions by name, so that many tasks in one process load a kernel once
LOADED: dict[str, Function] = {}


def is_enabled() -> bool:
    """Whether kernels are compiled in this process."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")


def load_or_compile(
    name: str,
    text: str,
    make: Callable[[str], Any],
    signature: tuple[Any, ...],
    options: dict[str, Any],
) -> Function:
    """The machine code of a function, from this process, from the cache, or compiled now.

    Args:
        name: a fingerprint of all that the function is made of.
        text: what the file in the cache says.
        make: makes the function, given the path of that file.
        signature: the types of its arguments.
        options: those of `numba.njit`.
    """
    import numba

    if name in LOADED:
        return LOADED[name]
    path = cache.source_file(name, text)
    function = make(str(path))
    # numba finds its machine code by the file that a function comes from.
    placed = types.FunctionType(
        function.__code__.replace(co_filename=str(path)), function.__globals__, function.__name__
    )
    own: dict[str, Any] = {"cache": True, "nogil": True, "no_cfunc_wrapper": True}
    dispatcher: Any = numba.njit(**own, **options)(placed)
    with cache.only_one_process(path), _no_garbage_collection():
        dispatcher.compile(signature)
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
