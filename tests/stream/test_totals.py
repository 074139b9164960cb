"""Windows of all events so far, on streams: one partial of each key, whatever has come before.

That answers are those of a table, in any mixture with other windows, is seen in test_rows.py:
`strategies.any_trailing` and `any_sliding` draw such windows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from tests.support.stream.model import Memory
from windrow.planning.choose import Wish
from windrow.planning.over_plan import resolve_over
from windrow.planning.slide_plan import resolve_slide
from windrow.stream import sizes
from windrow.stream.inspection import summary
from windrow.stream.over_stream import StreamOver
from windrow.stream.query import StreamQuery
from windrow.stream.slide_stream import StreamSlide
from windrow.stream.state import NODE, ROWS, TOTALS, kind_of

pytestmark = pytest.mark.usefixtures("interpreted")

SCHEMA = pa.schema([("k", pa.int64()), ("ts", pa.timestamp("ms")), ("v", pa.int64())])
AGGS = [wr.sum("v"), wr.arg_max("v", "ts")]
KEYS = 400


class Watched(Memory):
    """Counts the blocks that are read and written."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[int] = []
        self.written: list[int] = []

    def get(self, number: int) -> bytes | None:  # type: ignore[override]
        self.read.append(kind_of(number))
        return super().get(number)

    def put(self, number: int, data: bytes) -> None:
        self.written.append(kind_of(number))
        super().put(number, data)


def asked(windows: Any, aggs: Any = None) -> dict[str, Any]:
    return {"key": "k", "order": "ts", "windows": windows, "aggs": aggs or AGGS, "wish": Wish()}


def over(windows: Any, aggs: Any = None) -> StreamQuery:
    return StreamOver(resolve_over(SCHEMA, **asked(windows, aggs)), set(), shards=1)


def slide(windows: Any, aggs: Any = None, changes_only: bool = False) -> StreamQuery:
    plan = resolve_slide(SCHEMA, **asked(windows, aggs), changes_only=changes_only)
    return StreamSlide(plan, set(), shards=1)


def batch(keys: Any, second: int) -> pa.Table:
    times = pa.array(np.full(len(keys), second * 1000)).cast(pa.timestamp("ms"))
    return pa.table([pa.array(keys), times, pa.array(np.arange(len(keys)))], schema=SCHEMA)


@pytest.mark.parametrize("query", [over(wr.expanding()), slide(wr.expanding(every=1))])
def test_a_batch_costs_what_its_keys_need(query: StreamQuery) -> None:
    storage, written_and_read = Watched(), []
    with sizes.using(totals_in_a_bin=32):
        query.advance(storage, [batch(range(KEYS), 1), batch(range(KEYS), 2)], 1000)
        query.advance(storage, [batch([7], 3)], 2999)
        bins = sum(kind_of(number) == TOTALS for number in storage)
        assert KEYS / 32 <= bins <= 4 * KEYS / 32
        for second in range(4, 60):
            storage.read, storage.written = [], []
            step = query.advance(storage, [batch([7], second)], second * 1000 - 1)
            # One event became final, of one key: one bin, of some keys.
            assert sum(table.num_rows for table in step.answers) == 1
            assert storage.read.count(TOTALS) == storage.written.count(TOTALS) == 1
            written_and_read.append((step.bytes_read, step.bytes_written))
    # It depends neither on how many events have come, nor on how many keys there are.
    for each in zip(*written_and_read, strict=True):
        assert max(each) <= 1.1 * min(each)
    assert summary(storage).keys == KEYS


def test_a_tick_ends_without_events() -> None:
    query, storage = slide(wr.expanding(every="10 seconds")), Watched()
    with sizes.using(totals_in_a_bin=32):
        query.advance(storage, [batch(range(KEYS), 1), batch([7], 11)], 0)
        step = query.advance(storage, [], 9_000)
        assert (step.answers, step.timer) == ([], 10_000 - 1)
        step = query.advance(storage, [], 10_000)
        (answers,) = step.answers
        assert (answers.num_rows, step.timer) == (KEYS, 11_000)
        step = query.advance(storage, [], 11_000)
        assert (step.answers, step.timer) == ([], 20_000 - 1)
        storage.read, storage.written = [], []
        (answers,) = query.advance(storage, [], 20_000).answers
        assert answers["k"].to_pylist() == [7]
        assert storage.read.count(TOTALS) == 1
        assert TOTALS not in storage.written


def test_other_windows_of_the_call_keep_their_own_way() -> None:
    windows = {"all": wr.expanding(), "minute": wr.time("1 minute")}
    query, storage = over(windows), Memory()
    assert [plan.way.split(":")[0] for plan in query.describe()] == ["totals", "slices"]
    query.advance(storage, [batch([1, 2, 1], 1), batch([1], 70)], 0)
    (table,) = query.advance(storage, [], 70_000).answers
    assert table.column_names == [
        *SCHEMA.names, "sum_v_all", "sum_v_minute", "arg_max_v_ts_all", "arg_max_v_ts_minute"
    ]  # fmt: skip
    assert {TOTALS, NODE} <= set(map(kind_of, storage))
    # Partials of objects are no numbers: rows are kept for them, and only for them.
    query, storage = over(windows, [wr.sum("v"), wr.collect("v")]), Memory()
    assert [plan.way.split(":")[0] for plan in query.describe()] == ["totals", "rows"]
    query.advance(storage, [batch([1, 2, 1], 1)], 0)
    query.advance(storage, [], 70_000)
    assert {TOTALS, ROWS} <= set(map(kind_of, storage))


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (over(wr.expanding()), over(wr.rows(2**70))),
        (over(wr.expanding()), over(wr.expanding(), wr.sum("v"))),
        (over(wr.expanding()), slide(wr.expanding(every=1))),
        (slide(wr.expanding(every=1)), slide(wr.expanding(every=2))),
    ],
)
def test_state_of_another_query_is_refused(before: StreamQuery, now: StreamQuery) -> None:
    storage = Memory()
    before.advance(storage, [batch([1], 1)], 2_000)
    with pytest.raises(wr.IncompatibleState, match="checkpoint: its state was written by another"):
        now.advance(storage, [batch([1], 3)], 4_000)


def test_the_plan_says_so() -> None:
    plan = wr.plan(key="k", order="ts", windows=wr.expanding(), aggs=wr.sum("v"), shards=2)
    assert "totals: one partial of each key" in str(plan)
