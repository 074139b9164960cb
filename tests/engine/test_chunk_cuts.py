"""Chunks that are answered apart give the answers of the whole table."""

import datetime as dt
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.examples import examples
from windrow.engine.chunk_cuts import (
    HIGHEST,
    LOWEST,
    ChunkCut,
    Cutting,
    from_ranks,
    gathered,
    ranks,
    summarise,
)

pytestmark = pytest.mark.usefixtures("interpreted")

SECOND = pa.timestamp("s")


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    """Rows of a few keys, one of them heavy, with ties and nulls in their times."""
    size = draw(st.integers(0, 60) | st.just(60))
    row = st.tuples(
        st.sampled_from([7, 7, 7, 7, -1, 2, 9]),
        st.sampled_from([None, *range(-20, 20)]),
        st.text("abc", max_size=1),
    )
    rows = draw(st.lists(row, min_size=size, max_size=size))
    columns = [list(column) for column in zip(*rows, strict=True)] or [[], [], []]
    return pa.table(
        {
            "id": pa.array(range(size), pa.int64()),
            "k": pa.array(columns[0], pa.int64()),
            "ts": pa.array(columns[1], pa.int64()).cast(SECOND),
            "s": pa.array(columns[2], pa.string()),
        }
    )


def cuts_of(table: pa.Table, seen: list[bool], cutting: Cutting, block: int) -> list[ChunkCut]:
    """The cuts, found from the rows that are seen, summarised block by block."""
    places = table.select(["k", "ts"]).filter(pa.array(seen, pa.bool_()))
    blocks = [places.slice(at, block) for at in range(0, places.num_rows, block)]
    summaries = [b for each in blocks for b in summarise(each.combine_chunks().to_batches())]
    return cutting.cuts(gathered(summaries))


def in_chunks(table: pa.Table, cuts: list[ChunkCut]) -> list[tuple[pa.Table, pa.Array]]:
    """What each chunk gets, and which of its rows are fillers."""
    places = list(zip(table["k"].to_pylist(), ranks(table["ts"].combine_chunks()), strict=True))
    found = []
    for number in range(len(cuts) + 1):
        rows, fills = [], []
        for row, place in enumerate(places):
            own = sum(cut.place <= place for cut in cuts)
            filler = own + 1 == number and cuts[own].since <= place
            filler |= own - 1 == number and place <= cuts[number].until
            if own == number or filler:
                rows.append(row)
                fills.append(filler)
        found.append((table.take(pa.array(rows, pa.int64())), pa.array(fills, pa.bool_())))
    return found


WINDOWS = {
    "few": wr.rows(3),
    "many": wr.rows(25),
    "right": wr.time("4 seconds"),
    "both": wr.time("4 seconds", closed="both"),
    "peers": wr.time("3 seconds", closed="both", ties="peers"),
    "before": wr.rows(5, current=False),
    "around": wr.rows(before=2, after=4),
    "later": wr.rows(before=0, after=25),
    "left": wr.time("4 seconds", closed="left", ties="peers"),
    "soon": wr.time(before="2 seconds", after="3 seconds"),
    "neither": wr.time(after="9 seconds", closed="neither"),
}
#: how far they reach: rows and ticks before, rows and ticks ahead
EXTENTS = {
    "few": (2, 0, 0, 0), "many": (24, 0, 0, 0), "right": (0, 4, 0, 0), "both": (0, 5, 0, 0),
    "peers": (0, 4, 0, 1), "before": (5, 0, 0, 0), "around": (2, 0, 4, 0), "later": (0, 0, 25, 0),
    "left": (0, 5, 0, 0), "soon": (0, 2, 0, 4), "neither": (0, 0, 0, 9),
}  # fmt: skip


@given(tables(), st.data())
@examples(80)
def test_chunks_give_the_answers_of_the_table(table: pa.Table, data: st.DataObject) -> None:
    some = st.sampled_from(sorted(WINDOWS))
    names = data.draw(some.map(lambda name: [name]) | st.lists(some, min_size=1, unique=True))
    seen = data.draw(st.lists(st.booleans() | st.just(True), min_size=table.num_rows,
                              max_size=table.num_rows))  # fmt: skip
    cutting = Cutting(
        chunks=data.draw(st.integers(1, 8)),
        smallest=1,
        fraction=1.0,
        **{
            extent: max(EXTENTS[name][place] for name in names)
            for place, extent in enumerate(("rows", "ticks", "rows_ahead", "ticks_ahead"))
        },
    )
    cuts = cuts_of(table, seen, cutting, data.draw(st.integers(1, 40)))
    assert len(cuts) < cutting.chunks
    assert all(cut.since <= cut.place for cut in cuts)
    assert all(one.place <= other.since for one, other in pairwise(cuts))
    assert all(one.until < other.place for one, other in pairwise(cuts))
    arguments: dict[str, Any] = {
        "key": "k", "order": ["ts", "id"], "windows": {name: WINDOWS[name] for name in names},
        "aggs": wr.concat("s", alias="text"),
    }  # fmt: skip
    answered = [
        wr.over(chunk, **arguments).filter(pa.compute.invert(fills))
        for chunk, fills in in_chunks(table, cuts)
    ]
    assert pa.concat_tables(answered).sort_by("id") == wr.over(table, **arguments)


def test_a_heavy_key_is_cut_and_light_ones_are_not() -> None:
    keys = np.repeat([1, 5, 8], [10, 80, 10])
    table = pa.table({"k": keys, "ts": pa.array(np.arange(100), SECOND)})
    cutting = Cutting(chunks=4, smallest=1, fraction=1.0, rows=2, ticks=0)
    cuts = cuts_of(table, [True] * 100, cutting, 100)
    assert cuts == [
        ChunkCut((5, 25), (5, 23), (5, LOWEST)),
        ChunkCut((5, 50), (5, 48), (5, LOWEST)),
        ChunkCut((5, 75), (5, 73), (5, LOWEST)),
    ]
    ahead = Cutting(chunks=2, smallest=1, fraction=1.0, rows=0, ticks=0, rows_ahead=3)
    assert cuts_of(table, [True] * 100, ahead, 100) == [ChunkCut((5, 50), (5, 50), (5, 52))]
    # Up to HIGHEST where it is not certain that there are so many.
    ahead = Cutting(chunks=2, smallest=1, fraction=1.0, rows=0, ticks=0, rows_ahead=41)
    assert cuts_of(table, [True] * 100, ahead, 100)[0].until == (5, HIGHEST)
    cutting = Cutting(chunks=2, smallest=1, fraction=1.0, rows=2, ticks=0)
    halves = pa.table({"k": np.repeat(np.arange(10), 10), "ts": pa.array(np.arange(100), SECOND)})
    assert cuts_of(halves, [True] * 100, cutting, 100) == [
        ChunkCut((5, LOWEST), (5, LOWEST), (5, LOWEST))
    ]


def test_few_rows_are_one_chunk() -> None:
    table = pa.table({"k": np.zeros(99, np.int64), "ts": pa.array(np.arange(99), SECOND)})
    cutting = Cutting(chunks=4, smallest=50, fraction=1.0, rows=2, ticks=0)
    assert cuts_of(table, [True] * 99, cutting, 100) == []


def test_a_window_wider_than_a_chunk_makes_chunks_fewer() -> None:
    table = pa.table({"k": np.zeros(100, np.int64), "ts": pa.array(np.arange(100), SECOND)})
    cutting = Cutting(chunks=10, smallest=1, fraction=1.0, rows=29, ticks=0)
    cuts = cuts_of(table, [True] * 100, cutting, 100)
    assert [cut.place[1] for cut in cuts] == [10, 40, 70]


VALUES: dict[pa.DataType, list[Any]] = {
    pa.int8(): [-128, -1, 0, 127],
    pa.int64(): [-(2**63) + 1, -1, 0, 2**63 - 1],
    pa.float32(): [-np.inf, -1.5, 0.0, 2.5, np.inf],
    pa.float64(): [-np.inf, -1e300, -5e-324, 0.0, 1e-300, np.inf],
    pa.date32(): [dt.date(1, 1, 1), dt.date(1969, 12, 31), dt.date(9999, 12, 31)],
    pa.timestamp("us", "UTC"): [
        dt.datetime(1, 1, 1, tzinfo=dt.UTC),
        dt.datetime(1970, 1, 1, tzinfo=dt.UTC),
        dt.datetime(9999, 12, 31, tzinfo=dt.UTC),
    ],
}


@pytest.mark.parametrize("data_type", VALUES, ids=str)
def test_ranks_are_in_the_order_of_the_values_and_lead_back(data_type: pa.DataType) -> None:
    column = pa.array([None, *VALUES[data_type]], data_type)
    found = ranks(column)
    assert found[0] == LOWEST
    assert (np.diff(found[1:].astype(object)) > 0).all()
    assert from_ranks(found.tolist(), data_type) == column


def test_nan_comes_last_and_zeros_are_one() -> None:
    found = ranks(pa.array([np.inf, np.nan, -np.nan, 0.0, -0.0]))
    assert found[0] < found[1] == found[2]
    assert found[3] == found[4]
    assert np.isnan(from_ranks([int(found[1])], pa.float64())[0].as_py())


def test_a_date_before_the_first_is_no_date() -> None:
    assert from_ranks([-(2**40)], pa.date32()).null_count == 1
