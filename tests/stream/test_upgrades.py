"""State outlasts the windrow that wrote it, and the query that did, where that is safe."""

from typing import Any

import pyarrow as pa
import pytest

import windrow as wr
from tests.stream import frozen
from tests.stream.events import events
from tests.stream.model import Memory
from windrow.planning.choose import Wish
from windrow.planning.slide import resolve_slide
from windrow.runtime.stream import state
from windrow.runtime.stream.query import StreamQuery
from windrow.runtime.stream.slide import StreamSlide

#: the layouts that this windrow goes on from
READ = [3]


@pytest.mark.parametrize("layout", READ)
@pytest.mark.parametrize("call", frozen.CALLS)
def test_state_of_a_layout_that_was_written_once(call: str, layout: int) -> None:
    storage, query = frozen.read(call, layout), frozen.query(call)
    found = []
    for batch, watermark in frozen.AFTER:
        found += query.advance(storage, [batch], watermark).answers
    # The same events to a shard that forgets nothing.
    undisturbed, expected = Memory(), []
    for batch, watermark in [*frozen.BEFORE, *frozen.AFTER]:
        expected.append(query.advance(undisturbed, [batch], watermark).answers)
    wanted = [table for answers in expected[len(frozen.BEFORE) :] for table in answers]
    assert sum(table.num_rows for table in wanted) > 90
    assert pa.concat_tables(found).equals(pa.concat_tables(wanted))


def test_the_present_layout_is_kept_for_later() -> None:
    assert state.VERSION in READ, "write it with python -m tests.stream.frozen"
    assert (frozen.FOLDER / f"slide_{state.VERSION}.arrow").exists()


@pytest.mark.parametrize("layout", [1, 2, 9])
def test_a_layout_that_is_not_known(layout: int) -> None:
    storage = frozen.read("slide", state.VERSION)
    other = Memory({number: bytes([layout]) + data[1:] for number, data in storage.items()})
    refused = f"has layout {layout}, and this windrow knows layout .* history= the events so far"
    with pytest.raises(wr.IncompatibleState, match=refused):
        frozen.query("slide").advance(other, [], 0)


# Another query ------------------------------------------------------------------------------------

ASKED: dict[str, Any] = {
    "key": "user", "order": "ts", "windows": wr.time("20 seconds", every="5 seconds"),
    "aggs": [wr.sum("n")],
}  # fmt: skip
EVENTS = events(5, 100, 160, 100)


def slide(shards: int = 2, schema: pa.Schema = EVENTS.schema, **changed: Any) -> StreamQuery:
    plan = resolve_slide(schema, **{**ASKED, **changed}, changes_only=False, wish=Wish())
    return StreamSlide(plan, set(schema.names), shards)


def test_more_names_for_the_same_aggregation() -> None:
    storage = Memory()
    slide().advance(storage, [EVENTS], 0)
    renamed = slide(aggs=[wr.sum("n", alias="total"), wr.sum("n", alias="whole")])
    (answers,) = renamed.advance(storage, [], 10**9).answers
    expected = wr.slide(EVENTS, **ASKED)["sum_n"].to_pylist()
    assert sorted(answers["total"].to_pylist()) == sorted(expected)
    assert answers["whole"].equals(answers["total"])


@pytest.mark.parametrize(
    ("changed", "difference"),
    [
        ({"shards": 3}, "was shards=2; is now shards=3. "),
        ({"key": "place"}, r"was key=\[user: int64\]; .*is now key=\[place: string\]"),
        ({"aggs": [wr.sum("n"), wr.max("x")]}, r"is now aggregation max\(x\)"),
        ({"aggs": [wr.sum("x")]}, r"was aggregation sum\(n\)"),
        ({"order": ["ts", "place"]}, "is now order="),
        ({"windows": wr.time("20 seconds", every="4 seconds")}, "is now window time_20_seconds="),
        (
            {"schema": EVENTS.schema.set(4, pa.field("n", pa.int64()))},
            r"is now columns=\[.*n: int64",
        ),
    ],
    ids=lambda each: "" if isinstance(each, str) else next(iter(each)),
)
def test_another_query(changed: dict[str, Any], difference: str) -> None:
    storage = Memory()
    slide().advance(storage, [EVENTS], 0)
    before = dict(storage)
    with pytest.raises(wr.IncompatibleState, match=f"{difference}.*history= the events so far"):
        slide(**changed).advance(storage, [], 10**9)
    assert storage == before
