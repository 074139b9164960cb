"""Stored totals: one cell of each key of a shard, in bins.

A total is the cell of all final events of a key (see `windrow.engine.maps`), with what a group
wants to know beside it. Keys lie in bins (see `windrow.stream.bins`). A bin is one block. A batch
reads the bins of the keys that have new events, or an answer that is due, and writes those with
new events anew. A bin with many keys is split.

      bin 0   [ a | 17 .. ]     bin 1   [ c |  4 .. ]
              [ b |  8 .. ]             [ d | 25 .. ]

Invariants:

1. A key has one total, in the bin of its hash, from its first final event on.
2. A bin's `entries` is how many keys it has. It has a block if it has keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from windrow.stream import sizes
from windrow.stream.bins import Bins
from windrow.stream.key_hashes import hashes_of
from windrow.stream.row_layout import empty
from windrow.stream.state import TOTALS, ShardBlocks, block_number
from windrow.windows.key_runs import NEVER

Array = np.ndarray[Any, Any]


class OpenTotals(NamedTuple):
    """Some bins that are worked on at once.

    Attributes:
        bins: the numbers of the bins.
        known: how many bins there were when these were read; later ones were split off.
        counts: how many new events each of them has.
        totals: the totals of their keys.
        events: their new events, by bin, key and order.
    """

    bins: Sequence[int]
    known: int
    counts: Sequence[int]
    totals: pa.RecordBatch
    events: pa.RecordBatch


class StoredTotals:
    """The totals of a shard while one batch is worked on."""

    def __init__(
        self,
        blocks: ShardBlocks,
        group: int,
        schema: pa.Schema,
        keys: Sequence[str],
        kind: int = TOTALS,
    ) -> None:
        """`keys` are the columns of the schema that hold the key; `kind` is that of the blocks."""
        self._kind = kind
        self._blocks, self._group, self._schema, self._keys = blocks, group, schema, keys
        self.bins = Bins(blocks, group)

    def parts(
        self, events: pa.RecordBatch, key: Sequence[str], order: Sequence[str], frontier: int
    ) -> Iterator[OpenTotals]:
        """The bins whose keys have new events, or answers that are due; some bins at a time."""
        events, counts, _lengths = self.bins.arranged(events, key, order)
        touched = [
            number
            for number, each in enumerate(self.bins)
            if counts[number] or (each.entries and each.due <= frontier)
        ]
        most = sizes.current().rows_at_once
        for chosen, begin, arrived in self.bins.together(touched, counts, most):
            totals = pa.concat_batches([self._load(number) for number in chosen])
            came = [counts[number] for number in chosen]
            yield OpenTotals(chosen, len(self.bins), came, totals, events.slice(begin, arrived))

    def keep(
        self, part: OpenTotals, totals: pa.RecordBatch, due: Array, *, whole: bool = False
    ) -> None:
        """Write the totals of bins with new events, or with `whole` of all bins of a part.

        `totals` are those of all keys of the part, and `due` is when each has its next answer.
        """
        hashes = hashes_of([totals[name] for name in self._keys], totals.num_rows)
        came = zip(part.bins, part.counts, strict=True)
        changed = [number for number, count in came if count or whole]
        held = np.bincount(self.bins.of_hashes(hashes), minlength=len(self.bins)).tolist()
        most = sizes.current().totals_in_a_bin
        for number in changed:
            if held[number] > most:
                keys = len(np.unique(hashes[self.bins.of_hashes(hashes) == number]))
                self.bins.split(number, held[number], keys, most)
        changed += range(part.known, len(self.bins))
        numbers = self.bins.of_hashes(hashes)
        order = np.argsort(numbers, kind="stable")
        stops = np.cumsum(np.bincount(numbers, minlength=len(self.bins)))
        for number in {*part.bins, *changed}:
            begin = int(stops[number - 1]) if number else 0
            own = order[begin : stops[number]]
            self.bins[number].due = int(due[own].min(initial=NEVER))
            if number in changed:
                self._write(number, totals.take(pa.array(own)))

    def _write(self, number: int, totals: pa.RecordBatch) -> None:
        """Write the totals of a bin; splitting may have left it without keys."""
        each = self.bins[number]
        if totals.num_rows:
            self._blocks.store(self._place(number), totals)
        elif each.entries:
            self._blocks.delete(self._place(number))
        each.entries = each.rows = totals.num_rows

    def _load(self, number: int) -> pa.RecordBatch:
        if not self.bins[number].entries:
            return empty(self._schema)
        return self._blocks.load(self._place(number), self._schema)

    def _place(self, number: int) -> int:
        return block_number(self._kind, self._group, number)
