"""Numbers, sizes and lists as plans write them for people."""

from __future__ import annotations

from collections.abc import Sequence

from windrow.slicing import LIMIT


def counted(number: int) -> str:
    """A number as people read it; beyond 64 bits, its order of magnitude.

    >>> counted(65536), counted(10**40)
    ('65,536', 'about 1e40')
    """
    if number < LIMIT:
        return f"{number:,}"
    digits = str(number)
    return f"about {digits[0]}e{len(digits) - 1}"


def listed(names: Sequence[str], last: str = "and") -> str:
    """Names in a sentence.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return f" {last} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def time_taken(nanoseconds: float) -> str:
    """A short time.

    >>> time_taken(12.3), time_taken(45_000)
    ('12 ns', '45 µs')
    """
    if nanoseconds < 1000:
        return f"{nanoseconds:.0f} ns"
    return f"{nanoseconds / 1000:.0f} µs"


def size(count: int) -> str:
    """A number of bytes, rounded up.

    >>> size(800), size(16_384)
    ('800 bytes', '17 kB')
    """
    for unit in ("bytes", "kB", "MB"):
        if count < 10_000:
            return f"{count:,} {unit}"
        count = -(-count // 1000)
    return f"{count:,} GB"
