"""The same kind out as in, for every kind of table, with the answers of an Arrow table."""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
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
AGGS = [
    wr.max("amount"),
    wr.mean("amount"),
    wr.arg_max("amount", "shop"),
    wr.first("shop"),
    wr.collect("shop"),
    wr.count("amount"),
    wr.last("user"),
]


class Capsule:
    """The bare protocol, as any other library may offer it."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return TABLE.__arrow_c_stream__(requested_schema)


@dataclass(frozen=True)
class Kind:
    made: Callable[[], Any]
    out: type
    #: the result as rows
    rows: Callable[[Any], list[dict[str, Any]]] = lambda result: result.to_pylist()


def pandas_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return pa.Table.from_pandas(frame, preserve_index=False).to_pylist()


def categories(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.col("user", "shop").cast(pl.Categorical))


def dataset() -> ds.Dataset:
    return ds.dataset(TABLE)


KINDS = {
    "Table": Kind(lambda: TABLE, pa.Table),
    "RecordBatch": Kind(lambda: TABLE.combine_chunks().to_batches()[0], pa.Table),
    "RecordBatchReader": Kind(lambda: TABLE.to_reader(max_chunksize=2), pa.Table),
    "Dataset": Kind(dataset, pa.Table),
    "Scanner": Kind(lambda: dataset().scanner(), pa.Table),
    "the C stream interface": Kind(Capsule, pa.Table),
    "dictionaries": Kind(
        lambda: pa.table({name: TABLE[name].dictionary_encode() for name in TABLE.schema.names}),
        pa.Table,
    ),
    "dict of lists": Kind(TABLE.to_pydict, pa.Table),
    "dict of Arrow columns": Kind(
        lambda: {name: TABLE[name] for name in TABLE.schema.names}, pa.Table
    ),
    "dict of series": Kind(lambda: dict(pl.from_arrow(TABLE).to_dict()), pa.Table),
    "list of dicts": Kind(TABLE.to_pylist, pa.Table),
    "pandas": Kind(TABLE.to_pandas, pd.DataFrame, pandas_rows),
    "pandas with Arrow types": Kind(
        lambda: TABLE.to_pandas(types_mapper=pd.ArrowDtype), pd.DataFrame, pandas_rows
    ),
    "pandas with nullable types": Kind(
        lambda: TABLE.to_pandas().convert_dtypes(), pd.DataFrame, pandas_rows
    ),
    "pandas with categories": Kind(
        lambda: TABLE.to_pandas().astype({"user": "category", "shop": "category"}),
        pd.DataFrame,
        pandas_rows,
    ),
    "Polars": Kind(lambda: pl.from_arrow(TABLE), pl.DataFrame, pl.DataFrame.to_dicts),
    "Polars with categories": Kind(
        lambda: categories(pl.from_arrow(TABLE)), pl.DataFrame, pl.DataFrame.to_dicts
    ),
    "Polars, lazy": Kind(
        lambda: categories(pl.from_arrow(TABLE)).lazy(),
        pl.LazyFrame,
        lambda frame: frame.collect().to_dicts(),
    ),
    "DuckDB": Kind(
        lambda: duckdb.connect().from_arrow(TABLE),
        duckdb.DuckDBPyRelation,
        lambda relation: relation.to_arrow_table().to_pylist(),
    ),
}


def over(data: Any) -> Any:
    windows = {"2": wr.rows(2), "5m": wr.time("5 minutes")}
    return wr.over(data, key="user", order="ts", windows=windows, aggs=AGGS)


def slide(data: Any) -> Any:
    every = wr.time("4 minutes", every="2 minutes")
    return wr.slide(data, key="user", order="ts", windows=every, aggs=AGGS)


@pytest.mark.parametrize("call", [over, slide])
@pytest.mark.parametrize("name", KINDS)
def test_the_same_kind_and_the_same_answers(name: str, call: Callable[[Any], Any]) -> None:
    kind = KINDS[name]
    result = call(kind.made())
    assert isinstance(result, kind.out)
    assert kind.rows(result) == call(TABLE).to_pylist()


def test_the_answer_is_what_one_reads_off_the_table() -> None:
    answer = over(TABLE)
    assert answer["max_amount_2"].to_pylist() == [4.0, 1.5, 7.25, 2.0, 1.5, 7.25]
    assert answer["max_amount_5m"].to_pylist() == [7.25, 1.5, 7.25, 2.0, None, 7.25]
    assert answer["arg_max_amount_shop_2"].to_pylist() == [None, "y", "z", "y", "y", "z"]
    assert answer["collect_shop_2"].to_pylist() == [["x"], ["y"], ["z"], ["y"], ["y", "x"], ["z"]]


NO_ROWS: dict[str, Callable[[Any], Any]] = {
    "Table": lambda table: table.slice(0, 0),
    "Dataset": lambda data: ds.dataset(data.head(0)),
    "pandas": lambda frame: frame.head(0),
    "pandas with categories": lambda frame: frame.head(0),
    "Polars": lambda frame: frame.head(0),
    "Polars, lazy": lambda frame: frame.head(0),
    "DuckDB": lambda relation: relation.limit(0),
}


@pytest.mark.parametrize("call", [over, slide])
@pytest.mark.parametrize("name", NO_ROWS)
def test_no_rows_have_no_answers(name: str, call: Callable[[Any], Any]) -> None:
    kind = KINDS[name]
    result = call(NO_ROWS[name](kind.made()))
    assert isinstance(result, kind.out)
    assert kind.rows(result) == []


# Polars -------------------------------------------------------------------------------------------


def test_polars_keeps_its_own_types() -> None:
    frame = categories(pl.from_arrow(TABLE)).with_columns(pl.lit(object(), pl.Object).alias("any"))
    assert over(frame).schema["any"] == pl.Object
    assert slide(frame).schema["user"] == frame.schema["user"]
    assert over(frame).lazy().collect_schema()["max_amount_2"] == pl.Float64


def test_a_lazy_frame_is_checked_at_the_call_and_answered_when_it_is_collected() -> None:
    asked = []
    frame = pl.LazyFrame({"t": [3, 1, 2], "x": [1.0, 2.0, 3.0]}).map_batches(
        lambda rows: [asked.append(1), rows][1], schema={"t": pl.Int64, "x": pl.Float64}
    )
    with pytest.raises(wr.InvalidArgument, match="aggs: there is no column 'y'; there are t, x"):
        wr.over(frame, order="t", windows=wr.rows(2), aggs=wr.max("y"))
    answers = wr.over(frame, order="t", windows=wr.rows(2), aggs=wr.sum("x"))
    assert answers.collect_schema() == {"t": pl.Int64, "x": pl.Float64, "sum_x": pl.Float64}
    assert "over: 1 window" in str(wr.plan(frame, order="t", windows=wr.rows(2), aggs=wr.sum("x")))
    assert not asked
    # The filter sees the answers; windows do not see the filter.
    assert answers.filter(pl.col("t") > 1).collect()["sum_x"].to_list() == [4.0, 5.0]
    assert asked


def test_nan_is_a_number_in_polars_arrow_and_duckdb() -> None:
    asked: dict[str, Any] = {"windows": wr.rows(2), "aggs": [wr.count("x")]}
    table = pa.table({"x": pa.array([np.nan, 2.0], from_pandas=False)})
    assert wr.over(pl.from_arrow(table), **asked)["count_x"].to_list() == [1, 2]
    assert wr.over({"x": np.array([np.nan, 2.0])}, **asked)["count_x"].to_pylist() == [1, 2]
    relation = wr.over(duckdb.connect().from_arrow(table), **asked)
    assert relation.to_arrow_table()["count_x"].to_pylist() == [1, 2]


# DuckDB -------------------------------------------------------------------------------------------


def test_a_relation_is_of_the_same_connection_and_leaves_no_names() -> None:
    connection = duckdb.connect()
    connection.execute("create table trips as select range % 2 as car, range as t from range(6)")
    trips = connection.table("trips")
    found = wr.over(trips, key="car", order="t", windows=wr.rows(2), aggs=wr.sum("t"))
    joined = found.set_alias("a").join(trips.set_alias("b"), "a.t = b.t")
    assert joined.aggregate("sum(sum_t)").fetchall() == [(2 * 15 - 4 - 5,)]
    connection.execute("set python_enable_replacements = false")
    with pytest.raises(wr.InvalidArgument, match=r"data: .* give relation.to_arrow_table\(\)"):
        wr.over(trips, order="t", windows=wr.rows(2), aggs=wr.sum("t"))
    assert connection.sql("from duckdb_views() where not internal").fetchall() == []
    assert connection.sql("select table_name from duckdb_tables()").fetchall() == [("trips",)]


# Python's own -------------------------------------------------------------------------------------


def test_rows_may_lack_columns() -> None:
    rows = [{"t": 1}, {"t": 2, "x": 5}, {"x": 7, "t": 3}]
    found = wr.over(rows, order="t", windows=wr.rows(2), aggs=wr.sum("x"))
    assert found["sum_x"].to_pylist() == [None, 5, 12]


BAD: dict[str, tuple[Any, str]] = {
    "columns of different sizes": (
        {"t": [1, 2], "x": [1]},
        "data: columns need the same number of rows; 't' has 2, 'x' has 1",
    ),
    "no array": ({"t": 5}, "data: the column 't' cannot be read; give an array or a list of val"),
    "a text": ({"t": "abc"}, "data: the column 't' cannot be read; give an array or a list of v"),
    "mixed": ({"t": [1, "a"]}, "data: the column 't' cannot be read; give an array or a list of v"),
    "a name": ({5: [1]}, "data: the names of columns are strings, not 5"),
    "no rows": ([], "data: give a DataFrame of Spark, pandas or Polars, a relation of DuckDB, som"),
    "an iterator": (iter(TABLE.to_batches()), "lateness: data is an iterator of batches, a stre"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_refused(case: str) -> None:
    data, message = BAD[case]
    with pytest.raises(wr.InvalidArgument) as caught:
        wr.over(data, order="t", windows=wr.rows(2), aggs=wr.count())
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([TABLE], "not list of Table; batches of a stream need lateness="),
        (["a"], "not list of str"),
        ([], "not list, which is empty and has no columns"),
        ("a.parquet", "not str; read the file first, for example with pyarrow.dataset.dataset"),
        (pl.Series([1]), "not Series; make it a table with to_frame()"),
        (np.zeros(2), "not ndarray; name its columns, as in {'amount': array}"),
    ],
    ids=lambda each: each if isinstance(each, str) else type(each).__name__,
)
def test_how_it_becomes_a_table(data: Any, message: str) -> None:
    with pytest.raises(wr.InvalidArgument) as caught:
        wr.over(data, windows=wr.rows(2), aggs=wr.count())
    assert str(caught.value).endswith(f"a list of dicts, {message}")


# as_of --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in KINDS if name.startswith(("pandas", "Polars"))])
def test_as_of_answers_in_the_kind_of_the_queries(name: str) -> None:
    def as_of(queries: Any, events: Any) -> Any:
        windows = {"5m": wr.time("5 minutes"), "2": wr.rows(2)}
        return wr.as_of(queries, events, key="user", order="ts", windows=windows, aggs=AGGS)

    kind = KINDS[name]
    result = as_of(kind.made(), kind.made())
    assert isinstance(result, kind.out)
    expected = as_of(TABLE, TABLE).to_pylist()
    assert kind.rows(result) == expected
    assert as_of(TABLE, kind.made()).to_pylist() == expected
