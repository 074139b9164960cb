"""Blocks in memory answer as blocks of bytes do, also after a restart from what was committed."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.examples import examples
from tests.support.stream.model import (
    BINS_SMALL,
    COUNTS_SMALL,
    THE_END,
    WAITING_SMALL,
    Memory,
)
from tests.support.stream.strategies import Stream, any_sliding, any_trailing, clocks, streams
from windrow.planning.choose import Wish
from windrow.planning.over_plan import resolve_over
from windrow.planning.slide_plan import resolve_slide
from windrow.stream import sizes
from windrow.stream.live_blocks import LiveBlocks, Tally
from windrow.stream.over_stream import StreamOver
from windrow.stream.query import StreamQuery
from windrow.stream.slide_stream import StreamSlide
from windrow.stream.state import NODE, ShardBlocks, block_number

pytestmark = [
    pytest.mark.usefixtures("interpreted"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]


class Checkpoint:
    """What a process would commit; `restarted` says after which batches one follows another."""

    def __init__(self, restarted: list[bool]) -> None:
        self.stored, self._restarted = Memory(), iter(restarted)
        self.blocks = LiveBlocks()

    def done(self) -> None:
        if next(self._restarted, False):
            changes = self.blocks.changes()
            for number, data in changes.items():
                if data is None:
                    self.stored.delete(number)  # raises if there is none
                else:
                    self.stored.put(number, data)
            self.blocks.written(changes)
            assert not self.blocks.changes()
            assert self.blocks.tally == Tally.of(self.stored)
            self.blocks = LiveBlocks(set(self.stored), self.stored.get)


def agrees(query: StreamQuery, stream: Stream, restarted: list[bool]) -> None:
    checkpoint, plain = Checkpoint(restarted), Memory()
    end = (stream.batches[0][0].slice(0, 0), THE_END)
    for batch, watermark in [*stream.batches, end]:
        expected = query.advance(plain, [batch], watermark)
        found = query.advance(checkpoint.blocks, [batch], watermark)
        assert (found.late, found.timer) == (expected.late, expected.timer)
        assert [table.to_pylist() for table in found.answers].__repr__() == [
            table.to_pylist() for table in expected.answers
        ].__repr__()
        checkpoint.done()


RESTARTS = st.lists(st.booleans(), max_size=9)


@given(streams(any_sliding) | streams(clocks), RESTARTS)
@examples(15)
def test_slide(stream: Stream, restarted: list[bool]) -> None:
    schema = stream.batches[0][0].schema
    plan = resolve_slide(schema, **stream.arguments, wish=Wish(), changes_only=False)
    with sizes.using(slices_in_a_block=2, **WAITING_SMALL, **BINS_SMALL):
        agrees(StreamSlide(plan, set(schema.names), shards=1), stream, restarted)


@given(streams(any_trailing), RESTARTS, st.sampled_from([BINS_SMALL, COUNTS_SMALL]))
@examples(15)
def test_over(stream: Stream, restarted: list[bool], small: dict[str, int]) -> None:
    schema = stream.batches[0][0].schema
    plan = resolve_over(schema, **stream.arguments, wish=Wish())
    with sizes.using(slices_in_a_block=2, **WAITING_SMALL, **small):
        agrees(StreamOver(plan, set(schema.names), shards=1), stream, restarted)


NUMBER = block_number(NODE)
BATCH = pa.record_batch({"v": list(range(1000))})


def test_what_comes_and_goes_between_commits_is_not_written() -> None:
    blocks = LiveBlocks({NUMBER}, Memory().get)
    blocks.store(NUMBER + 1, BATCH)
    blocks.delete(NUMBER + 1)
    assert blocks.changes() == {}
    blocks.delete(NUMBER)
    assert not blocks.has(NUMBER)
    assert blocks.changes() == {NUMBER: None}
    blocks.store(NUMBER, BATCH)
    (data,) = blocks.changes().values()
    assert data == _as_spark_writes_it(lambda plain: plain.store(NUMBER, BATCH))


def _as_spark_writes_it(write: Callable[[ShardBlocks], Any]) -> bytes:
    memory = Memory()
    write(ShardBlocks(memory))
    return memory[NUMBER]


def test_a_few_rows_do_not_hold_on_to_many() -> None:
    blocks = LiveBlocks()
    blocks.store(NUMBER, BATCH.slice(3, 2))
    kept = blocks.load(NUMBER, BATCH.schema)
    assert kept.to_pydict() == {"v": [3, 4]}
    assert kept.get_total_buffer_size() < 200


def test_a_block_that_the_checkpoint_lost_or_damaged_is_named() -> None:
    memory = Memory()
    blocks = LiveBlocks({NUMBER}, memory.get)
    with pytest.raises(wr.StoreError, match=rf"block {NUMBER} .* is missing"):
        blocks.load(NUMBER, BATCH.schema)
    memory[NUMBER] = _as_spark_writes_it(lambda plain: plain.store(NUMBER, BATCH))[:-1] + b"x"
    with pytest.raises(wr.StoreError, match=rf"block {NUMBER} .* is damaged"):
        blocks.load(NUMBER, BATCH.schema)
