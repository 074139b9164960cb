"""More answers than anybody wants are refused, in no time and with no memory."""

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given

import windrow as wr
from tests.support.examples import examples
from tests.support.over.strategies import Query
from tests.support.slide.strategies import queries
from windrow.planning import slide_plan as planning

pytestmark = [
    pytest.mark.usefixtures("interpreted"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]


def ask(times: list[int], window: Any, **further: Any) -> pa.Table:
    table = pa.table({"t": pa.array(times, pa.timestamp("s")), "x": times})
    return wr.slide(table, order="t", windows=window, aggs=wr.sum("x"), **further)


@pytest.mark.parametrize("every", ["1 nanosecond", "1 microsecond", "1 second"])
def test_windows_that_hold_every_event_too_often_are_refused(every: str) -> None:
    # Found: these hung, and Ctrl-C did not come through.
    window = wr.time("3650 days", every=every)
    message = (
        r"windows: every event gives 'time_3650_days' [0-9,]+ answers, more than the 50,000,000"
    )
    for call in (
        lambda: ask([1], window),
        lambda: wr.plan(order="t", windows=window, aggs=wr.sum("x")),
    ):
        with pytest.raises(wr.InvalidArgument, match=message):
            call()


def test_a_table_with_too_many_answers_is_refused() -> None:
    # Found: four rows took 4 GB.
    window = wr.time("1 hour", every="1 millisecond")
    with pytest.raises(wr.InvalidArgument, match="the data gives 'time_1_hour' 72,000,000 answers"):
        ask([10_000 * day for day in range(20)], window)


def test_the_limit_is_what_the_call_says() -> None:
    window = wr.time("4 seconds", every="1 second")
    assert ask([0, 100], window, max_answers=8).num_rows == 8
    with pytest.raises(wr.InvalidArgument, match=r"gives them 10 answers, more than the 9 that"):
        ask([0, 100], [window, wr.rows(5, every=1)], max_answers=9)
    with pytest.raises(wr.InvalidArgument, match=r"every event gives 'time_4_seconds' 4 answers"):
        ask([0, 100], window, max_answers=3)


@pytest.mark.parametrize("wrong", [0, -1, True, 1.5, "many"])
def test_the_limit_is_a_number(wrong: Any) -> None:
    with pytest.raises(wr.InvalidArgument, match="max_answers: the most answers are an integer"):
        ask([0], wr.rows(2, every=1), max_answers=wrong)


def test_by_default_every_row_may_have_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "MOST_ANSWERS", 3)
    windows = [wr.rows(2, every=1), wr.rows(3, every=1), wr.session("1 second")]
    assert ask(list(range(10)), windows).num_rows == 21
    with pytest.raises(wr.InvalidArgument, match="more than the 10 that are allowed"):
        ask(list(range(10)), wr.time("2 seconds", every="1 second"))


@given(queries(pa.int32(), ["count"], timed=False))
@examples(20)
def test_exactly_as_many_answers_as_there_are_are_allowed(query: Query) -> None:
    answers = wr.slide(query.table, **query.arguments).num_rows
    if answers < 2:
        return
    most = max([answers, *(_in_an_event(window) for window in query.windows.values())])
    assert wr.slide(query.table, **query.arguments, max_answers=most).num_rows == answers
    with pytest.raises(wr.InvalidArgument, match="max_answers="):
        wr.slide(query.table, **query.arguments, max_answers=answers - 1)


def _in_an_event(window: Any) -> int:
    every = getattr(window, "every", None)
    if isinstance(window, wr.windows.TimeWindow) and isinstance(every, wr.windows.EveryTime):
        return int(window.range // every.time)
    return 0
