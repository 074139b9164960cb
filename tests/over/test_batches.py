"""Batches of a sorted stream, as Spark hands them over, get the answers of the whole table."""

from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.examples import examples
from tests.support.over import oracle
from tests.support.over.batches import SIZES, cut, in_order, roll
from tests.support.over.strategies import Query, queries
from windrow.engine.over_batches import RollingWindows, whole_peers
from windrow.engine.over_kernels import OverKernels
from windrow.planning.choose import Wish
from windrow.planning.over_plan import resolve_over
from windrow.windows.key_runs import NEVER, run_starts
from windrow.work import sizes

pytestmark = [
    pytest.mark.usefixtures("interpreted"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]


@given(queries(), SIZES)
@examples(40)
def test_batches_give_the_answers_of_the_table(query: Query, lengths: list[int]) -> None:
    table = in_order(query)
    try:
        expected = wr.over(table, **query.arguments)
    except wr.AggregateOverflow:
        with pytest.raises(wr.AggregateOverflow):
            roll(cut(table, lengths), table.schema, query.arguments)
        return
    answer = roll(cut(table, lengths), table.schema, query.arguments)
    assert answer.schema == expected.schema
    # To the last bit: the same rows go through the same windows in the same order.
    oracle.assert_agrees(expected.to_pydict(), answer)


@given(st.integers(1, 40), SIZES)
@examples(10)
def test_carried_values_outlive_their_batches(extent: int, lengths: list[int]) -> None:
    # Falling values: the largest is the oldest of the window, many batches back.
    table = pa.table(
        {"i": range(200), "v": range(200, 0, -1), "name": [f"n{i}" for i in range(200)]}
    )
    arguments: dict[str, Any] = {
        "key": None,
        "order": "i",
        "windows": wr.rows(extent),
        "aggs": [wr.arg_max("v", "name"), wr.first("name"), wr.last("name")],
    }
    answer = roll(cut(table, lengths), table.schema, arguments)
    oldest = [f"n{max(0, i - extent + 1)}" for i in range(200)]
    assert answer["arg_max_v_name"].to_pylist() == oldest
    assert answer["first_name"].to_pylist() == oldest
    assert answer["last_name"].to_pylist() == table["name"].to_pylist()


@pytest.mark.parametrize("extent", [1, 30, 1000])
def test_rows_are_numbered_twice_at_most(extent: int) -> None:
    size = 5000
    table = pa.table({"i": range(size), "k": [row // 2000 for row in range(size)]})
    windows = {"rows": wr.rows(extent), "before": wr.rows(extent, current=False)}
    aggs = [wr.count_distinct("i"), wr.rank("i")]
    plan = resolve_over(
        table.schema, key="k", order="i", windows=windows, aggs=aggs, wish=Wish()
    )  # fmt: skip
    rolling = RollingWindows(OverKernels(plan, set()))
    with sizes.using(smallest_block=16):
        blocks = rolling.gathered(batch.select(plan.columns) for batch in cut(table, [7, 1, 40]))
        answers = pa.Table.from_batches(rolling.answers(blocks))
    held = [min(row % 2000 + 1, extent) for row in range(size)]
    assert (
        answers["count_distinct_i_rows"].to_pylist() == answers["rank_i_rows"].to_pylist() == held
    )
    # The rows that are held, and those of blocks at least as large.
    assert rolling.spans.rows_numbered <= 2 * size + extent + 1
    assert rolling.spans.rows_held <= extent + 1


def test_runs_that_continue_are_closed() -> None:
    # Found: without a first run the list became floats, and its end the smallest of all integers.
    keys = [pa.array(["a", "a", "b"])]
    assert run_starts(keys, 3, continues=True).tolist() == [2, NEVER]
    assert run_starts(keys, 3).tolist() == [0, 2, NEVER]
    assert run_starts([], 3, continues=True).tolist() == [NEVER]
    assert run_starts([], 0).tolist() == [NEVER]


@given(st.lists(st.integers(0, 3), max_size=20), SIZES)
def test_peers_are_never_parted(times: list[int], lengths: list[int]) -> None:
    table = pa.table({"t": pa.array(sorted(times), pa.int64())})
    whole = list(whole_peers(cut(table, lengths), ["t"]))
    assert pa.Table.from_batches(whole, table.schema).equals(table)
    assert all(batch.num_rows for batch in whole)
    for older, newer in pairwise(whole):
        assert older["t"][-1] != newer["t"][0]
