"""Windows of many ranges in one pass give the answers of the oracle, whatever answers them."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.examples import examples
from tests.support.over.oracle import assert_agrees, overflows
from tests.support.over.strategies import Query, queries
from windrow.work import sizes

RANGES = st.lists(st.integers(1, 9) | st.integers(1, 40), min_size=2, max_size=6)
SHARED = {"fewest_shared": 2, "shared_tile": 4, "cores": 3, "smallest_piece": 1}


def check(query: Query, **wish: str) -> None:
    expected = query.expected()
    with sizes.using(**SHARED):
        if any(overflows(each) for column in expected.values() for each in column):
            with pytest.raises(wr.AggregateOverflow):
                wr.over(query.table, **query.arguments, **wish)
        else:
            assert_agrees(expected, wr.over(query.table, **query.arguments, **wish))


@pytest.mark.usefixtures("interpreted")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
class TestAnyQuestion:
    """The windows of any question, and beside them windows of rows that share a pass."""

    @given(queries(), RANGES, st.integers(1, 9))
    @examples(40)
    def test_by_doubling(self, query: Query, ranges: list[int], least: int) -> None:
        shared = {f"r{place}": wr.rows(extent) for place, extent in enumerate(ranges)}
        shared["waits"] = wr.rows(least + 3, min_rows=least)
        check(replace(query, windows=query.windows | shared).without_current_rows())

    @pytest.mark.parametrize(
        ("algorithm", "names"),
        [
            ("slick_deque", ["max"]),
            ("slick_deque_inv", ["count"]),
            ("flat_fit", ["first", "mean"]),
            ("base_intervals", ["last", "sum"]),
        ],
    )
    def test_by_name(self, algorithm: str, names: list[str]) -> None:
        @given(queries(pa.int64(), names, nulls=False), RANGES)
        @examples(15)
        def run(query: Query, ranges: list[int]) -> None:
            windows = {f"r{place}": wr.rows(extent) for place, extent in enumerate(ranges)}
            check(replace(query, windows=windows), algorithm=algorithm)

        run()


@pytest.mark.compiled
def test_kernels_give_the_same_answers() -> None:
    random = np.random.default_rng(4)
    size = 3000
    values = pa.array(random.normal(size=size), mask=random.random(size) < 0.2)
    keys = np.sort(random.integers(0, 4, size))
    table = pa.table({"k": keys, "x": values, "n": random.integers(-9, 9, size)})
    windows = [wr.rows(extent) for extent in (1, 2, 7, 8, 33, 100, 500)]

    def asked(*aggs: wr.Measure, algorithm: str | None = None) -> pa.Table:
        return wr.over(table, key="k", windows=windows, aggs=aggs, algorithm=algorithm)

    for aggs in ([wr.max("n")], [wr.sum("n"), wr.mean("x")]):
        with sizes.using(fewest_shared=len(windows) + 1):
            apart = asked(*aggs)
        with sizes.using(shared_tile=64, cores=2, smallest_piece=100):
            together = asked(*aggs)
        for name in apart.column_names:
            np.testing.assert_allclose(
                apart[name].to_pandas(), together[name].to_pandas(), rtol=1e-9, atol=1e-9
            )
    assert asked(wr.max("n"), algorithm="slick_deque").equals(asked(wr.max("n")))


def test_the_plan_says_which_windows_share_a_pass() -> None:
    ranges = [wr.rows(extent) for extent in range(10, 110, 10)]
    windows = [*ranges, wr.time("1 hour"), wr.rows(5, current=False), wr.expanding()]
    plan = wr.plan(order="t", windows=windows, aggs=wr.max("x"))
    (group,) = plan.to_dict()["groups"]
    chosen = {name: each["algorithm"] for name, each in group["windows"].items()}
    assert [name for name in chosen if chosen[name] == "doubling"] == [
        f"rows_{extent}" for extent in range(10, 110, 10)
    ]
    assert "10 ranges of rows in one pass take" in str(plan)
    assert "once for all windows that share a pass" in str(plan)

    few = wr.plan(order="t", windows=ranges[:2], aggs=wr.max("x"))
    assert "doubling" not in str(few)
    named = wr.plan(order="t", windows=ranges[:2], aggs=wr.max("x"), algorithm="flat_fit")
    assert "answers all ranges of rows in one pass" in str(named)
