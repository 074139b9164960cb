"""The compiled kernels give the answers of the oracle, and so of the same source interpreted.

Every kernel takes seconds to compile, so the cases are few: each family of aggregations, and each
kind of window with nulls and without. `aggregations/test_compiled.py` has all kinds of values.
"""

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from tests.support.over.events import with_nulls
from tests.support.over.oracle import assert_agrees
from tests.support.over.strategies import Query, measure
from windrow.windows import Window
from windrow.work import sizes

pytestmark = pytest.mark.compiled

FAMILIES = {
    "sums": ["count", "sum", "mean"],
    "products": ["product", "geometric_mean"],
    "moments": ["variance", "variance_pop", "stddev", "stddev_pop"],
    "extremes": ["min", "max", "value_range", "min_count", "max_count"],
    "carrying": ["arg_min", "arg_max", "first", "last"],
}
WINDOWS = {
    "rows": {"w0": wr.rows(5), "w1": wr.rows(100)},
    "time": {"w0": wr.time("4 seconds"), "w1": wr.time("9 seconds", closed="both")},
    "peers": {"w0": wr.time("4 seconds", ties="peers"), "w1": wr.time("1 day", ties="peers")},
    "mixed": {"w0": wr.delta("m", 4), "w1": wr.session("2 seconds"), "w2": wr.punctuated("p")},
}
CASES = [
    ("sums", "float", "rows", True),
    ("sums", "integer", "mixed", True),
    ("products", "integer", "time", False),
    ("moments", "float", "peers", True),
    ("moments", "integer", "rows", False),
    ("extremes", "float", "mixed", False),
    ("extremes", "time", "time", True),
    ("carrying", "float", "time", True),
    ("carrying", "integer", "peers", False),
]


def random_values(kind: str, size: int, random: np.random.Generator) -> pa.Array:
    if kind == "float":
        special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0])
        ordinary = random.normal(size=size) * 10.0 ** random.integers(-2, 3, size)
        return pa.array(np.where(random.random(size) < 0.1, random.choice(special, size), ordinary))
    small = random.integers(-2, 3, size)
    return pa.array(small) if kind == "integer" else pa.array(small, pa.timestamp("us"))


def random_query(
    family: str, kind: str, windows: dict[str, Window], nulls: bool, seed: int
) -> Query:
    random = np.random.default_rng(seed)
    size = int(random.integers(1, 60))
    values = random_values(kind, size, random)
    if nulls:
        missing = random.random(size) < 0.3
        missing[0] = True  # a column without any null would get another kernel
        values = pa.compute.if_else(pa.array(missing), pa.scalar(None, values.type), values)
    table = pa.table(
        {
            "k0": random.integers(0, 3, size),
            "o0": pa.array(random.integers(0, 20, size), pa.timestamp("s")),
            "m": with_nulls(pa.array(random.integers(-4, 5, size)), random, 0.2),
            "p": with_nulls(pa.array(random.random(size) < 0.3), random, 0.2),
            "v": values,
            "c": [f"name {row}" for row in range(size)],
        }
    )
    return Query(table, ["k0"], ["o0"], windows, [measure(name) for name in FAMILIES[family]])


@pytest.mark.parametrize(("family", "kind", "windows", "nulls"), CASES)
def test_kernels_agree_with_the_oracle(family: str, kind: str, windows: str, nulls: bool) -> None:
    for seed in range(15):
        query = random_query(family, kind, WINDOWS[windows], nulls, seed)
        assert_agrees(query.expected(), wr.over(query.table, **query.arguments))


@pytest.mark.parametrize("pieces", [1, 3])
def test_a_window_outgrows_its_first_room(pieces: int) -> None:
    size, extent = 4_000, 1_500
    values = np.random.default_rng(0).integers(-(10**12), 10**12, size)
    rows = np.arange(size)
    table = pa.table({"t": pa.array(rows, pa.timestamp("s")), "m": rows / 2, "v": values})
    windows = {
        "r": wr.rows(extent),
        "t": wr.time(f"{extent} seconds"),
        "d": wr.delta("m", extent / 2),
        "s": wr.session("1 second"),
    }
    with sizes.using(cores=pieces, smallest_piece=size // pieces // 2):
        answer = wr.over(
            table, order="t", windows=windows, aggs=[wr.count("v"), wr.sum("v"), wr.mean("v")]
        )
    limited = np.maximum(rows - extent + 1, 0)
    sums = np.concatenate([[0], np.cumsum(values)])
    for window in ("r", "t", "d", "s"):
        first = np.zeros(size, np.int64) if window == "s" else limited
        assert answer[f"count_v_{window}"].to_pylist() == (rows - first + 1).tolist()
        assert answer[f"sum_v_{window}"].to_pylist() == (sums[1:] - sums[first]).tolist()


def test_integers_overflow_in_a_kernel_as_they_do_outside() -> None:
    table = pa.table({"v": [None, 2**62, 2**62, -1]})
    with pytest.raises(wr.AggregateOverflow, match="sum"):
        wr.over(table, windows=wr.rows(2), aggs=[wr.count("v"), wr.sum("v"), wr.mean("v")])
