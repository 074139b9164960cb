"""A shard of a stream answers what a table of the same events would, each answer once."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

import windrow as wr
from tests.support.examples import examples
from tests.support.over.oracle import ticks
from tests.support.slide import oracle
from tests.support.stream.model import (
    MILLISECOND,
    THE_END,
    WAITING_SMALL,
    Memory,
    accepted,
    expected,
    plan_of,
)
from tests.support.stream.strategies import Stream, streams
from windrow.planning.choose import Wish
from windrow.planning.slide_plan import resolve_slide
from windrow.stream import sizes
from windrow.stream.slide_stream import StreamSlide
from windrow.stream.state import (
    CELLS_SCHEMA,
    DESCRIPTION,
    HEADER,
    SLICES,
    WAITING,
    WAITING_SCHEMA,
    kind_of,
)

# Interpreted, numbers are numpy's, which warn where a kernel is silent.
pytestmark = [
    pytest.mark.usefixtures("interpreted"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]

COLUMNS = {"k0", "k1", "o0", "o1", "v", "c"}


def run(stream: Stream, storage: Memory) -> tuple[list[pa.Table], int]:
    """Work on all batches as Spark would: without events, a shard is woken by its timer only."""
    plan = plan_of(stream)
    tables, late, timer = [plan.output_schema.empty_table()], 0, None
    for batch, watermark in [*stream.batches, (stream.batches[0][0].slice(0, 0), THE_END)]:
        if batch.num_rows or (timer is not None and timer <= watermark):
            # Nothing but the storage is carried from one batch to the next.
            shard = StreamSlide(plan, COLUMNS, shards=1)
            step = shard.advance(storage, [batch], watermark)
            assert step.timer is None or step.timer > watermark
            tables += step.answers
            late += step.late
            timer = step.timer
            for table in step.answers:
                assert all(end <= watermark * MILLISECOND for end in ticks(table["window_end"]))
    return tables, late


@given(streams())
@examples(30)
def test_any_stream(stream: Stream) -> None:
    storage = Memory()
    tables, late = run(stream, storage)
    events, expected_late = accepted(stream)
    assert late == expected_late
    oracle.assert_agrees(expected(stream, events, THE_END), pa.concat_tables(tables), stream.key)
    if storage:
        assert {kind_of(number) for number in storage} == {
            HEADER, DESCRIPTION, CELLS_SCHEMA, WAITING_SCHEMA, SLICES
        }  # fmt: skip


@given(streams())
@examples(20)
def test_blocks_of_few_slices(stream: Stream) -> None:
    with sizes.using(slices_in_a_block=2, **WAITING_SMALL):
        tables, _late = run(stream, Memory())
    events, _ = accepted(stream)
    oracle.assert_agrees(expected(stream, events, THE_END), pa.concat_tables(tables), stream.key)


@pytest.mark.parametrize("small", [{}, WAITING_SMALL], ids=["as they are", "small"])
def test_groups_with_slices_of_their_own(small: dict[str, int]) -> None:
    """Windows that share no slices, one with gaps, and rows: each takes each event once."""
    windows = {
        "a": wr.time("3 seconds", every="99991 microseconds"),
        "b": wr.time("2 seconds", every="99989 microseconds"),
        "gaps": wr.time("300 milliseconds", every="7 seconds"),
        "rows": wr.rows(9, every=4),
        "visit": wr.session("40 milliseconds"),
    }
    random = np.random.default_rng(5)
    times = np.sort(random.integers(10**7, 3 * 10**7, 600))
    # Up to a second out of order, and equal times.
    came = np.argsort(times + random.integers(0, 10**6, 600), kind="stable")
    events = pa.table(
        {
            "k": random.integers(0, 4, 600),
            "ts": pa.array(times // 2_000 * 2_000).view(pa.timestamp("us")),
            "v": random.integers(0, 99, 600),
        }
    ).take(pa.array(came))
    asked = {"key": "k", "order": ["ts", "v"], "windows": windows, "aggs": [wr.sum("v")]}
    plan = resolve_slide(events.schema, **asked, wish=Wish(), changes_only=False)
    storage, found = Memory(), []
    with sizes.using(**small):
        for begin in range(0, 600, 25):
            shard = StreamSlide(plan, set(), shards=1)
            assert len(shard.describe()) >= 3
            batch = events.slice(begin, 25)
            newest = max(ticks(events.slice(0, begin)["ts"]), default=0) // MILLISECOND
            step = shard.advance(storage, [batch], max(newest - 1_100, 0))
            assert not step.late
            found += step.answers
        found += StreamSlide(plan, set(), shards=1).advance(storage, [], THE_END).answers
    by = [(name, "ascending") for name in ("window", "k", "window_start", "window_end", "sum_v")]
    expected = wr.slide(events, **asked).sort_by(by)
    assert pa.concat_tables(found).select(expected.column_names).sort_by(by).equals(expected)
    assert not any(kind_of(number) == WAITING for number in storage)
