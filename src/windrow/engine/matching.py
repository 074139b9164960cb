"""Queries and events of two tables, brought together by key and order.

Keys are numbered, those of both tables alike. Events that no window holds are left out before they
are sorted, if they are many: those of keys that no query has, and those that are earlier or later
than any window reaches. Then each table is sorted by the numbers of keys and by order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.algebra import arrays
from windrow.engine.gathering import row_pieces
from windrow.engine.key_codes import key_codes
from windrow.engine.ranks import ranks
from windrow.engine.sorting import arrange_codes
from windrow.windows.edges import Edges, reached
from windrow.windows.moments import Moments
from windrow.windows.reach import EARLIEST, UNLIMITED
from windrow.work.threads import in_threads

Array = np.ndarray[Any, Any]

#: leaving events out pays if all are so many times those that stay
_PAYS = 4 / 3


@dataclass(frozen=True)
class Matched:
    """Queries and events in the order that `as_of` needs.

    Attributes:
        moments: the moments of the queries among the events.
        queries: the query of each moment; None if they are in order.
        events: the rows of the events, sorted, those of other keys left out; None if they are in
            order and none is left out.
    """

    moments: Moments
    queries: Array | None
    events: Array | None

    def rows(self, places: Array | None) -> Array | None:
        """The rows of the events at some places of their order; None for all, in both."""
        if self.events is None or places is None:
            return self.events if places is None else places
        return self.events[places]


def matched(
    query_keys: Sequence[pa.Array],
    event_keys: Sequence[pa.Array],
    query_order: pa.Array,
    event_order: pa.Array,
    event_ties: Sequence[pa.Array] = (),
    edges: Iterable[Edges] = (),
) -> Matched:
    """Bring queries and events together.

    Args:
        query_keys, event_keys: the columns of the key, of the same types.
        query_order, event_order: the moments and the times of events, of one type.
        event_ties: further columns that order events of one time.
        edges: of the windows; events that none of them reaches may be left out.
    """
    timed = arrays.validity(query_order) if query_order.null_count else None
    moments, times = _comparable(query_order, event_order)
    codes, event_codes = _codes(query_keys, event_keys, len(moments), len(times))
    order = [times, *map(ranks, event_ties)]
    asked = moments if timed is None else moments[timed]
    within = reached(edges, asked) if len(asked) else (UNLIMITED, EARLIEST)
    known = arrays.validity(event_order) if event_order.null_count else None
    kept = _kept(codes, event_codes, times, known, within)
    if kept is not None:
        order, event_codes = [each[kept] for each in order], event_codes[kept]
    events, starts, times = arrange_codes(event_codes, order)
    # Queries without a moment come first.
    by_moment = moments if timed is None else np.where(timed, moments, EARLIEST)
    queries, runs, by_moment = arrange_codes(codes, [by_moment])
    if timed is None:
        moments = by_moment
    elif queries is not None:
        moments, timed = moments[queries], timed[queries]
    asked_of, told_of = _heads(codes, queries, runs), _heads(event_codes, events, starts)
    begins, ends = _of_keys(asked_of, told_of, starts, len(times))
    if kept is not None:
        events = kept if events is None else kept[events]
    return Matched(Moments(moments, runs, begins, ends, times, timed), queries, events)


def _heads(codes: Array, rows: Array | None, runs: Array) -> Array:
    """The number of each run's key, where rows are sorted."""
    first = runs[:-1]
    return codes[first if rows is None else rows[first]]


def _of_keys(heads: Array, event_heads: Array, starts: Array, size: int) -> tuple[Array, Array]:
    """Where the events of each query key begin and end; both are numbered in one order."""
    places = np.searchsorted(event_heads, heads)
    begins = np.append(starts[:-1], size)
    known = places < len(event_heads)
    known[known] = event_heads[places[known]] == heads[known]
    return begins[places], begins[places + known]


def _codes(
    query_keys: Sequence[pa.Array], event_keys: Sequence[pa.Array], queries: int, events: int
) -> tuple[Array, Array]:
    """Numbers of keys, of the queries and of the events: small, and equal where keys are."""
    if not query_keys:
        return np.zeros(queries, np.int64), np.zeros(events, np.int64)
    pairs = zip(query_keys, event_keys, strict=True)
    codes = key_codes([pa.chunked_array(pair) for pair in pairs])
    return codes[:queries], codes[queries:]


def _kept(
    codes: Array, event_codes: Array, times: Array, timed: Array | None, within: tuple[int, int]
) -> Array | None:
    """The events that some window may hold by their key and time; None for all.

    Those without a time are always left out, others if they are many: that has its price too.
    """
    masks = [] if timed is None else [timed]
    threads = len(row_pieces(len(times)))
    numbers = in_threads(lambda each: int(each.max(initial=0)), [codes, event_codes], threads)
    asked = np.zeros(1 + max(numbers), np.bool_)
    asked[codes] = True
    if not asked.all():
        masks.append(asked[event_codes])
    oldest, newest = within
    if len(times):
        first, last = in_threads(lambda each: each(), [times.min, times.max], threads)
        if first <= oldest:
            masks.append(times > oldest)
        if last > newest:
            masks.append(times <= newest)
    if not masks:
        return None
    kept = np.logical_and.reduce(masks)
    few = _PAYS * np.count_nonzero(kept) < len(kept)
    return np.flatnonzero(kept) if few or timed is not None else None


def _comparable(query_order: pa.Array, event_order: pa.Array) -> tuple[Array, Array]:
    """Moments and times of events as integers that compare as they do; ticks if they are times."""
    pair, data_type = (query_order, event_order), event_order.type
    if pa.types.is_temporal(data_type) and not pa.types.is_interval(data_type):
        width = pa.int64() if data_type.bit_width == 64 else pa.int32()
        pair = query_order.view(width), event_order.view(width)
        data_type = width
    if pa.types.is_integer(data_type) and data_type != pa.uint64():
        pair = tuple(pc.fill_null(each, 0) for each in pair)
        return ranks(pair[0]), ranks(pair[1])
    if pa.types.is_floating(data_type):
        return ranks(pair[0]), ranks(pair[1])
    joined = ranks(pa.concat_arrays(pair))
    return joined[: len(query_order)], joined[len(query_order) :]
