"""Rows by key and order: as Python sorts them, and not moved where they are in order."""

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.examples import examples
from windrow.engine import over_table, slide_table
from windrow.engine.gathering import gather, into_runs, inverse
from windrow.engine.key_codes import grouped
from windrow.engine.lines import Lines, pays
from windrow.engine.sorting import arrange
from windrow.work import sizes

#: from an integer to a key of each type
KEYS: dict[str, tuple[pa.DataType, Any]] = {
    "dense": (pa.int64(), int),
    "sparse": (pa.int64(), lambda each: each * 2**58 - 2**62),
    "unsigned": (pa.uint64(), lambda each: 2**64 - 1 - each),
    "text": (pa.string(), str),
    "dictionary": (pa.dictionary(pa.int32(), pa.string()), str),
    "float": (pa.float64(), lambda each: [0.0, -0.0, math.nan][each % 3]),
    "list": (pa.list_(pa.int64()), lambda each: [each]),
}
#: from an integer to an order value of each type
ORDERS: dict[str, tuple[pa.DataType, Any]] = {
    "integer": (pa.int64(), int),
    "wide": (pa.int64(), lambda each: each * 2**53),
    "date": (pa.date32(), int),
    "float": (pa.float64(), lambda each: math.nan if each == 3 else each / 7),
    "text": (pa.string(), str),
}
SIZES = st.sampled_from([0, 1, 2, 20, 200])


@st.composite
def columns(
    draw: st.DrawFn, kinds: dict[str, tuple[pa.DataType, Any]], size: int, most: int
) -> pa.Array:
    """A column of a size: in order or not, with nulls or without."""
    data_type, made = kinds[draw(st.sampled_from(sorted(kinds)))]
    random = np.random.default_rng(draw(st.integers(0, 99)))
    few = draw(st.sampled_from([1, 3, most]))
    numbers = random.integers(0 if kinds is KEYS else -few, few, size)
    match draw(st.sampled_from(["drawn", "rising", "falling"])):
        case "rising":
            numbers.sort()
        case "falling":
            numbers = np.sort(numbers)[::-1]
    nulls = random.random(size) < draw(st.sampled_from([0, 0.2]))
    values = [None if null else made(int(each)) for each, null in zip(numbers, nulls, strict=True)]
    return pa.array(values, data_type)


def rank(value: Any) -> tuple[Any, ...]:
    """Nulls first, NaN last."""
    if value is None:
        return (0,)
    return (2,) if value != value else (1, value)


def same(value: Any) -> str:
    """Text that is equal where keys are: NaN equals NaN, and -0.0 is 0.0."""
    return repr(value + 0.0 if isinstance(value, float) else value)


@pytest.mark.compiled
@given(st.data())
@examples(50)
def test_rows_are_sorted_by_key_and_order(data: st.DataObject) -> None:
    size = data.draw(SIZES)
    keys = data.draw(st.lists(columns(KEYS, size, 8), max_size=2))
    order = data.draw(st.lists(columns(ORDERS, size, 1_000), max_size=2))
    with sizes.using(cores=3, smallest_piece=data.draw(st.sampled_from([2, 1_000]))):
        permutation, starts = arrange(keys, order, size)
    rows = list(range(size)) if permutation is None else permutation.tolist()
    of_keys, of_order = ([each.to_pylist() for each in columns] for columns in (keys, order))
    key_of = [tuple(same(each[row]) for each in of_keys) for row in range(size)]
    first_row = {
        key: place for place, key in reversed(list(enumerate(map(key_of.__getitem__, rows))))
    }
    assert rows == sorted(
        range(size),
        key=lambda row: (first_row[key_of[row]], [rank(each[row]) for each in of_order], row),
    )
    assert starts[:-1].tolist() == sorted(first_row.values())
    if keys == [] and rows == list(range(size)):
        assert permutation is None, "rows in order are not moved"


def test_keys_come_in_long_runs_or_in_turns() -> None:
    """Where a table has more rows than are looked at first."""
    size = 5_000
    for per_key in (1, 2, 300):
        keys = np.arange(size) // per_key % 7
        permutation, starts = grouped([pa.array(keys)], size)
        assert permutation is not None
        assert permutation.tolist() == np.argsort(keys, kind="stable").tolist()
        assert starts[:-1].tolist() == np.flatnonzero(np.diff(np.sort(keys), prepend=-1)).tolist()
    assert grouped([pa.array(np.arange(size) // -100)], size)[0] is None
    repeated = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None]), pa.array(["a", "b", "a"]))
    assert grouped([repeated], 4)[1][:-1].tolist() == [0, 2, 3]


@pytest.mark.compiled
@pytest.mark.parametrize("cores", [1, 3])
def test_gathering_is_taking(cores: int) -> None:
    random = np.random.default_rng(1)
    index = random.permutation(100).astype(np.int32)
    numbers = pa.array([None if each % 5 == 0 else each for each in range(103)], pa.int64())
    of_types = [pa.int8(), pa.int16(), pa.float32(), pa.float64(), pa.timestamp("us"), pa.date32()]
    held = [numbers.slice(3).cast(each) for each in (*of_types[:4], pa.string(), pa.bool_())]
    held += [
        numbers.slice(3).cast(pa.int64()).cast(pa.timestamp("us")),
        pa.nulls(100),
        held[3].fill_null(0),
    ]
    with sizes.using(cores=cores, smallest_piece=10):
        for column, found in zip(held, gather(held, index), strict=True):
            assert found.equals(column.take(pa.array(index)))
            found.validate(full=True)
        assert inverse(index)[index].tolist() == list(range(100))
        lines = Lines(inverse(index))
        for most in (7, 100):
            for columns in (held, [*held, *held[6:]], held[6:] * 6):
                with sizes.using(most_lines=most):
                    moved = gather(columns, index, lines.gathered)
                for column, found in zip(columns, moved, strict=True):
                    assert found.equals(column.take(pa.array(index)))
                    found.validate(full=True)


@pytest.mark.compiled
def test_lines_pay_where_places_lie_far_apart() -> None:
    size = 100_000
    rows = np.arange(size, dtype=np.int32)
    shuffled = np.random.default_rng(1).permutation(rows)
    in_turns = inverse(np.argsort(rows % 10, kind="stable").astype(np.int32))
    with sizes.using(smallest_scattered=size):
        assert pays(shuffled, 4)
        assert not pays(shuffled, 3)
        assert not pays(shuffled[:-1], 4)
        assert not pays(in_turns, 4)
    table = pa.table({"k": shuffled % 3, "t": shuffled, "x": shuffled.astype(np.float64)})
    windows = {str(extent): wr.rows(extent) for extent in (1, 4, 7, 10)}
    with sizes.using(smallest_scattered=size, most_lines=30_000):
        answer = wr.over(table, key="k", order="t", windows=windows, aggs=wr.min("x"))
    for extent in (1, 4, 7, 10):
        expected = np.maximum(shuffled - 3 * (extent - 1), shuffled % 3)
        assert np.array_equal(answer[f"min_x_{extent}"], expected)


@pytest.mark.compiled
@pytest.mark.parametrize("cores", [1, 3])
def test_rows_with_keys_in_turns_are_written_into_runs(cores: int) -> None:
    size = 100_000
    random = np.random.default_rng(1)
    by_keys = {
        keys: np.argsort(random.integers(0, keys, size), kind="stable").astype(np.int32)
        for keys in (1, 10, 1000)
    }
    with sizes.using(cores=cores, smallest_scattered=size):
        for keys, permutation in by_keys.items():
            way = into_runs(permutation)
            assert (way is None) == (keys == 1)
            columns = [
                pa.array(random.normal(size=size)),
                pa.array(random.integers(0, 9, size), mask=random.random(size) < 0.5),
                pa.array(random.integers(0, 9, size, np.int8)),
                pa.array(random.random(size) < 0.5),
            ]
            for column, found in zip(columns, gather(columns, permutation, way), strict=True):
                assert found.equals(column.take(pa.array(permutation)))
        assert into_runs(random.permutation(size).astype(np.int32)) is None
        assert into_runs(by_keys[10][:-1]) is None


@pytest.mark.parametrize("per_key", [1, 50])
def test_rows_in_order_are_not_moved(monkeypatch: pytest.MonkeyPatch, per_key: int) -> None:
    """Also if their keys come in no order."""

    def never(*_: Any) -> None:
        raise AssertionError("rows moved")

    monkeypatch.setattr(over_table, "gather", never)
    monkeypatch.setattr(slide_table, "gather", never)
    keys = np.repeat(np.random.default_rng(0).permutation(100 // per_key), per_key)
    table = pa.table(
        {
            "key": pa.array([f"key {each}" for each in keys]),
            "t": pa.array(np.arange(100) % per_key).cast(pa.timestamp("s")),
            "x": np.arange(100.0),
        }
    )
    asked: dict[str, Any] = {"key": "key", "order": "t", "aggs": wr.max("x")}
    assert wr.over(table, windows=wr.rows(2), **asked)["max_x"].equals(table["x"])
    slid = wr.slide(table, windows=wr.time("1 second", every="1 second"), **asked)
    assert slid["max_x"].equals(table["x"])
