"""Segments: the rows of keys, cut so that about one segment is read in a batch.

The windows of a key begin further and further up its rows, by as many as it gets. How many it will
get in a batch is taken to be how many it got: so many make its share of a segment. Keys that have
more events have larger shares, so that the windows of all keys go from one segment to the next at
about the same time. The last segment has the rest. `cut` is how many rows of a key lie before it,
if it has that many.

      segment      0     1     2     3           rest
      a key      | a a | a a | a a | a a | a a a a a a a a |    cut 8
      another    |  b  |     |  b  |     |   b b b b b     |    cut 2
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

_MOST_SHARES = 128


@dataclass(frozen=True)
class Segments:
    """How the rows of some keys are cut; the oldest row of a key has age 0.

    Attributes:
        rows: how many rows each key has.
        cut: how many rows are shared out.
        shares: among how many segments.
    """

    rows: Array
    cut: Array
    shares: Array

    @classmethod
    def cut_by(cls, rows: Array, came: Array, batches: int, smallest: int) -> Segments:
        """Rows of keys that got so many in some batches, in segments that are not too small."""
        moved = np.minimum(came, rows)
        shares = min(max(min(batches, int(moved.sum()) // smallest), 1), _MOST_SHARES)
        # As many segments as the rows take at this pace.
        pace = float((rows / np.maximum(moved, 1)).max(initial=1))
        further = min(max(int(pace * shares), shares), _MOST_SHARES)
        cut = np.maximum(moved * further // shares, 1)
        return cls(rows, cut, np.full(len(rows), further))

    def of(self, ages: Array, keys: Array | None = None) -> Array:
        """The segment of a row of each key, or of rows of some keys."""
        cut, shares = self.cut, self.shares
        if keys is not None:
            cut, shares = cut[keys], shares[keys]
        segments: Array = np.minimum(ages * shares // cut, shares)
        return segments

    def begins(self, segment: Array | int) -> Array:
        """Of each key, the age of the first row in a segment or, if it has none there, behind."""
        ages = -(-np.minimum(segment, self.shares) * self.cut // self.shares)
        return np.where(segment > self.shares, self.rows, np.minimum(ages, self.rows))

    def lengths(self, segment: int) -> Array:
        """How many rows of each key are in a segment."""
        return self.begins(segment + 1) - self.begins(segment)

    def not_before(self, ages: Array) -> Array:
        """Of each key, the first segment that has rows, none of which is older than an age.

        The one behind the last if there is none.
        """
        segment = np.where(ages > 0, (ages - 1) * self.shares // self.cut + 1, 0)
        begins = self.begins(segment)
        return np.where(begins < self.rows, self.of(begins), self.shares + 1)

    def only(self, begin: int, stop: int) -> Segments:
        """Those of the keys from `begin` to before `stop`."""
        return Segments(self.rows[begin:stop], self.cut[begin:stop], self.shares[begin:stop])
