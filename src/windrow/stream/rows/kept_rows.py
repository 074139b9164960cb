"""Kept rows: the final events of a shard's keys that answers to come may need.

Rows are values and not partials, so that every aggregation of every type goes on from them. Of an
event only the columns are kept that windows and aggregations read. What a key needs beside its
rows, such as how many events it has seen, stands in the ledger.

Keys lie in bins (see `bins`). A batch reads all rows of a bin if one of its keys has new events, or
an answer that is due. Rows that are still needed stay where they are, and new rows are appended in
a block of their own. A bin is rewritten when more than half of its rows are not needed, or when it
has many blocks. So a row is written about twice, and at most twice as many rows are read as are
needed.

      bin     [ block 0              ][ block 1 ][ block 2 ]   ledger [ key | numbers | answers ]
               x x k1 k1 x k2 k2 k2    k1 k2 k2   k1 k1 k2             x: not needed any more

Invariants:

1. The blocks of a bin are in the order of time, and so are the rows of a key in a block.
2. The stored rows of a key that are still needed have no gap behind the first of them.
3. A key has an entry in the ledger only if something is known of it beside its rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.engine.sorting import arrange
from windrow.stream import sizes
from windrow.stream.bins import Bins
from windrow.stream.group import FURTHEST
from windrow.stream.key_hashes import hashes_of
from windrow.stream.row_layout import RowLayout, empty
from windrow.stream.state import (
    LEDGER,
    NONE,
    ROWS,
    ShardBlocks,
    block_number,
    place_in_bin,
)
from windrow.windows.key_rows import KeyRows
from windrow.windows.key_runs import NEVER

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class OpenBins:
    """Some bins that are worked on at once.

    Attributes:
        bins: the numbers of the bins.
        known: how many bins there were when these were read; later ones were split off.
        rows: the rows of all their keys that have rows.
        events: the new events, in all their columns.
        places: for each new row, in order, its place among the events.
        idle: the entries of the ledger of keys that have no rows.
        asked: the rows that ask and are not kept, if there are such.
    """

    bins: Sequence[int]
    known: int
    rows: KeyRows
    events: pa.RecordBatch
    places: Array
    idle: pa.RecordBatch
    asked: pa.RecordBatch | None = None


@dataclass(frozen=True)
class Needed:
    """What answers to come need, for each key.

    Attributes:
        fronts: the oldest row that is needed.
        due: when the next answer is final that takes no more events, or `NEVER`.
        expiry: the time from which on none of its rows are needed, or `NEVER`.
        ledger: what the ledger is to say of the key; null for nothing.
    """

    fronts: Array
    due: Array
    expiry: Array
    ledger: Mapping[str, pa.Array]


class KeptRows:
    """The rows of a shard while one batch is worked on."""

    def __init__(self, blocks: ShardBlocks, group: int, layout: RowLayout) -> None:
        self._blocks, self._group, self._layout = blocks, group, layout
        self.bins = Bins(blocks, group)

    # Reading -------------------------------------------------------------------------------------

    def parts(
        self, events: pa.RecordBatch, frontier: int, asked: pa.RecordBatch | None = None
    ) -> Iterator[OpenBins]:
        """The bins whose keys have new events, or answers that are due by a frontier.

        Rows that ask about events (`asked`) open the bins of their keys, and are not kept.

        The events are final, in any order. Bins come some at a time, and at the end of a stream
        all of them: rows that waited for more are due, too.
        """
        events, counts, _lengths = self.bins.arranged(events, self._layout.key, self._layout.order)
        asking = np.zeros(len(counts), np.int64)
        if asked is not None:
            asked, numbers, _lengths = self.bins.arranged(asked, self._layout.key, ())
            asking += numbers
        begins = np.append(0, np.cumsum(asking)).tolist()
        self._drop_expired(frontier, asking + counts)
        touched = [
            number
            for number, each in enumerate(self.bins)
            if counts[number]
            or asking[number]
            or (each.blocks and (each.due <= frontier or frontier == FURTHEST))
        ]
        most = sizes.current().rows_at_once
        for chosen, begin, arrived in self.bins.together(touched, counts, most):
            part = self._part(chosen, events.slice(begin, arrived))
            if asked is not None:
                first, stop = begins[chosen[0]], begins[chosen[-1] + 1]
                part = replace(part, asked=asked.slice(first, stop - first))
            yield part

    def _part(self, chosen: Sequence[int], events: pa.RecordBatch) -> OpenBins:
        """Put the new events of some bins behind the rows of their keys."""
        rows, places, idle = _by_key(
            self._layout, self._entries(chosen), self._rows(chosen), events
        )
        return OpenBins(chosen, len(self.bins), rows, events, places, idle)

    def _rows(self, chosen: Sequence[int]) -> pa.RecordBatch:
        schema = self._layout.rows
        found = [
            self._blocks.load(self._place(number, block), schema)
            for number in chosen
            for block in range(self.bins[number].blocks)
        ]
        return pa.concat_batches(found) if found else empty(schema)

    def _entries(self, chosen: Sequence[int]) -> pa.RecordBatch:
        schema = self._layout.ledger
        found = [
            self._blocks.load(block_number(LEDGER, self._group, number), schema)
            for number in chosen
            if self.bins[number].entries
        ]
        return pa.concat_batches(found) if found else empty(schema)

    # Writing -------------------------------------------------------------------------------------

    def keep(self, part: OpenBins, needed: Needed) -> None:
        """Keep what answers to come need of the keys of some bins."""
        rows = part.rows
        hashes = hashes_of(rows.keys, rows.count)
        of_use = np.arange(rows.size) >= needed.fronts[rows.key_of]
        # Where a key has old rows, new ones are appended even if they are of no use: no gap.
        appended = rows.is_fresh & (of_use | (rows.starts < rows.fresh)[rows.key_of])
        rewritten = self._rewritten(part, hashes, of_use, appended)
        bins_of_keys = self.bins.of_hashes(hashes)
        bins_of_rows = bins_of_keys[rows.key_of]
        written = np.flatnonzero(np.where(rewritten[bins_of_rows], of_use, appended))
        written = written[np.argsort(bins_of_rows[written], kind="stable")]
        indices = pa.array(written)
        batch = pa.RecordBatch.from_arrays(
            [rows.columns[name].take(indices) for name in self._layout.rows.names],
            schema=self._layout.rows,
        )
        stops = self._stops(bins_of_rows[written])
        for number in self._changed(part):
            if rewritten[number]:
                self._clear(number)
            self._append(number, batch.slice(stops[number], stops[number + 1] - stops[number]))
        self._schedule(part, needed, bins_of_keys)
        self._enter(part, needed)

    def _changed(self, part: OpenBins) -> Sequence[int]:
        """The bins of a part, and those that were split off them."""
        return (*part.bins, *range(part.known, len(self.bins)))

    def _rewritten(self, part: OpenBins, hashes: Array, of_use: Array, appended: Array) -> Array:
        """Which bins are rewritten; large ones are split."""
        bins_of_keys = self.bins.of_hashes(hashes)
        bins_of_rows = bins_of_keys[part.rows.key_of]
        used, new, keys = (
            np.bincount(numbers, minlength=part.known).tolist()
            for numbers in (bins_of_rows[of_use], bins_of_rows[appended], bins_of_keys)
        )
        rewritten = np.zeros(part.known, np.bool_)
        for number in part.bins:
            each = self.bins[number]
            rewritten[number] = (
                each.rows + new[number] > 2 * used[number]
                or each.blocks >= sizes.current().bin_blocks
                or self.bins.split(number, used[number], keys[number], sizes.current().bin_rows)
            )
        return np.append(rewritten, np.ones(len(self.bins) - part.known, np.bool_))

    def _schedule(self, part: OpenBins, needed: Needed, bins_of_keys: Array) -> None:
        """Say when bins have an answer, and when all their rows can go."""
        due, expiry = np.full(len(self.bins), NEVER), np.full(len(self.bins), NONE)
        np.minimum.at(due, bins_of_keys, needed.due)
        has_rows = needed.fronts < part.rows.stops
        np.maximum.at(expiry, bins_of_keys[has_rows], needed.expiry[has_rows])
        for number in self._changed(part):
            self.bins[number].due = int(due[number])
            self.bins[number].expiry = int(expiry[number])

    def _enter(self, part: OpenBins, needed: Needed) -> None:
        """Write the ledgers."""
        schema, key = self._layout.ledger, len(self._layout.key)
        if len(schema) == key:
            return
        entries = pa.RecordBatch.from_arrays(
            [*part.rows.keys, *(needed.ledger[name] for name in schema.names[key:])], schema=schema
        )
        entries = pa.concat_batches([entries, part.idle])
        is_known = np.zeros(entries.num_rows, np.bool_)
        for column in entries.columns[key:]:
            is_known |= column.is_valid().to_numpy(zero_copy_only=False)
        entries = entries.filter(pa.array(is_known))
        numbers = self.bins.of_hashes(hashes_of(entries.columns[:key], entries.num_rows))
        entries = entries.take(pa.array(np.argsort(numbers, kind="stable")))
        stops = self._stops(numbers)
        for number in self._changed(part):
            each, place = self.bins[number], block_number(LEDGER, self._group, number)
            held = entries.slice(stops[number], stops[number + 1] - stops[number])
            if held.num_rows:
                self._blocks.store(place, held)
            elif each.entries:
                self._blocks.delete(place)
            each.entries = held.num_rows

    def _stops(self, numbers: Array) -> list[int]:
        """Where the rows of each bin end, among rows sorted by bin, with 0 in front."""
        counts = np.bincount(numbers, minlength=len(self.bins))
        return [0, *np.cumsum(counts).tolist()]

    def _append(self, number: int, batch: pa.RecordBatch) -> None:
        each = self.bins[number]
        if batch.num_rows:
            self._blocks.store(self._place(number, each.blocks), batch)
            each.blocks += 1
            each.rows += batch.num_rows

    def _clear(self, number: int) -> None:
        each = self.bins[number]
        for block in range(each.blocks):
            self._blocks.delete(self._place(number, block))
        each.blocks = each.rows = 0

    def _drop_expired(self, frontier: int, counts: Array) -> None:
        """Delete, without reading them, the rows of bins that are of no use any more.

        A bin with new events keeps them: these may be far older than the frontier.
        """
        for number, each in enumerate(self.bins):
            if each.expiry <= frontier < each.due and not counts[number]:
                self._clear(number)

    def _place(self, number: int, block: int) -> int:
        return block_number(ROWS, self._group, place_in_bin(number, block))


def _by_key(
    layout: RowLayout, ledger: pa.RecordBatch, stored: pa.RecordBatch, events: pa.RecordBatch
) -> tuple[KeyRows, Array, pa.RecordBatch]:
    """Rows by key, those that were stored before new ones.

    Also returns, for each new row, its place among the events; and the entries of the ledger of
    keys that have no rows.
    """
    known, old = ledger.num_rows, stored.num_rows
    keys = [
        pa.concat_arrays([ledger.column(place), stored[name], events[name]])
        for place, name in enumerate(layout.key)
    ]
    size = known + old + events.num_rows
    permutation, starts = arrange(keys, [], size)
    places = np.arange(size) if permutation is None else permutation
    # The entry of a key comes first in its run. Without entries, some runs are empty.
    heads = places[starts[:-1]]
    is_row = places >= known
    before = np.append(0, np.cumsum(is_row))
    bounds = np.append(before[starts[:-1]], before[-1])
    has_rows = np.diff(bounds) > 0
    row_starts, row_stops = bounds[:-1][has_rows], bounds[1:][has_rows]
    rows = places[is_row] - known
    new_before = np.append(0, np.cumsum(rows >= old))
    idle, heads = heads[~has_rows], heads[has_rows]
    entries, indices = pa.array(heads, mask=heads >= known), pa.array(rows)
    noted = layout.ledger.names[len(layout.key) :]
    found = KeyRows(
        {
            name: pa.concat_arrays([stored[name], events[name]]).take(indices)
            for name in layout.rows.names
        },
        np.append(row_starts, NEVER),
        len(rows),
        layout.timed,
        keys=[column.take(pa.array(heads)) for column in keys],
        stops=row_stops,
        fresh=row_stops - (new_before[row_stops] - new_before[row_starts]),
        ledger={name: ledger[name].take(entries) for name in noted},
    )
    return found, rows[rows >= old] - old, ledger.take(pa.array(idle))
