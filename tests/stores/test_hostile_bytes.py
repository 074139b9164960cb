"""Whatever bytes a store holds, they are read or refused, never run."""

import json
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.stores.affine import expected, open_window
from windrow.element.stored_header import HEADER_LEVEL, WindowHeader
from windrow.stores import MemoryStore
from windrow.stores.contract import NO_BLOCK, Key
from windrow.stores.layout import PartialLayout, StorePlace
from windrow.stores.sealed import seal

HEADER = Key("w", HEADER_LEVEL, 0)
pytestmark = pytest.mark.usefixtures("interpreted")


class Trap:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (Path.touch, (self.path,))


def filled() -> MemoryStore:
    store = MemoryStore()
    with open_window(store) as window:
        window.insert_many(list(range(100)))
        window.evict_many(30)
        window.flush()
    return store


def header_of(store: MemoryStore) -> dict[str, Any]:
    (value,) = store.get_many([HEADER])
    assert value is not None
    length = int.from_bytes(value[9:13])
    found = json.loads(value[13 : 13 + length])
    assert isinstance(found, dict)
    return found


def write_header(store: MemoryStore, text: bytes, partials: bytes = b"") -> None:
    store.put_many(
        {HEADER: seal(StorePlace(store, HEADER), len(text).to_bytes(4) + text + partials)}
    )


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    store, trap = filled(), pickle.dumps(Trap(tmp_path / "sprung"))
    window = open_window(store)
    for block in store.blocks("w", 0, 0, NO_BLOCK):
        store.put_many({Key("w", 0, block): trap})
    with pytest.raises(wr.StoreError, match=r"MemoryStore.* holds a value of layout 128 at"):
        window.query()
    for value in (trap, seal(StorePlace(store, HEADER), trap)):
        store.put_many({HEADER: value})
        with pytest.raises(wr.StoreError, match="at 'w' level 255 block 0"):
            open_window(store)
    assert not (tmp_path / "sprung").exists()


@given(st.binary(max_size=200), st.booleans(), st.booleans())
def test_any_bytes(noise: bytes, in_header: bool, signed: bool) -> None:
    """Even bytes with the right version and checksum, which a store can compute, are refused."""
    store = filled()
    window = open_window(store)
    key = HEADER if in_header else Key("w", 0, store.blocks("w", 0, 0, NO_BLOCK)[0])
    store.put_many({key: seal(StorePlace(store, key), noise) if signed else noise})
    with pytest.raises(wr.StoreError, match="'w' level"):
        (open_window(store) if in_header else window).query()


@given(st.integers(0, 10_000), st.integers(1, 255), st.booleans())
def test_any_changed_byte(place: int, change: int, in_header: bool) -> None:
    store = filled()
    window = open_window(store)
    key = HEADER if in_header else Key("w", 0, store.blocks("w", 0, 0, NO_BLOCK)[0])
    (value,) = store.get_many([key])
    assert value is not None
    changed = bytearray(value)
    changed[place % len(changed)] ^= change
    store.put_many({key: bytes(changed)})
    with pytest.raises(wr.StoreError, match="'w' level"):
        (open_window(store) if in_header else window).query()


def test_every_flipped_bit() -> None:
    """Each bit of a header and of a block, read as a window reads them."""
    store = filled()
    window = open_window(store)
    block = Key("w", 0, store.blocks("w", 0, 0, NO_BLOCK)[0])
    mark = window._contents.blocks._writer_of(block.level, block.block).mark

    def read(key: Key, value: bytes) -> Any:
        if key == HEADER:
            return WindowHeader.from_bytes(StorePlace(store, key), value)
        return window._program.partials.layout.block_from_bytes(
            StorePlace(store, key), mark, value, 4
        )

    for key in (HEADER, block):
        (value,) = store.get_many([key])
        assert value is not None
        read(key, value)
        for bit in range(8 * len(value)):
            flipped = bytearray(value)
            flipped[bit // 8] ^= 1 << bit % 8
            with pytest.raises(wr.StoreError, match=f"<MemoryStore .*> holds .* at {key}"):
                read(key, bytes(flipped))


@pytest.mark.parametrize(
    ("part", "wrong"),
    [
        ("state", [0, 0, 0, 0, 0, 0, 0]),
        ("state", [30, 30, 64, 2**63, 2, 0, 0, 2]),
        ("state", [-1, 30, 64, 100, 2, 0, 0, 2]),
        ("state", [30, 30, 64, 100, 2.0, 0, 0, 2]),
        ("state", [30, 30, 64, 100, 10**9, 0, 0, 2]),
        ("state", [30, 30, 64, 100, 2, 0, 0, 3]),
        ("state", [0, 0, 99, 100, 1, 0, 0, 2]),
        ("state", ["30", 30, 64, 100, 2, 0, 0, 2]),
        ("state", None),
        ("writers", []),
        ("writers", [[0, "ff"]]),
        ("writers", [[10**6, "00" * 8]]),
        ("writers", [["0", "00" * 8]]),
        ("description", {}),
        (
            "description",
            {
                "aggregation": [],
                "called": "",
                "parameters": {},
                "nulls": "skipped",
                "policy": "",
                "types": ["int64"],
                "fields": [],
                "bits": 2,
                "code": "",
                "python": "3.11",
            },
        ),
        (
            "description",
            {
                "aggregation": "sum",
                "called": "",
                "parameters": {},
                "nulls": "skipped",
                "policy": "",
                "types": 5,
                "fields": [],
                "bits": 2,
                "code": "",
                "python": "3.11",
            },
        ),
        (
            "description",
            {
                "aggregation": "sum",
                "called": "",
                "parameters": [],
                "nulls": "skipped",
                "policy": "",
                "types": ["int64"],
                "fields": [],
                "bits": 2,
                "code": "",
                "python": "3.11",
            },
        ),
        ("description", []),
    ],
)
def test_a_header_that_cannot_be(part: str, wrong: Any) -> None:
    store = filled()
    write_header(store, json.dumps({**header_of(store), part: wrong}).encode())
    with pytest.raises(wr.StoreError, match="header of no possible window at 'w' level 255"):
        open_window(store)


@pytest.mark.parametrize("text", [b"[]", b"{", b"\xff", b"[" * 100_000, b"7", b""])
def test_a_header_that_is_none(text: bytes) -> None:
    store = filled()
    write_header(store, text)
    with pytest.raises(wr.StoreError, match="no header of a window at 'w' level 255"):
        open_window(store)


def test_a_value_under_another_key() -> None:
    """A block of another place, or of another window, has the wrong checksum."""
    store = filled()
    window = open_window(store)
    first, second, *_ = store.blocks("w", 0, 0, NO_BLOCK)
    (value,) = store.get_many([Key("w", 0, second)])
    assert value is not None
    store.put_many({Key("w", 0, first): value})
    with pytest.raises(wr.StoreError, match="corrupt bytes at 'w' level 0"):
        window.query()
    (value,) = store.get_many([HEADER])
    assert value is not None
    store.put_many({Key("other", HEADER_LEVEL, 0): value})
    with pytest.raises(wr.StoreError, match="corrupt bytes at 'other' level 255"):
        open_window(store, "other")


def test_a_block_of_another_writer() -> None:
    """A process that goes on with a window that has been opened again cannot slip blocks in."""
    store = MemoryStore()
    left_behind, window = open_window(store), open_window(store)
    window.insert_many(list(range(50)))
    window._tree.write_all()
    left_behind.insert_many(list(range(1, 51)))
    left_behind._tree.write_all()
    window.evict()
    with pytest.raises(wr.StoreError, match="another writer put there"):
        window.query()


def test_a_newer_layout_is_named() -> None:
    store = filled()
    store.put_many({HEADER: b"\x02" + bytes(100)})
    with pytest.raises(wr.StoreError, match=r"layout 2 at .*; this windrow reads 1"):
        open_window(store)


@given(st.lists(st.tuples(st.floats(), st.integers(-(2**63), 2**63 - 1)), max_size=9))
def test_what_is_written_is_read(partials: list[tuple[float, int]]) -> None:
    place = StorePlace(MemoryStore(), Key("w", 3, 5))
    layout = PartialLayout([("float64", 0), ("int64", 0), ("float64", 2)])
    fields = (
        np.array([each[0] for each in partials]),
        np.array([each[1] for each in partials], np.int64),
        np.array([[each[0], 1.0] for each in partials]).reshape(-1, 2),
    )
    value = layout.block_to_bytes(place, b"12345678", fields)
    found = layout.block_from_bytes(place, b"12345678", value, len(partials))
    for before, after in zip(fields, found, strict=True):
        np.testing.assert_array_equal(before, after)
    assert len(value) == 17 + layout.partial_bytes * len(partials)


def test_numbers_lie_low_byte_first() -> None:
    """The layout, to the byte: what one machine writes, any other reads."""
    place = StorePlace(MemoryStore(), Key("w", 0, 1))
    value = PartialLayout([("int64", 0)]).block_to_bytes(
        place, b"12345678", (np.array([1, -2], np.int64),)
    )
    assert value[:1] + value[9:] == b"\x01" + b"12345678" + struct.pack("<qq", 1, -2)
    assert value[1:9].hex() == "bcaae0ea293fe7e7"


def test_hostile_bytes_leave_a_window_as_it_was() -> None:
    store = filled()
    window = open_window(store)
    kept = {key: store.get_many([key])[0] for key in list(store._values)}
    for key in kept:
        store.put_many({key: b"\x01" * 50})
    with pytest.raises(wr.StoreError):
        window.query()
    store._values.update(kept)  # type: ignore[arg-type]
    assert window.query() == expected(list(range(30, 100)))
