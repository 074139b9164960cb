"""A shard that counts the rows of its keys answers what a table would."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.examples import examples
from tests.support.stream.model import COUNTS_SMALL, COUNTS_SMALLEST, THE_END, Memory, sorted_rows
from tests.support.stream.over_check import check
from tests.support.stream.strategies import Stream, streams
from windrow.planning.choose import Wish
from windrow.planning.over_plan import resolve_over
from windrow.stream import sizes
from windrow.stream.bins import Bins
from windrow.stream.counts.row_maps import CELL_ROWS, keys_of, rows_of
from windrow.stream.counts.segments import Segments
from windrow.stream.inspection import _batches, summary
from windrow.stream.over_stream import StreamOver
from windrow.stream.state import (
    BACK_MAP,
    BINS,
    LEDGER,
    LEDGER_SCHEMA,
    MAP,
    MAPS_SCHEMA,
    ROWS,
    ROWS_SCHEMA,
    SEGMENT,
    SEGMENT_MAP,
    ShardBlocks,
    block_number,
    kind_of,
    place_in_bin,
)
from windrow.windows import Window

# Interpreted, numbers are numpy's, which warn where a kernel is silent.
pytestmark = [
    pytest.mark.usefixtures("interpreted"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]


@pytest.fixture(autouse=True)
def few_rows_are_counted() -> Iterator[None]:
    with sizes.using(fewest_counted=1):
        yield


@st.composite
def of_rows(draw: st.DrawFn, _unit: int) -> Window:
    rows = draw(st.integers(1, 12) | st.just(2**70))
    return wr.rows(rows, current=draw(st.booleans()))


@given(streams(of_rows), st.sampled_from([{}, COUNTS_SMALL, COUNTS_SMALLEST]))
@examples(40)
def test_any_stream(stream: Stream, small: dict[str, int]) -> None:
    with sizes.using(fewest_counted=1, **small):
        check(stream, Memory())


WINDOWS = {f"r{number}": wr.rows(number) for number in (1, 3, 10, 50)}
MEASURES = [
    wr.count(), wr.sum("n"), wr.max("x"), wr.first("text"), wr.last("text"),
    wr.arg_max("x", "text"),
]  # fmt: skip
ASKED: dict[str, Any] = {"key": "k", "order": "ts", "windows": WINDOWS, "aggs": MEASURES}


def uneven(seed: int, count: int, keys: int) -> pa.Table:
    """Events a millisecond apart; half of them are of one key, a quarter of another, and so on."""
    random = np.random.default_rng(seed)
    values = random.normal(size=count).round(1)
    numbers = np.minimum(random.geometric(0.5, count), keys)
    # Some keys come late, and some come for a while only.
    numbers = np.where(random.random(count) < 0.1, keys + np.arange(count) * 5 // count, numbers)
    return pa.table(
        {
            "k": pa.array([f"k{number}" if number > 1 else None for number in numbers]),
            "ts": pa.array(np.arange(1000, 1000 + count)).cast(pa.timestamp("ms", "UTC")),
            "n": pa.array(random.integers(-9, 9, count), mask=random.random(count) < 0.1),
            "x": pa.array(np.where(random.random(count) < 0.05, np.nan, values), from_pandas=False),
            "text": pa.array([f"t{number}" for number in random.integers(0, 99, count)]),
        }
    )


def streamed(events: pa.Table, cuts: list[int], storage: Memory, lateness: int = 1) -> pa.Table:
    """Events in batches that end at cuts; shuffled as far as lateness lets them."""
    plan = resolve_over(events.schema, **ASKED, wish=Wish())
    answers = []
    for begin, stop in pairwise([0, *cuts]):
        # Nothing but the storage is carried from one batch to the next.
        shard = StreamOver(plan, set(events.schema.names), shards=1)
        came = events.slice(begin, stop - begin)
        came = came.take(pa.array(np.random.default_rng(begin).permutation(came.num_rows)))
        answers += shard.advance(storage, [came], max(999 + begin - lateness, 1)).answers
        _ = summary(storage)
        check_invariants(storage)
    answers += StreamOver(plan, set(events.schema.names), 1).advance(storage, [], THE_END).answers
    return pa.concat_tables(answers)


def check_invariants(storage: Memory) -> None:
    """Those of `counted_rows` that counts tell."""
    blocks = ShardBlocks(storage)
    schemas = [
        pa.ipc.read_schema(pa.py_buffer(blocks.bytes_of(block_number(kind))))
        for kind in (ROWS_SCHEMA, LEDGER_SCHEMA, MAPS_SCHEMA)
    ]
    if block_number(BINS) not in storage:
        return
    for number, each in enumerate(Bins(blocks, 0)):

        def load(kind: int, place: int, schema: pa.Schema) -> pa.RecordBatch:
            return blocks.load(block_number(kind, 0, place), schema)

        rows, ledger, maps = schemas
        if not each.entries:
            assert not each.rows
            continue
        keys = load(LEDGER, number, ledger)
        assert keys.num_rows == each.entries
        front = sum(
            load(SEGMENT, place_in_bin(number, segment), rows).num_rows
            for segment in range(each.segments)
        )
        assert front == pc.sum(keys["front"]).as_py()
        in_back = np.zeros(each.entries, np.int64)
        for block in range(each.oldest, each.oldest + each.blocks):
            cells = load(MAP, place_in_bin(number, block), maps)
            counted = load(ROWS, place_in_bin(number, block), rows)
            in_back[keys_of(cells)] += rows_of(cells)
            # Rows lie by the cells of their map.
            owners = np.repeat(keys_of(cells), rows_of(cells))
            assert counted["k"].to_pylist() == keys["key_0"].take(pa.array(owners)).to_pylist()
        if each.blocks:
            back = load(BACK_MAP, place_in_bin(number, 0), maps)
            assert np.array_equal(in_back[keys_of(back)], rows_of(back))
            assert in_back.sum() == rows_of(back).sum()
        assert each.rows == front + in_back.sum()


def batches(seed: int, count: int, largest: int) -> Iterator[int]:
    random = np.random.default_rng(seed)
    stop = 0
    while stop < count:
        stop = min(stop + int(random.integers(1, largest + 1)), count)
        yield stop


@pytest.mark.parametrize(
    ("largest", "small"),
    [
        (1, {}), (60, {}), (400, {}), (7, COUNTS_SMALL), (400, COUNTS_SMALL),
        (1, COUNTS_SMALLEST), (60, COUNTS_SMALLEST),
    ],
)  # fmt: skip
def test_uneven_keys(largest: int, small: dict[str, int]) -> None:
    count = min(25 * largest + 125, 1600)
    events, storage = uneven(largest, count, 8), Memory()
    with sizes.using(**small):
        found = streamed(events, list(batches(largest, count, largest)), storage)
    by = [("ts", "ascending")]
    expected = wr.over(events, **ASKED)
    assert repr(sorted_rows(found, by)) == repr(sorted_rows(expected, by))
    kinds = {kind_of(number) for number in storage}
    assert MAP in kinds
    if small:
        assert kinds >= {SEGMENT, SEGMENT_MAP}


@pytest.mark.parametrize("small", [{}, COUNTS_SMALL], ids=["as they are", "small"])
@pytest.mark.parametrize("per_batch", [6, 20, 100, 300])
def test_steady_keys(per_batch: int, small: dict[str, int]) -> None:
    """What no key has a use for any more is deleted."""
    count = min(100 * per_batch, 900)
    events, storage = uneven(per_batch, count, 8), Memory()
    events = events.set_column(0, "k", pa.array([f"k{number % 4}" for number in range(count)]))
    with sizes.using(**small):
        found = streamed(events, list(range(per_batch, count + 1, per_batch)), storage)
    by = [("ts", "ascending")]
    expected = wr.over(events, **ASKED)
    assert repr(sorted_rows(found, by)) == repr(sorted_rows(expected, by))
    # The rows of windows, as many of no use, and a batch.
    front, back = (
        sum(batch.num_rows for _owner, batch in _batches(storage, kind, ROWS_SCHEMA))
        for kind in (SEGMENT, ROWS)
    )
    assert front + back <= 2 * 4 * 50 + per_batch
    # One map is of the whole back, and of nothing that was deleted.
    whole = [batch[CELL_ROWS] for _owner, batch in _batches(storage, BACK_MAP, MAPS_SCHEMA)]
    assert sum(pc.sum(rows).as_py() for rows in whole) == back


# Segments ----------------------------------------------------------------------------------------


@given(st.data())
def test_segments(data: st.DataObject) -> None:
    numbers = st.lists(st.integers(0, 30), min_size=1, max_size=4)
    rows = np.array(data.draw(numbers))
    shared = np.array([data.draw(st.integers(1, max(each, 1))) for each in rows.tolist()])
    shares = np.full(len(rows), data.draw(st.integers(1, 9)))
    segments = Segments(rows, shared, shares)
    for key, count in enumerate(rows.tolist()):
        positions = np.arange(count)
        of = segments.of(positions, np.full(count, key))
        assert (np.diff(of) >= 0).all()
        assert not count or (of[0] == 0 and of[-1] <= shares[0])
        for segment in range(int(shares[0]) + 1):
            assert segments.lengths(segment)[key] == (of == segment).sum()
            assert segments.begins(segment)[key] == (of < segment).sum()
        for position in range(count + 1):
            behind = int(segments.first_from(np.minimum(position, rows))[key])
            whole = [each for each in set(of.tolist()) if (positions[of == each] >= position).all()]
            assert behind == min(whole, default=shares[0] + 1)
