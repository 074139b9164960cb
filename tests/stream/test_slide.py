"""A shard of a stream answers what a table of the same events would, each answer once."""

import pyarrow as pa
import pytest
from hypothesis import given, settings

from tests.over.oracle import ticks
from tests.slide import oracle
from tests.stream.model import (
    MILLISECOND,
    WAITING_SMALL,
    Memory,
    accepted,
    expected,
    plan_of,
)
from tests.stream.strategies import Stream, streams
from windrow.stream import sizes
from windrow.stream.slide_stream import StreamSlide
from windrow.stream.state import (
    CELLS_SCHEMA,
    DESCRIPTION,
    HEADER,
    SLICES,
    WAITING_SCHEMA,
    kind_of,
)

# Interpreted, numbers are numpy's, which warn where a kernel is silent.
pytestmark = [
    pytest.mark.usefixtures("interpreted"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]

#: behind every window of every event
THE_END = 10**14
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
@settings(max_examples=100)
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
@settings(max_examples=60)
def test_blocks_of_few_slices(stream: Stream) -> None:
    with sizes.using(slices_in_a_block=2, **WAITING_SMALL):
        tables, _late = run(stream, Memory())
    events, _ = accepted(stream)
    oracle.assert_agrees(expected(stream, events, THE_END), pa.concat_tables(tables), stream.key)
