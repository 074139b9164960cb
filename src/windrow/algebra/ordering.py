"""Floats in order as 64-bit integers.

`rank` maps floats to integers so that NaN stands above every number, as in Spark, and -0.0 equals
0.0. Comparing ranks is one integer comparison without a case for NaN, and there is room below and
above all ranks for the identities of max and min.

The loser: comparing floats with a case for NaN, 1.4 to 1.9 times the time of `numpy.cumsum` in
`make bench` where ranks take 0.9 to 1.2.
"""

from typing import Any

import numpy as np

from windrow.compiler.float_bits import bits_of, float_of
from windrow.compiler.slots import Partial

BELOW_ALL = -(2**63)
ABOVE_ALL = 2**63 - 1

_NAN_RANK = 0x7FF8000000000000
_MAGNITUDE = 0x7FFFFFFFFFFFFFFF


def rank(number: float) -> Partial:
    """The place of a float in the order of all floats."""
    if number != number:
        return np.int64(_NAN_RANK)
    # Adding zero turns -0.0 into 0.0.
    bits = bits_of(number + 0.0)
    return bits ^ ((bits >> 63) & _MAGNITUDE)


def unrank(rank: Any) -> Partial:
    """The float at a place in the order; of an array, each of them."""
    return float_of(rank ^ ((rank >> 63) & _MAGNITUDE))
