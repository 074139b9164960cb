"""Every aggregation takes columns of the kinds that it says, and refuses others with that list."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

import windrow as wr
from tests.support.aggregations.suited import rows_for
from windrow.aggregations import CATALOGUE
from windrow.algebra.aggregation import Aggregation
from windrow.algebra.kinds import Kind

#: a column of each kind, with a null
COLUMNS = {
    Kind.BOOLEAN: pa.array([True, None, False]),
    Kind.INTEGER: pa.array([3, None, 2]),
    Kind.FLOAT: pa.array([2.5, None, 1.5]),
    Kind.TEMPORAL: pa.array([datetime(2024, 5, 1), None, datetime(2024, 5, 2)]),
    Kind.DURATION: pa.array([timedelta(seconds=3), None, timedelta(seconds=2)]),
    Kind.DECIMAL: pa.array([Decimal("2.5"), None, Decimal("1.5")]),
    Kind.TEXT: pa.array(["b", None, "a"]),
    Kind.NESTED: pa.array([[1], None, [2]]),
}

EVERY_INPUT = [
    pytest.param(aggregation, place, id=f"{aggregation.name}-{aggregation.inputs[place].name}")
    for aggregation in CATALOGUE.values()
    for place in range(len(aggregation.inputs))
]


def answered(aggregation: Aggregation, kinds: list[Kind], rows: int = 3) -> pa.Table:
    columns = {f"column_{place}": COLUMNS[kind][:rows] for place, kind in enumerate(kinds)}
    aggs = aggregation(*columns).alias("answer")
    return wr.over(pa.table(columns), windows=rows_for(aggregation, 4), aggs=aggs)


def kinds_taken(aggregation: Aggregation) -> list[Kind]:
    """A kind for each input."""
    return [next(kind for kind in COLUMNS if kind in each.accepts) for each in aggregation.inputs]


def kinds_with(aggregation: Aggregation, place: int, kind: Kind) -> list[Kind]:
    """That kind at one place, and at others what goes there."""
    kinds = kinds_taken(aggregation)
    return [*kinds[:place], kind, *kinds[place + 1 :]]


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(("aggregation", "place"), EVERY_INPUT)
def test_what_it_takes_is_answered_and_what_it_does_not_is_refused(aggregation, place):
    accepted = {kind for kind in COLUMNS if kind in aggregation.inputs[place].accepts}
    for kind in accepted:
        found = answered(aggregation, kinds_with(aggregation, place, kind))
        assert len(found["answer"]) == 3, kind
    listed = ", ".join(sorted(kind.value for kind in accepted))
    for kind in COLUMNS.keys() - accepted:
        with pytest.raises(wr.InvalidArgument) as refusal:
            answered(aggregation, kinds_with(aggregation, place, kind))
        assert str(refusal.value) == (
            f"aggs: {aggregation.name}('column_{place}') cannot take a column of type "
            f"{COLUMNS[kind].type}; it takes {listed}"
        )


# Unsigned integers above all signed ones ----------------------------------------------------------

LARGE = [2**64 - 1, 2**63]


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        (wr.first("n"), LARGE[0]),
        (wr.last("n"), LARGE[1]),
        (wr.nth("n", n=2), LARGE[1]),
        (wr.collect("n"), LARGE),
        (wr.mode("n"), LARGE[0]),
        (wr.approx_distinct("n"), 2),
        (wr.approx_quantile("n", 1), LARGE[0]),
        (wr.frequent_items("n", 1), [{"item": LARGE[0], "count": 1, "error": 0}]),
    ],
    ids=str,
)
def test_large_unsigned_integers_are_taken_where_nothing_is_computed_of_them(
    measure: Any, expected: Any
) -> None:
    table = pa.table({"n": pa.array(LARGE, pa.uint64())})
    found = wr.over(table, windows=wr.rows(2), aggs=measure.alias("answer"))
    assert found["answer"].to_pylist()[-1] == expected


@pytest.mark.usefixtures("interpreted")
def test_they_are_refused_where_kernels_would_compute_with_them() -> None:
    with pytest.raises(wr.InvalidArgument, match="a value of type uint64 does not fit 64-bit"):
        wr.over(pa.table({"n": pa.array(LARGE, pa.uint64())}), windows=wr.rows(2), aggs=wr.sum("n"))


@pytest.mark.usefixtures("interpreted")
def test_windows_without_a_value_have_no_list_and_no_sketch() -> None:
    """A kernel writes nothing for them, and what stood there before may be anything."""
    table = pa.table({"n": pa.array([None, 4, None, None, 2], pa.int32())})
    aggs = [wr.top_k("n", 2), wr.bloom("n", 9), wr.moment_sketch("n", 0.5), wr.count_min("n")]
    found = wr.over(table, windows=wr.rows(1), aggs=aggs)
    for name in found.column_names[1:]:
        assert [each is None for each in found[name].to_pylist()] == [
            True,
            False,
            True,
            True,
            False,
        ]
    assert found["top_2_n"].to_pylist() == [None, [4], None, None, [2]]
    assert found["moment_sketch_0_5_n"].to_pylist() == [None, 4.0, None, None, 2.0]


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("aggregation", CATALOGUE.values(), ids=CATALOGUE)
def test_a_table_without_rows_has_no_answers(aggregation: Aggregation) -> None:
    kinds = kinds_taken(aggregation)
    found, expected = (answered(aggregation, kinds, rows)["answer"] for rows in (0, 3))
    assert len(found) == 0
    assert found.type == expected.type
