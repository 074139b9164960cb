"""Shards: the parts that the keys of a stream are kept in.

A key's shard is its hash modulo the number of shards. Spark spreads shards over partitions by the
hash of the integer that stands for a shard. With the integers 0, 1, 2, ... some partitions would
get two shards and others none. So each shard has a label: the smallest integer whose hash, modulo
the number of shards, is the shard's number. If there are as many shards as partitions, or a
multiple, each partition gets as many.

Labels depend on the number of shards alone, because the state of a shard is found by its label.
Label 0 is always among them.
"""

from __future__ import annotations

import functools

#: the seed of Spark's `hash`
_SEED = 42
_WORD = 2**32 - 1


def spark_hash(number: int) -> int:
    """Spark's `hash` of an integer of 32 bits: Murmur3.

    >>> spark_hash(0), spark_hash(1)
    (933211791, -559580957)
    """
    mixed = number * 0xCC9E2D51 & _WORD
    mixed = _rotated(mixed, 15) * 0x1B873593 & _WORD
    state = _rotated(_SEED ^ mixed, 13) * 5 + 0xE6546B64 & _WORD
    state ^= 4  # bytes
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        state = (state ^ state >> shift) * factor & _WORD
    return state - 2**32 if state >= 2**31 else state


def _rotated(word: int, bits: int) -> int:
    return (word << bits | word >> 32 - bits) & _WORD


@functools.cache
def labels(shards: int) -> tuple[int, ...]:
    """The labels of the shards, which Spark spreads evenly over as many partitions.

    >>> [spark_hash(label) % 4 for label in labels(4)]
    [0, 1, 2, 3]
    """
    found: dict[int, int] = {}
    label = 0
    while len(found) < shards:
        found.setdefault(spark_hash(label) % shards, label)
        label += 1
    return tuple(found[number] for number in range(shards))
