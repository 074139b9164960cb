"""Windows that share slices, answered in one pass (Shein et al. 2018, §2.3, §3.3)."""

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.examples import examples
from tests.support.over.batches import SIZES, in_order
from tests.support.over.strategies import Query, measure
from tests.support.slide.batches import stream
from tests.support.slide.oracle import assert_agrees, slide
from tests.support.slide.strategies import queries
from windrow.algebra.aggregation import Measure
from windrow.engine import shared_answers
from windrow.planning.choose import Wish
from windrow.work import sizes

pytestmark = [
    pytest.mark.usefixtures("interpreted"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]

TOGETHER = ["flat_fit", "base_intervals", "slick_deque"]
ROWS = st.tuples(st.integers(1, 12), st.integers(1, 9))


def several(query: Query, shapes: list[tuple[int, int]], aggs: list[Measure]) -> Query:
    windows = {f"w{n}": wr.rows(extent, every=slide) for n, (extent, slide) in enumerate(shapes)}
    return replace(query, windows=windows, aggs=aggs)


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many answers there were in each pass for several windows."""
    found: list[int] = []
    answer = shared_answers.SharedSlideWindow.answer

    def counted(self: Any, partials: Any, answers: Any, merged: Any, begin: int, stop: int) -> None:
        found.append(stop - begin)
        answer(self, partials, answers, merged, begin, stop)

    monkeypatch.setattr(shared_answers.SharedSlideWindow, "answer", counted)
    return found


@given(queries(), st.lists(ROWS, min_size=2, max_size=5), st.sampled_from(TOGETHER))
@examples(25)
def test_tables(query: Query, shapes: list[tuple[int, int]], algorithm: Any) -> None:
    asked = several(query, shapes, [measure("max")])
    with sizes.using(cores=3, smallest_piece=2):
        found = wr.slide(asked.table, **asked.arguments, algorithm=algorithm)
    assert_agrees(slide(asked.table, **asked.arguments), found, asked.key)


@given(queries(), st.lists(ROWS, min_size=2, max_size=5), st.sampled_from(TOGETHER), SIZES)
@examples(25)
def test_batches(
    query: Query, shapes: list[tuple[int, int]], algorithm: Any, cuts: list[int]
) -> None:
    asked = several(query, shapes, [measure("max")])
    table = in_order(asked)
    found = stream(table, cuts, asked.arguments, wish=Wish(algorithm))
    assert_agrees(slide(table, **asked.arguments), found, asked.key)


def test_one_pass_answers_all_and_the_plan_says_so(passes: list[int]) -> None:
    numbers = np.random.default_rng(1).integers(0, 99, 500)
    table = pa.table({"t": np.arange(500), "x": numbers})
    windows = {f"w{extent}": wr.rows(extent, every=2) for extent in (4, 10, 33, 100)}
    asked: dict[str, Any] = {"order": "t", "windows": windows, "aggs": [wr.max("x"), wr.sum("x")]}
    found = wr.slide(table, **asked, algorithm="flat_fit")
    assert passes == [4 * 250]
    assert found.equals(wr.slide(table, **asked))
    assert passes == [4 * 250]
    plan = wr.plan(table, call="slide", **asked, algorithm="flat_fit")
    (group,) = plan.groups
    assert set(group.together) == set(windows)
    assert "once for all windows that share a pass" in str(plan)
    assert "once for all" not in str(wr.plan(table, call="slide", **asked))


def test_a_window_that_has_no_answer_yet_keeps_its_slices() -> None:
    table = pa.table({"t": np.arange(60), "x": np.arange(60, 0, -1)})
    windows = {"short": wr.rows(2, every=1), "long": wr.rows(40, every=25)}
    asked: dict[str, Any] = {"key": None, "order": "t", "windows": windows, "aggs": wr.max("x")}
    found = stream(table, [7] * 9, asked, wish=Wish("flat_fit"))
    long = found.filter(pa.compute.equal(found["window"], "long"))
    assert long["max_x"].to_pylist() == [60, 50]
