"""Events that wait come out when their slice is final, those of a slice in the order of arrival."""

import math
from itertools import groupby, pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.support.stream.model import WAITING_SMALL, Memory
from windrow.stream import sizes
from windrow.stream.header import GroupState, ShardHeader
from windrow.stream.state import ShardBlocks
from windrow.stream.waiting import Columns, WaitingEvents

SCHEMA = pa.schema([("time", pa.int64()), ("number", pa.int64())])
Event = tuple[int, int]


class Shard:
    """The events of a shard and nothing else; they are numbered in the order of arrival.

    Each group of windows has slices of some length. Where it is 1, slices are moments, and the
    moment of the watermark is final.
    """

    def __init__(self, *lengths: int) -> None:
        self.lengths = lengths or (2,)
        groups = [GroupState([0], 0) for _ in self.lengths]
        self.storage, self.header = Memory(), ShardHeader(0, groups).encoded()
        self.arrived, self.read, self.written = 0, 0, 0

    def frontiers(self, watermark: int) -> list[int]:
        return [(watermark + (length == 1)) // length * length for length in self.lengths]

    def begins(self, columns: Columns) -> Any:
        times = columns["time"].to_numpy()
        return np.maximum.reduce([times // length * length for length in self.lengths])

    def step(self, times: list[int], watermark: int) -> list[list[Event]]:
        """The events that became final for each group. Only bytes are carried from step to step."""
        header, blocks = ShardHeader.decoded(self.header), ShardBlocks(self.storage)
        self.state = header.waiting
        waiting = WaitingEvents(blocks, SCHEMA, self.state, self.begins)
        numbers = np.arange(self.arrived, self.arrived + len(times))
        self.arrived += len(times)
        columns = {"time": pa.array(times, pa.int64()), "number": pa.array(numbers)}
        before, self.now = [group.frontier for group in header.groups], self.frontiers(watermark)
        waiting.add(columns, self.begins(columns), max(self.now))
        taken = waiting.take(before, self.now)
        waiting.merge(self.now)
        for group, frontier in zip(header.groups, self.now, strict=True):
            group.frontier = frontier
        self.header = header.encoded()
        self.read, self.written = blocks.bytes_read, blocks.bytes_written
        return [
            list(zip(each["time"].to_pylist(), each["number"].to_pylist(), strict=True))
            for each in taken
        ]


@given(
    st.sampled_from([(2,), (1,), (5,), (1, 7), (2, 3), (7, 1, 4), (3, 3), (6, 10, 15)]),
    st.lists(st.tuples(st.lists(st.integers(0, 12), max_size=9), st.integers(0, 6))),
)
@examples(80)
def test_any_events(lengths: tuple[int, ...], steps: list[tuple[list[int], int]]) -> None:
    shard, watermark = Shard(*lengths), 0
    left = [set[Event]() for _ in lengths]
    with sizes.using(**WAITING_SMALL):
        for ahead, moved in steps:
            times = [max(shard.frontiers(watermark)) + each for each in ahead]
            arrived = {(each, shard.arrived + place) for place, each in enumerate(times)}
            watermark += moved
            taken = shard.step(times, watermark)
            for group, frontier in enumerate(shard.now):
                left[group] |= arrived
                final = {each for each in left[group] if each[0] < frontier}
                # Each event once.
                assert sorted(taken[group]) == sorted(final)
                left[group] -= final
                by_time = sorted(taken[group], key=lambda event: event[0])
                for _time, events in groupby(by_time, key=lambda event: event[0]):
                    numbers = [number for _, number in events]
                    assert numbers == sorted(numbers)
            check(shard, left)


def check(shard: Shard, left: list[set[Event]]) -> None:
    """The invariants of queues, and when the oldest event of each group is."""
    state, now = shard.state, shard.now
    assert len(shard.storage) == len(state.blocks)
    for queues in (state.open, state.partly_final):
        for queue in queues:
            assert all(older.last < newer.first for older, newer in pairwise(queue.blocks))
        assert all(older.merges >= newer.merges for older, newer in pairwise(queues))
    assert all(block.first >= max(now) for queue in state.open for block in queue.blocks)
    for queue in state.partly_final:
        for block in queue.blocks:
            assert min(now) <= block.last < max(now)
            assert not any(block.first < frontier <= block.last for frontier in now)
    for frontier, events in zip(now, left, strict=True):
        begins = shard.begins({"time": pa.array([time for time, _ in events], pa.int64())})
        assert state.oldest(frontier) == min(begins.tolist(), default=None)


def test_two_groups_share_their_events() -> None:
    """The second group costs less than a copy of the events, and nothing where both are final."""
    alone, together, lagging = Shard(10), Shard(10, 20), Shard(10, 1000)
    written = {}
    for shard in (alone, together, lagging):
        written[shard] = 0
        for batch in range(500):
            shard.step(list(range(batch * 20, batch * 20 + 20)), batch * 20)
            written[shard] += shard.written
    assert written[together] == written[alone]
    # Each event is written again as it becomes final for the first group, and merged.
    assert written[lagging] < 3 * written[alone]
    # Events of one slice of the second group are kept, in a few blocks.
    assert len(lagging.state.blocks) <= 8 * 2


def steady(late: int, in_order: bool = False) -> tuple[float, int, int]:
    """Events that come up to so many batches late: bytes moved in a batch, queues and blocks."""
    random, shard = np.random.default_rng(late), Shard(1)
    moved, queues, blocks = [], [], []
    for batch in range(3 * late):
        delays = np.zeros(20, np.int64) if in_order else random.integers(0, 100 * late, 20)
        times = (batch + late) * 100 + np.arange(20) - delays
        shard.step(times.tolist(), batch * 100)
        moved.append(shard.read + shard.written)
        queues.append(len(shard.state.open))
        blocks.append(len(shard.state.blocks))
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


def test_blocks_end_where_the_next_frontier_is_expected() -> None:
    """Each event is written once and read once, though some of a batch wait for one batch more."""
    shard, written, blocks = Shard(1), [], []
    with sizes.using(waiting_block=64, waiting_rest=16):
        for batch in range(12):
            times = list(range(1000 * batch, 1000 * (batch + 1)))
            shard.step(times, max(1000 * batch - 1 - 100, 0))
            written.append(shard.written)
            blocks.append(len(shard.state.blocks))
    # Those of a batch, in two blocks, and what is left of the batch before.
    assert blocks[2:] == [3] * 10
    # Found: cut into blocks of equal size, of which one was written again.
    assert max(written[2:]) < 1.05 * min(written[2:])
    alone = Shard(1)
    alone.step(times, 0)
    assert written[-1] < 1.05 * alone.written


def test_many_events_are_not_merged() -> None:
    shard = Shard()
    with sizes.using(merged_bytes=3_000):
        for _batch in range(64):
            shard.step([2] * 20, 0)
    held = [sum(each.size for each in queue.blocks) for queue in shard.state.open]
    assert 2_000 < max(held) <= 3_000
    (taken,) = shard.step([], 4)
    assert sorted(taken) == [(2, number) for number in range(64 * 20)]
