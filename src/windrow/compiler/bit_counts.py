"""Bits of a 64-bit word, counted: one instruction each in a kernel.

A word is a signed integer, because numba makes floats of signed and unsigned integers together.
"""

from __future__ import annotations

import functools
from typing import Any

_ALL = 2**64 - 1


def trailing_zeros(word: int) -> int:
    """The place of the lowest bit; there must be one."""
    bits = int(word) & _ALL
    return (bits & -bits).bit_length() - 1


def highest_bit(word: int) -> int:
    """The place of the highest bit; there must be one."""
    return (int(word) & _ALL).bit_length() - 1


def ones(word: int) -> int:
    """How many bits there are."""
    return (int(word) & _ALL).bit_count()


@functools.cache
def intrinsics() -> dict[Any, Any]:
    """The same for kernels that are compiled."""
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    yes = ir.Constant(ir.IntType(1), 1)

    def lowest(typing_context: Any, word: Any) -> Any:
        def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return builder.cttz(arguments[0], yes)

        return types.int64(types.int64), build

    def highest(typing_context: Any, word: Any) -> Any:
        def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            zeros = builder.ctlz(arguments[0], yes)
            return builder.sub(ir.Constant(ir.IntType(64), 63), zeros)

        return types.int64(types.int64), build

    def counted(typing_context: Any, word: Any) -> Any:
        def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return builder.ctpop(arguments[0])

        return types.int64(types.int64), build

    return {
        trailing_zeros: intrinsic(lowest),
        highest_bit: intrinsic(highest),
        ones: intrinsic(counted),
    }
