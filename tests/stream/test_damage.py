"""Damaged state is told from whole state: no flipped bit gives an answer that is not right."""

import random
from typing import Any

import pyarrow as pa
import pytest

import windrow as wr
from tests.support.stream import frozen
from tests.support.stream.model import Memory
from windrow.stream import state
from windrow.stream.inspection import summary
from windrow.stream.query import StreamQuery

DAMAGED = (wr.StoreError, wr.IncompatibleState)


def flipped(data: bytes, bit: int) -> bytes:
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def answers_after(query: StreamQuery, storage: Memory) -> pa.Table:
    answers = []
    for batch, watermark in frozen.AFTER:
        answers += query.advance(storage, [batch], watermark).answers
    return pa.concat_tables(answers)


@pytest.mark.parametrize("call", [*frozen.CALLS, *frozen.LATEST])
def test_no_flipped_bit_is_read_as_content(call: str) -> None:
    """Of every block: each bit of what stands in front, and one of each byte behind it."""
    chance = random.Random(call)
    for number, data in frozen.read(call, state.VERSION).items():
        bits = [*range(8 * 16), *(8 * byte + chance.randrange(8) for byte in range(16, len(data)))]
        for bit in bits:
            with pytest.raises(DAMAGED, match="checkpoint: "):
                state.content_of(number, flipped(data, bit))


@pytest.mark.parametrize("call", [*frozen.CALLS, *frozen.LATEST])
def test_no_answer_comes_of_a_flipped_bit(call: str) -> None:
    """A block is used as it was written, or the batch fails; one that is not used does no harm."""
    chance, query = random.Random(call), frozen.query(call)
    whole = frozen.read(call, state.VERSION)
    expected = answers_after(query, frozen.read(call, state.VERSION))
    problems = {}
    for number, data in whole.items():
        storage = Memory(whole)
        # Behind the version, which would name another layout.
        storage[number] = flipped(data, chance.randrange(8, 8 * len(data)))
        try:
            assert answers_after(query, storage).equals(expected), number
        except wr.StoreError as error:
            problems[number] = str(error)
    assert len(problems) > len(whole) // 3
    assert all(f"block {number} of its state" in told for number, told in problems.items())


@pytest.mark.parametrize("call", [*frozen.CALLS, *frozen.LATEST])
def test_blocks_that_are_cut_off_swapped_or_lost(call: str) -> None:
    query, whole = frozen.query(call), frozen.read(call, state.VERSION)
    header = state.block_number(state.HEADER)
    for data in (b"", whole[header][:12], whole[state.block_number(state.DESCRIPTION)]):
        with pytest.raises(wr.StoreError, match="block 0 of its state, which holds the header, is"):
            query.advance(Memory({**whole, header: data}), [], 10**9)
    with pytest.raises(wr.StoreError, match=r"block 0 of .* is missing"):
        query.advance(Memory({n: data for n, data in whole.items() if n != header}), [], 10**9)
    with pytest.raises(wr.StoreError, match="block 0 of its state"):
        summary({**whole, header: flipped(whole[header], 200)})


class _MapState:
    """A shard's blocks as Spark hands them out."""

    def __init__(self, blocks: Memory) -> None:
        self._blocks = blocks

    def getValue(self, key: tuple[int]) -> tuple[bytes] | None:
        return (self._blocks[key[0]],) if key[0] in self._blocks else None


def test_the_shard_is_named() -> None:
    from windrow.spark.streaming.processor import ShardProcessor
    from windrow.spark.streaming.shards import labels

    whole = frozen.read("slide", state.VERSION)
    blocks: Any = _MapState(Memory({**whole, 0: flipped(whole[0], 100)}))
    made: Any = None
    processor = ShardProcessor("damaged", lambda: frozen.query("slide"), made, made, 5, False)
    processor.open(made, blocks)
    for move in (processor.wake, lambda shard, watermark: processor.take(shard, [], watermark)):
        with pytest.raises(wr.StoreError, match=r"^checkpoint, shard 3: block 0 of its state"):
            move((labels(5)[3],), 0)


def test_groups_of_windows_have_numbers_of_their_own() -> None:
    """More than one byte tells apart; more than there are numbers for are refused."""
    places = [
        (kind, group, number)
        for kind in (state.HEADER, state.BACK_MAP)
        for group in (0, 1, 255, 256, 257, state.MOST_GROUPS - 1)
        for number in (0, 1, 2**40 - 1)
    ]
    numbers = [state.block_number(*place) for place in places]
    assert len(set(numbers)) == len(places)
    assert [(state.kind_of(each), state.group_of(each)) for each in numbers] == [
        place[:2] for place in places
    ]
    assert max(numbers) < 2**63
    state.require_numbers(state.MOST_GROUPS)
    with pytest.raises(wr.InvalidArgument, match="windows: a stream keeps at most 65,536 groups"):
        state.require_numbers(state.MOST_GROUPS + 1)
