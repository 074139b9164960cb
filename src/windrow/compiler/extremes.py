"""`min` and `max` of two numbers in kernels.

numba compiles a function for each pair of types and each kernel. Here it is a comparison and a
selection. Both answer as Python does: of equal numbers the first, and the first if one is not a
number.
"""

from __future__ import annotations

import functools
import operator
from typing import Any


@functools.cache
def intrinsics() -> dict[Any, Any]:
    """What kernels call in place of Python's own functions."""
    from numba import types
    from numba.extending import intrinsic

    def chosen(comparison: Any) -> Any:
        def of_two(typing_context: Any, first: Any, second: Any) -> Any:
            common = typing_context.unify_types(first, second)
            if common is None:
                return None

            def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
                compared = types.boolean(common, common)
                is_second = context.get_function(comparison, compared)(builder, arguments[::-1])
                return builder.select(is_second, arguments[1], arguments[0])

            return common(common, common), generate

        return intrinsic(of_two)

    return {min: chosen(operator.lt), max: chosen(operator.gt)}
