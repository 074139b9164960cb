"""Windows that only grow: what they hold, and what they cost."""

from itertools import accumulate

import pyarrow as pa
import pytest

import windrow as wr
from windrow.testing.counting_monoid import CountingMonoid

pytestmark = pytest.mark.usefixtures("interpreted")

TABLE = pa.table(
    {
        "k": [1] * 5 + [2] * 3,
        "t": pa.array([1, 2, 2, 3, 9, 1, 5, 6], pa.timestamp("s")),
        "p": [False, False, True, False, False, False, True, False],
        "x": list("abcdefgh"),
    }
)
#: the windows from which nothing leaves, each with the rows that its answers in `wr.over` begin at
WINDOWS = {
    "expanding": (wr.expanding(), [0] * 5 + [5] * 3),
    "session": (wr.session("2 seconds"), [0] * 4 + [4, 5, 6, 6]),
    "punctuated": (wr.punctuated("p"), [0, 0, 0, 3, 3, 5, 5, 7]),
}


@pytest.mark.parametrize("name", WINDOWS)
def test_a_row_costs_one_combine(name: str) -> None:
    window, firsts = WINDOWS[name]
    counting = CountingMonoid()
    measure = counting.aggregation("x").alias("seen")
    answer = wr.over(TABLE, key="k", order="t", windows=window, aggs=measure)["seen"].to_pylist()
    assert answer == [TABLE["x"].to_pylist()[first : row + 1] for row, first in enumerate(firsts)]
    # The first of a run is combined with nothing, which counts for nothing.
    assert counting.taken() == TABLE.num_rows - len(set(firsts))


@pytest.mark.parametrize("every", [1, 2, "2 seconds"])
def test_a_slice_costs_one_combine_more(every: int | str) -> None:
    counting = CountingMonoid()
    measure = counting.aggregation("x").alias("seen")
    found = wr.slide(TABLE, key="k", order="t", windows=wr.expanding(every=every), aggs=measure)
    expected = {
        1: [*accumulate("abcde"), *accumulate("fgh")],
        2: ["ab", "abcd", "fg"],
        "2 seconds": ["a", "abcd", "abcde", "f", "fg", "fgh"],
    }[every]
    assert ["".join(each) for each in found["seen"].to_pylist()] == expected
    # Rows behind a key's last answer are in a slice too.
    assert counting.taken() <= TABLE.num_rows + len(expected)


def test_the_planner_keeps_one_partial() -> None:
    for window, _firsts in WINDOWS.values():
        plan = wr.plan(TABLE, key="k", order="t", windows=window, aggs=[wr.max("x"), wr.count()])
        for group in plan.groups:
            (choice,) = group.choices.values()
            assert (choice.algorithm.NAME, choice.partials) == ("running_partial", 1)


def test_an_algorithm_that_is_named_is_taken() -> None:
    named = wr.over(
        TABLE, key="k", order="t", windows=wr.expanding(), aggs=wr.concat("x"), algorithm="daba"
    )
    assert named["concat_x"].to_pylist() == [*accumulate("abcde"), *accumulate("fgh")]


def test_a_window_that_only_grows_is_no_choice_for_others() -> None:
    with pytest.raises(wr.InvalidArgument, match="algorithm: 'running_partial' is not known"):
        wr.Window(wr.max(), algorithm="running_partial")
