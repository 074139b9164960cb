"""Whether numba compiles the functions of an aggregation that a user wrote, and if not, why."""

from __future__ import annotations

import functools
import inspect
import warnings
from typing import Any

import numpy as np

from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Monoid
from windrow.algebra.product import Part, Product
from windrow.compiler import machine_code
from windrow.compiler.kernel import Kernel
from windrow.compiler.kernel_memory import KernelMemory
from windrow.compiler.slots import combine, identity, lift_row, load, lower_row, store
from windrow.errors import PlainPythonWarning, WindrowError


def _trial(columns: Any, validities: Any, answers: Any, defined: Any, ring: Any) -> None:
    """A driver that calls every function of an aggregation, to see whether it compiles."""
    partial = identity()
    for row in range(len(columns[0])):
        partial = combine(partial, lift_row(columns, validities, row))
        store(ring, row, combine(load(ring, row), partial))
        lower_row(answers, defined, row, partial)


def why_not_compiled(name: str, monoid: Monoid, kinds: tuple[Kind, ...]) -> str | None:
    """Why a user's aggregation is not compiled, or None; warns if numba cannot compile it."""
    return _tried(name, monoid, kinds) if machine_code.is_enabled() else "NUMBA_DISABLE_JIT is set"


@functools.cache
def _tried(name: str, monoid: Monoid, kinds: tuple[Kind, ...]) -> str | None:
    dtypes = [np.float64 if kind is Kind.FLOAT else np.int64 for kind in kinds]
    columns = tuple(np.zeros(0, dtype) for dtype in dtypes)
    product = Product([Part(monoid, tuple(range(len(kinds))))])
    kernel = Kernel(_trial, (), product, checked=True)
    memory = KernelMemory(product)
    answers, defined = (np.zeros(0, monoid.lowered),), (np.zeros(0, np.bool_),)
    try:
        ring = memory.queue(1)
        kernel.prepare((*memory.workspace(), columns, (), answers, defined, ring))
    except WindrowError:
        raise  # no fault of the functions
    except Exception as error:  # numba fails on what it does not know in many ways
        return warn_of_plain_python(name, error)
    return None


def warn_of_plain_python(name: str, error: Exception) -> str:
    """Warn that functions are not compiled, and return why."""
    reason = _reason(error)
    warnings.warn(
        f"{name} runs as plain Python, far slower than compiled, because numba cannot compile "
        f"its functions: {reason}",
        PlainPythonWarning,
        stacklevel=frames_inside(),
    )
    return reason


def _reason(error: Exception) -> str:
    """What an error of numba says, without the steps of its pipeline."""
    text = str(error)
    if ">>> or_(float64" in text:  # see `source._whole`
        return (
            "where its examples have integers there may be floats; let identity, lift, combine and "
            "lower return the same type of number always, as in identity=0.0 or identity=-2**63"
        )
    lines = [line.strip() for line in text.splitlines()]
    telling = [line for line in lines if line and not line.startswith("Failed in ")]
    return telling[0] if telling else type(error).__name__


def frames_inside() -> int:
    """How far up the stack the user's own line is, counted from the caller."""
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").startswith("windrow."):
        frame, level = frame.f_back, level + 1
    return level
