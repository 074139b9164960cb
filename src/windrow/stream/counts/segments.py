"""Segments: how the rows of a bin's front are cut, so that a batch reads about one segment.

The windows of a key begin further and further up its rows: by as many rows as the key gets. A key
is expected to get as many rows in a batch as it got in the batches before, and that is its share of
a segment. Keys with more events have larger shares, so that the windows of all keys go from one
segment to the next at about the same time.

      segment      0     1     2     3           last
      a key      | a a | a a | a a | a a | a a a a a a a a |    shared 8
      another    |  b  |     |  b  |     |   b b b b b     |    shared 2

Invariants, for the rows of a key, counted from its oldest at position 0:

1. The `shared` oldest rows are spread evenly: position p is in segment p * shares // shared.
2. All other rows are in the last segment, number `shares`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

_MOST_SHARES = 128


@dataclass(frozen=True)
class Segments:
    """How the rows of some keys are cut.

    Attributes:
        rows: how many rows each key has.
        shared: how many of a key's oldest rows are spread evenly; the rest is in the last segment.
        shares: for each key, over how many segments they are spread.
    """

    rows: Array
    shared: Array
    shares: Array

    @classmethod
    def cut_by(cls, rows: Array, came: Array, batches: int, smallest: int) -> Segments:
        """Cut rows of keys that got `came` rows in some batches; no segment below `smallest`."""
        moved = np.minimum(came, rows)
        shares = min(max(min(batches, int(moved.sum()) // smallest), 1), _MOST_SHARES)
        # As many segments as the rows take at this pace.
        pace = float((rows / np.maximum(moved, 1)).max(initial=1))
        further = min(max(int(pace * shares), shares), _MOST_SHARES)
        shared = np.maximum(moved * further // shares, 1)
        return cls(rows, shared, np.full(len(rows), further))

    def of(self, positions: Array, keys: Array | None = None) -> Array:
        """The segment of one row of each key, or of rows of some keys."""
        shared, shares = self.shared, self.shares
        if keys is not None:
            shared, shares = shared[keys], shares[keys]
        segments: Array = np.minimum(positions * shares // shared, shares)
        return segments

    def begins(self, segment: Array | int) -> Array:
        """For each key, the position at which a segment begins, whether or not it has rows."""
        positions = -(-np.minimum(segment, self.shares) * self.shared // self.shares)
        return np.where(segment > self.shares, self.rows, np.minimum(positions, self.rows))

    def lengths(self, segment: int) -> Array:
        """How many rows of each key are in a segment."""
        return self.begins(segment + 1) - self.begins(segment)

    def first_from(self, positions: Array) -> Array:
        """For each key, the first segment with rows that has none before a position.

        The number behind the last segment if there is no such segment.
        """
        segment = np.where(positions > 0, (positions - 1) * self.shares // self.shared + 1, 0)
        begins = self.begins(segment)
        return np.where(begins < self.rows, self.of(begins), self.shares + 1)

    def only(self, begin: int, stop: int) -> Segments:
        """The keys from `begin` to before `stop`."""
        return Segments(self.rows[begin:stop], self.shared[begin:stop], self.shares[begin:stop])
