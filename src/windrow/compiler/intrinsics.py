"""Plain functions that are one operation in a kernel.

Each has a body for plain Python, and an intrinsic of numba that a compiled kernel calls instead.
To add one, write both in a file like `float_bits` and list the file here.
"""

from __future__ import annotations

import functools
from typing import Any

from windrow.compiler import bit_counts, extremes, float_bits, past_cache, ring_source, shared_words


@functools.cache
def intrinsics() -> dict[Any, Any]:
    """What a compiled kernel calls in place of a function."""
    return {
        **bit_counts.intrinsics(),
        **extremes.intrinsics(),
        **float_bits.intrinsics(),
        **past_cache.intrinsics(),
        **ring_source.intrinsics(),
        **shared_words.intrinsics(),
    }
