"""Windows that only grow: what they hold, and what they cost."""

from itertools import accumulate

import pyarrow as pa
import pytest

import windrow as wr
from windrow.engine.over_batches import over_batches
from windrow.planning.choose import Wish
from windrow.planning.over_plan import resolve_over
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
    "whole": (wr.whole(), [0] * 5 + [5] * 3),
}
#: the rows that answers of whole keys end behind
ENDS = [5] * 5 + [8] * 3


@pytest.mark.parametrize("name", WINDOWS)
def test_a_row_costs_one_combine(name: str) -> None:
    window, firsts = WINDOWS[name]
    counting = CountingMonoid()
    measure = counting.aggregation("x").alias("seen")
    answer = wr.over(TABLE, key="k", order="t", windows=window, aggs=measure)["seen"].to_pylist()
    stops = ENDS if name == "whole" else range(1, 9)
    spans = zip(firsts, stops, strict=True)
    assert answer == [TABLE["x"].to_pylist()[first:stop] for first, stop in spans]
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


def test_a_whole_key_is_answered_once() -> None:
    counting = CountingMonoid()
    measure = counting.aggregation("x").alias("seen")
    found = wr.slide(TABLE, key="k", order="t", windows=wr.whole(), aggs=measure).to_pylist()
    assert [(each["k"], "".join(each["seen"])) for each in found] == [(1, "abcde"), (2, "fgh")]
    assert [each["window_end"].second for each in found] == [9, 6]
    assert counting.taken() <= TABLE.num_rows


@pytest.mark.parametrize("size", [1, 2, 5])
def test_rows_of_a_whole_key_wait_for_its_end(size: int) -> None:
    windows = {"all": wr.whole(), "two": wr.rows(2)}
    asked = {"key": ["k"], "order": ["t"], "windows": windows, "aggs": [wr.concat("x")]}
    plan = resolve_over(TABLE.schema, **asked, wish=Wish())
    batches = TABLE.combine_chunks().to_batches(max_chunksize=size)
    found = pa.Table.from_batches(list(over_batches(batches, plan, set())))
    assert found.equals(wr.over(TABLE, **asked).select(found.column_names))


def test_a_stream_is_told_what_to_use_instead_of_a_whole_key() -> None:
    for call in ("over", "slide"):
        with pytest.raises(wr.InvalidArgument, match=r"'whole' holds all .* use wr.expanding\(\)"):
            wr.plan(
                key="k", order="t", windows=wr.whole(), aggs=wr.max("x"), lateness="1s", call=call
            )


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
