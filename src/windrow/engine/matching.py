"""Queries and events of two tables, brought together by key and order.

Keys are numbered once for both tables, by the queries that have them. Events that no window holds
are left out before anything is sorted: those of keys that no query has, those that are earlier or
later than any window reaches, and those without a time. Then each table is sorted by key and order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.algebra import arrays
from windrow.engine.sorting import grouped, key_codes, ranks, sorted_by
from windrow.windows.edges import Edges, reached
from windrow.windows.moments import Moments
from windrow.windows.reach import EARLIEST

Array = np.ndarray[Any, Any]


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
    asked = moments if timed is None else moments[timed]
    within = _within(times, event_order, *reached(edges, asked)) if len(asked) else None
    codes, event_codes, kept = _numbered(query_keys, event_keys, within, len(moments), len(times))
    order = [times, *map(ranks, event_ties)]
    if kept is not None:
        order = [each[kept] for each in order]
    events, _starts = grouped(sorted_by(order), event_codes)
    times = order[0] if events is None else order[0][events]
    # Queries without a moment come first.
    by_moment = moments if timed is None else np.where(timed, moments, EARLIEST)
    queries, runs = grouped(sorted_by([by_moment]), codes)
    if queries is not None:
        moments, timed = moments[queries], None if timed is None else timed[queries]
    counts = np.bincount(event_codes, minlength=len(runs) - 1)
    ends = np.cumsum(counts)
    found = Moments(moments, runs, ends - counts, ends, times, timed)
    if kept is not None:
        events = kept if events is None else kept[events]
    return Matched(found, queries, events)


def _within(times: Array, order: pa.Array, oldest: int, newest: int) -> Array | None:
    """Which events some window may hold by their time alone; None if that is all of them."""
    masks = [arrays.validity(order)] if order.null_count else []
    if len(times) and times.min() <= oldest:
        masks.append(times > oldest)
    if len(times) and times.max() > newest:
        masks.append(times <= newest)
    return np.logical_and.reduce(masks) if masks else None


def _numbered(
    query_keys: Sequence[pa.Array],
    event_keys: Sequence[pa.Array],
    within: Array | None,
    queries: int,
    events: int,
) -> tuple[Array, Array, Array | None]:
    """The number of each query's key, those of the events that are kept, and these events.

    Numbers begin at 0, and each is that of some query. Events not `within` reach are left out. The
    events are None if all are kept.
    """
    codes = np.zeros(queries + events, np.int64)
    if query_keys:
        pairs = zip(query_keys, event_keys, strict=True)
        codes = key_codes([pa.concat_arrays(pair) for pair in pairs])
    asked = np.zeros(int(codes.max(initial=0)) + 1, np.bool_)
    asked[codes[:queries]] = True
    kept = within
    if not asked.all():
        codes = np.where(asked, np.cumsum(asked) - 1, -1)[codes]
        found = codes[queries:] >= 0
        kept = found if within is None else found & within
    if kept is None or kept.all():
        return codes[:queries], codes[queries:], None
    rows = np.flatnonzero(kept)
    return codes[:queries], codes[queries:][rows], rows


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
