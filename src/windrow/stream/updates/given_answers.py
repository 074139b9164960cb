"""What a shard keeps of keys whose windows are open: their cells, and the answers it has given.

Keys lie in bins (see `windrow.stream.bins`). A bin has two blocks:

      cells    [ a | 10:00 | 17 ]       a cell for each key and open slice
               [ a | 10:05 |  4 ]
      given    [ a | window from 09:30 | revision 2 | 21 ]      the last answer of each open window
               [ a | window from 10:00 | revision 1 | 21 ]

Where windows hold events (see `window_contents`), a cell is an event. A batch reads both blocks of
the bins whose keys have new events. Where windows only become final, their last answers are given
again, and the cells are not read.

Invariants:

1. A window is in `given` from the first event on that it holds until its answer is final.
2. A bin's cells hold every event that lies in one of its windows in `given`.
3. A bin's `entries` counts the rows of `given`, its `rows` those of both blocks; its `blocks` is 1
   if it has cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from windrow.stream import sizes
from windrow.stream.bins import Bins
from windrow.stream.group import Array
from windrow.stream.key_hashes import hashes_of
from windrow.stream.row_layout import empty
from windrow.stream.state import GIVEN, OPEN_CELLS, ShardBlocks, block_number
from windrow.windows.key_runs import NEVER


class OpenBins(NamedTuple):
    """Some bins that are worked on at once.

    Attributes:
        bins: the numbers of the bins.
        counts: how many new cells each of them has.
        known: how many bins there were when these were read; later ones were split off.
        cells: the cells of those with new cells.
        given: the given answers.
        new: the new cells.
    """

    bins: Sequence[int]
    counts: Sequence[int]
    known: int
    cells: pa.RecordBatch
    given: pa.RecordBatch
    new: pa.RecordBatch


class GivenAnswers:
    """The open cells and given answers of a group, while one batch is worked on."""

    def __init__(
        self,
        blocks: ShardBlocks,
        group: int,
        cells: pa.Schema,
        given: pa.Schema,
        keys: Sequence[str],
    ) -> None:
        """`keys` are the columns of both schemas that hold the key."""
        self._blocks, self._group, self._keys = blocks, group, keys
        self._schemas = {OPEN_CELLS: cells, GIVEN: given}
        self.bins = Bins(blocks, group)

    def parts(self, new: pa.RecordBatch, frontier: int) -> Iterator[OpenBins]:
        """The bins whose keys have new cells, or windows that are final; some bins at a time."""
        new, counts, _lengths = self.bins.arranged(new, self._keys, [])
        touched = [
            number
            for number, each in enumerate(self.bins)
            if counts[number] or (each.entries and each.due <= frontier)
        ]
        most = sizes.current().rows_at_once
        for chosen, begin, arrived in self.bins.together(touched, counts, most):
            came = [counts[number] for number in chosen]
            cells = [
                self._load(OPEN_CELLS, number, self.bins[number].blocks)
                for number, count in zip(chosen, came, strict=True)
                if count
            ]
            given = [self._load(GIVEN, number, self.bins[number].entries) for number in chosen]
            cells.append(empty(self._schemas[OPEN_CELLS]))
            yield OpenBins(
                chosen,
                came,
                len(self.bins),
                pa.concat_batches(cells),
                pa.concat_batches(given),
                new.slice(begin, arrived),
            )

    def keep(
        self, part: OpenBins, cells: pa.RecordBatch, given: pa.RecordBatch, due: Array
    ) -> None:
        """Write what is left of the bins of a part.

        Args:
            part: the bins, as they were read.
            cells: the cells of those with new cells.
            given: the answers of windows that are open.
            due: for each of these answers, when it is final.
        """
        cell_hashes, given_hashes = self._hashes(cells), self._hashes(given)
        changed = [number for number, count in zip(part.bins, part.counts, strict=True) if count]
        self._split(changed, cell_hashes, given_hashes)
        changed += range(part.known, len(self.bins))
        cells_of, given_of = self._by_bin(cell_hashes), self._by_bin(given_hashes)
        for number in {*part.bins, *changed}:
            each, own = self.bins[number], given_of(number)
            each.entries = self._write(GIVEN, number, each.entries, given.take(pa.array(own)))
            each.due = int(due[own].min(initial=NEVER))
            if number in changed or not each.entries:
                left = cells.take(pa.array(cells_of(number)))
                left = left if each.entries else left.slice(0, 0)
                count = self._write(OPEN_CELLS, number, each.blocks, left)
                each.rows, each.blocks = count + each.entries, int(count > 0)

    def _split(self, changed: Sequence[int], cells: Array, given: Array) -> None:
        """Split bins with many cells and answers, if they have several keys."""
        most = sizes.current().bin_rows
        kept = np.concatenate([cells, given])
        numbers = self.bins.of_hashes(kept)
        rows = np.bincount(numbers, minlength=len(self.bins)).tolist()
        for number in changed:
            if rows[number] > most:
                keys = len(np.unique(kept[numbers == number]))
                self.bins.split(number, rows[number], keys, most)

    def _by_bin(self, hashes: Array) -> Callable[[int], Array]:
        """A function that finds the rows of a bin, by the hashes of their keys."""
        numbers = self.bins.of_hashes(hashes)
        order = np.argsort(numbers, kind="stable")
        stops = np.cumsum(np.bincount(numbers, minlength=len(self.bins)))
        return lambda number: order[stops[number - 1] if number else 0 : stops[number]]

    def _hashes(self, batch: pa.RecordBatch) -> Array:
        return hashes_of([batch[name] for name in self._keys], batch.num_rows)

    def _write(self, kind: int, number: int, there: int, batch: pa.RecordBatch) -> int:
        """Write a block if it has rows, delete it if it had some; says how many it has."""
        if batch.num_rows:
            self._blocks.store(self._place(kind, number), batch)
        elif there:
            self._blocks.delete(self._place(kind, number))
        count: int = batch.num_rows
        return count

    def _load(self, kind: int, number: int, there: int) -> pa.RecordBatch:
        if not there:
            return empty(self._schemas[kind])
        return self._blocks.load(self._place(kind, number), self._schemas[kind])

    def _place(self, kind: int, number: int) -> int:
        return block_number(kind, self._group, number)
