"""Approximate number of different values: HyperLogLog, one byte for each register.

A part of a value's hash chooses a register. The register keeps the largest number of leading zeros
of the hash's other part. Registers, hashes and bytes are those of Apache DataSketches (its HLL of 8
bits). So other systems can open and join the sketches, such as Spark with `hll_union`.

The estimate is the improved one of Ertl 2017. It needs no tables of bias: the number of empty
registers and the sum of 2^-register over the others are enough.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.aggregations.hashing import HASHABLE, hash_128
from windrow.aggregations.parameters import fraction, truth
from windrow.aggregations.sketches import bytes_column, copied, of_digests
from windrow.algebra.aggregation import Aggregation, Input
from windrow.algebra.equality import same
from windrow.algebra.monoid import (
    Defined,
    Field,
    InPlace,
    Lanes,
    Monoid,
    Traits,
    always,
    in_new_row,
)
from windrow.errors import InvalidArgument

#: numpy's own types lose track of what arithmetic gives
Array = Any

#: the error of Spark's approx_count_distinct
ERROR = 0.05
#: logarithms of the number of registers: the least, and the most that DataSketches and Spark read
_FEWEST, _MOST = 7, 21

_ADDRESS_BITS = 26
_LARGEST = 63
#: sums are of integers, 2^40 times 2^-register, because processors add four of them at a time
_UNIT_BITS = 40


def coupons(column: pa.Array) -> Array:
    """What a value tells the sketch: the address of a register, and above it what to keep there."""
    address, rest = hash_128(column)
    # A float's exponent says how many bits a number has; halves of 32 bits are exact as floats.
    halves = rest >> np.uint64(32), rest & np.uint64(0xFFFFFFFF)
    high, low = (np.frexp(half.astype(np.float64))[1] for half in halves)
    zeros = 64 - np.where(high > 0, high + 32, low)
    kept = np.minimum(zeros + 1, _LARGEST)
    return kept << _ADDRESS_BITS | (address & np.uint64(2**_ADDRESS_BITS - 1)).astype(np.int64)


def tell(coupon: Any, into: Any) -> None:
    """Into registers that are all empty."""
    into[coupon & (len(into) - 1)] = coupon >> _ADDRESS_BITS


def larger(older: Any, newer: Any, into: Any) -> None:
    """Of each two registers the larger one."""
    for place in range(len(into)):
        into[place] = max(older[place], newer[place])


def larger_of(older: Any, newer: Any) -> Any:
    """The same as new registers."""
    return np.maximum(older, newer)


def estimate(registers: Any) -> Any:
    """How many different values registers were told of."""
    size, empty, units = len(registers), 0, 0
    for place in range(size):
        register = int(registers[place])
        empty += register == 0
        # Registers beyond 40 count as 40: no window holds so many events.
        units += 1 << (_UNIT_BITS - min(register, _UNIT_BITS))
    if empty == size:
        return 0
    occupied = float(units - (empty << _UNIT_BITS)) / 2.0**_UNIT_BITS
    return round(size * (size / (2.0 * math.log(2.0))) / (occupied + size * missed(empty / size)))


def missed(share: float) -> float:
    """What empty registers stand for in the sum: Ertl's function sigma of their share."""
    total, factor, power = share, 1.0, share
    while True:
        power *= power
        more = total + power * factor
        if more == total:
            return total
        total, factor = more, factor + factor


def to_bytes(registers: Array, _type: pa.DataType) -> pa.Array:
    """Rows of registers as sketches that DataSketches reads."""
    count, size = registers.shape
    powers = np.ldexp(1.0, -registers.astype(np.int32))
    header = np.zeros(count, _HEADER)
    header["ints"], header["version"], header["family"] = 10, 1, 7
    header["log_size"] = size.bit_length() - 1
    header["flags"] = 32 | 16 | 8  # with registers from the start; joined from others; compact
    header["mode"] = 2 | 2 << 2  # registers; of 8 bits
    header["large_powers"] = np.where(registers < 32, powers, 0.0).sum(axis=1)
    header["small_powers"] = np.where(registers < 32, 0.0, powers).sum(axis=1)
    header["empty"] = (registers == 0).sum(axis=1)
    return bytes_column(
        np.hstack([header.view(np.uint8).reshape(count, _HEADER.itemsize), registers])
    )


_HEADER = np.dtype(
    {
        "names": ["ints", "version", "family", "log_size", "flags", "mode",
                  "large_powers", "small_powers", "empty"],
        "formats": ["u1", "u1", "u1", "u1", "u1", "u1", "<f8", "<f8", "<u4"],
        "offsets": [0, 1, 2, 3, 5, 7, 16, 24, 32],
        "itemsize": 40,
    }
)  # fmt: skip


def answers_always(_partial: Any) -> bool:
    """Of no values the answer is zero."""
    return True


def _approx_distinct(error: float = ERROR, sketch: bool = False) -> Aggregation:
    wanted = math.ceil(2 * math.log2(1.04 / fraction("error", error)))
    if wanted > _MOST:
        raise InvalidArgument(
            f"error: {error!r} would take more than 2^{_MOST} registers, the most of a sketch; "
            f"give {1.04 / 2 ** (_MOST / 2):.5f} or more, or count exactly, as in "
            "wr.count('user').over_distinct()"
        )
    size = 2 ** max(wanted, _FEWEST)
    sketch = truth("sketch", sketch)
    empty = np.zeros(size, np.uint8)

    def sketched(registers: Any) -> Any:
        return to_bytes(registers[np.newaxis], pa.binary())[0].as_py()

    monoid = Monoid(
        identity=empty,
        lift=in_new_row(empty, tell),
        combine=larger_of,
        lower=sketched if sketch else estimate,
        in_place=InPlace(tell, larger),
        defined=Defined() if sketch else Defined(answers_always),
        traits=Traits(commutative=True, exact=True),
        fields=(Field(f"registers_{size}", "uint8", size),),
        lowered="int64",
        lanes=Lanes("uint8", size, copied, to_bytes) if sketch else None,
        output=always(pa.binary() if sketch else pa.int64()),
    )
    name = "approx_distinct_sketch" if sketch else "approx_distinct"
    return Aggregation(
        name,
        (Input("value", HASHABLE, digest=coupons),),
        of_digests(monoid, coupons),
        same,
        "about the number of different values, with a standard error of `error` (0.05 if not "
        "given); with `sketch=True`, an HLL sketch of Apache DataSketches",
        variant=_approx_distinct,
    )


approx_distinct = _approx_distinct()

EXAMPLES = (approx_distinct(sketch=True),)
