"""A stream, slow and plainly right: keep every event that is not late, and ask the oracle."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from tests.support.over.oracle import ticks
from tests.support.over.strategies import tick
from tests.support.slide import oracle
from tests.support.stream.strategies import Stream
from windrow.planning.choose import Wish
from windrow.planning.slide_plan import SlidePlan, resolve_slide
from windrow.windows import EveryTime, SessionWindow, TimeWindow, Window

#: behind every window of every event
THE_END = 10**14
MILLISECOND = 10**6


class Memory(dict[int, bytes]):
    """A shard's storage."""

    def put(self, number: int, data: bytes) -> None:
        assert isinstance(data, bytes)
        self[number] = data

    def delete(self, number: int) -> None:
        del self[number]


#: sizes that let what happens to many waiting events happen to a few; all may become cells
WAITING_SMALL = {
    "waiting_block": 2, "waiting_together": 3, "waiting_rest": 1, "queues_merged": 2,
    "cells_gain": 0,
}  # fmt: skip
#: the same for bins of rows
BINS_SMALL = {"bin_rows": 4, "bin_blocks": 2, "totals_in_a_bin": 1, "rows_at_once": 5}
#: bins, blocks and segments of few counted rows, so that few rows fill many
COUNTS_SMALL = {
    "counted_bin_rows": 40, "counted_bin_blocks": 12, "frontless_blocks": 4, "rows_at_once": 100,
    "segment_rows": 4, "rows_for_a_cell": 1,
}  # fmt: skip
COUNTS_SMALLEST = {
    "counted_bin_rows": 4, "counted_bin_blocks": 2, "frontless_blocks": 1, "rows_at_once": 5,
    "segment_rows": 2, "rows_for_a_cell": 1,
}  # fmt: skip


def arrived(stream: Stream, final_by: Callable[[int], int]) -> tuple[pa.Table, int]:
    """All events that are not late, as they came, and how many are late.

    `final_by` tells, for an event's time, when nothing like it may come any more; nanoseconds.
    """
    kept, late = [], 0
    for batch, watermark in stream.batches:
        for row, time in enumerate(ticks(batch["o0"])):
            if time is None:
                continue
            if watermark > 0 and final_by(time) <= watermark * MILLISECOND:
                late += 1
            else:
                kept.append(batch.slice(row, 1))
    empty = stream.batches[0][0].slice(0, 0)
    return pa.concat_tables([empty, *kept]).combine_chunks(), late


def plan_of(stream: Stream) -> SlidePlan:
    schema = stream.batches[0][0].schema
    return resolve_slide(schema, **stream.arguments, wish=Wish(), changes_only=False)


def next_edge(windows: Mapping[str, Window], time: int) -> int:
    """The first begin or end of a window behind a time, in nanoseconds."""
    found = []
    for window in windows.values():
        assert isinstance(window, TimeWindow)
        assert isinstance(window.every, EveryTime)
        for offset in (window.every.offset, window.every.offset + window.range):
            since = (time - offset) % window.every.time
            found.append(time - since + window.every.time)
    return min(found)


def accepted(stream: Stream) -> tuple[pa.Table, int]:
    """The events that are not late for `slide`, and how many are."""
    return arrived(stream, lambda time: next_edge(stream.windows, time))


def expected(stream: Stream, table: pa.Table, watermark: int) -> list[dict[str, Any]]:
    """The answers of all windows that end by a watermark."""
    answers = oracle.slide(table, **stream.arguments)
    return [answer for answer in answers if answer["window_end"] <= watermark * MILLISECOND]


def length(data_type: pa.DataType) -> int:
    """How long an event's time is, in nanoseconds: a timestamp is a moment, and a date a day."""
    return 0 if pa.types.is_timestamp(data_type) else tick(data_type)


def final_at(window: Window, answer: dict[str, Any], length: int) -> int:
    """When no event to come can change an answer, in nanoseconds; times are of some length."""
    end: int = answer["window_end"]
    every = getattr(window, "every", None)
    if isinstance(window, SessionWindow):
        return end + length
    if not isinstance(every, EveryTime):
        return end + length
    if isinstance(window, TimeWindow):
        return end
    return end - (end - every.offset) % every.time + every.time


def sorted_rows(table: pa.Table, by: list[tuple[str, str]]) -> list[dict[str, Any]]:
    names = [("window", "ascending")] if "window" in table.column_names else []
    rows: list[dict[str, Any]] = table.sort_by([*names, *by]).to_pylist()
    return rows
