"""Sizes that decide how state is cut into blocks, and never what is answered.

Tests set them to almost nothing, so that what happens to many rows happens to a few:

    with sizes.using(waiting_block=2, bin_rows=4):
        ...
"""

from __future__ import annotations

from dataclasses import dataclass

from windrow.work.sizes import Adjustable


@dataclass(frozen=True)
class StateSizes:
    """How state is cut.

    Attributes:
        waiting_block: fewer waiting events than this are not cut into several blocks.
        waiting_together: the same for events that are expected to become final at once.
        waiting_rest: fewer events than this stay one block when a part of their block is taken.
        cells_gain: waiting events become cells if that leaves so many times fewer numbers.
        batches_unseen: after a batch whose events do not become cells, so many are not looked at.
        queues_merged: how many queues of waiting events become one.
        merged_bytes: queues with more bytes than this are not merged: merging needs them in memory.
        neighbour_bytes: neighbouring blocks of a queue become one up to so many bytes.
        slices_in_a_block: the most slices in a leaf of the tree of `slide`.
        events_in_a_block: the most events in a leaf of the tree of `over`.
        rows_at_once: how many rows of some bins are worked on at once.
        bin_rows: a bin of `rows/` with more rows is split when it is rewritten.
        bin_blocks: a bin of `rows/` with so many blocks is rewritten.
        counted_bin_rows: a bin of `counts/` with more rows is split. It may be larger than one of
            `rows/`, because a batch reads few of its rows.
        counted_bin_blocks: a bin of `counts/` with so many blocks is rewritten; fewer than 256.
        frontless_blocks: a bin of `counts/` with so few blocks needs no front: a batch reads the
            maps of its blocks instead.
        segment_rows: a segment has at least so many rows.
        rows_for_a_cell: a segment has at least so many rows for each key of its bin, because its
            map has a cell for each of them.
        totals_in_a_bin: a bin of `totals/` with more keys is split.
        fewest_counted: windows of fewer rows are kept as rows: cells take no less than some rows.
    """

    waiting_block: int = 2**14
    waiting_together: int = 2**18
    waiting_rest: int = 2**10
    cells_gain: int = 2
    batches_unseen: int = 7
    queues_merged: int = 8
    merged_bytes: int = 2**25
    neighbour_bytes: int = 2**19
    slices_in_a_block: int = 64
    events_in_a_block: int = 2**12
    rows_at_once: int = 2**20
    bin_rows: int = 2**16
    bin_blocks: int = 16
    counted_bin_rows: int = 2**20
    counted_bin_blocks: int = 240
    frontless_blocks: int = 64
    segment_rows: int = 2**10
    rows_for_a_cell: int = 8
    totals_in_a_bin: int = 2**12
    fewest_counted: int = 64


_SIZES = Adjustable(StateSizes())
current, using = _SIZES.current, _SIZES.using
