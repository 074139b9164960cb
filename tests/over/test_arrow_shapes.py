"""Arrow tables of every shape: columns of any type, views, runs, dictionaries, no batches."""

from collections.abc import Callable
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import windrow as wr

pytestmark = pytest.mark.usefixtures("interpreted")


def test_columns_that_are_not_used_may_be_of_any_type_and_share_a_name() -> None:
    table = pa.Table.from_arrays(
        [pa.array([1, 2]), pa.array([{"a": [1]}, None]), pa.array(["p", "q"])],
        names=["x", "twice", "twice"],
    )
    answer = wr.over(table, windows=wr.rows(2), aggs=wr.sum("x"))
    assert answer.column_names == ["x", "twice", "twice", "sum_x"]
    assert answer["sum_x"].to_pylist() == [1, 3]


NESTED = [{"name": "p", "tags": ["a", "b"]}, {"name": "q", "tags": []}, None]


@pytest.mark.parametrize(
    "made",
    [
        lambda: pa.table(pl.DataFrame({"t": [3, 1, 2], "s": NESTED})),
        lambda: pa.table({"t": [3, 1, 2], "s": NESTED}),
    ],
    ids=["Polars", "Arrow"],
)
def test_views_in_lists_and_structs_are_taken(made: Callable[[], Any]) -> None:
    """Polars keeps strings in views, for which Arrow has no kernel to take rows by."""
    aggs = [wr.first("s"), wr.collect("s"), wr.arg_max("t", "s"), wr.nth("s", 2), wr.count("s")]
    found = wr.over(made(), key="s", order="t", windows=wr.rows(2), aggs=aggs).to_pylist()
    together = wr.over(made(), order="t", windows=wr.rows(2), aggs=aggs).to_pylist()
    p, q, _ = NESTED
    assert [row["first_s"] for row in found] == NESTED
    assert [row["first_s"] for row in together] == [p, q, q]
    assert [row["collect_s"] for row in together] == [[p], [q], [q]]
    assert [row["arg_max_t_s"] for row in together] == [p, q, None]
    assert [row["nth_2_s"] for row in together] == [None, None, None]


@pytest.mark.parametrize(
    "data_type",
    [
        pa.dictionary(pa.int32(), pa.timestamp("s")),
        pa.run_end_encoded(pa.int32(), pa.timestamp("s")),
        pa.timestamp("s"),
    ],
    ids=str,
)
def test_a_reader_of_no_batches_has_no_answers(data_type: pa.DataType) -> None:
    def reader() -> pa.RecordBatchReader:
        schema = pa.schema({"t": data_type, "x": pa.float64()})
        return pa.RecordBatchReader.from_batches(schema, [])

    aggs = [wr.max("x"), wr.first("t"), wr.m4("x", "t")]
    answers = [
        wr.over(reader(), order="t", windows=wr.time("1 second"), aggs=aggs),
        wr.over(reader(), key="t", order="t", windows=wr.rows(2), aggs=aggs),
        wr.slide(reader(), order="t", windows=wr.time("2 seconds", every="1 second"), aggs=aggs),
    ]
    for found in answers:
        assert len(found) == 0
        assert found.schema.field("first_t").type == pa.timestamp("s")


@pytest.mark.usefixtures("interpreted")
def test_zeros_of_both_signs_are_one_key_inside_nested_values_too() -> None:
    keys = pa.array([[0.0], [-0.0], [1.0], [-0.0]])
    table = pa.table({"k": keys, "s": pa.array([{"x": each} for each in (0.0, -0.0, 0.0, 0.0)])})
    for key, expected in (("k", [1, 2, 1, 3]), ("s", [1, 2, 3, 4])):
        answer = wr.over(table, key=key, windows=wr.rows(9), aggs=wr.count())
        assert answer["count"].to_pylist() == expected
    changes = wr.slide(
        pa.table({"t": [1, 2], "x": [0.0, -0.0]}), order="t", windows=wr.rows(1, every=1),
        aggs=wr.collect("x"), changes_only=True,
    )  # fmt: skip
    assert changes["collect_x"].to_pylist() == [[0.0]]
