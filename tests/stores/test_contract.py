"""Every store keeps the same promises."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from windrow.stores import MemoryStore, RocksDBStore, Store, connect
from windrow.stores.contract import NO_BLOCK, Key


def keys(namespace: str, level: int, *blocks: int) -> list[Key]:
    return [Key(namespace, level, block) for block in blocks]


def put(store: Store, *found: Key) -> None:
    store.put_many({key: str(key).encode() for key in found})


def test_what_is_put_is_got(store: Store) -> None:
    store.put_many({Key("a", 0, 1): b"one", Key("a", 1, 1): b"", Key("a", 0, 2**63): b"\x00\xff"})
    wanted = [Key("a", 0, 2**63), Key("a", 0, 2), Key("a", 0, 1), Key("a", 1, 1), Key("a", 2, 1)]
    assert store.get_many(wanted) == [b"\x00\xff", None, b"one", b"", None]
    store.put_many({Key("a", 0, 1): b"other"})
    assert store.get_many(keys("a", 0, 1)) == [b"other"]


def test_nothing_is_asked_and_nothing_done(store: Store) -> None:
    assert store.get_many([]) == []
    store.put_many({})
    store.delete_many([])


def test_deleted_is_gone_and_nothing_else(store: Store) -> None:
    put(store, *keys("a", 0, 1, 2, 3))
    store.delete_many(keys("a", 0, 1, 3, 9))
    assert store.blocks("a", 0, 0, NO_BLOCK) == [2]


def test_ranges_are_of_one_level_of_one_namespace(store: Store) -> None:
    others = [*keys("b", 0, 5), *keys("a", 1, 5), *keys("aa", 0, 5), *keys("", 0, 5)]
    put(store, *keys("a", 0, 1, 5, 256, 65536, 2**40), *others)
    assert store.blocks("a", 0, 5, 65536) == [5, 256]
    store.delete_range("a", 0, 5, 65536)
    assert store.blocks("a", 0, 0, NO_BLOCK) == [1, 65536, 2**40]
    store.delete_range("a", 0, 0, NO_BLOCK)
    assert store.blocks("a", 0, 0, NO_BLOCK) == []
    assert None not in store.get_many(others)


def test_only_what_is_expected_is_exchanged(store: Store) -> None:
    key = Key("a", 255, 0)
    assert not store.exchange(key, b"old", b"new")
    assert store.exchange(key, None, b"first")
    assert not store.exchange(key, None, b"second")
    assert store.exchange(key, b"first", b"second")
    assert store.get_many([key]) == [b"second"]


def test_an_exchange_writes_and_deletes_all_or_nothing(store: Store) -> None:
    key = Key("a", 255, 0)
    put(store, *keys("a", 0, 1, 2))
    also = {Key("a", 0, 1): None, Key("a", 0, 2): b"two", Key("a", 1, 3): b"", Key("b", 0, 9): None}
    assert not store.exchange(key, b"other", b"new", also)
    assert store.blocks("a", 0, 0, NO_BLOCK) == [1, 2]
    assert store.exchange(key, None, b"new", also)
    wanted = [key, *keys("a", 0, 1, 2), Key("a", 1, 3)]
    assert store.get_many(wanted) == [b"new", None, b"two", b""]


@given(
    st.lists(
        st.tuples(st.text(min_size=1, max_size=4), st.integers(0, 255), st.integers(0, 2**64 - 1)),
        min_size=2,
        max_size=2,
        unique=True,
    )
)
def test_no_two_keys_are_written_alike_and_blocks_sort(pair: list[tuple[str, int, int]]) -> None:
    first, second = (Key(*each) for each in pair)
    assert first.encoded() != second.encoded()
    if first[:2] == second[:2]:
        assert (first.encoded() < second.encoded()) == (first.block < second.block)


def test_a_folder_can_be_read_while_it_is_open(tmp_path: Path) -> None:
    with RocksDBStore(tmp_path / "store", wait_for_disk=False) as store:
        assert store.exchange(Key("a", 255, 0), None, b"value", {Key("a", 0, 1): b"one"})
        with pytest.raises(wr.StoreError, match="cannot open its folder: this process has it open"):
            RocksDBStore(tmp_path / "store")
        with RocksDBStore(tmp_path / "store", read_only=True) as other:
            assert other.get_many([Key("a", 255, 0), Key("a", 0, 1)]) == [b"value", b"one"]
            with pytest.raises(wr.StoreError, match="cannot write"):
                other.put_many({Key("a", 0, 1): b"two"})
    with pytest.raises(wr.StoreError, match="cannot open its folder"):
        RocksDBStore(tmp_path / "nowhere", read_only=True)


def test_a_closed_folder_can_be_opened_again(tmp_path: Path) -> None:
    with RocksDBStore(tmp_path / "new" / "folder") as store:
        put(store, *keys("a", 0, 1))
        with pytest.raises(wr.StoreError, match=r"RocksDBStore .*folder.* cannot open"):
            RocksDBStore(tmp_path / "new" / "folder")
    with pytest.raises(wr.StoreError, match=r"cannot read .* block 1: the store is closed"):
        store.get_many(keys("a", 0, 1))
    store.close()
    with RocksDBStore(str(tmp_path / "new" / "folder")) as store:
        assert store.blocks("a", 0, 0, NO_BLOCK) == [1]


def test_a_store_is_found_by_its_address(tmp_path: Path) -> None:
    with connect(str(tmp_path / "folder")) as store:
        assert isinstance(store, RocksDBStore)
    with pytest.raises(wr.InvalidArgument, match="not http://"):
        connect("http://user:secret@host")
    with pytest.raises(wr.InvalidArgument, match="store: give a store"):
        connect(7)  # type: ignore[arg-type]
    assert "0 values" in repr(MemoryStore())


def test_a_folder_is_closed_when_its_threads_are_done(tmp_path: Path) -> None:
    """Found by a window that was left behind while it read ahead."""
    for _ in range(20):
        store = RocksDBStore(tmp_path / "folder")
        store.put_many({key: bytes(10_000) for key in keys("a", 0, *range(200))})
        with ThreadPoolExecutor(2) as threads:
            reading = [threads.submit(store.get_many, keys("a", 0, *range(200))) for _ in range(4)]
            store.close()
        for each in reading:
            assert isinstance(each.exception(), wr.StoreError | None)
