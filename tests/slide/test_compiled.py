"""`wr.slide` with compiled kernels, on several threads, gives what the oracle gives."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from tests.support.over.events import random_events
from tests.support.slide import oracle
from windrow.work import sizes

pytestmark = pytest.mark.compiled

WINDOWS: dict[str, Any] = {
    "clock": wr.time("7 seconds", every="2 seconds", offset="500 milliseconds"),
    "sampled": wr.time("1 second", every="3 seconds"),
    "between ticks": wr.time("2500 nanoseconds", every="1500 milliseconds"),
    "trailing": wr.time("9 seconds", every=3),
    "rows": wr.rows(300, every=2),
    "rows by clock": wr.rows(5, every="4 seconds"),
    "delta": wr.delta("x", 2.5, every=2),
    "whole delta": wr.delta("n", 2, every=1),
    "session": wr.session("1 second"),
}
AGGS = [wr.max("x"), wr.count(), wr.sum("n"), wr.variance("n"), wr.arg_max("u", "c"), wr.last("c")]


@pytest.fixture(autouse=True)
def _many_pieces() -> Iterator[None]:
    with sizes.using(cores=3, smallest_piece=32):
        yield


@pytest.mark.parametrize(("key", "cases"), [(["case", "name"], 20), (["level"], 8), ([], 8)])
def test_kernels_agree_with_the_oracle(key: list[str], cases: int) -> None:
    events = random_events(23, cases)
    arguments: dict[str, Any] = {
        "key": key, "order": ["ts", "id"], "windows": WINDOWS, "aggs": AGGS,
    }  # fmt: skip
    oracle.assert_agrees(oracle.slide(events, **arguments), wr.slide(events, **arguments), key)


def test_partials_that_are_rows_of_arrays() -> None:
    histogram = wr.aggregation(
        name="histogram",
        identity=np.zeros(4),
        lift=lambda x: np.array([1.0 if x % 4 == place else 0.0 for place in range(4)]),
        combine=lambda older, newer: older + newer,
        lower=lambda partial: partial[0] + 10 * partial[1] + 100 * partial[2] + 1000 * partial[3],
    )
    size = 500
    table = pa.table({"t": np.arange(size), "x": np.arange(size)})
    result = wr.slide(table, order="t", windows=wr.rows(6, every=3), aggs=histogram("x"))
    expected = [
        sum(10.0 ** (row % 4) for row in range(max(0, stop - 6), stop))
        for stop in range(3, size + 1, 3)
    ]
    assert result.columns[-1].to_pylist() == expected
