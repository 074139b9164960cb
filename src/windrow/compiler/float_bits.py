"""The bits of floats as integers, and back.

numba has `view` for this, as a function that it compiles anew for every kernel. Here it is one
instruction of LLVM.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np


def bits_of(number: float) -> Any:
    """The bits of a float; of an array of floats, those of each."""
    return np.float64(number).view(np.int64)


def float_of(bits: int) -> Any:
    """The float that has these bits; of an array, each of them."""
    return np.int64(bits).view(np.float64)


@functools.cache
def intrinsics() -> dict[Any, Any]:
    """The same for kernels that are compiled."""
    from numba import types
    from numba.extending import intrinsic

    def bits(typing_context: Any, number: Any) -> Any:
        return types.int64(types.float64), _cast

    def number(typing_context: Any, bits: Any) -> Any:
        return types.float64(types.int64), _cast

    return {bits_of: intrinsic(bits), float_of: intrinsic(number)}


def _cast(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return builder.bitcast(arguments[0], context.get_value_type(signature.return_type))
