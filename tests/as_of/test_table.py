"""`wr.as_of` on tables gives what the design says, whatever the tables and the question."""

from itertools import chain
from typing import Any

import pytest
from hypothesis import given

import windrow as wr
from tests.support.as_of.strategies import Asked, asked
from tests.support.examples import examples
from tests.support.over import oracle
from windrow.work import sizes

# Interpreted, numbers are numpy's, which warn where a kernel is silent.
pytestmark = [
    pytest.mark.usefixtures("interpreted"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]


def check(question: Asked) -> None:
    def answered() -> Any:
        return wr.as_of(question.queries, question.events, **question.arguments)

    expected = question.expected()
    if any(map(oracle.overflows, chain(*expected.values()))):
        with pytest.raises(wr.AggregateOverflow):
            answered()
        return
    result = answered()
    assert result.column_names == [*question.queries.column_names, *expected]
    oracle.assert_agrees(question.queries.to_pydict() | expected, result)


@given(asked())
@examples(50)
def test_any_question_about_any_tables(question: Asked) -> None:
    check(question)


@given(asked(["sum", "count", "last", "median"]))
@examples(20)
def test_threads_and_small_rooms(question: Asked) -> None:
    with sizes.using(cores=3, smallest_piece=1, window_capacity=1, smallest_sorted=2):
        check(question)
