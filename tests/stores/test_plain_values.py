"""Plain values come back from bytes as they were; other bytes, and other values, are refused."""

import contextlib
import datetime
import math
import pickle
from collections import Counter
from decimal import Decimal
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.stores.plain_values import from_bytes, to_bytes

ZONES = st.sampled_from([None, datetime.UTC, ZoneInfo("Europe/Berlin")])
HASHABLE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.binary(),
    st.decimals(allow_nan=False),
    st.fractions(),
    st.dates(),
    st.times().map(lambda each: each.replace(fold=0)),
    st.timedeltas(),
    st.datetimes(timezones=ZONES),
)
ARRAYS = st.one_of(
    st.lists(st.floats(allow_nan=False)).map(np.array),
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=6, max_size=6).map(
        lambda each: np.array(each, ">i8").reshape(2, 3)
    ),
    st.floats(width=32, allow_nan=False).map(np.float32),
    st.integers(0, 255).map(np.uint8),
    st.booleans().map(np.bool_),
)
VALUES = st.recursive(
    st.one_of(HASHABLE, ARRAYS, st.frozensets(HASHABLE), st.sets(HASHABLE)),
    lambda inner: st.one_of(
        st.lists(inner),
        st.lists(inner).map(tuple),
        st.dictionaries(HASHABLE, inner, max_size=4),
    ),
    max_leaves=8,
)


def same(left: Any, right: Any) -> bool:
    """Whether two values are equal, of the same types, all the way down."""
    if isinstance(left, np.ndarray):
        return bool(left.dtype.kind == right.dtype.kind and np.array_equal(left, right))
    if type(left) is not type(right):
        return False
    if isinstance(left, float):
        return math.copysign(1, left) == math.copysign(1, right) and (
            left == right or (left != left and right != right)
        )
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return same(list(left.items()), list(right.items()))
    if isinstance(left, set | frozenset):
        return len(left) == len(right) and same(sorted(map(repr, left)), sorted(map(repr, right)))
    return repr(left) == repr(right)


@given(VALUES)
def test_what_is_written_is_read(value: Any) -> None:
    assert same(from_bytes(to_bytes(value)), value)


@given(VALUES, st.integers(0, 1000), st.binary(min_size=1, max_size=3))
def test_bytes_that_are_cut_off_or_too_many(value: Any, place: int, more: bytes) -> None:
    written = to_bytes(value)
    for damaged in (written[: place % len(written)], written + more):
        with pytest.raises(ValueError, match=r"."):
            from_bytes(damaged)


@given(VALUES, st.integers(0, 1000), st.integers(1, 255))
def test_a_changed_byte_is_another_value_or_none(value: Any, place: int, change: int) -> None:
    damaged = bytearray(to_bytes(value))
    damaged[place % len(damaged)] ^= change
    try:
        found = from_bytes(bytes(damaged))
    except ValueError:
        return
    to_bytes(found)


@given(st.binary(max_size=60))
def test_any_bytes(noise: bytes) -> None:
    with contextlib.suppress(ValueError):
        to_bytes(from_bytes(noise))


class Point(NamedTuple):
    x: int


class Number(int):
    pass


@pytest.mark.parametrize(
    "value",
    [
        object(),
        Point(1),
        Number(2),
        Counter("ab"),
        [1, (2, {3: len})],
        np.array(["text"]),
        np.array([None]),
        np.datetime64("2024-01-01"),
        datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=1))),
        1j,
    ],
    ids=repr,
)
def test_other_values_are_refused(value: Any) -> None:
    """A subclass would come back as what it derives from."""
    with pytest.raises(TypeError, match="is a "):
        to_bytes(value)


def test_nesting_is_bounded() -> None:
    deep: Any = ()
    for _ in range(200):
        deep = (deep,)
    with pytest.raises(TypeError, match="more than 100 deep"):
        to_bytes(deep)
    with pytest.raises(ValueError, match="too deep"):
        from_bytes(b"(\x01" * 500 + b"n")


@pytest.mark.parametrize(
    "data",
    [
        pickle.dumps([1]),
        b"(\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
        b"(\xff\xff\x7fn",
        b"a\x03|O8\x01\x01" + bytes(8),
        b"a\x03<f8\x02\x7f\x7f",
        b"m\x0a1999-01-01",
        b"<\x01[\x00",
        b"{\x01[\x00n",
        b"d\x03abc",
        b"q\x031/0",
        b"m\x1a02024-01-01T00:00:00|../x",
        b"m\x1b02024-01-01T00:00:00|Europe",  # a folder of zones
        b"",
    ],
)
def test_bytes_that_no_value_has(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        from_bytes(data)


def test_the_layout_to_the_byte() -> None:
    written = to_bytes((1, -2, "é", Decimal("1.50"), None, True, b"\x00"))
    assert (
        written.hex() == "2807690101" + "6901fe" + "7302c3a9" + "6404312e3530" + "6e54" + "620100"
    )
