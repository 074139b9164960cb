"""Whatever speaks Arrow is data, and the answer is the same pyarrow.Table."""

import datetime as dt
from collections.abc import Callable
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import windrow as wr

pytestmark = pytest.mark.usefixtures("interpreted")

START = dt.datetime(2012, 2, 22)
TABLE = pa.table(
    {
        "user": ["ann", "bob", "ann", None, "bob", "ann"],
        "ts": [START + dt.timedelta(minutes=m) for m in (3, 1, 0, 2, 7, 1)],
        "amount": [3.0, 1.5, 7.25, 2.0, None, 4.0],
        "shop": ["x", "y", "z", "y", "x", None],
    }
)


class Capsule:
    """The bare protocol, as any other library may offer it."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return TABLE.__arrow_c_stream__(requested_schema)


SHAPES: dict[str, Callable[[], Any]] = {
    "Table": lambda: TABLE,
    "RecordBatch": lambda: TABLE.combine_chunks().to_batches()[0],
    "RecordBatchReader": lambda: pa.RecordBatchReader.from_batches(
        TABLE.schema, TABLE.to_batches(max_chunksize=2)
    ),
    "the C stream interface": Capsule,
    "pandas": lambda: TABLE.to_pandas(),
    "pandas with Arrow types": lambda: TABLE.to_pandas(types_mapper=pd.ArrowDtype),
    "Polars": lambda: pl.from_arrow(TABLE),
    "Polars with categories": lambda: pl.from_arrow(TABLE).with_columns(
        pl.col("user", "shop").cast(pl.Categorical)
    ),
    "dictionaries": lambda: pa.table(
        {name: TABLE[name].dictionary_encode() for name in TABLE.schema.names}
    ),
    "DuckDB": lambda: duckdb.connect().from_arrow(TABLE),
}


def over(data: Any) -> pa.Table:
    return wr.over(
        data,
        key="user",
        order="ts",
        windows={"2": wr.rows(2), "5m": wr.time("5 minutes")},
        aggs=[
            wr.max("amount"),
            wr.mean("amount"),
            wr.arg_max("amount", "shop"),
            wr.first("shop"),
            wr.max("shop"),
            wr.collect("shop"),
        ],
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_gets_the_same_answer(shape: str) -> None:
    answer = over(SHAPES[shape]())
    assert isinstance(answer, pa.Table)
    # pandas writes a missing number as NaN and Polars keeps its own string type: the values count.
    assert answer.to_pylist() == over(TABLE).to_pylist()


def test_the_answer_is_what_one_reads_off_the_table() -> None:
    answer = over(TABLE)
    assert answer["max_amount_2"].to_pylist() == [4.0, 1.5, 7.25, 2.0, 1.5, 7.25]
    assert answer["max_amount_5m"].to_pylist() == [7.25, 1.5, 7.25, 2.0, None, 7.25]
    assert answer["arg_max_amount_shop_2"].to_pylist() == [None, "y", "z", "y", "y", "z"]
    assert answer["collect_shop_2"].to_pylist() == [["x"], ["y"], ["z"], ["y"], ["y", "x"], ["z"]]


def test_rows_of_pandas_keep_their_index_as_a_column() -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0]}, index=["a", "b"])
    answer = wr.over(frame, windows=wr.rows(2), aggs=wr.sum("x"))
    assert answer["sum_x"].to_pylist() == [1.0, 3.0]
    assert answer.to_pandas().index.to_list() == ["a", "b"]


def test_nan_in_pandas_is_missing() -> None:
    frame = pd.DataFrame({"x": [float("nan"), 2.0]})
    answer = wr.over(frame, windows=wr.rows(2), aggs=[wr.max("x"), wr.count("x")])
    assert answer.select(["max_x", "count_x"]).to_pylist() == [
        {"max_x": None, "count_x": 0},
        {"max_x": 2.0, "count_x": 1},
    ]


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
        lambda: pl.DataFrame({"t": [3, 1, 2], "s": NESTED}),
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
