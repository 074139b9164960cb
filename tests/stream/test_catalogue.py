"""Every aggregation of the catalogue answers on a stream as on a table."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from tests.support.aggregations.suited import looks_ahead
from tests.support.stream.model import Memory
from windrow.aggregations import CATALOGUE
from windrow.algebra.aggregation import Measure
from windrow.algebra.kinds import Kind
from windrow.engine.maps import has_partials_of_numbers
from windrow.planning.choose import Wish
from windrow.planning.slide_plan import resolve_slide
from windrow.stores import MemoryStore
from windrow.stream.slide_stream import StreamSlide

# Interpreted, numbers are numpy's, which warn where a kernel is silent.
pytestmark = [
    pytest.mark.usefixtures("interpreted"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]

BATCHES, EVENTS = 6, 12
WINDOW = wr.time("20 seconds", every="4 seconds")


def table() -> pa.Table:
    """Events a second apart, of three keys, some without a value."""
    random = np.random.default_rng(5)
    count = BATCHES * EVENTS
    return pa.table(
        {
            "k": pa.array(random.integers(0, 3, count)),
            "ts": pa.array(np.arange(1000, 1000 + count) * 10**6).view(pa.timestamp("us", "UTC")),
            "v": pa.array(random.integers(1, 9, count), mask=random.random(count) < 0.2),
            "w": pa.array(random.integers(1, 5, count)),
            "truth": pa.array(random.random(count) < 0.5),
            "text": pa.array([f"t{each}" for each in random.integers(0, 5, count)]),
        }
    )


def streamed(events: pa.Table, asked: dict[str, Any]) -> pa.Table:
    plan = resolve_slide(events.schema, **asked, wish=Wish(), changes_only=False)
    stream, storage = StreamSlide(plan, {"v"}, shards=1), Memory()
    answers = [plan.output_schema.empty_table()]
    for batch in range(BATCHES):
        watermark = (999 + batch * EVENTS) * 1000
        came = events.slice(batch * EVENTS, EVENTS)
        answers += stream.advance(storage, [came], watermark).answers
    answers += stream.advance(storage, [], 10**7).answers
    return pa.concat_tables(answers)


def measures() -> list[Any]:
    """Every aggregation, of columns that it takes."""
    found = []
    for name, each in CATALOGUE.items():
        if looks_ahead(each):
            continue
        columns = [
            next(
                column
                for column in (("v", "w")[place % 2], "truth", "ts", "text")
                if Kind.of(table().schema.field(column).type) in entry.accepts
            )
            for place, entry in enumerate(each.inputs)
        ]
        found.append(pytest.param(each(*columns), id=name))
    return [*found, pytest.param(wr.sum("v").where("w > 2 and truth"), id="where")]


@pytest.mark.parametrize("measure", measures())
def test_on_a_stream_as_on_a_table(measure: Measure) -> None:
    events = table()
    asked: dict[str, Any] = {"key": "k", "order": "ts", "windows": WINDOW, "aggs": measure}
    found = streamed(events, asked)
    order = [("k", "ascending"), ("window_start", "ascending")]
    found, expected = found.sort_by(order), wr.slide(events, **asked).sort_by(order)
    assert found.drop([measure.name]).equals(expected.drop([measure.name]))
    for ours, theirs in zip(
        found[measure.name].to_pylist(), expected[measure.name].to_pylist(), strict=True
    ):
        assert measure.aggregation.equal(ours, theirs) or ours == theirs


def is_numbers(measure: Measure) -> bool:
    """Whether open windows of `wr.slide` keep its partials, and not the events."""
    asked = {"key": "k", "order": "ts", "windows": WINDOW, "aggs": measure}
    plan = resolve_slide(table().schema, **asked, wish=Wish(), changes_only=False)
    return has_partials_of_numbers(plan.features)


@pytest.mark.parametrize("call", [wr.slide, wr.over])
@pytest.mark.parametrize("of_numbers", [True, False])
def test_all_at_once_and_revised(call: Any, of_numbers: bool) -> None:
    """Batches in any order: the newest answers are those of a table; state has become bytes."""
    every = [each.values[0].alias(f"a{place}") for place, each in enumerate(measures())]
    every = [each for each in every if is_numbers(each) == of_numbers]
    assert len(every) > 20
    asked: dict[str, Any] = {
        "key": "k", "order": "ts", "aggs": every,
        "windows": WINDOW if call is wr.slide else wr.time("20 seconds"),
    }  # fmt: skip
    events, newest = table(), {}
    own = ["k", "ts" if call is wr.over else "window_start"]
    parts = [events.slice(each * EVENTS, EVENTS) for each in (2, 0, 4, 1, 5, 3)]
    store = MemoryStore()
    # A second process goes on from what the first has committed, and comes to the end.
    for stop, at_end in ((3, "wait"), (6, "answer")):

        def batches(offset: int | None, stop: int = stop) -> Iterator[tuple[pa.Table, int]]:
            for each in range(offset or 0, stop):
                yield parts[each], each + 1

        kept = wr.Checkpoint(store, at_end=at_end)
        asked_at_once = {**asked, "lateness": "1 hour", "emit": "updates"}
        with call(batches, **asked_at_once, checkpoint=kept) as stream:
            for answers in stream:
                for row in answers.to_pylist():
                    newest[tuple(row[name] for name in own)] = row
                stream.commit()
    expected = call(events, **asked).to_pylist()
    assert len(expected) == len(newest)
    for row in expected:
        answer = newest[tuple(row[name] for name in own)]
        assert answer["final"]
        for measure in every:
            ours, theirs = answer[measure.name], row[measure.name]
            assert measure.aggregation.equal(ours, theirs) or ours == theirs, measure.name
