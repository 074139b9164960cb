"""Windows that are given one folder share its store, until the last of them closes."""

import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import windrow as wr
from tests.support.stores.affine import expected, open_window
from windrow.stores import RocksDBStore, share
from windrow.stores.contract import Key

pytest.importorskip("rocksdict", reason="pip install 'windrow[rocksdb]'")
pytestmark = pytest.mark.usefixtures("interpreted")


def is_free(folder: Path) -> bool:
    try:
        RocksDBStore(folder).close()
    except wr.StoreError:
        return False
    return True


def test_every_spelling_is_the_same_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path / "windows", target_is_directory=True)
    folder = tmp_path / "windows"
    spellings: list[Any] = [
        folder, "windows", "./windows/", str(folder), "link", Path("link/../windows"),
    ]  # fmt: skip
    windows = [open_window(place, f"w{number}") for number, place in enumerate(spellings)]
    for number, window in enumerate(windows):
        window.insert_many([number, 7])
        assert window.query() == expected([number, 7])
    for number, window in enumerate(windows):
        assert not is_free(folder)
        window.close()
        window.close()
        with pytest.raises(wr.StoreError, match=f"the window 'w{number}' .* is closed; open it"):
            window.query()
    assert is_free(folder)
    with open_window("link", "w3") as window:
        assert window.query() == expected([3, 7])


def test_a_window_that_is_forgotten_gives_its_share_back(tmp_path: Path) -> None:
    folder = tmp_path / "windows"
    open_window(folder, "forgotten").insert(1)
    with open_window(folder, "kept") as window:
        window.insert(2)
    assert is_free(folder)


def test_a_window_that_cannot_be_opened_gives_its_share_back(tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(wr.InvalidArgument, match="no window 'new' is in the store"):
            wr.Window.open(tmp_path / "windows", "new")
    assert is_free(tmp_path / "windows")


def test_a_folder_that_was_deleted_is_not_shared(tmp_path: Path) -> None:
    """What is written to it would be lost."""
    left_over = share(tmp_path / "windows")
    shutil.rmtree(tmp_path / "windows")
    with pytest.raises(wr.StoreError, match="this process has it open already"):
        share(tmp_path / "windows")
    left_over.close()


def test_threads_open_and_close_together(tmp_path: Path) -> None:
    """Each finds the store open or opens it, never in between."""
    failures: list[BaseException] = []

    def use(number: int) -> None:
        try:
            for turn in range(15):
                with share(tmp_path / "windows") as store:
                    store.put_many({Key("a", number, turn): b"value"})
                    assert store.get_many([Key("a", number, turn)]) == [b"value"]
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=use, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert is_free(tmp_path / "windows")


def test_two_processes_do_not_share(tmp_path: Path) -> None:
    script = "import windrow as wr, sys; wr.Window.open(sys.argv[1], 'w', wr.sum())"
    with open_window(tmp_path / "windows"):
        other = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path / "windows")],
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
    assert "StoreError" in other.stderr
    assert "another process has it open; only one at a time can" in other.stderr


def test_events_for_a_store_that_is_closed(tmp_path: Path) -> None:
    """They would be gathered, and lost when the process ends."""
    store = RocksDBStore(tmp_path / "windows")
    window = open_window(store)
    window.insert(1)
    store.close()
    with pytest.raises(wr.StoreError, match=r"the store of the window 'w' .* is closed; open it"):
        window.insert(2)
    assert repr(window).startswith("<Closed window")
