"""A key has one hash, however its column is stored, in every process and every version."""

import datetime
import decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.stream.key_hashes import hashes_of

#: the last one is of a plane that Unicode did not know when this was written
TEXTS = ["", "a", "user-17", "grüße", "鍵" * 9, "\U0001f9fe", "\U000323b0", None]


def hashes(*columns: pa.Array) -> list[int]:
    found: list[int] = hashes_of(columns, len(columns[0])).tolist()
    return found


def test_hashes_that_state_was_written_by() -> None:
    assert hashes(pa.array(TEXTS)) == [
        0xe2a05af682e435a1, 0x97a3ad28839b18ba, 0x5c93317343dc8153, 0xa8d7e25a88f7eda2,
        0xc56430c79653b7e8, 0xfecc313b4d90d862, 0x6281be706f943ea6, 0x18e572a200f4afa7,
    ]  # fmt: skip
    several = [pa.array([1, -1, None]), pa.array([["a", None], [], None]),
               pa.array([{"a": 1.5}, None, {"a": None}])]  # fmt: skip
    assert hashes(*several) == [0x633BFA491CAB2DD4, 0x1A19B72D23BD2C37, 0xBF58A148A72672DC]


texts = st.lists(st.one_of(st.none(), st.text(max_size=40)), max_size=20)


@given(texts)
def test_texts_in_every_form(values: list[str | None]) -> None:
    expected = hashes(pa.array(values, pa.string()))
    forms = [
        pa.array(values, pa.large_string()),
        pa.array(values, pa.string_view()),
        pa.array(values, pa.string()).dictionary_encode(),
        pa.array(values, pa.large_string()).dictionary_encode(),
        pa.array(["before", *values, "behind"], pa.string()).slice(1, len(values)),
        pa.array([each if each is None else each.encode() for each in values], pa.binary()),
    ]
    for form in forms:
        assert hashes(form) == expected, form.type
    # One by one, and beside another column.
    assert [hashes(pa.array([each], pa.string()))[0] for each in values] == expected
    ones = pa.array([1] * len(values), pa.int32())
    assert hashes(ones, forms[1]) == hashes(ones.cast(pa.int64()), forms[2])


moment = datetime.datetime(2024, 2, 29, 12)
NESTED = {
    "list": pa.list_(pa.string()),
    "large_list": pa.large_list(pa.string()),
    "view": pa.list_view(pa.string()),
    "struct": pa.struct([("a", pa.string()), ("b", pa.list_(pa.int64()))]),
    "map": pa.map_(pa.string(), pa.int64()),
}


def values_of(name: str) -> Any:
    text = st.one_of(st.none(), st.text(max_size=9))
    numbers = st.lists(st.one_of(st.none(), st.integers(0, 3)), max_size=3)
    if name == "struct":
        return st.one_of(st.none(), st.fixed_dictionaries({"a": text, "b": numbers}))
    if name == "map":
        return st.one_of(st.none(), st.dictionaries(st.text(max_size=9), st.integers(0, 3)).map(
            lambda each: list(each.items())
        ))  # fmt: skip
    return st.one_of(st.none(), st.lists(text, max_size=4))


@pytest.mark.parametrize("name", NESTED)
@given(data=st.data())
def test_nested_keys(name: str, data: st.DataObject) -> None:
    """Of each value the same, wherever it stands; and of most others another."""
    values = data.draw(st.lists(values_of(name), min_size=1, max_size=9))
    column = pa.array(values, NESTED[name])
    found = hashes(column)
    assert found == [hashes(pa.array([each], NESTED[name]))[0] for each in values]
    assert hashes(column.slice(len(values) // 2)) == found[len(values) // 2 :]
    assert len(set(found)) == len({repr(each) for each in column.to_pylist()})


def test_values_behind_a_null_do_not_count() -> None:
    struct = pa.StructArray.from_arrays([pa.array([1, 2])], ["a"], mask=pa.array([True, True]))
    assert len(set(hashes(struct))) == 1
    behind = pa.Array.from_buffers(
        pa.string(), 2, [pa.py_buffer(b"\0"), pa.py_buffer(np.array([0, 1, 3], "<i4")),
        pa.py_buffer(b"abc")],
    )  # fmt: skip
    assert len(set(hashes(behind))) == 1


@pytest.mark.parametrize(
    ("data_type", "value"),
    [
        (pa.decimal128(9, 2), decimal.Decimal("1.25")),
        (pa.decimal256(60, 2), decimal.Decimal("-1.25")),
        (pa.uint64(), 2**64 - 1),
        (pa.float32(), 0.5),
        (pa.bool_(), True),
        (pa.date32(), moment.date()),
        (pa.timestamp("us"), moment),
        (pa.time32("s"), moment.time()),
        (pa.duration("ms"), datetime.timedelta(1)),
        (pa.month_day_nano_interval(), pa.MonthDayNano([1, 2, 3])),
        (pa.binary(3), b"abc"),
        (pa.null(), None),
    ],
    ids=str,
)
def test_keys_of_every_type(data_type: pa.DataType, value: Any) -> None:
    column = pa.array([value, None, value], data_type)
    first, null, again = hashes(column)
    assert first == again
    assert value is None or null != first
    assert hashes(column.slice(1)) == [null, again]


def test_floats_that_are_equal() -> None:
    column = pa.array([0.0, -0.0, float("nan"), -float("nan")])
    zero, minus, nan, other = hashes(column)
    assert zero == minus != nan == other
