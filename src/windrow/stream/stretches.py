"""Stretches: the rows of keys, cut so that about one stretch is read in a batch.

The windows of a key begin further and further up its rows, by as many as it gets. How many it will
get in a batch is taken to be how many it got: so many make its share of a stretch. Keys that have
more events have larger shares, so that the windows of all keys go from one stretch to the next at
about the same time. The last stretch has the rest. `cut` is how many rows of a key lie before it,
if it has that many.

      stretch      0     1     2     3           rest
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
class Stretches:
    """How the rows of some keys are cut; the oldest row of a key has age 0.

    Attributes:
        rows: how many rows each key has.
        cut: how many rows are shared out.
        shares: among how many stretches.
    """

    rows: Array
    cut: Array
    shares: Array

    @classmethod
    def cut_by(cls, rows: Array, came: Array, batches: int, smallest: int) -> Stretches:
        """Rows of keys that got so many in some batches, in stretches that are not too small."""
        moved = np.minimum(came, rows)
        shares = min(max(min(batches, int(moved.sum()) // smallest), 1), _MOST_SHARES)
        # As many stretches as the rows take at this pace.
        pace = float((rows / np.maximum(moved, 1)).max(initial=1))
        further = min(max(int(pace * shares), shares), _MOST_SHARES)
        cut = np.maximum(moved * further // shares, 1)
        return cls(rows, cut, np.full(len(rows), further))

    def of(self, ages: Array, keys: Array | None = None) -> Array:
        """The stretch of a row of each key, or of rows of some keys."""
        cut, shares = self.cut, self.shares
        if keys is not None:
            cut, shares = cut[keys], shares[keys]
        stretches: Array = np.minimum(ages * shares // cut, shares)
        return stretches

    def begins(self, stretch: Array | int) -> Array:
        """Of each key, the age of the first row in a stretch or, if it has none there, behind."""
        ages = -(-np.minimum(stretch, self.shares) * self.cut // self.shares)
        return np.where(stretch > self.shares, self.rows, np.minimum(ages, self.rows))

    def lengths(self, stretch: int) -> Array:
        """How many rows of each key are in a stretch."""
        return self.begins(stretch + 1) - self.begins(stretch)

    def not_before(self, ages: Array) -> Array:
        """Of each key, the first stretch that has rows, none of which is older than an age.

        The one behind the last if there is none.
        """
        stretch = np.where(ages > 0, (ages - 1) * self.shares // self.cut + 1, 0)
        begins = self.begins(stretch)
        return np.where(begins < self.rows, self.of(begins), self.shares + 1)

    def only(self, begin: int, stop: int) -> Stretches:
        """Those of the keys from `begin` to before `stop`."""
        return Stretches(self.rows[begin:stop], self.cut[begin:stop], self.shares[begin:stop])
