"""However times are spaced, walks find for each row the first that is not too far behind it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.examples import examples
from windrow.windows import span_walks
from windrow.windows.key_runs import NEVER

pytestmark = pytest.mark.compiled

#: the steps of some rows: of one length, or of any
STEPS = st.tuples(st.integers(1, 12), st.integers(0, 4)).map(lambda some: [some[1]] * some[0])
RUNS = st.lists(STEPS | st.lists(st.integers(0, 4), max_size=12), min_size=1, max_size=4)


@given(st.lists(RUNS, min_size=1, max_size=3), st.integers(-9, 20), st.data())
@examples(80)
def test_first_near(runs: list[list[list[int]]], amount: int, data: st.DataObject) -> None:
    keys = [np.cumsum([0, *(step for some in run for step in some)]) for run in runs]
    starts = np.append(np.cumsum([0, *map(len, keys)])[:-1], NEVER)
    measure = np.concatenate(keys)
    end = len(measure)
    expected = [
        start + next((place for place, time in enumerate(key) if now - time < amount), len(key))
        for start, key in zip(starts.tolist(), keys, strict=False)
        for now in key
    ]
    begin = data.draw(st.integers(0, end - 1))
    stop = data.draw(st.integers(begin + 1, end))
    run = starts[np.searchsorted(starts, begin, "right") - 1]
    oldest = data.draw(st.integers(int(run), expected[begin]))
    with pytest.MonkeyPatch.context() as small:
        small.setattr(span_walks, "_SEGMENT", data.draw(st.sampled_from([3, 16, 64])))
        small.setattr(span_walks, "_SHORTEST", 8)
        found = span_walks.first_near(starts, measure, 0, end, amount, begin, stop, oldest)
    assert found.tolist() == expected[begin:stop]
