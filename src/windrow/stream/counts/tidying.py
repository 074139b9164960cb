"""Tidying: when and how a bin of counted rows is rewritten.

Before a batch, each bin that the batch has events of is looked at. A row is of use to its key if a
window of an event to come may hold it.

- If no window begins in the front any more, and the back has few blocks, the front is deleted, and
  so are the blocks of the back without a row of use.
- A bin is rewritten if more than half of its rows are not needed, or if it has many blocks or many
  rows; and if no window begins in the front any more and the blocks are not few. Then its rows of
  use become the front. A bin with many rows is split by the way.

      before    [ segment 0 | segment 1 ][ block 4 ][ block 5 ][ block 6 ]
                  of no use   of use ------------------------------------
      after     [ segment 0 | segment 1 | segment 2 | segment 3           ]
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from windrow.engine.sorting import arrange
from windrow.stream import sizes
from windrow.stream.counts.counted_bins import CountedBins
from windrow.stream.counts.row_maps import rows_by_key, rows_of
from windrow.stream.counts.segments import Segments
from windrow.stream.key_hashes import hashes_of
from windrow.stream.row_layout import empty
from windrow.stream.state import MAP, ROWS, SEGMENT
from windrow.windows import walks
from windrow.windows.key_runs import NEVER

Array = np.ndarray[Any, Any]


def tidy(stored: CountedBins, number: int, most: int) -> None:
    """Rewrite a bin if that is due; `most` is how many rows of a key are of use."""
    each, known, now = stored.bins[number], len(stored.bins), sizes.current()
    if not each.rows:
        return
    front, back = stored.front(number), rows_by_key(stored.back_map(number), each.entries)
    of_use = np.minimum(front.rows + back, most)
    total = int(of_use.sum())
    front_is_passed = each.rows > total and not (of_use > back).any()
    if front_is_passed and each.blocks <= now.frontless_blocks:
        _drop_front(stored, number)
        _drop_blocks(stored, number, of_use)
        front, front_is_passed = stored.front(number), False
    if (
        front_is_passed
        or each.rows > 2 * total
        or each.blocks >= now.counted_bin_blocks
        or stored.bins.split(number, total, each.entries, now.counted_bin_rows)
    ):
        # The segments before the first one with a row of use are not read.
        first = front.of(front.rows - np.maximum(of_use - back, 0))[of_use > back]
        _rewrite(stored, number, known, int(first.min(initial=each.segments)), most)


# Deleting ----------------------------------------------------------------------------------------


def _drop_front(stored: CountedBins, number: int) -> None:
    """Delete the front of a bin, and its rows from the ledger."""
    each, ledger = stored.bins[number], stored.ledger(number)
    if not each.segments:
        return
    each.rows -= int(stored.front(number).rows.sum())
    stored.delete_front(number)
    keys = ledger.columns[: len(stored.layout.key)]
    stored.write_ledger(number, stored.entries_without_front(keys, ledger.num_rows))


def _drop_blocks(stored: CountedBins, number: int, of_use: Array) -> None:
    """Delete the oldest blocks of the back, those without a row of use."""
    each = stored.bins[number]
    seen = np.zeros(len(of_use), np.int64)
    first, kept = stored.blocks_of(number).stop, []
    while (seen < of_use).any():
        first -= 1
        kept.append(stored.map(MAP, number, first))
        seen += rows_by_key(kept[-1], len(of_use))
    if first == each.oldest:
        return
    for block in range(each.oldest, first):
        each.rows -= int(rows_of(stored.map(MAP, number, block)).sum())
        stored.delete_block(number, block)
    each.blocks, each.oldest = stored.blocks_of(number).stop - first, first
    stored.write_back_map(number, stored.maps.joined(kept[::-1]))


# Rewriting ---------------------------------------------------------------------------------------


class _RowsByKey(NamedTuple):
    """Rows of keys.

    Attributes:
        keys: the columns of the key, one row for each key.
        rows: the rows.
        places: where they stand among the rows, by key, those of a key older first.
        lengths: how many rows each key has.
        came: how many of them were in the back.
    """

    keys: list[pa.Array]
    rows: pa.RecordBatch
    places: Array
    lengths: Array
    came: Array

    def newest(self, wanted: Array, most: int) -> _RowsByKey:
        """Of the wanted keys, the newest rows, in order."""
        chosen = pa.array(np.flatnonzero(wanted))
        kept = np.repeat(wanted, self.lengths) & (counted_down(self.lengths) < most)
        rows = self.rows.take(pa.array(self.places[kept]))
        return _RowsByKey(
            [column.take(chosen) for column in self.keys],
            rows,
            np.arange(rows.num_rows),
            np.minimum(self.lengths[wanted], most),
            self.came[wanted],
        )


def _rewrite(stored: CountedBins, number: int, known: int, first: int, most: int) -> None:
    """Make a front of the rows of use; segments before `first` have none.

    Bins from `known` on are new: they get some keys of this one.
    """
    found, batches = _read(stored, number, first), stored.bins[number].blocks
    stored.clear(number)
    bins = stored.bins.of_hashes(hashes_of(found.keys, len(found.lengths)))
    for target in (number, *range(known, len(stored.bins))):
        mine = bins == target
        if mine.any():
            _write_front(stored, target, found.newest(mine, most), batches)


def _read(stored: CountedBins, number: int, first: int) -> _RowsByKey:
    """The rows of a bin from a segment on."""
    old = [
        stored.rows(SEGMENT, number, segment)
        for segment in range(first, stored.bins[number].segments)
    ]
    new = [stored.rows(ROWS, number, block) for block in stored.blocks_of(number)]
    rows = pa.concat_batches([*old, *new]) if old or new else empty(stored.layout.rows)
    came = np.arange(rows.num_rows) >= sum(batch.num_rows for batch in old)
    keys = [rows[name] for name in stored.layout.key]
    permutation, starts = arrange(keys, [], rows.num_rows)
    places = np.arange(rows.num_rows) if permutation is None else permutation
    lengths = walks.lengths_of_runs(starts, rows.num_rows)
    heads = pa.array(places[starts[:-1]])
    runs = np.repeat(np.arange(len(lengths)), lengths)
    return _RowsByKey(
        [column.take(heads) for column in keys],
        rows,
        places,
        lengths,
        np.bincount(runs[came[places]], minlength=len(lengths)),
    )


def _write_front(stored: CountedBins, number: int, found: _RowsByKey, batches: int) -> None:
    """Write rows as the front of an empty bin; `batches` is how many brought the back's rows."""
    lengths, now = found.lengths, sizes.current()
    smallest = max(now.segment_rows, now.rows_for_a_cell * len(lengths))
    front = Segments.cut_by(lengths, found.came, batches, smallest)
    keys = np.repeat(np.arange(len(lengths)), lengths)
    left = counted_down(lengths) + 1
    segments = front.of(lengths[keys] - left, keys)
    count = int(front.shares[0]) + 1
    begins = np.flatnonzero(np.diff(keys * count + segments, prepend=-1))
    cells = stored.maps.of_ends(found.rows, keys, left, begins)
    for segment, (rows, part) in enumerate(
        zip(
            _by_segment(found.rows, segments, count),
            _by_segment(cells, segments[begins], count),
            strict=True,
        )
    ):
        stored.write_segment(number, segment, rows, part)
    each = stored.bins[number]
    each.segments, each.rows, each.expiry = count, found.rows.num_rows, NEVER
    stored.write_ledger(number, stored.entries(found.keys, lengths, front.shared))


def _by_segment(batch: pa.RecordBatch, segments: Array, count: int) -> list[pa.RecordBatch]:
    """The rows of each segment, in the order in which they were."""
    batch = batch.take(pa.array(np.argsort(segments, kind="stable")))
    stops = np.cumsum(np.bincount(segments, minlength=count)).tolist()
    return [
        batch.slice(begin, stop - begin)
        for begin, stop in zip([0, *stops[:-1]], stops, strict=True)
    ]


def counted_down(lengths: Array) -> Array:
    """For each length, the numbers below it down to 0."""
    stops = np.cumsum(lengths)
    numbers: Array = np.repeat(stops, lengths) - 1 - np.arange(int(lengths.sum()))
    return numbers
