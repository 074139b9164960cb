"""`as_of` on sorted batches, as a task of Spark sees them, gives what it gives on tables."""

from itertools import chain

import pytest
from hypothesis import given

import windrow as wr
from tests.support.as_of.batches import answered
from tests.support.as_of.strategies import Asked, asked
from tests.support.examples import examples
from tests.support.over import oracle
from tests.support.over.batches import SIZES

# Interpreted, numbers are numpy's, which warn where a kernel is silent.
pytestmark = [
    pytest.mark.usefixtures("interpreted"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]


@given(asked(), SIZES)
@examples(80)
def test_any_question_in_any_batches(question: Asked, lengths: list[int]) -> None:
    expected = question.expected()
    if any(map(oracle.overflows, chain(*expected.values()))):
        with pytest.raises(wr.AggregateOverflow):
            answered(question, lengths)
        return
    places, found = answered(question, lengths)
    assert sorted(places) == question.queries["id"].to_pylist()
    oracle.assert_agrees(
        {name: [answers[place] for place in places] for name, answers in expected.items()},
        found,
    )
