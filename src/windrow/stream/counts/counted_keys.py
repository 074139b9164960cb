"""Counted keys: the keys of some bins of counted rows, numbered, with what is known of their rows.

At work a key goes by a number: bin after bin, in the order of the bin's ledger, new keys last.

      bin 3             bin 8
      ledger    new     ledger        new
      a  b  c    d      e  f           g          keys
      0  1  2    3      4  5           6          numbers
      firsts 0          firsts 4                  firsts 7
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from windrow.engine.sorting import arrange
from windrow.stream.counts.counted_bins import FRONT_ROWS, FRONT_SHARED, CountedBins
from windrow.stream.counts.row_maps import rows_by_key
from windrow.stream.counts.segments import Segments
from windrow.windows import walks

Array = np.ndarray[Any, Any]


class NewRows(NamedTuple):
    """New events of some bins.

    Attributes:
        bins: the numbers of the bins.
        events: the events, by bin, key and order.
        counts: how many there are of each bin.
        lengths: how many there are of each key that has some.
    """

    bins: list[int]
    events: pa.RecordBatch
    counts: list[int]
    lengths: Array


@dataclass(frozen=True)
class CountedKeys:
    """The keys of some bins, by number.

    Attributes:
        new: the new events of the bins.
        new_keys: the number of each key that has new events.
        firsts: the number of each bin's first key, and behind them how many keys there are.
        front: how the rows are cut that each key has in the front.
        back: how many rows each key has in the back.
        back_map: the map of the backs of all bins.
    """

    new: NewRows
    new_keys: Array
    firsts: Array
    front: Segments
    back: Array
    back_map: pa.RecordBatch

    @property
    def new_counts(self) -> Array:
        """How many new events each key has."""
        counts = np.zeros(len(self.back), np.int64)
        counts[self.new_keys] = self.new.lengths
        return counts

    def spans(self) -> Iterator[tuple[int, int, int]]:
        """Each bin, the number of its first key, and the number behind its last."""
        return zip(self.new.bins, self.firsts.tolist(), self.firsts[1:].tolist(), strict=False)


def entered(stored: CountedBins, new: NewRows) -> CountedKeys:
    """The keys of the bins that have new events; new keys are entered into the ledgers."""
    ledgers = [stored.ledger(number) for number in new.bins]
    ledger = pa.concat_batches(ledgers)
    heads = np.cumsum(new.lengths) - new.lengths
    keys = [new.events[name].take(pa.array(heads)) for name in stored.layout.key]
    places = _places(ledger, keys, len(heads))
    bins = np.searchsorted(np.cumsum(new.counts), heads, "right")
    numbers = _numbered(np.array([each.num_rows for each in ledgers]), places, bins)
    for place, number in enumerate(new.bins):
        indices = np.flatnonzero(numbers.is_new & (bins == place))
        if len(indices):
            own = [column.take(pa.array(indices)) for column in keys]
            added = stored.entries_without_front(own, len(indices))
            stored.write_ledger(number, pa.concat_batches([ledgers[place], added]))
    count = int(numbers.firsts[-1])
    rows, shared = np.zeros(count, np.int64), np.ones(count, np.int64)
    rows[numbers.of_entries] = ledger[FRONT_ROWS].to_numpy()
    shared[numbers.of_entries] = ledger[FRONT_SHARED].to_numpy()
    shares = np.repeat([stored.shares(number) for number in new.bins], np.diff(numbers.firsts))
    back_map = pa.concat_batches(
        [
            stored.back_map(number, int(first))
            for number, first in zip(new.bins, numbers.firsts, strict=False)
        ]
    )
    return CountedKeys(
        new,
        numbers.of_keys,
        numbers.firsts,
        Segments(rows, shared, shares),
        rows_by_key(back_map, count),
        back_map,
    )


def _places(ledger: pa.RecordBatch, keys: Sequence[pa.Array], count: int) -> Array:
    """The place of each of some different keys in a ledger; behind its end for new keys."""
    known = ledger.num_rows
    size = known + count
    columns = [
        pa.concat_arrays([entered, new]) for entered, new in zip(ledger.columns, keys, strict=False)
    ]
    permutation, starts = arrange(columns, [], size)
    order = np.arange(size) if permutation is None else permutation
    firsts = np.empty(size, np.int64)
    firsts[order] = np.repeat(order[starts[:-1]], walks.lengths_of_runs(starts, size))
    return firsts[known:]


class _Numbers(NamedTuple):
    """Numbers of keys.

    Attributes:
        firsts: as in `CountedKeys`.
        of_entries: of the entries of all ledgers.
        of_keys: of the keys that have new events.
        is_new: which of those are in no ledger.
    """

    firsts: Array
    of_entries: Array
    of_keys: Array
    is_new: Array


def _numbered(entries: Array, places: Array, bins: Array) -> _Numbers:
    """Number the keys of bins.

    Args:
        entries: how many entries the ledger of each bin has.
        places: for each key with new events, its place in all ledgers; behind their end if new.
        bins: for each of those keys, the place of its bin; ascending.
    """
    known = int(entries.sum())
    is_new = places >= known
    added = np.bincount(bins[is_new], minlength=len(entries))
    firsts = np.append(0, np.cumsum(entries + added))
    # The new keys of a bin move the entries of all later bins up.
    before = np.cumsum(added) - added
    of_entries = np.arange(known) + np.repeat(before, entries)
    of_keys = np.empty(len(places), np.int64)
    of_keys[~is_new] = of_entries[places[~is_new]]
    ranks = np.arange(int(added.sum())) - np.repeat(before, added)
    of_keys[is_new] = np.repeat(firsts[:-1] + entries, added) + ranks
    return _Numbers(firsts, of_entries, of_keys, is_new)
