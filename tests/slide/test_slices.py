"""`slices=` says how a table is cut; the answers are those of the oracle whatever it says."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow as wr
from tests.support.over import oracle as values
from tests.support.over.strategies import Query
from tests.support.slide import oracle
from tests.support.slide.strategies import queries
from windrow.engine.slice_store import SliceStore
from windrow.work import sizes

TABLE = pa.table({"t": range(1, 31), "x": [float(row % 7) for row in range(30)]})


@pytest.mark.usefixtures("interpreted")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@given(queries(), st.sampled_from(["cutty", "panes", "pairs"]))
@settings(max_examples=150)
def test_any_question_about_any_table(query: Query, technique: str) -> None:
    expected = oracle.slide(query.table, **query.arguments)
    with sizes.using(cores=3, smallest_piece=1):
        if any(values.overflows(answer[m.name]) for answer in expected for m in query.aggs):
            with pytest.raises(wr.AggregateOverflow):
                wr.slide(query.table, **query.arguments, slices=technique)
        else:
            result = wr.slide(query.table, **query.arguments, slices=technique)
            oracle.assert_agrees(expected, result, query.key)


@pytest.mark.compiled
def test_kernels_read_slices_that_are_being_filled() -> None:
    windows = {"a": wr.rows(7, every=3), "b": wr.rows(12, every=5)}
    asked = {"order": "t", "windows": windows, "aggs": [wr.sum("x"), wr.last("x")]}
    assert wr.slide(TABLE, **asked, slices="cutty").equals(wr.slide(TABLE, **asked))


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(("technique", "slices"), [("cutty", 8), ("pairs", 17), ("panes", 30)])
def test_a_table_is_cut_as_the_technique_says(
    technique: str, slices: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A range of 10 and a slide of 3, of 30 rows: 1, 2 and 3 slices per slide.

    Windows end at 3, 6 ... 30 and begin at 0, 2, 5 ... 20. The last slice of cutty ends with the
    table, and panes hold a row each.
    """
    counted = []
    extend = SliceStore.extend

    def counting(store: SliceStore, columns: object, size: int, cuts: list[int], *rest: object):
        counted.append(len(cuts) - 1)
        return extend(store, columns, size, cuts, *rest)

    monkeypatch.setattr(SliceStore, "extend", counting)
    window = wr.rows(10, every=3)
    wr.slide(TABLE, order="t", windows=window, aggs=wr.sum("x"), slices=technique)
    assert counted == [slices]
    taken = wr.plan(order="t", windows={"w": window}, aggs=wr.sum("x")).to_dict()["techniques"]
    per_slide = {name: each["slices_per_slide"] for name, each in taken["w"].items()}
    assert per_slide == {"panes": 3, "pairs": 2, "cutty": 1}


def test_the_plan_shows_what_each_technique_takes() -> None:
    asked = {"order": "t", "windows": wr.time("10 minutes", every="4 minutes"), "aggs": wr.sum("x")}
    line = (
        "time_10_minutes: slices per slide and partials per answer: panes 2 and 5, pairs 2 and 5, "
        "cutty 1 and 3; "
    )
    assert line + "pairs the default" in " ".join(str(wr.plan(**asked)).split())
    shown = " ".join(str(wr.plan(**asked, slices="cutty")).split())
    assert line + "cutty asked for" in shown
    assert "time_10_minutes: cut where windows begin; a slice that a window ends in is" in shown
    assert "composite slide" not in shown  # which has the edges of Pairs


def test_techniques_that_are_refused() -> None:
    asked = {"order": "t", "windows": wr.rows(10, every=3), "aggs": wr.sum("x")}
    with pytest.raises(wr.InvalidArgument, match=r"slices: .*panes"):
        wr.slide(TABLE, **asked, slices="tiles")
    for call in (wr.slide, wr.plan):
        with pytest.raises(wr.InvalidArgument, match="slices: 'cutty' is for tables in process"):
            call(iter([TABLE]), **asked, schema=TABLE.schema, lateness="1 second", slices="cutty")
    with pytest.raises(wr.InvalidArgument, match=r"slices: is for wr\.slide"):
        wr.plan(order="t", windows=wr.rows(10), aggs=wr.sum("x"), slices="pairs")
