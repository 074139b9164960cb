"""The types of a kernel's arguments in words: two kernels are the same only if these are.

They tell apart what numba's types tell apart. numba is not asked: loading it takes longer than
loading a kernel from the cache.
"""

from __future__ import annotations

import functools
import importlib.util
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np


def types_in_words(arguments: tuple[Any, ...]) -> str:
    """The types of arguments.

    >>> types_in_words((np.zeros(3), (1, 2.0), True))
    '(<f8 1 C, (int, float), bool)'
    """
    return f"({', '.join(map(_in_words, arguments))})"


def _in_words(argument: Any) -> str:
    if isinstance(argument, np.ndarray):
        flags = argument.flags
        layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        asides = ("" if flags.writeable else " read-only") + ("" if flags.aligned else " unaligned")
        return f"{argument.dtype.str} {argument.ndim} {layout}{asides}"
    if isinstance(argument, tuple):
        name = type(argument).__name__ if hasattr(argument, "_fields") else ""
        return f"{name}{types_in_words(argument)}"
    if isinstance(argument, np.generic):
        return argument.dtype.str
    if type(argument) is int and not -(2**63) <= argument < 2**63:
        return "large int"
    return type(argument).__qualname__


@functools.cache
def numba_version() -> str:
    """The version of the numba that is installed."""
    if "numba" not in sys.modules:
        spec = importlib.util.find_spec("numba")
        for folder in (spec and spec.submodule_search_locations) or ():
            file = Path(folder) / "_version.py"
            found = file.exists() and re.search(r'"version": "([^"]+)"', file.read_text())
            if found:
                return found[1]
    import numba

    return str(numba.__version__)
