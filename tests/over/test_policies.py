"""Windows with a slide policy, in `wr.over` and `wr.slide`, against what the policy means."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.examples import examples
from tests.support.over.batches import SIZES, cut, roll
from tests.support.over.policies import NAMES, NUMBERS, POLICIES, expected, table, values
from tests.support.slide.batches import stream

pytestmark = pytest.mark.usefixtures("interpreted")


@examples(40)
@given(NAMES, NUMBERS, st.integers(1, 3), st.sampled_from([None, "daba_lite", "log_monoid_tree"]))
def test_over(name, numbers, keys, algorithm):
    found = wr.over(
        table(numbers, keys),
        key="key",
        order="t",
        windows=POLICIES[name][0],
        aggs=[wr.collect("x"), wr.max("x"), wr.count()],
        algorithm=algorithm,
    )
    held = expected(name, numbers, keys)
    assert found["collect_x"].to_pylist() == list(map(values, held))
    assert found["max_x"].to_pylist() == [max(values(each) or [], default=None) for each in held]
    assert found["count"].to_pylist() == list(map(len, held))


@given(NAMES, NUMBERS, SIZES)
def test_batches_of_a_stream(name, numbers, sizes):
    """The policy's tree lives on from batch to batch, as in a Spark task."""
    rows = table(numbers)
    question = {
        "key": "key", "order": "t", "windows": POLICIES[name][0], "aggs": [wr.collect("x")]
    }  # fmt: skip
    found = roll(cut(rows, sizes), rows.schema, question)
    assert found["collect_x"].to_pylist() == list(map(values, expected(name, numbers)))


@given(NAMES, NUMBERS, st.integers(1, 5))
def test_slide(name, numbers, every):
    """An answer after every so many rows, unless all have left."""
    policy = POLICIES[name][0]
    triggered = wr.windows.PolicyWindow(policy.rules, every=wr.windows.EveryRows(every))
    found = wr.slide(table(numbers), order="t", windows=triggered, aggs=[wr.collect("x")])
    held = [each for each in expected(name, numbers)[every - 1 :: every] if each]
    assert found["collect_x"].to_pylist() == list(map(values, held))


@given(NAMES, NUMBERS, st.integers(1, 5), st.integers(1, 3), SIZES)
def test_slide_in_batches(name, numbers, every, keys, sizes):
    """The same key by key, on a stream of sorted batches, as in a Spark task."""
    rows = table(numbers, keys).sort_by([("key", "ascending"), ("t", "ascending")])
    rules = POLICIES[name][0].rules
    triggers = (wr.windows.EveryRows(every), wr.windows.EveryTime(every * 10**9))
    rows = rows.set_column(1, "t", rows["t"].cast(pa.timestamp("s")))
    for trigger in triggers:
        question = {
            "key": "key",
            "order": "t",
            "windows": wr.windows.PolicyWindow(rules, every=trigger),
            "aggs": [wr.collect("x")],
        }
        assert stream(rows, sizes, question) == wr.slide(rows, **question)
