"""What sketches should hold, by Apache DataSketches, or value by value in plain Python.

Python's integers do not wrap around, so what is 32 or 64 bits wide is cut off at every step.
"""

import math
import struct
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import datasketches
import numpy as np

EPOCH = datetime(1970, 1, 1)


def as_hashed(value: Any) -> Any:
    """A value as an integer, a float or a text."""
    if isinstance(value, datetime):
        return wrapped((value - EPOCH) // timedelta(microseconds=1) * 1000)
    if isinstance(value, timedelta):
        return wrapped(value // timedelta(microseconds=1) * 1000)
    if isinstance(value, Decimal):
        text = format(value, "f")
        text = text.rstrip("0").rstrip(".") if "." in text else text
        return text if value else "0"
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return wrapped(value) if -(2**63) <= value < 2**64 else str(value)
    return value


def wrapped(number: int, bits: int = 64) -> int:
    """An integer as it is after it wrapped around."""
    return (number + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)


# HyperLogLog -------------------------------------------------------------------------------------


def library_sketch(values: list[Any], log_size: int = 9) -> Any:
    sketch = datasketches.hll_sketch(log_size, datasketches.HLL_8, True)
    for value in map(as_hashed, values):
        sketch.update(value)
    return sketch


def registers(values: list[Any]) -> list[int]:
    held = list(library_sketch(values).serialize_updatable()[40:])
    if "" in values:  # which the library leaves out
        place, zeros = hash_of_nothing()
        held[place % len(held)] = max(held[place % len(held)], zeros + 1)
    return held


def hash_of_nothing() -> tuple[int, int]:
    """The lower half of the 128-bit hash of an empty text, and the leading zeros of the upper."""
    halves = [2 * 9001, 3 * 9001]
    for place, half in enumerate(halves):
        for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53, 1):
            half = (half ^ half >> 33) * factor % 2**64
        halves[place] = half
    lower = sum(halves) % 2**64
    return lower, 64 - ((lower + halves[1]) % 2**64).bit_length()


def sketch_bytes(values: list[Any]) -> bytes:
    held = registers(values)
    powers = math.fsum(2.0**-register for register in held if register < 32)
    small = math.fsum(2.0**-register for register in held if register >= 32)
    head = struct.pack("<8B3dii", 10, 1, 7, 9, 0, 56, 0, 10, 0.0, powers, small, held.count(0), 0)
    return head + bytes(held)


def distinct(values: list[Any]) -> int:
    """Ertl's estimate, term by term."""
    if not values:
        return 0
    held = registers(values)
    size = len(held)
    share = held.count(0) / size
    terms = [share, *(share ** (2**k) * 2 ** (k - 1) for k in range(1, 60))]
    occupied = math.fsum(2.0**-register for register in held if register)
    return round(size**2 / (2 * math.log(2)) / (occupied + size * math.fsum(terms)))


# Spark's hashes ----------------------------------------------------------------------------------


def as_bytes(value: Any) -> bytes:
    value = as_hashed(value)
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, float):
        value = math.nan if value != value else value + 0.0
        return struct.pack("<d", value)
    return struct.pack("<q", value)


def murmur(data: bytes, seed: int) -> int:
    """Whole words, and then each byte that is left as a word of its own."""
    whole = len(data) // 4 * 4
    words = struct.unpack(f"<{whole // 4}I", data[:whole])
    left = struct.unpack(f"{len(data) - whole}b", data[whole:])
    hashed = seed
    for word in (*words, *left):
        word = word * 0xCC9E2D51 % 2**32
        word = (word << 15 | word >> 17) % 2**32 * 0x1B873593 % 2**32
        hashed ^= word
        hashed = ((hashed << 13 | hashed >> 19) * 5 + 0xE6546B64) % 2**32
    hashed ^= len(data)
    for factor, shift in ((0x85EBCA6B, 16), (0xC2B2AE35, 13), (1, 16)):
        hashed = (hashed ^ hashed >> shift) * factor % 2**32
    return hashed


def two_hashes(value: Any) -> tuple[int, int]:
    first = murmur(as_bytes(value), 0)
    return wrapped(first, 32), wrapped(murmur(as_bytes(value), first), 32)


def bloom(values: list[Any], words: int = 15, hashes: int = 7) -> bytes:
    bits = 0
    for first, second in map(two_hashes, values):
        for number in range(1, hashes + 1):
            combined = wrapped(first + number * second, 32)
            bits |= 1 << (~combined if combined < 0 else combined) % (64 * words)
    held = [bits >> 64 * word & 2**64 - 1 for word in range(words)]
    return struct.pack(f">iii{words}Q", 1, hashes, words, *held)


#: what java.util.Random of seed 42 gives; Spark itself is asked in test_sketches.py
FACTORS = (1562431130, 117392763, 1467211248, 102948884, 662969970)


def count_min(values: list[Any], depth: int = 5, width: int = 40) -> bytes:
    table = np.zeros((depth, width), np.int64)
    for value in values:
        for row in range(depth):
            table[row, place(value, row) % width] += 1
    numbers = [*FACTORS, *table.ravel().tolist()]
    return struct.pack(f">iqii{len(numbers)}q", 1, len(values), depth, width, *numbers)


def place(value: Any, row: int) -> int:
    if isinstance(as_hashed(value), str):
        first, second = two_hashes(value)
        return abs(wrapped(first + row * second, 32))
    (number,) = struct.unpack("<q", as_bytes(value))
    product = wrapped(number * FACTORS[row])
    return wrapped(product + (product >> 32)) & 0x7FFFFFFF
