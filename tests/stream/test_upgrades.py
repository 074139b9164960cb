"""State outlasts the windrow that wrote it, and the query that did, where that is safe."""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pytest

import windrow as wr
from tests.support.stream import frozen
from tests.support.stream.events import events
from tests.support.stream.model import Memory
from windrow.planning.choose import Wish
from windrow.planning.over_plan import resolve_over
from windrow.planning.slide_plan import resolve_slide
from windrow.stream import state
from windrow.stream.over_stream import StreamOver
from windrow.stream.query import StreamQuery
from windrow.stream.slide_stream import StreamSlide

#: the layouts that this windrow goes on from
READ = [5]
#: the layouts that were written once and are refused: 3 kept waiting events once for each group,
#: and 4 did not say of them whether they are events or partials of events
REFUSED = [3, 4]


@pytest.mark.parametrize("layout", READ)
@pytest.mark.parametrize("call", [*frozen.CALLS, *frozen.LATER, *frozen.LATEST])
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
    assert in_one_order(found).equals(in_one_order(wanted))


def in_one_order(tables: Sequence[pa.Table]) -> pa.Table:
    """All rows, sorted: a shard answers its keys in any order."""
    table = pa.concat_tables(tables)
    return table.sort_by([(name, "ascending") for name in table.column_names])


def test_the_present_layout_is_kept_for_later() -> None:
    assert state.VERSION in READ, "write it with python -m tests.support.stream.frozen"
    assert (frozen.FOLDER / f"slide_{state.VERSION}.arrow").exists()


@pytest.mark.parametrize("layout", [1, 2, 9])
def test_a_layout_that_is_not_known(layout: int) -> None:
    storage = frozen.read("slide", state.VERSION)
    other = Memory({number: bytes([layout]) + data[1:] for number, data in storage.items()})
    with pytest.raises(wr.IncompatibleState, match=refusal(layout)):
        frozen.query("slide").advance(other, [], 0)


@pytest.mark.parametrize("layout", REFUSED)
@pytest.mark.parametrize("call", frozen.CALLS)
def test_a_layout_that_is_not_read_any_more(call: str, layout: int) -> None:
    storage = frozen.read(call, layout)
    before = dict(storage)
    with pytest.raises(wr.IncompatibleState, match=refusal(layout)):
        frozen.query(call).advance(storage, [], 0)
    assert storage == before


def refusal(layout: int) -> str:
    return f"has layout {layout}, and this windrow knows layout .* history= the events so far"


# Another query ------------------------------------------------------------------------------------

ASKED: dict[str, Any] = {
    "key": "user", "order": "ts", "windows": wr.time("20 seconds", every="5 seconds"),
    "aggs": [wr.sum("n")],
}  # fmt: skip
EVENTS = events(5, 100, 160, 100)


def slide(
    shards: int = 2,
    schema: pa.Schema = EVENTS.schema,
    changes_only: bool = False,
    nullable: Sequence[str] = EVENTS.schema.names,
    **changed: Any,
) -> StreamQuery:
    plan = resolve_slide(schema, **{**ASKED, **changed}, changes_only=changes_only, wish=Wish())
    return StreamSlide(plan, set(nullable), shards)


def over(nullable: Sequence[str] = EVENTS.schema.names, **changed: Any) -> StreamQuery:
    plan = resolve_over(EVENTS.schema, **{**ASKED, **changed}, wish=Wish())
    return StreamOver(plan, set(nullable), 2)


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
            {"windows": wr.time("20 seconds", every="5 seconds", min_rows=2)},
            r"is now window time_20_seconds=time\(.*, min_rows=2\)",
        ),
        ({"empty": "emit"}, "is now last windows of time_20_seconds"),
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


#: windows that state is kept of in each of the ways that there are
KEPT: list[tuple[Callable[..., StreamQuery], Any]] = [
    (slide, wr.time("20 seconds", every="5 seconds")),
    (slide, wr.rows(20, every=3)),
    (over, wr.time("20 seconds")),
    (over, wr.rows(100)),
    (over, wr.session("9 seconds")),
]


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(("query", "windows"), KEPT, ids=str)
def test_another_parameter(query: Callable[..., StreamQuery], windows: Any) -> None:
    cosine, sine = (wr.arg_max("x", "n", key=key) for key in (math.cos, math.sin))
    changed = {
        "ewm_mean(x, half_life=5)": (wr.ewm_mean("x", 5), wr.ewm_mean("x", 500)),
        "bottom_2(n, k=2)": (wr.bottom_k("n", 2), wr.bottom_k("n", 3)),
        "approx_distinct(x, error=0.1)": (wr.approx_distinct("x", 0.1), wr.approx_distinct("x")),
        "arg_max(x, n, key=cos)": (cosine, sine),
    }
    for was, (before, after) in changed.items():
        storage = Memory()
        query(windows=windows, aggs=before).advance(storage, [EVENTS], 0)
        with pytest.raises(wr.IncompatibleState) as refused:
            query(windows=windows, aggs=after).advance(storage, [], 10**9)
        assert f"by another query: was aggregation {was}; is now aggregation " in str(refused.value)


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(("query", "windows"), KEPT, ids=str)
def test_a_column_that_becomes_nullable(query: Callable[..., StreamQuery], windows: Any) -> None:
    """Where partials are kept it is refused; where rows are, it does not matter."""
    storage, undisturbed = Memory(), Memory()
    asked: dict[str, Any] = {"windows": windows, "aggs": [wr.sum("n"), wr.min("n")]}
    for memory in (storage, undisturbed):
        query(nullable=["ts"], **asked).advance(memory, [EVENTS], 150_000)
    later = query(nullable=["ts", "n"], **asked)
    if "partials" in "".join(later.description):
        with pytest.raises(
            wr.IncompatibleState, match=r"was columns with nulls=\[\]; is now .*=\[n\]"
        ):
            later.advance(storage, [], 10**9)
        return
    found = later.advance(storage, [], 10**9).answers
    expected = query(nullable=["ts"], **asked).advance(undisturbed, [], 10**9).answers
    assert found == expected


@pytest.mark.usefixtures("interpreted")
def test_the_order_of_windows_and_aggregations_does_not_matter() -> None:
    aggs = [wr.max("x"), wr.sum("n"), wr.arg_max("x", "place"), wr.ewm_mean("x", half_life=3)]
    periodic = {
        "b": wr.time("20 seconds", every="5 seconds"), "a": wr.time("1 minute", every="7 seconds"),
        "c": wr.time("9 seconds", every="9 seconds", min_rows=2, of="values"),
    }  # fmt: skip
    by_rows = {
        "q": wr.rows(9, every=4), "p": wr.session("20 seconds"),
        "o": wr.policies.at_most_sum(50, "n", every=2), "n": wr.policies.at_most_events(3, every=3),
    }  # fmt: skip
    trailing = {"z": wr.time("20 seconds"), "y": wr.time("1 minute"), "x": wr.time("1 second")}
    policies = {"o": wr.policies.at_most_sum(50, "n"), "n": wr.policies.at_most_events(3)}
    asked: list[tuple[Callable[..., StreamQuery], dict[str, Any], dict[str, Any]]] = [
        (slide, {**periodic, **by_rows}, {}),
        (slide, {**by_rows, **periodic}, {"changes_only": True}),
        (slide, periodic, {"empty": "emit"}),
        (over, trailing, {}),
        (over, {"three": wr.rows(3), "many": wr.rows(100)}, {}),
        (over, {**trailing, **policies}, {}),
    ]
    batches = [
        (EVENTS, 130_000),
        (events(6, 130, 200, 100), 170_000),
        (events(7, 300, 301, 1), 1e9),
    ]
    for query, windows, more in asked:
        orders = itertools.product(
            (windows, dict(reversed(windows.items()))), (aggs, aggs[::-1], aggs[2:] + aggs[:2])
        )
        more["order"] = ["ts", "place", "n"]
        queries = itertools.cycle([query(windows=w, aggs=a, **more) for w, a in orders])
        one = query(windows=windows, aggs=aggs, **more)
        changing, undisturbed = Memory(), Memory()
        for batch, watermark in batches:
            answers = next(queries).advance(changing, [batch], int(watermark)).answers
            expected = one.advance(undisturbed, [batch], int(watermark)).answers
            assert _rows(answers) == _rows(expected)
        assert sum(map(len, expected)) > 0


def _rows(tables: Sequence[pa.Table]) -> list[str]:
    """Rows in no order, with their columns in one."""
    return sorted(
        str(sorted(row.items(), key=lambda entry: entry[0]))
        for table in tables
        for row in table.to_pylist()
    )


@pytest.mark.compiled
def test_an_aggregation_of_ones_own_goes_by_its_name() -> None:
    """However many others were made before it."""

    def spread() -> Any:
        return wr.aggregation(
            name="spread", identity=(math.inf, -math.inf), lift=lambda x: (x, x),
            combine=lambda older, newer: (min(older[0], newer[0]), max(older[1], newer[1])),
            lower=lambda partial: partial[1] - partial[0],
        )  # fmt: skip

    described = [slide(aggs=[spread()("x"), wr.max("x")]).description for _ in range(2)]
    assert described[0] == described[1]
    assert "spread.0: float64" in "".join(described[0])


@pytest.mark.compiled
def test_whether_the_order_of_events_matters_is_a_part_of_the_query() -> None:
    """Where it does not, events may wait as partials, which are of no use where it does."""

    def biggest(commutative: bool) -> Any:
        return wr.aggregation(
            name="biggest", identity=-math.inf, lift=lambda x: x, combine=max,
            lower=lambda partial: partial, commutative=commutative,
        )("x")  # fmt: skip

    storage = Memory()
    slide(aggs=[biggest(True)]).advance(storage, [EVENTS], 0)
    with pytest.raises(wr.IncompatibleState, match="was events wait in any order"):
        slide(aggs=[biggest(False)]).advance(storage, [], 10**9)
