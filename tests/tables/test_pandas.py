"""pandas in, pandas out: the user's index, columns and dtypes as they were; NaN is missing."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import windrow as wr
from windrow.tables import text_keys

pytestmark = pytest.mark.usefixtures("interpreted")

TIMES = pd.date_range("2012-02-22", periods=4, freq="h", tz="Europe/Berlin")
LARGE = 2**53 + 1


def frame(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame({"x": [1.0, np.nan, 3.0, 4.0], **columns})


def over(data: pd.DataFrame, *aggs: wr.Measure, **arguments: Any) -> pd.DataFrame:
    found = wr.over(data, **{"windows": wr.rows(2), "aggs": aggs or wr.sum("x"), **arguments})
    assert isinstance(found, pd.DataFrame)
    return found


# The user's own frame -----------------------------------------------------------------------------

INDEXES = {
    "texts": ["a", "b", "c", "d"],
    "not unique": [7, 7, 7, 1],
    "times": TIMES,
    "two levels": pd.MultiIndex.from_product([["a", "b"], [1, 2]], names=["k", None]),
}


@pytest.mark.parametrize("name", INDEXES)
def test_the_index_is_kept(name: str) -> None:
    data = frame().set_axis(INDEXES[name])
    found = over(data)
    assert found.index is data.index or found.index.equals(data.index)
    assert found["sum_x"].tolist() == [1.0, 1.0, 3.0, 7.0]


def test_columns_are_not_converted() -> None:
    own = object()
    data = frame(
        small=np.array([1, 2, 3, 4], np.int8),
        kind=pd.Categorical(["b", "a", "b", "a"], ["b", "a"], ordered=True),
        moment=TIMES,
        any=[own, 1, "a", None],
        complex=[1j, 2j, 3j, 4j],
        sparse=pd.arrays.SparseArray([0.0, 0.0, 1.0, 0.0]),
        period=pd.period_range("2020", periods=4, freq="M"),
    )
    data[5] = 1
    data[("a", "b")] = 2
    before = data.copy()
    found = over(data)
    pd.testing.assert_frame_equal(found[data.columns], before)
    pd.testing.assert_frame_equal(data, before)
    assert found["any"].iloc[0] is own
    assert list(found.columns) == [*data.columns, "sum_x"]


def test_the_result_is_the_users_to_change() -> None:
    data = frame()
    found = over(data, wr.sum("x"), wr.count("x"), wr.max("x").alias("self"))
    for column in found.columns:
        found.loc[0, column] = 9
    assert (found.loc[0] == 9).all()
    assert data["x"].iloc[0] == 1.0


def test_a_subclass_stays_one() -> None:
    class Trips(pd.DataFrame):
        @property
        def _constructor(self) -> type:
            return Trips

    assert type(over(Trips(frame()))) is Trips


def test_many_answers_are_added_at_once(recwarn: pytest.WarningsRecorder) -> None:
    aggs = [wr.sum("x").alias(f"sum_{number}") for number in range(120)]
    found = over(frame().set_axis(INDEXES["not unique"]), *aggs)
    assert found.shape == (4, 121)
    assert found["sum_119"].tolist() == [1.0, 1.0, 3.0, 7.0]
    assert not recwarn.list


def test_columns_that_share_a_name() -> None:
    data = pd.concat([frame(), frame(a=1), frame(a=2)[["a"]]], axis=1)
    with pytest.raises(wr.InvalidArgument, match="aggs: 2 columns are called 'x'; rename them"):
        over(data)
    found = over(data, wr.count())
    assert list(found.columns) == ["x", "x", "a", "a", "count"]


def test_names_that_are_not_strings() -> None:
    data = frame().rename(columns={"x": 0})
    assert over(data, wr.count())["count"].tolist() == [1, 2, 2, 2]
    with pytest.raises(wr.InvalidArgument, match="data: columns of several levels have no single"):
        over(pd.concat({"a": frame()}, axis=1))
    with pytest.raises(wr.InvalidArgument, match="there is no column '0'"):
        over(data, wr.sum("0"))
    with pytest.raises(wr.InvalidArgument, match="columns are given by name, as strings, not 0"):
        wr.sum(0)


def test_a_column_that_cannot_be_read_is_named() -> None:
    with pytest.raises(wr.InvalidArgument, match="data: the column 'y' of dtype object cannot be"):
        over(frame(y=[1, "a", 2, 3]), wr.max("y"))


# The index as a column ----------------------------------------------------------------------------


def test_a_level_of_the_index_is_named_like_a_column() -> None:
    data = frame().set_axis(TIMES.rename("ts"))
    found = over(data, order="ts", windows=wr.time("2 hours"))
    assert found["sum_x"].tolist() == data["x"].rolling("2h", min_periods=1).sum().tolist()
    with pytest.raises(wr.InvalidArgument, match="order: 2 columns are called 'ts'"):
        over(data.assign(ts=TIMES), order="ts")

    levels = frame().set_axis(INDEXES["two levels"])
    assert over(levels, key="k")["sum_x"].tolist() == [1.0, 1.0, 3.0, 7.0]
    slid = wr.slide(
        data.reset_index(), order="ts", windows=wr.time("2h", every="2h"), aggs=wr.count()
    )
    by_index = wr.slide(data, order="ts", windows=wr.time("2h", every="2h"), aggs=wr.count())
    pd.testing.assert_frame_equal(by_index, slid)
    assert isinstance(by_index.index, pd.RangeIndex)


# What is missing ----------------------------------------------------------------------------------


def test_an_index_of_times_without_a_name_cannot_be_read() -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0]}, index=pd.date_range("2024-01-01", periods=2, freq="h"))
    asked: dict[str, Any] = {"windows": wr.time("1 hour"), "aggs": wr.sum("x")}
    for call in (
        lambda: wr.over(frame, order="ts", **asked),
        lambda: wr.as_of(pd.DataFrame({"ts": frame.index}), frame, order="ts", **asked),
    ):
        with pytest.raises(wr.InvalidArgument, match=r"no column 'ts'.*frame.rename_axis\('ts'\)"):
            call()
    named = wr.over(frame.rename_axis("ts"), order="ts", **asked)
    assert named["sum_x"].tolist() == [1.0, 2.0]


def test_nan_of_numpy_is_missing_and_nan_of_others_is_a_number() -> None:
    data = frame(
        arrow=pd.Series([1.0, 0.0, 3.0, None], dtype="float64[pyarrow]"),
        nullable=pd.Series([1.0, 0.0, 3.0, None], dtype="Float64"),
        texts=["a", None, np.nan, pd.NA],
        times=[pd.NaT, *TIMES[:3]],
    )
    for name in ("arrow", "nullable"):
        data[name] = data[name] / data[name].where(data[name] != 0.0, 0.0)  # 0 / 0
    names = ["x", "arrow", "nullable", "texts", "times"]
    found = over(data, *(wr.count(name) for name in names), windows=wr.rows(4))
    assert found.iloc[-1][[f"count_{name}" for name in names]].tolist() == [3, 3, 3, 1, 3]


def test_missing_answers_are_what_pandas_users_expect() -> None:
    data = frame(
        whole=[1, 2, 3, 4], large=[LARGE] * 4, flag=[True] * 4, text=list("abcd"), time=TIMES
    )
    names = ["x", "whole", "large", "flag", "text", "time"]
    found = over(data, *(wr.lag(name).alias(name.upper()) for name in names))
    assert found["X"].tolist()[2:] == pytest.approx([np.nan, 3.0], nan_ok=True)
    assert found["WHOLE"].dtype == np.float64
    pd.testing.assert_series_equal(found["WHOLE"], data["whole"].shift(), check_names=False)
    assert found["LARGE"].dtype == pd.Int64Dtype()  # a float would drop its last digit
    assert found["LARGE"].tolist() == [pd.NA, LARGE, LARGE, LARGE]
    assert found["FLAG"].tolist() == [None, True, True, True]
    assert found["TEXT"].tolist() == [None, "a", "b", "c"]
    pd.testing.assert_series_equal(found["TIME"], data["time"].shift(), check_names=False)
    assert over(data, wr.max("whole"), wr.count()).dtypes.tolist()[-2:] == [np.int64, np.int64]


@pytest.mark.parametrize("backend", ["numpy_nullable", "pyarrow"])
def test_answers_are_of_the_family_of_their_columns(backend: Any) -> None:
    data = frame(whole=[1, 2, 3, 4], text=list("abcd")).convert_dtypes(dtype_backend=backend)
    data["float"] = [1.0, 2.0, 3.0, 4.0]
    found = over(data, *(wr.lag(name).alias(name.upper()) for name in ("whole", "text", "float")))
    for name in ("whole", "text", "float"):
        assert found[name.upper()].dtype == data[name].dtype
    assert found["WHOLE"].tolist() == [pd.NA, 1, 2, 3]


# slide --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "key",
    [
        pd.Series(["b", "a", "b", "a"]),
        pd.Series(["b", "a", None, "a"], dtype="string"),
        pd.Series(["b", "a", None, "a"], dtype="category"),
        pd.Series([1, 2, 1, None], dtype="Int8"),
        pd.Series([1, 2, 1, 2], dtype="int16"),
        pd.Series(["b", "a", "b", None], dtype="string[pyarrow]"),
        pd.Series([True, False, True, False]),
        pd.Series(pd.period_range("2020", periods=4, freq="M")),
        pd.Series([1.0, np.nan, 1.0, np.nan]),
        pd.Series(TIMES[[0, 0, 1, 1]]),
    ],
    ids=lambda key: str(key.dtype),
)
def test_keys_keep_their_dtype(key: pd.Series) -> None:
    data = frame(key=key, t=[1, 2, 3, 4])
    arguments: dict[str, Any] = {"key": "key", "order": "t", "aggs": wr.sum("x")}
    found = wr.slide(data, windows=wr.rows(2, every=1), **arguments)
    assert found["key"].dtype == key.dtype
    expected = data.groupby("key", dropna=False, observed=True)["x"].sum(min_count=1)
    newest = found.groupby("key", dropna=False, observed=True)["sum_x"].last()
    pd.testing.assert_series_equal(newest, expected, check_names=False)


# Text keys ----------------------------------------------------------------------------------------


def test_text_keys_are_found_by_their_objects_or_by_their_texts() -> None:
    size = 3 * text_keys._SAMPLE
    few = np.array(["a", "b", "".join(["a", ""]), None, np.nan, "c" * 9], object)
    few = np.append(few, np.array(["".join(["c"] * 9)], object))  # the same text, another object
    columns = {
        "few objects": few[np.arange(size) % len(few)],
        "some come late": np.array([*["a", "b"] * text_keys._SAMPLE, *"ccdefa", None], object),
        "an object each": np.array([f"{row % 50}" for row in range(size)], object),
        "some are missing": np.array([None, *(f"{row % 50}" for row in range(size))], object),
        "not in one piece": np.array([["a", "b"]] * size, object)[:, 0],
    }
    for name, objects in columns.items():
        column = pd.Series(objects)
        found = text_keys.encoded_texts(column)
        assert found is not None, name
        assert found.to_pylist() == column.where(column.notna(), None).tolist(), name
        assert len(found.dictionary.unique()) == len(found.dictionary), name
    others = [np.arange(size).astype(object), np.array(["a", 1] * size, object)]
    assert [text_keys.encoded_texts(pd.Series(each)) for each in others] == [None, None]
    assert text_keys.encoded_texts(pd.Series([], dtype=object)) is None
