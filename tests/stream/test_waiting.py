"""Events that wait come out when their slice is final, those of a slice in the order of arrival."""

import math
from itertools import groupby, pairwise

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.stream.model import WAITING_SMALL, Memory
from windrow.stream import sizes
from windrow.stream.state import GroupState, ShardBlocks, ShardHeader
from windrow.stream.waiting import Columns, WaitingEvents

SCHEMA = pa.schema([("slice", pa.int64()), ("number", pa.int64())])


class Shard:
    """The events of a shard and nothing else; they are numbered in the order of arrival."""

    def __init__(self) -> None:
        self.storage, self.header = Memory(), ShardHeader(0, [GroupState([0])]).encoded()
        self.arrived, self.gets, self.bytes = 0, 0, 0

    def step(self, slices: list[int], frontier: int) -> list[tuple[int, int]]:
        """The events that became final. Nothing but bytes is carried from step to step."""
        header, blocks = ShardHeader.decoded(self.header), ShardBlocks(self.storage)
        (self.state,) = header.groups
        waiting = WaitingEvents(
            blocks, 0, SCHEMA, self.state, lambda columns: columns["slice"].to_numpy()
        )
        numbers = np.arange(self.arrived, self.arrived + len(slices))
        self.arrived += len(slices)
        columns: Columns = {"slice": pa.array(slices, pa.int64()), "number": pa.array(numbers)}
        waiting.add(columns, np.array(slices, np.int64))
        taken = waiting.take_before(frontier)
        waiting.merge()
        self.header = header.encoded()
        self.bytes = blocks.bytes_read + blocks.bytes_written
        if taken is None:
            return []
        return list(zip(taken["slice"].to_pylist(), taken["number"].to_pylist(), strict=True))


@given(st.lists(st.tuples(st.lists(st.integers(0, 12), max_size=9), st.integers(0, 2))))
@settings(max_examples=200)
def test_any_events(steps: list[tuple[list[int], int]]) -> None:
    shard, frontier, left = Shard(), 0, set[tuple[int, int]]()
    with sizes.using(**WAITING_SMALL):
        for ahead, moved in steps:
            slices = [frontier + each for each in ahead]
            left |= {(each, shard.arrived + place) for place, each in enumerate(slices)}
            frontier += moved
            taken = shard.step(slices, frontier)
            final = {each for each in left if each[0] < frontier}
            assert sorted(taken) == sorted(final)
            left -= final
            by_slice = sorted(taken, key=lambda event: event[0])
            for _slice, events in groupby(by_slice, key=lambda event: event[0]):
                numbers = [number for _, number in events]
                assert numbers == sorted(numbers)
            check(shard)


def check(shard: Shard) -> None:
    """The invariants of queues."""
    queues = shard.state.queues
    assert len(shard.storage) == len(shard.state.waiting)
    for queue in queues:
        assert all(older.last < newer.first for older, newer in pairwise(queue.blocks))
    assert all(older.merges >= newer.merges for older, newer in pairwise(queues))


def steady(late: int, in_order: bool = False) -> tuple[float, int, int]:
    """Events that come up to so many batches late: bytes moved in a batch, queues and blocks."""
    random, shard = np.random.default_rng(late), Shard()
    moved, queues, blocks = [], [], []
    for batch in range(3 * late):
        delays = np.zeros(20, np.int64) if in_order else random.integers(0, 100 * late, 20)
        times = (batch + late) * 100 + np.arange(20) - delays
        shard.step(times.tolist(), batch * 100)
        moved.append(shard.bytes)
        queues.append(len(shard.state.queues))
        blocks.append(len(shard.state.waiting))
    return float(np.mean(moved[-late:])), max(queues), max(blocks)


def test_lateness_costs_its_logarithm() -> None:
    with sizes.using(waiting_block=64, waiting_rest=16):
        near, *_ = steady(64)
        far, queues, blocks = steady(512)
    # Found: all events that waited were read and written with every batch: 8 times as many.
    assert far <= math.log(512) / math.log(64) * near
    assert queues <= 8 * math.log(512, 8)
    # The header names each of them.
    assert blocks <= 2 * 20 * 512 / 64


def test_events_in_order_wait_in_few_blocks_that_are_not_rewritten() -> None:
    # Found: the header named each of the batches, and was rewritten with every batch.
    near, *_ = steady(64, in_order=True)
    far, _queues, blocks = steady(512, in_order=True)
    assert far <= 1.3 * near
    assert blocks <= 8 * math.log(512, 8)


def test_many_events_are_not_merged() -> None:
    shard = Shard()
    with sizes.using(merged_bytes=3_000):
        for _batch in range(64):
            shard.step([1] * 20, 0)
    held = [sum(each.size for each in queue.blocks) for queue in shard.state.queues]
    assert 2_000 < max(held) <= 3_000
    assert sorted(shard.step([], 2)) == [(1, number) for number in range(64 * 20)]
