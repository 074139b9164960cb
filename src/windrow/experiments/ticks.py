"""The processor's time stamp, read inside a kernel.

A call from Python takes longer than a round, so rounds can be timed one by one only in there.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.extending import intrinsic

from windrow.compiler import machine_code
from windrow.compiler.linking import link


@intrinsic
def _ticks(typing_context: Any) -> Any:
    """The processor's time stamp."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        counter = ir.FunctionType(ir.IntType(64), ())
        function = builder.module.declare_intrinsic("llvm.readcyclecounter", (), counter)
        return builder.call(function, ())

    from numba import types

    return types.int64(), generate


#: the processor's time stamp, an integer
ticks: Any = _ticks


def with_clock(driver: Callable[..., Any]) -> Callable[..., Any]:
    """The driver; where kernels are plain Python, one that reads Python's clock."""
    if machine_code.is_enabled():
        return driver
    linked: Callable[..., Any] = link([driver], {"ticks": time.perf_counter_ns})[driver.__name__]
    return linked


def _read() -> Any:
    return _ticks()  # type: ignore[call-arg]


@functools.cache
def nanoseconds_per_tick() -> float:
    """How long a tick is, compared with the clock over a twentieth of a second."""
    if not machine_code.is_enabled():
        return 1.0
    from numba import njit

    read: Any = njit(_read)
    read()
    ticks_before, before = read(), time.perf_counter_ns()
    time.sleep(0.05)
    return float((time.perf_counter_ns() - before) / (read() - ticks_before))
