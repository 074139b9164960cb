"""The slots of a kernel's memory: where a position lies in a ring, and integers by position.

Kernels keep what they store in arrays whose size is a power of two. A position wraps around at the
size. `slot_of` is one operation for numba instead of five, which compiles faster; the machine code
is the same.
"""

from __future__ import annotations

import functools
from typing import Any

#: slots of algorithms, in terms of `slot_of`
SOURCE = """
def capacity(ring):
    return ring[0].shape[0]


def release(ring, position):
    pass


def load_integer(integers, position):
    return integers[slot_of(integers, position)]


def store_integer(integers, position, integer):
    integers[slot_of(integers, position)] = integer
"""


def slot_of(array: Any, position: int) -> int:
    """The index of a position in an array that is used as a ring."""
    return int(position) & (len(array) - 1)


@functools.cache
def intrinsics() -> dict[Any, Any]:
    """The same for kernels that are compiled."""
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    def slot(typing_context: Any, array: Any, position: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            made = context.make_array(signature.args[0])(context, builder, arguments[0])
            size = cgutils.unpack_tuple(builder, made.shape)[0]  # type: ignore[no-untyped-call]
            return builder.and_(arguments[1], builder.sub(size, size.type(1)))

        # An unsigned index cannot count from the end, so numba does not ask.
        return types.uintp(array, types.intp), generate

    return {slot_of: intrinsic(slot)}
