"""What `wr.as_of` costs: an event is combined a few times, however many queries there are."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from windrow.engine.as_of_block import AsOfBlock, AsOfKernels
from windrow.planning.as_of_plan import resolve_events
from windrow.planning.choose import Wish
from windrow.testing.counting_monoid import CountingMonoid
from windrow.windows.key_runs import NEVER
from windrow.windows.moments import Moments

pytestmark = pytest.mark.usefixtures("interpreted")

SIZE = 60
EVENTS = pa.table({"t": range(0, 10 * SIZE, 10), "x": range(SIZE)})


def combines(window: Any, asked: list[int]) -> int:
    counting = CountingMonoid()
    queries = pa.table({"t": asked})
    measure = counting.aggregation("x").alias("seen")
    found = wr.as_of(queries, EVENTS, order="t", windows=window, aggs=measure)
    for moment, seen in zip(asked, found["seen"].to_pylist(), strict=True):
        assert (seen or [])[-1:] == ([moment // 10] if moment >= 0 else [])
    return counting.taken()


def test_combines_grow_with_events_and_by_one_for_each_query() -> None:
    many = list(range(-5, 10 * SIZE - 5))
    assert combines(wr.rows(20), many) <= 3 * SIZE + len(many)
    assert combines(wr.expanding(), many) <= SIZE
    # Between two queries nothing is combined but what enters: three events and then three.
    assert combines(wr.rows(3), [100, 400]) <= 3 * 6


def test_only_events_that_windows_hold_are_taken() -> None:
    arguments: dict[str, Any] = {
        "key": None, "order": "t", "wish": Wish(),
        "windows": [wr.rows(1), wr.rows(2, current=False)], "aggs": wr.sum("x"),
    }  # fmt: skip
    kernels = AsOfKernels(resolve_events(EVENTS.schema, **arguments), set())
    times = EVENTS["t"].to_numpy()
    moments = Moments(
        np.array([100, 105, 300]), np.array([0, NEVER]), np.array([0]), np.array([SIZE]), times
    )
    asked: list[list[int]] = []

    def taken(rows: Any) -> dict[str, pa.Array]:
        asked.append(rows.tolist())
        return {"x": EVENTS["x"].combine_chunks().take(pa.array(rows))}

    newest, before = AsOfBlock(kernels, taken, moments).answers()
    assert asked == [[8, 9, 10, 28, 29, 30]]
    assert newest.to_pylist() == [10, 10, 30]
    assert before.to_pylist() == [8 + 9, 9 + 10, 28 + 29]
