"""What a batch reads and writes follows from what changed, and not from the range of a window."""

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from tests.support.stream.model import Memory
from windrow.planning.choose import Wish
from windrow.planning.over_plan import resolve_over
from windrow.planning.slide_plan import resolve_slide
from windrow.stream import sizes
from windrow.stream.batch_result import BatchResult
from windrow.stream.inspection import summary
from windrow.stream.over_stream import StreamOver
from windrow.stream.slide_stream import StreamSlide

pytestmark = pytest.mark.usefixtures("interpreted")

KEYS = 5
SECOND = 10**6
SCHEMA = pa.schema([("k", pa.int64()), ("ts", pa.timestamp("us")), ("v", pa.int64())])


class Watched(Memory):
    """Counts what is asked of it."""

    def __init__(self) -> None:
        super().__init__()
        self.gets = 0

    def get(self, number: int) -> bytes | None:  # type: ignore[override]
        self.gets += 1
        return super().get(number)


def moved(seconds: int, batches: int, per_batch: int) -> Iterator[tuple[BatchResult, Watched]]:
    """A window of so many seconds over batches of some seconds, every key in every second."""
    plan = resolve_slide(
        SCHEMA, key="k", order="ts", windows=wr.time(f"{seconds} seconds", every="1 second"),
        aggs=[wr.sum("v"), wr.max("v")], wish=Wish(), changes_only=False,
    )  # fmt: skip
    stream, storage = StreamSlide(plan, set(), shards=1), Watched()
    for batch in range(batches):
        times = np.repeat(np.arange(per_batch) + 1000 + batch * per_batch, KEYS) * SECOND
        table = pa.table(
            [np.tile(np.arange(KEYS), per_batch), pa.array(times).view(pa.timestamp("us")),
             np.ones(len(times), np.int64)],
            schema=SCHEMA,
        )  # fmt: skip
        storage.gets = 0
        yield stream.advance(storage, [table], (999 + batch * per_batch) * 1000), storage


def steady(seconds: int, batches: int, per_batch: int = 1) -> tuple[float, float, int, int]:
    """Bytes written and read in a batch, the most blocks read in one, and how many there are."""
    steps = list(moved(seconds, batches, per_batch))[-seconds // 2 // per_batch :]
    assert all(step.answers[0].num_rows == KEYS * per_batch for step, _ in steps)
    return (
        float(np.mean([step.bytes_written for step, _ in steps])),
        float(np.mean([step.bytes_read for step, _ in steps])),
        max(storage.gets for _, storage in steps),
        len(steps[-1][1]),
    )


def test_the_range_costs_its_logarithm() -> None:
    written, _read, gets, blocks = steady(16, 48)
    far_written, _far_read, far_gets, far_blocks = steady(256, 600)
    assert far_written <= 1.15 * written
    # The header, the batch before, the block that leaves; and nodes.
    assert gets <= 4 + 3 * math.log2(16)
    assert far_gets <= 4 + 3 * math.log2(256)
    assert blocks <= 2 * 16 + 8
    assert far_blocks <= 2 * 256 + 8


def test_many_slices_in_a_batch_share_blocks() -> None:
    _written, _read, gets, blocks = steady(512, 12, per_batch=128)
    assert gets <= 16
    assert blocks <= 24


def test_what_is_kept_can_be_looked_at() -> None:
    *_, (_step, storage) = moved(16, 40, 1)
    found = summary(storage)
    assert found.keys == KEYS
    assert found.blocks == len(storage)
    assert found.bytes == sum(map(len, storage.values()))
    # The watermark is at second 1038: its event waits, and so does that of the second after.
    assert found.waiting == 2 * KEYS
    assert found.newest == 1040
    assert found.oldest == 1038 - 15
    assert "window time_16_seconds" in "".join(found.query)


def test_waiting_events_of_two_groups_are_kept_once() -> None:
    windows = {"minute": wr.time("1 minute", every="1 minute"), "nine": wr.rows(9, every=4)}
    plan = resolve_slide(
        SCHEMA, key="k", order="ts", windows=windows, aggs=[wr.sum("v")], wish=Wish(),
        changes_only=False,
    )  # fmt: skip
    stream, storage = StreamSlide(plan, set(), shards=1), Watched()
    assert len(stream.describe()) == 2
    seconds = np.repeat(np.arange(960, 1030), KEYS)
    table = pa.table(
        [np.tile(np.arange(KEYS), 70), pa.array(seconds * SECOND).view(pa.timestamp("us")),
         np.ones(len(seconds), np.int64)],
        schema=SCHEMA,
    )  # fmt: skip
    stream.advance(storage, [table], 0)
    assert summary(storage).waiting == 70 * KEYS
    # Final for windows of rows up to second 1000, and for windows of a minute up to 960.
    stream.advance(storage, [], 1_000_000)
    assert summary(storage).waiting == 70 * KEYS
    stream.advance(storage, [], 1_022_000)
    found = summary(storage)
    # Second 1022 itself is final for windows of rows, and the minute before second 1020 for others.
    assert found.waiting == 10 * KEYS
    assert found.keys == KEYS
    assert found.newest == 1080
    stream.advance(storage, [], 2_000_000)
    assert summary(storage).waiting == 0


# Rows of keys -------------------------------------------------------------------------------------

MANY = 64
#: long, so that what a block takes beside its rows counts little
WIDE = pa.schema([("k", pa.int64()), ("ts", pa.timestamp("us")), ("text", pa.string())])
TEXT = "x" * 1000


def over_rows(
    batches: int, keys_of: Callable[[int], Sequence[int]]
) -> Iterator[tuple[BatchResult, Watched]]:
    """The last 10 rows of each key, an event of each of some keys in every batch."""
    plan = resolve_over(
        WIDE, key="k", order="ts", windows=wr.rows(10), aggs=[wr.last("text")], wish=Wish()
    )
    stream, storage = StreamOver(plan, set(), shards=1), Watched()
    for batch in range(batches):
        keys = np.array(keys_of(batch))
        times = np.full(len(keys), (1000 + batch) * SECOND)
        table = pa.table(
            [keys, pa.array(times).view(pa.timestamp("us")), pa.repeat(TEXT, len(keys))],
            schema=WIDE,
        )
        storage.gets = 0
        yield stream.advance(storage, [table], (1000 + batch) * 1000 - 1), storage


def test_few_keys_read_and_write_few_rows() -> None:
    every_key = range(MANY)
    # All keys, until their windows are full; then the same one again and again.
    with sizes.using(bin_rows=40):
        steps = list(over_rows(80, lambda batch: every_key if batch < 40 else [7]))
    all_keys = [step for step, _ in steps[20:40]]
    one_key = [step for step, _ in steps[60:]]
    came, held = MANY * len(TEXT), 9 * MANY * len(TEXT)
    # An event waits, is appended when it is final, and is rewritten once or twice with its bin.
    assert np.mean([step.bytes_written for step in all_keys]) <= 5 * came
    # The rows of windows, once as many that are of no use any more, and what waited.
    assert np.mean([step.bytes_read for step in all_keys]) <= 2 * held + 2 * came
    assert np.mean([step.bytes_read for step in one_key]) <= held / 4
    assert np.mean([step.bytes_written for step in one_key]) <= came / 4


def steady_rows(extent: int, per_key: int, batches: int) -> float:
    """Bytes read and written in a batch in which every key has some events; windows are full."""
    plan = resolve_over(
        SCHEMA, key="k", order="ts", windows=wr.rows(extent), aggs=[wr.sum("v"), wr.max("v")],
        wish=Wish(),
    )  # fmt: skip
    stream, storage, moved = StreamOver(plan, set(), shards=1), Watched(), []
    random = np.random.default_rng(1)
    for batch in range(batches):
        times = np.repeat(np.arange(per_key) + batch * per_key + 1000, KEYS) * SECOND
        table = pa.table(
            [np.tile(np.arange(KEYS), per_key), pa.array(times).view(pa.timestamp("us")),
             random.integers(0, 2**40, len(times))],
            schema=SCHEMA,
        )  # fmt: skip
        step = stream.advance(storage, [table], (1000 + batch * per_key) * 1000 - 1)
        moved.append(step.bytes_read + step.bytes_written)
    return float(np.mean(moved[-extent // per_key :]))


def test_rows_that_stay_in_windows_are_not_read() -> None:
    near, far = steady_rows(1_000, 200, 20), steady_rows(10_000, 200, 150)
    assert far <= 1.5 * near
    # An event waits, is appended, is rewritten, and is read where windows begin.
    assert near <= 4 * 200 * KEYS * 8 * len(SCHEMA)


def test_rows_that_are_kept_can_be_looked_at() -> None:
    *_, (_step, storage) = over_rows(30, lambda _batch: range(MANY))
    found = summary(storage)
    assert found.keys == MANY
    assert found.waiting == MANY
    assert found.bytes == sum(map(len, storage.values()))
    assert "rows=[k: int64, text: string]" in found.query


def test_a_session_leaves_nothing_behind() -> None:
    plan = resolve_slide(
        SCHEMA, key="k", order="ts", windows=wr.session("5 seconds"), aggs=[wr.sum("v")],
        wish=Wish(), changes_only=False,
    )  # fmt: skip
    stream, storage = StreamSlide(plan, set(), shards=1), Watched()
    times = pa.array(np.arange(1000, 1010) * SECOND).view(pa.timestamp("us"))
    table = pa.table([np.arange(10) % 2, times, np.ones(10, np.int64)], schema=SCHEMA)
    stream.advance(storage, [table], 1)
    assert stream.advance(storage, [], 1_012_000).timer == 1_013_000
    step = stream.advance(storage, [], 1_020_000)
    assert step.answers[0].num_rows == 2
    assert step.timer is None
    assert summary(storage).keys == 0
